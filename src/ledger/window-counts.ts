/**
 * How many rows a tenant has since a time: what quotas count. No table of counters exists, so none
 * can disagree with the rows after a crash. Where a window begins in a chain is found once, by
 * binary search; from then on a count is a subtraction per chain.
 */
import type { LedgerClock } from "./clock.ts";
import type { Heads } from "./heads.ts";
import type { RowReader } from "./row-reader.ts";

/** Beginnings remembered for each chain: the day's, the month's, and the ones before. */
const WINDOWS_MAX = 4;

export class WindowCounts {
  readonly #deps: { reader: RowReader; heads: Heads; clock: LedgerClock };
  /** By chain id and beginning: the seq of the first row at or after it. */
  readonly #firstSeqs = new Map<number, Map<number, number>>();

  constructor(deps: { reader: RowReader; heads: Heads; clock: LedgerClock }) {
    this.#deps = deps;
  }

  countSince(tenantId: string, sinceMs: number): number {
    let count = 0;
    for (const { chain, position } of this.#deps.heads.ofTenant(tenantId)) {
      count += position.seq + 1 - this.#firstSeq(chain.id, position.seq, sinceMs);
    }
    return count;
  }

  #firstSeq(chainId: number, height: number, sinceMs: number): number {
    const known = this.#firstSeqs.get(chainId);
    const remembered = known?.get(sinceMs);
    if (remembered !== undefined) return remembered;
    const first = this.#deps.reader.firstSeqSince(chainId, height, sinceMs);
    // Final only once no row older than the beginning can come.
    if (this.#deps.clock.newestMs >= sinceMs) {
      const map = known ?? new Map<number, number>();
      const [oldest] = map.keys();
      if (map.size >= WINDOWS_MAX && oldest !== undefined) map.delete(oldest);
      this.#firstSeqs.set(chainId, map.set(sinceMs, first));
    }
    return first;
  }
}
