/**
 * The files of one checkpoint: the same in a tenant's export and as anyone can fetch them, so that
 * stock tools (`ots`, `openssl ts`, note verifiers) take them. Frozen: see FORMAT.md, "Exports".
 */
import { utf8Encode } from "../bytes/utf8.ts";
import type { Checkpoint } from "./checkpoint-record.ts";
import type { Checkpoints } from "./checkpoints.ts";

export interface CheckpointFilesDeps {
  readonly checkpoints: Checkpoints;
  /** Proofs of a checkpoint's time, by file extension: `ots`, `tsr`; pending ones included. */
  readonly anchorFiles: (checkpointN: number) => ReadonlyMap<string, Uint8Array>;
}

interface CheckpointFile {
  /** `00000001.json`, and so on. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** @param before the checkpoint before; null for the first. */
export function* checkpointFiles(
  { checkpoints, anchorFiles }: CheckpointFilesDeps,
  checkpoint: Checkpoint,
  before: Checkpoint | null,
): Generator<CheckpointFile> {
  const name = String(checkpoint.n).padStart(8, "0");
  yield { name: `${name}.json`, bytes: checkpoint.record };
  yield { name: `${name}.note`, bytes: utf8Encode(checkpoint.note) };
  const oldSize = before?.treeSize ?? 0;
  if (oldSize > 0 && checkpoint.treeSize > oldSize) {
    const proof = checkpoints.tree.consistencyProof(oldSize, checkpoint.treeSize);
    const lines = proof.map((hash) => `${Buffer.from(hash).toString("base64")}\n`);
    yield { name: `${name}.consistency`, bytes: utf8Encode(lines.join("")) };
  }
  for (const [extension, bytes] of anchorFiles(checkpoint.n)) {
    yield { name: `${name}.json.${extension}`, bytes };
  }
}

const FILE_NAME = /^(\d{8})\.(?:json|note|consistency|json\.ots|json\.tsr)$/;

/** @returns null where no checkpoint has such a file. */
export function findCheckpointFile(deps: CheckpointFilesDeps, name: string): Uint8Array | null {
  const n = Number(FILE_NAME.exec(name)?.[1] ?? 0);
  const found = deps.checkpoints.from(Math.max(1, n - 1), 2);
  const checkpoint = found.find((each) => each.n === n);
  if (checkpoint === undefined) return null;
  const before = found.find((each) => each.n === n - 1) ?? null;
  for (const file of checkpointFiles(deps, checkpoint, before)) {
    if (file.name === name) return file.bytes;
  }
  return null;
}
