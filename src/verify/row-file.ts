/**
 * What one file of rows must be by itself, given the row before it: bytes, hashes, links, MACs and
 * times. Needs nothing of the other files, so many can be checked at once.
 */
import { concat, fromHex, latin1, toHex } from "./encoding.ts";
import { ZERO_HASH } from "./fields.ts";
import { type Finding, VerifyError } from "./finding.ts";
import { textHash } from "./fingerprints.ts";
import type { Hashing } from "./primitives.ts";
import { firstBadMember, ROW_OFFSET, RowReader, type RowText } from "./row-pattern.ts";

/** A row as the next one looks back at it. */
export interface ChainPoint {
  /** 0 before the first row. */
  readonly height: number;
  readonly hash: string;
  readonly ts: number;
  readonly mac: Uint8Array;
  readonly macEpoch: number;
}

export const CHAIN_START: ChainPoint = {
  height: 0,
  hash: ZERO_HASH,
  ts: 0,
  mac: new Uint8Array(32),
  macEpoch: 0,
};

export interface RowFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly appId: string;
  readonly tenantId: string;
  /** The last row of the file before, as that file has it: its own check decides about it. */
  readonly from: ChainPoint;
}

/** What is the same for all files. */
export interface RowFileContext {
  readonly hashing: Hashing;
  /** The tenant's MAC keys; the first belongs to epoch 1. Empty: MACs are not checked. */
  readonly macKeys: readonly Uint8Array[];
  readonly wantedHashes: ReadonlySet<string>;
}

/** The rows up to the first that does not hold, in columns. Plain values: it crosses threads. */
export interface CheckedRows {
  readonly rows: number;
  /** SHA-256 over the bytes of `seals`, in hex. */
  readonly digest: string;
  /** Hash and MAC of each row: 128 digits. */
  readonly seals: string;
  readonly ts: Float64Array;
  /** Two words for each row: a fingerprint of its request id. */
  readonly requests: Uint32Array;
  /**
   * Three words for each row: a fingerprint of engine and input, and the output's first word; all
   * zero where the output may differ from that of an equal call.
   */
  readonly outputs: Uint32Array;
  /** Rows whose hash is wanted, as `RowText` takes them. */
  readonly wanted: readonly (readonly string[])[];
  /** What does not hold in the next row. */
  readonly finding: Finding | null;
}

/** Shorter than any row with its hashes: the names of its members alone take more. */
const ROW_BYTES_MIN = 400;

export function checkRowFile(context: RowFileContext, file: RowFile): CheckedRows {
  const { hashing, wantedHashes } = context;
  const { bytes } = file;
  const columns = new Columns(Math.ceil(bytes.byteLength / ROW_BYTES_MIN));
  const reader = new RowReader(latin1(bytes));
  const wanted: (readonly string[])[] = [];
  let point = file.from;
  let seals = "";
  let finding: Finding | null = null;
  try {
    while (!reader.isAtEnd) {
      const start = reader.offset;
      const row = reader.next();
      if (row === null) throw malformed(file, point, reader.lineAt(start));
      const hash = hashing.sha256Hex(bytes.subarray(start + ROW_OFFSET, reader.offset - 1));
      point = nextPoint(context, file, point, row, hash);
      columns.add(row, point.ts);
      seals += hash;
      seals += row.mac;
      if (wantedHashes.has(hash)) wanted.push(row.parts);
    }
  } catch (error) {
    if (!(error instanceof VerifyError)) throw error;
    finding = error.finding;
  }
  const rows = point.height - file.from.height;
  const digest = hashing.sha256Hex(fromHex(seals));
  return { rows, digest, seals, ...columns.take(rows), wanted, finding };
}

/** Where a file ends, as it says itself. @returns `from` where its last line is no row. */
export function lastPoint({ bytes, from }: Pick<RowFile, "bytes" | "from">): ChainPoint {
  const start = bytes.lastIndexOf(0x0a, bytes.byteLength - 2) + 1;
  const row = new RowReader(latin1(bytes.subarray(start))).next();
  if (row === null) return from;
  const { hash, mac, seq, ts, epoch } = row;
  return {
    height: Number(seq),
    hash,
    ts: Number(ts),
    mac: fromHex(mac),
    macEpoch: Number(epoch),
  };
}

