/** Reads stored rows of one chain, on the connection that sees only what is committed. */
import { and, asc, eq, gte, max, sql } from "drizzle-orm";
import type { Store } from "../store/store.ts";
import type { StoredRow } from "./chain-check.ts";
import { chainTable, rowTable } from "./tables.ts";

export interface Chain {
  readonly id: number;
  readonly tenantId: string;
  readonly appId: string;
}

const COLUMNS = {
  seq: rowTable.seq,
  ts: rowTable.ts,
  requestId: rowTable.requestId,
  body: rowTable.body,
  rowHash: rowTable.rowHash,
  rowMac: rowTable.rowMac,
};

export class RowReader {
  readonly #store: Store;
  /** Bare, not through drizzle: a thousand rows take 0.7 ms instead of 4.5 (measured). */
  readonly #from: ReturnType<typeof prepareFrom>;
  readonly #tsFrom: ReturnType<typeof prepareTsFrom>;

  constructor(store: Store) {
    this.#store = store;
    this.#from = prepareFrom(store);
    this.#tsFrom = prepareTsFrom(store);
  }

  /** Up to `limit` rows with this seq or a higher one, ascending. */
  rowsFrom(chainId: number, seq: number, limit: number): StoredRow[] {
    return this.#from.all(chainId, seq, limit);
  }

  /**
   * The lowest seq whose row has `ts >= sinceMs`; one past the last row when none has. Times never
   * fall along a chain, so this is a binary search: no index on time is needed.
   */
  firstSeqSince(chainId: number, height: number, sinceMs: number): number {
    let low = 1;
    let high = height + 1;
    while (low < high) {
      const middle = low + Math.floor((high - low) / 2);
      const row = this.#tsFrom.get({ chainId, seq: middle });
      if (row !== undefined && row.ts < sinceMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** @returns null when there is no such row, or it is another tenant's. */
  byRequestId(tenantId: string, requestId: string): { chain: Chain; row: StoredRow } | null {
    const found = this.#store.reads
      .select({ chain: chainTable, row: COLUMNS })
      .from(rowTable)
      .innerJoin(chainTable, eq(chainTable.id, rowTable.chainId))
      .where(and(eq(rowTable.requestId, requestId), eq(chainTable.tenantId, tenantId)))
      .get();
    return found ?? null;
  }

  /** Every chain with its last row; null for a chain that was made and never written to. */
  chainsWithLastRow(): { readonly chain: Chain; readonly last: StoredRow | null }[] {
    const { reads } = this.#store;
    const lastSeq = reads
      .select({ seq: max(rowTable.seq) })
      .from(rowTable)
      .where(eq(rowTable.chainId, chainTable.id));
    return reads
      .select({ chain: chainTable, last: COLUMNS })
      .from(chainTable)
      .leftJoin(rowTable, and(eq(rowTable.chainId, chainTable.id), eq(rowTable.seq, lastSeq)))
      .orderBy(asc(chainTable.id))
      .all();
  }

  /** The lowest seq of each chain among the newest `count` rows of all. */
  recentStarts(count: number): ReadonlyMap<number, number> {
    const { reads } = this.#store;
    const newest =
      reads
        .select({ id: max(rowTable.id) })
        .from(rowTable)
        .get()?.id ?? 0;
    const starts = reads
      .select({ chainId: rowTable.chainId, seq: sql<number>`min(${rowTable.seq})` })
      .from(rowTable)
      .where(gte(rowTable.id, newest - count + 1))
      .groupBy(rowTable.chainId)
      .all();
    return new Map(starts.map((start) => [start.chainId, start.seq]));
  }
}

function prepareFrom(store: Store) {
  return store.reader.query<StoredRow, [number, number, number]>(
    `SELECT seq, ts, request_id AS requestId, body, row_hash AS rowHash, row_mac AS rowMac
     FROM ledger_row WHERE chain_id = ? AND seq >= ? ORDER BY seq LIMIT ?`,
  );
}

function prepareTsFrom(store: Store) {
  return store.reads
    .select({ ts: rowTable.ts })
    .from(rowTable)
    .where(
      and(
        eq(rowTable.chainId, sql.placeholder("chainId")),
        gte(rowTable.seq, sql.placeholder("seq")),
      ),
    )
    .orderBy(asc(rowTable.seq))
    .limit(1)
    .prepare();
}
