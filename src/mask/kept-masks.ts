/** Masks kept on cells, so many at most: the oldest give way. */
import type { CellMemo } from "./cell.ts";
import { addToken, removeToken, type TokenWords } from "./token-set.ts";

/** A mask as what it has in common with many others, and what is different. */
export interface KeptMask {
  /** Not to be changed; null for no tokens at all. */
  readonly base: TokenWords | null;
  /** In this order: a token that is allowed as well, or the complement (~) of one that is not. */
  readonly edits: Int32Array;
}

/** @returns the mask's own words where nothing is different, otherwise `into`. */
export function unpack(mask: KeptMask, into: TokenWords): TokenWords {
  const { base, edits } = mask;
  if (base !== null && edits.length === 0) return base;
  if (base === null) into.fill(0);
  else into.set(base);
  for (let i = 0; i < edits.length; i++) {
    const edit = edits[i] as number;
    if (edit >= 0) addToken(into, edit);
    else removeToken(into, ~edit);
  }
  return into;
}

/** Edits being collected; one list serves for one mask after another. */
export class EditList {
  #edits = new Int32Array(1024);
  #length = 0;

  clear(): void {
    this.#length = 0;
  }

  allow(token: number): void {
    if (this.#length === this.#edits.length) {
      const edits = new Int32Array(2 * this.#length);
      edits.set(this.#edits);
      this.#edits = edits;
    }
    this.#edits[this.#length] = token;
    this.#length += 1;
  }

  refuse(token: number): void {
    this.allow(~token);
  }

  allowAll(tokens: Int32Array): void {
    for (let i = 0; i < tokens.length; i++) this.allow(tokens[i] as number);
  }

  over(base: TokenWords | null): KeptMask {
    return { base, edits: this.#edits.slice(0, this.#length) };
  }
}

export class KeptMasks {
  readonly #most: number;
  readonly #queue: KeptKey[] = [];
  #oldest = 0;

  constructor(most: number) {
    this.#most = most;
  }

  keep(memo: CellMemo, key: number, mask: object): void {
    memo.set(key, mask);
    this.#queue.push({ memo, key });
    if (this.#queue.length - this.#oldest <= this.#most) return;
    const { memo: from, key: old } = this.#queue[this.#oldest] as KeptKey;
    from.delete(old);
    this.#oldest += 1;
    if (this.#oldest === this.#most) {
      this.#queue.splice(0, this.#most);
      this.#oldest = 0;
    }
  }
}

interface KeptKey {
  readonly memo: CellMemo;
  readonly key: number;
}