/** @throws VerifyError unless this row follows that point. */
function nextPoint(
  context: RowFileContext,
  file: RowFile,
  before: ChainPoint,
  row: RowText,
  hash: string,
): ChainPoint {
  const { app, prev, seq, tenant } = row;
  const height = before.height + 1;
  const ts = Number(row.ts);
  if (hash !== row.hash) {
    throw broken(file, height, "row_hash", "is not the hash of the row", hash, row.hash);
  }
  if (seq !== String(height)) {
    throw broken(file, height, "seq", "is out of place", String(height), seq);
  }
  if (prev !== before.hash) {
    throw broken(file, height, "prev_hash", "is not the row before", before.hash, prev);
  }
  if (app !== file.appId) {
    throw broken(file, height, "app_id", "is another chain's", file.appId, app);
  }
  if (tenant !== file.tenantId) {
    throw broken(file, height, "tenant_id", "is another tenant's", file.tenantId, tenant);
  }
  if (!(ts >= before.ts)) {
    const message = "is older than the row before";
    throw broken(file, height, "ts", message, String(before.ts), row.ts);
  }
  const isChecked = context.macKeys.length > 0;
  const macEpoch = isChecked ? Number(row.epoch) : before.macEpoch;
  const mac = isChecked ? nextMac(context, file, before, row) : before.mac;
  return { height, hash, ts, mac, macEpoch };
}

function nextMac(
  { hashing, macKeys }: RowFileContext,
  file: RowFile,
  { height, mac: before, macEpoch }: ChainPoint,
  row: RowText,
): Uint8Array {
  const epoch = Number(row.epoch);
  const key = macKeys[epoch - 1];
  if (key === undefined) {
    const epochs = `1 to ${macKeys.length}`;
    throw broken(file, height + 1, "mac_epoch", "has no secret", epochs, row.epoch);
  }
  const first = epoch === macEpoch ? before : CHAIN_START.mac;
  const mac = hashing.hmacSha256(key, concat(first, fromHex(row.hash)));
  const expected = toHex(mac);
  if (expected !== row.mac) {
    throw broken(file, height + 1, "row_mac", "is not what the secret makes", expected, row.mac);
  }
  return mac;
}

/** @param height of the row that does not hold. */
export function broken(
  { name, appId }: RowFile,
  height: number,
  field: string,
  message: string,
  expected: string,
  found: string,
): VerifyError {
  return new VerifyError({ file: name, chain: appId, height, field, message, expected, found });
}

class Columns {
  readonly #ts: Float64Array;
  readonly #requests: Uint32Array;
  readonly #outputs: Uint32Array;
  #rows = 0;
  /** The engine of the last row, and its hash: neighbours mostly share it. */
  #engine = { name: "", hash: 0 };

  constructor(rowsMax: number) {
    this.#ts = new Float64Array(rowsMax);
    this.#requests = new Uint32Array(2 * rowsMax);
    this.#outputs = new Uint32Array(3 * rowsMax);
  }

  add({ deterministic, engine, input, output, request }: RowText, ts: number): void {
    const row = this.#rows++;
    this.#ts[row] = ts;
    // Two hashes over different parts: together 64 bits where ids differ.
    this.#requests[2 * row] = textHash(request, 0x811c9dc5);
    this.#requests[2 * row + 1] = textHash(request.slice(-16), 0x9747b28c) || 1;
    if (deterministic !== "true" || output === "null") return;
    if (engine !== this.#engine.name) {
      this.#engine = { name: engine, hash: textHash(engine, 0x811c9dc5) };
    }
    // The input's hash is as good as random: 64 of its bits will do, mixed with the engine's.
    this.#outputs[3 * row] = hexWord(input, 0);
    this.#outputs[3 * row + 1] = (hexWord(input, 8) ^ this.#engine.hash) >>> 0 || 1;
    this.#outputs[3 * row + 2] = hexWord(output, 1);
  }

  /** The first rows, without the room behind them. */
  take(rows: number): Pick<CheckedRows, "ts" | "requests" | "outputs"> {
    return {
      ts: this.#ts.slice(0, rows),
      requests: this.#requests.slice(0, 2 * rows),
      outputs: this.#outputs.slice(0, 3 * rows),
    };
  }
}

/**
 * The 32 bits of eight lowercase hex digits: without a branch on what is as good as random it takes
 * a quarter of the time (measured).
 */
function hexWord(text: string, at: number): number {
  let word = 0;
  for (let index = at; index < at + 8; index++) {
    const code = text.charCodeAt(index);
    word = (word << 4) | ((code & 15) + 9 * (code >> 6));
  }
  return word >>> 0;
}

function malformed({ name, appId }: RowFile, before: ChainPoint, line: string): VerifyError {
  const isWhole = line.endsWith("\n");
  return new VerifyError({
    file: name,
    chain: appId,
    height: before.height + 1,
    field: isWhole ? firstBadMember(line.slice(0, -1)) : "end",
    message: "has another form than specified",
  });
}
