/**
 * Follows the rows of every chain: bytes, hashes, links, MACs, times, and what heads, checkpoints
 * and the caller's own memory say about them.
 */
import { concat, fromHex, latin1, toHex } from "./encoding.ts";
import { ZERO_HASH } from "./fields.ts";
import { check, type Finding, VerifyError } from "./finding.ts";
import { Fingerprints, textHash } from "./fingerprints.ts";
import type { ChainClaim } from "./heads.ts";
import type { FileEntry } from "./manifest.ts";
import type { Hashing } from "./primitives.ts";
import { firstBadMember, ROW_OFFSET, RowReader, type RowText } from "./row-pattern.ts";

export interface RowsOptions {
  readonly hashing: Hashing;
  /** The tenant's MAC keys; the first belongs to epoch 1. Empty: MACs are not checked. */
  readonly macKeys: readonly Uint8Array[];
  /** Heads that the caller remembers, by app id: each must be the row at its height. */
  readonly heldHeads: ReadonlyMap<string, ReadonlyMap<number, string>>;
  /** Called with each row whose hash is among `wantedHashes`. */
  readonly onWanted: (row: RowText) => void;
  readonly wantedHashes: ReadonlySet<string>;
  /** The capture time of the newest checkpoint, Unix milliseconds; rows after it are uncovered. */
  readonly newestCaptureTs: number;
  /** The capture time of the checkpoint before the one with this number; 0 for the first. */
  readonly captureTsBefore: (n: number) => number;
}

export class RowsVerifier {
  /** Rows that passed, over all chains. */
  count = 0;
  readonly #options: RowsOptions;
  readonly #requestIds = new Fingerprints();
  readonly #outputs = new Fingerprints();
  /** The engine of the last row, and its hash: neighbours mostly share it. */
  #engine = { name: "", hash: 0 };
  #chain: ChainState | null = null;

  constructor(options: RowsOptions) {
    this.#options = options;
  }

  /** Whether doubled request ids and unequal outputs were looked for among all rows. */
  get comparedAll(): boolean {
    return !this.#requestIds.isFull && !this.#outputs.isFull;
  }

  beginChain(claim: ChainClaim): void {
    this.#chain = new ChainState(claim);
  }

  /** Rows of the current chain so far. */
  get height(): number {
    return this.#chain?.height ?? 0;
  }

  /**
   * Takes the next file of the current chain.
   * @returns what the manifest should say about it.
   * @throws VerifyError
   */
  file(name: string, bytes: Uint8Array): FileEntry {
    const chain = this.#chain;
    if (chain === null) throw new Error("a file of rows came before its chain");
    const { hashing } = this.#options;
    const text = latin1(bytes);
    const reader = new RowReader(text);
    let hashes = "";
    let rows = 0;
    while (!reader.isAtEnd) {
      const start = reader.offset;
      const row = reader.next();
      if (row === null) throw malformed(name, chain, text, start);
      const bodyEnd = reader.offset - 1;
      const hash = hashing.sha256Hex(bytes.subarray(start + ROW_OFFSET, bodyEnd));
      this.#row(name, chain, row, hash);
      hashes += row.hash;
      hashes += row.mac;
      rows += 1;
    }
    const digest = hashing.sha256Hex(fromHex(hashes));
    return { name, size: bytes.byteLength, rows, digest };
  }

  /** Ends the current chain. @throws VerifyError unless the rows lead to the signed head. */
  endChain(): void {
    const chain = this.#chain;
    if (chain === null) return;
    const { appId, height, headHash } = chain.claim;
    const where = { file: `heads/${appId}.jsonl`, chain: appId, height };
    check(chain.height === height, {
      ...where,
      field: "height",
      message: "the rows end elsewhere",
      expected: String(height),
      found: String(chain.height),
    });
    const message = "is not the last row's hash";
    check(chain.hash === headHash, { ...where, field: "head_hash", message });
    for (const [held, hash] of this.#options.heldHeads.get(appId) ?? []) {
      check(held <= height, {
        ...where,
        height: held,
        field: "held head",
        message: "the chain was longer when this head was seen",
        expected: hash,
      });
    }
    this.#chain = null;
  }

