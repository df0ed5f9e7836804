/** A tenant's view of its chains: rows by (ts, app_id, seq), checked as they are read. */
import { toHex } from "../bytes/hex.ts";
import {
  CHAIN_START,
  type ChainBreak,
  ChainChecker,
  parseMembers,
  positionAfter,
  type StoredRow,
} from "./chain-check.ts";
import type { ChainState, Heads } from "./heads.ts";
import type { MacKeys } from "./mac.ts";
import type { RowReader } from "./row-reader.ts";

export interface SliceQuery {
  readonly tenantId: string;
  /** Only this app's chain; an unknown app has no rows. */
  readonly appId?: string | undefined;
  /** Unix milliseconds: rows with `ts >= since`. */
  readonly since: number;
  /** 1 to 1000. */
  readonly limit: number;
  /** Only rows after this one, as `parseCursor` gave it. */
  readonly after?: SliceCursor | undefined;
}

export interface AuditSlice {
  /** Each the JSON of a row: its stored bytes, with `row_hash` and `row_mac` as last members. */
  readonly rows: readonly string[];
  readonly chain_ok: boolean;
  readonly chain_break: ChainBreak | null;
  /** For the parameter `after` of the next call; null when this slice reached the end. */
  readonly next: string | null;
}

export interface SliceCursor {
  readonly ts: number;
  readonly appId: string;
  readonly seq: number;
}

/** @returns null unless the text is one that `AuditSlice.next` can be. */
export function parseCursor(text: string): SliceCursor | null {
  const whole = "(0|[1-9][0-9]{0,14})";
  const match = new RegExp(`^${whole}\\.${whole}\\.([a-z0-9][a-z0-9._-]{0,62})$`).exec(text);
  if (match === null) return null;
  return { ts: Number(match[1]), seq: Number(match[2]), appId: match[3] ?? "" };
}

export interface SliceDeps {
  readonly reader: RowReader;
  readonly heads: Heads;
  readonly macKeys: MacKeys;
}

export function readSlice(deps: SliceDeps, query: SliceQuery): AuditSlice {
  const cursors = deps.heads
    .ofTenant(query.tenantId)
    .filter(({ chain }) => query.appId === undefined || chain.appId === query.appId)
    .map((state) => new ChainCursor(deps, state, query));
  const rows: string[] = [];
  let last: { readonly cursor: ChainCursor; readonly row: StoredRow } | null = null;
  let chainBreak: ChainBreak | null = null;
  while (rows.length < query.limit) {
    const cursor = earliest(cursors);
    if (cursor === null) break;
    const { row, text, broken } = cursor.take();
    chainBreak ??= broken;
    rows.push(text);
    last = { cursor, row };
  }
  const isEnd = cursors.every((cursor) => cursor.peek === null);
  for (const cursor of cursors) chainBreak ??= cursor.peek === null ? cursor.missingTail() : null;
  const next = isEnd || last === null ? null : cursorText(last.row, last.cursor.state);
  return { rows, chain_ok: chainBreak === null, chain_break: chainBreak, next };
}

/** The response of `GET /v1/audit`: what is stored as text is not taken apart for it. */
export function sliceText({ rows, ...rest }: AuditSlice): string {
  return `{"rows":[${rows.join(",")}],${JSON.stringify(rest).slice(1)}`;
}

/** One chain's rows from where the slice begins, read ahead in chunks. */
class ChainCursor {
  readonly state: ChainState;
  readonly #reader: RowReader;
  readonly #checker: ChainChecker;
  readonly #chunkRows: number;
  #rows: StoredRow[] = [];
  #index = 0;
  #nextSeq: number;
  #isBroken = false;
  /** The row before the slice, when it is gone. */
  #gap: ChainBreak | null = null;

