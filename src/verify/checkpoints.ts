/** The chain of checkpoints: records, notes, and that each tree of heads continues the last. */
import { fromBase64, fromHex, textOf, toBase64, toHex, utf8 } from "./encoding.ts";
import { HASH, KID, parseMembers, REV, ZERO_HASH } from "./fields.ts";
import { check } from "./finding.ts";
import { type AttestationKey, type KeyChain, keyInUse } from "./keys.ts";
import { verifyConsistency } from "./merkle.ts";
import { verifyNote } from "./note.ts";
import type { Hashing } from "./primitives.ts";

export interface Checkpoint {
  readonly n: number;
  /** Unix milliseconds. */
  readonly captureTs: number;
  readonly treeSize: number;
  readonly treeRoot: Uint8Array;
  /** SHA-256 of the record, hex: the global head. */
  readonly recordHash: string;
  /** The key that signed its note. */
  readonly key: AttestationKey;
}

const RECORD = {
  capture_ts: "whole",
  keys: "whole",
  keys_head: HASH,
  kid: KID,
  n: "whole",
  origin: /^svc\.local\/[0-9a-f]{16}$/,
  partitions: "whole",
  prev: HASH,
  rev: REV,
  t: { is: "svc.checkpoint" },
  tree_root: HASH,
  tree_size: "whole",
  v: { is: 1 },
} as const;

const HOUR_MS = 3_600_000;

/** Takes the files of the folder `checkpoints` in order. */
export class CheckpointChain {
  readonly checkpoints: Checkpoint[] = [];
  readonly #hashing: Hashing;
  readonly #keys: KeyChain;
  /** What the newest record still needs before the next one may come. */
  #missing: { note: boolean; consistency: boolean } = { note: false, consistency: false };

  constructor(hashing: Hashing, keys: KeyChain) {
    this.#hashing = hashing;
    this.#keys = keys;
  }

  get latest(): Checkpoint | null {
    return this.checkpoints.at(-1) ?? null;
  }

  /** @returns the number and kind that a file's name says; null for a name of another form. */
  static parseName(name: string): { readonly n: number; readonly kind: string } | null {
    const match = /^checkpoints\/(\d{8})\.(json|note|consistency|json\.ots|json\.tsr)$/.exec(name);
    return match === null ? null : { n: Number(match[1]), kind: match[2] ?? "" };
  }

  record(file: string, n: number, bytes: Uint8Array): void {
    this.assertComplete(file);
    const before = this.latest;
    const members = parseMembers(textOf(bytes) ?? "", RECORD, { file, n });
    const demand = (condition: boolean, field: string, message: string): void =>
      check(condition, { file, n, field, message });
    demand(n === (before?.n ?? 0) + 1 && members.n === n, "n", "is out of place");
    demand(members.prev === (before?.recordHash ?? ZERO_HASH), "prev", "is another record's hash");
    const isLater = hourOf(members.capture_ts) > hourOf(before?.captureTs ?? -HOUR_MS);
    demand(isLater, "capture_ts", "is not in a later hour than the checkpoint before");
    demand(members.origin === this.#keys.origin, "origin", "does not belong to the root key");
    const newestKey = this.#keys.keys[members.keys - 1];
    demand(newestKey !== undefined, "keys", "counts more keys than there are");
    demand(newestKey?.recordHash === members.keys_head, "keys_head", "is another key history");
    const key = keyInUse(this.#keys, members.kid, members.capture_ts);
    const message = "is not the newest key, in use at that time";
    check(key !== null && key === newestKey, { file, n, field: "kid", message });
    const { tree_size: treeSize } = members;
    const oldSize = before?.treeSize ?? 0;
    demand(treeSize >= oldSize, "tree_size", "is smaller than before");
    demand(members.partitions <= treeSize, "partitions", "counts more chains than heads");
    const treeRoot = fromHex(members.tree_root);
    if (treeSize === oldSize) {
      const same = toHex(before?.treeRoot ?? this.#hashing.sha256(utf8("")));
      demand(members.tree_root === same, "tree_root", "changed although no head was added");
    }
    const recordHash = this.#hashing.sha256Hex(bytes);
    const captureTs = members.capture_ts;
    this.checkpoints.push({ n, captureTs, treeSize, treeRoot, recordHash, key });
    this.#missing = { note: true, consistency: oldSize > 0 && treeSize > oldSize };
  }

  async note(file: string, n: number, bytes: Uint8Array): Promise<void> {
    const checkpoint = this.#awaiting(file, n, this.#missing.note);
    const { origin } = this.#keys;
    const text =
      `${origin}\n${checkpoint.treeSize}\n${toBase64(checkpoint.treeRoot)}\n` +
      `svc-checkpoint ${n} ${checkpoint.recordHash}\n`;
    const { publicKey } = checkpoint.key;
    const note = textOf(bytes) ?? "";
    const isSigned = await verifyNote(this.#hashing, note, { text, keyName: origin, publicKey });
    const message = "is not the checkpoint's text with its key's signature";
    check(isSigned, { file, n, field: "note", message });
    this.#missing.note = false;
  }

  consistency(file: string, n: number, bytes: Uint8Array): void {
    const second = this.#awaiting(file, n, this.#missing.consistency);
    const first = this.checkpoints.at(-2);
    const proof = parseHashLines(textOf(bytes) ?? "");
    const isProven =
      first !== undefined &&
      proof !== null &&
      verifyConsistency(
        this.#hashing,
        { size: first.treeSize, root: first.treeRoot },
        { size: second.treeSize, root: second.treeRoot },
        proof,
      );
    const message = "does not prove that the tree of heads continues the one before";
    check(isProven, { file, n, field: "consistency", message });
    this.#missing.consistency = false;
  }

  /** @throws VerifyError when the newest record's note or proof has not come. */
  assertComplete(file: string): void {
    const n = this.latest?.n ?? 0;
    const field = this.#missing.note ? "note" : "consistency";
    const isComplete = !this.#missing.note && !this.#missing.consistency;
    check(isComplete, { file, n, field, message: "is missing before this file" });
  }

  #awaiting(file: string, n: number, isAwaited: boolean): Checkpoint {
    const { latest } = this;
    const isInPlace = isAwaited && latest?.n === n;
    check(isInPlace, { file, n, field: "name", message: "is out of place" });
    return latest;
  }
}

/** @returns null unless every line is the base64 of 32 bytes. */
function parseHashLines(text: string): Uint8Array[] | null {
  const lines = text.split("\n");
  if (lines.pop() !== "") return null;
  const hashes = lines.map((line) => fromBase64(line));
  return hashes.every((hash) => hash?.byteLength === 32) ? (hashes as Uint8Array[]) : null;
}

function hourOf(captureTs: number): number {
  return Math.floor(captureTs / HOUR_MS);
}
