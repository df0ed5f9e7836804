/** The bytes of a checkpoint: its record, the leaves of the tree of heads, its note. Frozen. */
import { canonicalJsonBytes } from "../bytes/canonical-json.ts";

/** A stored checkpoint. */
export interface Checkpoint {
  readonly n: number;
  /** Unix milliseconds. */
  readonly captureTs: number;
  /** Leaves in the tree of heads, this checkpoint's included. */
  readonly treeSize: number;
  /** The record's bytes. */
  readonly record: Uint8Array;
  /** 32 bytes. */
  readonly recordHash: Uint8Array;
  readonly note: string;
}

export interface CheckpointFacts {
  /** 1 for the first. */
  readonly n: number;
  /** Unix milliseconds at which the heads were captured. */
  readonly captureTs: number;
  /** SHA-256 of the record before, hex; 64 zeros before the first. */
  readonly prev: string;
  /** Chains that had a row. */
  readonly partitions: number;
  /** Leaves in the tree of heads, this checkpoint's included. */
  readonly treeSize: number;
  /** Hex. */
  readonly treeRoot: string;
  /** How many attestation keys there had been, and the hash of the newest one's record. */
  readonly keys: { readonly count: number; readonly hash: string };
  /** The attestation key that signs the note. */
  readonly kid: string;
  readonly origin: string;
  readonly rev: string;
}

export function checkpointRecord(facts: CheckpointFacts): Uint8Array {
  return canonicalJsonBytes({
    capture_ts: facts.captureTs,
    keys: facts.keys.count,
    keys_head: facts.keys.hash,
    kid: facts.kid,
    n: facts.n,
    origin: facts.origin,
    partitions: facts.partitions,
    prev: facts.prev,
    rev: facts.rev,
    t: "svc.checkpoint",
    tree_root: facts.treeRoot,
    tree_size: facts.treeSize,
    v: 1,
  });
}

/** What a leaf of the tree of heads says: where one chain ends. */
export function headLeafData(head: {
  readonly tenantId: string;
  readonly appId: string;
  readonly height: number;
  /** Hex. */
  readonly headHash: string;
}): Uint8Array {
  return canonicalJsonBytes({
    app_id: head.appId,
    head_hash: head.headHash,
    height: head.height,
    tenant_id: head.tenantId,
  });
}

/**
 * The text of the C2SP checkpoint (https://c2sp.org/tlog-checkpoint), with one extension line that
 * puts the whole record under the same signature.
 * @param treeRoot 32 bytes. @param recordHash hex.
 */
export function checkpointNoteText(note: {
  readonly origin: string;
  readonly treeSize: number;
  readonly treeRoot: Uint8Array;
  readonly n: number;
  readonly recordHash: string;
}): string {
  const root = Buffer.from(note.treeRoot).toString("base64");
  return `${note.origin}\n${note.treeSize}\n${root}\nsvc-checkpoint ${note.n} ${note.recordHash}\n`;
}

/** Checkpoints are one an hour: the whole hours since 1970 that this time falls in. */
export function hourOf(captureTs: number): number {
  return Math.floor(captureTs / 3_600_000);
}
