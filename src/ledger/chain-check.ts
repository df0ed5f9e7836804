/**
 * Re-derives stored rows one after another: the server's own check, behind `chain_ok` and at every
 * start. An auditor does not rely on it; the offline verifier shares no code with it.
 */
import { toHex } from "../bytes/hex.ts";
import { utf8Decode } from "../bytes/utf8.ts";
import { sha256Hex } from "../crypto/hash.ts";
import { type MacKeys, rowMac, ZERO_MAC } from "./mac.ts";
import { parseRow, type RowPlace, ZERO_HASH } from "./row.ts";

export interface StoredRow {
  readonly seq: number;
  readonly ts: number;
  readonly requestId: string;
  readonly body: Uint8Array;
  readonly rowHash: Uint8Array;
  readonly rowMac: Uint8Array;
}

/** The first thing that is wrong with a chain. */
export interface ChainBreak {
  readonly app_id: string;
  readonly seq: number;
  readonly reason: /** A row is missing, doubled or out of place. */
    | "seq"
    /** The stored bytes do not have the stored hash. */
    | "row_hash"
    /** The stored bytes are not a row, or say something else than the columns beside them. */
    | "body"
    /** The row does not name the row before it. */
    | "prev_hash"
    /** The row is older than the row before it. */
    | "ts"
    /** The MAC is not the one that the tenant's secret makes. */
    | "row_mac";
  readonly expected: string;
  readonly found: string;
}

/** Where a chain stands after a row. */
export interface ChainPosition {
  readonly seq: number;
  /** Hex. */
  readonly rowHash: string;
  readonly rowMac: Uint8Array;
  readonly macEpoch: number;
  readonly ts: number;
}

export const CHAIN_START: ChainPosition = {
  seq: 0,
  rowHash: ZERO_HASH,
  rowMac: ZERO_MAC,
  macEpoch: 0,
  ts: 0,
};

/** A stored record as an object. */
type Members = Readonly<Record<string, string | number | boolean | null>>;

export class ChainChecker {
  readonly #chain: { readonly tenantId: string; readonly appId: string };
  readonly #macKeys: MacKeys;
  #position: ChainPosition;
  #text = "";
  /** The MAC key of the row before, and its epoch. */
  #key: { readonly epoch: number; readonly bytes: Uint8Array | null } = { epoch: 0, bytes: null };

  /** @param after the position that the first row to come must continue. */
  constructor(
    chain: { readonly tenantId: string; readonly appId: string },
    macKeys: MacKeys,
    after: ChainPosition,
  ) {
    this.#chain = chain;
    this.#macKeys = macKeys;
    this.#position = after;
  }

  /** The row that passed last: its stored bytes, as text. */
  get text(): string {
    return this.#text;
  }

  get position(): ChainPosition {
    return this.#position;
  }

  /** @returns null when the row continues the chain. After a break, call it no more. */
  next(row: StoredRow): ChainBreak | null {
    const before = this.#position;
    if (row.seq !== before.seq + 1)
      return this.#break(before.seq + 1, "seq", before.seq + 1, row.seq);
    const hashHex = sha256Hex(row.body);
    const storedHex = toHex(row.rowHash);
    if (hashHex !== storedHex) return this.#break(row.seq, "row_hash", hashHex, storedHex);
    const text = utf8Decode(row.body);
    const place = text === null ? null : parseRow(text);
    if (text === null || place === null)
      return this.#break(row.seq, "body", "a row", "another form");
    const foreign = this.#firstForeign(row, place);
    if (foreign !== null) return this.#break(row.seq, "body", foreign.expected, foreign.found);
    if (place.prevHash !== before.rowHash) {
      return this.#break(row.seq, "prev_hash", before.rowHash, place.prevHash);
    }
    if (row.ts < before.ts) return this.#break(row.seq, "ts", before.ts, row.ts);
    this.#text = text;
    return this.#checkMac(row, place, hashHex);
  }

  /** The first member that belongs to another row or chain, or contradicts the columns. */
  #firstForeign(row: StoredRow, place: RowPlace): { expected: string; found: string } | null {
    const { tenantId, appId } = this.#chain;
    const pairs: readonly (readonly [string, string, string])[] = [
      ["tenant_id", tenantId, place.tenantId],
      ["app_id", appId, place.appId],
      ["seq", String(row.seq), place.seq],
      ["ts", String(row.ts), place.ts],
      ["request_id", row.requestId, place.requestId],
    ];
    for (const [name, expected, found] of pairs) {
      if (expected !== found) return { expected: `${name} ${expected}`, found: `${name} ${found}` };
    }
    return null;
  }

  #checkMac(row: StoredRow, place: RowPlace, hashHex: string): ChainBreak | null {
    const before = this.#position;
    const epoch = Number(place.macEpoch);
    const key = this.#keyOf(epoch);
    if (key === null) return this.#break(row.seq, "row_mac", "a known mac_epoch", epoch);
    const mac = rowMac(key, epoch === before.macEpoch ? before.rowMac : ZERO_MAC, row.rowHash);
    const expected = toHex(mac);
    const found = toHex(row.rowMac);
    if (expected !== found) return this.#break(row.seq, "row_mac", expected, found);
    this.#position = { seq: row.seq, rowHash: hashHex, rowMac: mac, macEpoch: epoch, ts: row.ts };
    return null;
  }

  /** Neighbours mostly share it. */
  #keyOf(epoch: number): Uint8Array | null {
    if (epoch !== this.#key.epoch) {
      this.#key = { epoch, bytes: this.#macKeys.keyOf(this.#chain.tenantId, epoch) };
    }
    return this.#key.bytes;
  }

  #break(
    seq: number,
    reason: ChainBreak["reason"],
    expected: string | number,
    found: string | number,
  ): ChainBreak {
    const { appId } = this.#chain;
    return { app_id: appId, seq, reason, expected: String(expected), found: String(found) };
  }
}

/** The position after a stored row, taken from its own bytes; it is not checked. */
export function positionAfter(row: StoredRow): ChainPosition {
  const macEpoch = Number(parseRow(utf8Decode(row.body) ?? "")?.macEpoch ?? 0);
  const rowHash = sha256Hex(row.body);
  return { seq: row.seq, rowHash, rowMac: row.rowMac, macEpoch, ts: row.ts };
}

/** The members of a stored record, or null when its bytes are not a JSON object. */
export function parseMembers(body: Uint8Array): Members | null {
  const text = utf8Decode(body);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    // Written by this program, or altered, which its hash shows.
    return isObject ? (value as Members) : null;
  } catch {
    return null;
  }
}