  #row(file: string, chain: ChainState, row: RowText, hash: string): void {
    const seq = chain.height + 1;
    const ts = Number(row.ts);
    if (hash !== row.hash) {
      throw chain.broken(file, "row_hash", "is not the hash of the row", hash, row.hash);
    }
    if (row.seq !== String(seq)) {
      throw chain.broken(file, "seq", "is out of place", String(seq), row.seq);
    }
    if (row.prev !== chain.hash) {
      throw chain.broken(file, "prev_hash", "is not the row before", chain.hash, row.prev);
    }
    const { claim } = chain;
    if (row.app !== claim.appId) {
      throw chain.broken(file, "app_id", "is another chain's", claim.appId, row.app);
    }
    if (row.tenant !== claim.tenantId) {
      throw chain.broken(file, "tenant_id", "is another tenant's", claim.tenantId, row.tenant);
    }
    if (!(ts >= chain.ts)) {
      throw chain.broken(file, "ts", "is older than the row before", String(chain.ts), row.ts);
    }
    this.#mac(file, chain, row);
    this.#coverage(file, chain, row, ts);
    this.#others(file, chain, row);
    chain.advance(hash, ts);
    this.count += 1;
  }

  #mac(file: string, chain: ChainState, row: RowText): void {
    const { hashing, macKeys } = this.#options;
    if (macKeys.length === 0) return;
    const epoch = Number(row.epoch);
    const key = macKeys[epoch - 1];
    if (key === undefined) {
      throw chain.broken(file, "mac_epoch", "has no secret", `1 to ${macKeys.length}`, row.epoch);
    }
    const before = epoch === chain.macEpoch ? chain.mac : new Uint8Array(32);
    const mac = hashing.hmacSha256(key, concat(before, fromHex(row.hash)));
    const expected = toHex(mac);
    if (expected !== row.mac) {
      throw chain.broken(file, "row_mac", "is not what the secret makes", expected, row.mac);
    }
    chain.mac = mac;
    chain.macEpoch = epoch;
  }

  /** What checkpoints and the caller's memory say about this height. */
  #coverage(file: string, chain: ChainState, row: RowText, ts: number): void {
    const seq = chain.height + 1;
    const leaf = chain.claim.leaves[chain.leafIndex];
    if (leaf === undefined) {
      if (ts < this.#options.newestCaptureTs) {
        const message = "is older than the newest checkpoint, which does not have the row";
        throw chain.broken(file, "ts", message, `>= ${this.#options.newestCaptureTs}`, row.ts);
      }
    } else {
      const from = this.#options.captureTsBefore(leaf.checkpoint.n);
      const to = leaf.checkpoint.captureTs;
      if (ts < from || ts > to) {
        const message = `does not fit the first checkpoint that has the row, ${leaf.checkpoint.n}`;
        throw chain.broken(file, "ts", message, `${from} to ${to}`, row.ts);
      }
      if (leaf.height === seq) {
        if (leaf.headHash !== row.hash) {
          const message = `is not the head that checkpoint ${leaf.checkpoint.n} has`;
          throw chain.broken(file, "row_hash", message, leaf.headHash, row.hash);
        }
        chain.leafIndex += 1;
      }
    }
    const held = this.#options.heldHeads.get(chain.claim.appId)?.get(seq);
    if (held !== undefined && held !== row.hash) {
      const message = "is not the head that was seen at this height: the chain was forked";
      throw chain.broken(file, "row_hash", message, held, row.hash);
    }
  }

  /** What other rows, and saved responses, say about this one. */
  #others(file: string, chain: ChainState, row: RowText): void {
    const { request } = row;
    // Two hashes over different parts: together 64 bits where ids differ.
    const low = textHash(request, 0x811c9dc5);
    const high = textHash(request.slice(-16), 0x9747b28c) || 1;
    if (this.#requestIds.add(low, high, this.count) !== this.count) {
      throw chain.broken(file, "request_id", "occurs twice", "one row a call", request);
    }
    if (row.deterministic === "true" && row.output !== "null") {
      const output = hexWord(row.output, 1);
      const first = this.#firstOutput(row, output);
      if (first !== output) {
        const message = "differs from that of an equal call to the same engine";
        throw chain.broken(file, "output_hash", message, wordHex(first), wordHex(output));
      }
    }
    if (this.#options.wantedHashes.has(row.hash)) this.#options.onWanted(row);
  }

  /** The first 32 bits of the output that this engine first gave for this input. */
  #firstOutput({ engine, input }: RowText, output: number): number {
    if (engine !== this.#engine.name) {
      this.#engine = { name: engine, hash: textHash(engine, 0x811c9dc5) };
    }
    // The input's hash is as good as random: 64 of its bits will do, mixed with the engine's.
    const low = hexWord(input, 0);
    const high = (hexWord(input, 8) ^ this.#engine.hash) >>> 0 || 1;
    return this.#outputs.add(low, high, output);
  }
}

/** The 32 bits of eight lowercase hex digits, four times as fast as `parseInt` (measured). */
function hexWord(text: string, at: number): number {
  let word = 0;
  for (let index = at; index < at + 8; index++) {
    const code = text.charCodeAt(index);
    word = (word << 4) | (code < 58 ? code - 48 : code - 87);
  }
  return word >>> 0;
}

function wordHex(word: number): string {
  return word.toString(16).padStart(8, "0");
}

/** Where the following of one chain stands. */
class ChainState {
  readonly claim: ChainClaim;
  height = 0;
  hash = ZERO_HASH;
  ts = 0;
  mac: Uint8Array = new Uint8Array(32);
  macEpoch = 0;
  /** The first leaf at this height or above it. */
  leafIndex = 0;

  constructor(claim: ChainClaim) {
    this.claim = claim;
  }

  advance(hash: string, ts: number): void {
    this.height += 1;
    this.hash = hash;
    this.ts = ts;
  }

  broken(
    file: string,
    field: string,
    message: string,
    expected: string,
    found: string,
  ): VerifyError {
    const place = { file, chain: this.claim.appId, height: this.height + 1 };
    return new VerifyError({ ...place, field, message, expected, found });
  }
}

function malformed(file: string, chain: ChainState, text: string, start: number): VerifyError {
  const newline = text.indexOf("\n", start);
  const line = text.slice(start, newline === -1 ? text.length : newline);
  const place: Finding = {
    file,
    chain: chain.claim.appId,
    height: chain.height + 1,
    field: newline === -1 ? "end" : firstBadMember(line),
    message: "has another form than specified",
  };
  return new VerifyError(place);
}