  constructor(deps: SliceDeps, state: ChainState, query: SliceQuery) {
    this.state = state;
    this.#reader = deps.reader;
    this.#chunkRows = query.appId === undefined ? Math.ceil(query.limit / 4) + 1 : query.limit + 1;
    this.#nextSeq = this.#firstSeq(query);
    const before = this.#rowAt(this.#nextSeq - 1);
    if (before === undefined && this.#nextSeq > 1) this.#gap = this.#missing(this.#nextSeq - 1);
    const after = before === undefined ? CHAIN_START : positionAfter(before);
    this.#checker = new ChainChecker(state.chain, deps.macKeys, after);
    this.#fill();
  }

  get peek(): StoredRow | null {
    return this.#rows[this.#index] ?? null;
  }

  take(): {
    readonly row: StoredRow;
    readonly text: string;
    readonly broken: ChainBreak | null;
  } {
    const row = this.#rows[this.#index++] as StoredRow;
    if (this.#index === this.#rows.length) this.#fill();
    if (this.#isBroken) return { row, text: damagedText(row, this.state), broken: null };
    const broken = this.#gap ?? this.#checker.next(row);
    this.#isBroken = broken !== null;
    const text = this.#isBroken ? damagedText(row, this.state) : soundText(this.#checker);
    return { row, text, broken };
  }

  /** Rows that this process saw become durable and that are gone from the end of the chain. */
  missingTail(): ChainBreak | null {
    const reached = this.#checker.position.seq;
    if (this.#isBroken || this.#nextSeq > this.state.position.seq) return null;
    return this.#gap ?? this.#missing(reached + 1);
  }

  #missing(seq: number): ChainBreak {
    const { appId } = this.state.chain;
    return { app_id: appId, seq, reason: "seq", expected: String(seq), found: "no row" };
  }

  #fill(): void {
    this.#rows = this.#reader.rowsFrom(this.state.chain.id, this.#nextSeq, this.#chunkRows);
    this.#index = 0;
    const last = this.#rows.at(-1);
    if (last !== undefined) this.#nextSeq = last.seq + 1;
  }

  #firstSeq(query: SliceQuery): number {
    const { chain, position } = this.state;
    const { after } = query;
    let sinceMs = query.since;
    let minSeq = 1;
    if (after !== undefined) {
      // Within one millisecond, rows are in order of app_id.
      const isPast = chain.appId < after.appId;
      sinceMs = Math.max(sinceMs, isPast ? after.ts + 1 : after.ts);
      if (chain.appId === after.appId) minSeq = after.seq + 1;
    }
    return Math.max(minSeq, this.#reader.firstSeqSince(chain.id, position.seq, sinceMs));
  }

  #rowAt(seq: number): StoredRow | undefined {
    const row = this.#reader.rowsFrom(this.state.chain.id, seq, 1)[0];
    return row?.seq === seq ? row : undefined;
  }
}

function earliest(cursors: readonly ChainCursor[]): ChainCursor | null {
  let best: ChainCursor | null = null;
  for (const cursor of cursors) {
    if (cursor.peek === null) continue;
    // Cursors are in order of app_id, so the first of equal times is the right one.
    if (best?.peek == null || cursor.peek.ts < best.peek.ts) best = cursor;
  }
  return best;
}

/** A row that passed, whose bytes are therefore those of an object with members. */
function soundText({ position, text }: ChainChecker): string {
  const { rowHash, rowMac } = position;
  return `${text.slice(0, -1)},"row_hash":"${rowHash}","row_mac":"${toHex(rowMac)}"}`;
}

/** What is left to show of a row that did not pass, or came after one. */
function damagedText(row: StoredRow, { chain }: ChainState): string {
  const shown = parseMembers(row.body) ?? { app_id: chain.appId, seq: row.seq, ts: row.ts };
  const hashes = { row_hash: toHex(row.rowHash), row_mac: toHex(row.rowMac) };
  return JSON.stringify({ ...shown, ...hashes });
}

function cursorText(row: StoredRow, state: ChainState): string {
  return `${row.ts}.${row.seq}.${state.chain.appId}`;
}
