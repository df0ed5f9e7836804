/**
 * The heads of all chains, in memory. They are derived from the rows at every start, never from a
 * table of heads, and only ever show what is durable.
 */
import {
  CHAIN_START,
  ChainChecker,
  type ChainPosition,
  positionAfter,
  type StoredRow,
} from "./chain-check.ts";
import { LedgerError } from "./ledger-error.ts";
import type { MacKeys } from "./mac.ts";
import type { Chain, RowReader } from "./row-reader.ts";

/** A chain and where it stands. */
export interface ChainState {
  readonly chain: Chain;
  readonly position: ChainPosition;
}

/** Rows checked at a start: what a crash could have damaged, in a tenth of a second (measured). */
const STARTUP_ROWS = 10_000;

export class Heads {
  readonly #states = new Map<string, ChainState>();
  /** App ids of each tenant, sorted. */
  readonly #apps = new Map<string, string[]>();

  get(tenantId: string, appId: string): ChainState | undefined {
    return this.#states.get(headKey(tenantId, appId));
  }

  set(state: ChainState): void {
    const { tenantId, appId } = state.chain;
    const key = headKey(tenantId, appId);
    if (!this.#states.has(key)) {
      const apps = [...(this.#apps.get(tenantId) ?? []), appId].sort();
      this.#apps.set(tenantId, apps);
    }
    this.#states.set(key, state);
  }

  /** The chains of one tenant by app id. */
  ofTenant(tenantId: string): ChainState[] {
    const apps = this.#apps.get(tenantId) ?? [];
    return apps.flatMap((appId) => this.get(tenantId, appId) ?? []);
  }

  all(): IterableIterator<ChainState> {
    return this.#states.values();
  }
}

/**
 * Loads every head, and checks the newest rows.
 * @throws LedgerError `damaged`, naming chain and row.
 */
export function loadHeads(reader: RowReader, macKeys: MacKeys): Heads {
  const heads = new Heads();
  const starts = reader.recentStarts(STARTUP_ROWS);
  for (const { chain, last } of reader.chainsWithLastRow()) {
    const position = last === null ? CHAIN_START : positionAfter(last);
    checkTail(reader, macKeys, chain, starts.get(chain.id) ?? position.seq);
    heads.set({ chain, position });
  }
  return heads;
}

/** Reads ahead this many rows at a time. */
const CHUNK_ROWS = 1000;

function checkTail(reader: RowReader, macKeys: MacKeys, chain: Chain, fromSeq: number): void {
  const before = fromSeq > 1 ? reader.rowsFrom(chain.id, fromSeq - 1, 1)[0] : undefined;
  const checker = new ChainChecker(chain, macKeys, before ? positionAfter(before) : CHAIN_START);
  for (;;) {
    const rows: StoredRow[] = reader.rowsFrom(chain.id, checker.position.seq + 1, CHUNK_ROWS);
    for (const row of rows) {
      const broken = checker.next(row);
      if (broken === null) continue;
      const { seq, reason, expected, found } = broken;
      throw new LedgerError(
        "damaged",
        `row ${seq} of ${chain.tenantId}/${chain.appId} is damaged: ` +
          `${reason} is ${found}, not ${expected}`,
      );
    }
    if (rows.length < CHUNK_ROWS) return;
  }
}

function headKey(tenantId: string, appId: string): string {
  return `${tenantId}/${appId}`;
}
