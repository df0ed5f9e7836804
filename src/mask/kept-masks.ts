/** Masks kept on cells, so many at most: the oldest give way. */
import type { CellMemo } from "./cell.ts";

/** 16 KB each for 128,000 tokens. */
const KEPT_MAX = 1024;

export class KeptMasks {
  readonly #queue: KeptKey[] = [];
  #oldest = 0;

  keep(memo: CellMemo, key: number, mask: object): void {
    memo.set(key, mask);
    this.#queue.push({ memo, key });
    if (this.#queue.length - this.#oldest <= KEPT_MAX) return;
    const { memo: from, key: old } = this.#queue[this.#oldest] as KeptKey;
    from.delete(old);
    this.#oldest += 1;
    if (this.#oldest === KEPT_MAX) {
      this.#queue.splice(0, KEPT_MAX);
      this.#oldest = 0;
    }
  }
}

interface KeptKey {
  readonly memo: CellMemo;
  readonly key: number;
}
