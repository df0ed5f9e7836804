/** What the anchors beside a checkpoint prove about its age. */
import type { Checkpoint } from "./checkpoints.ts";
import { fromHex } from "./encoding.ts";
import { check, VerifyError } from "./finding.ts";
import { readTimestamp, TimestampError } from "./opentimestamps.ts";
import type { Hashing } from "./primitives.ts";
import { opensslCommand, readToken, TokenError } from "./rfc3161.ts";

/** One proof of a checkpoint's age, in words, and what remains for its reader to check. */
export interface AnchorReport {
  readonly n: number;
  readonly kind: "ots" | "rfc3161";
  readonly state: "pending" | "confirmed" | "not checked";
  readonly statement: string;
}

/**
 * @param file the proof's name, which ends in `.ots` or `.tsr`.
 * @param blockRoots Merkle roots of Bitcoin blocks by height, as explorers print them; from the
 *   caller's own source.
 * @throws VerifyError when the proof is not about this checkpoint, or contradicts a given block.
 */
export function readAnchor(
  hashing: Hashing,
  checkpoint: Checkpoint,
  file: string,
  bytes: Uint8Array,
  blockRoots: ReadonlyMap<number, string>,
): AnchorReport[] {
  const digest = fromHex(checkpoint.recordHash);
  const { n } = checkpoint;
  try {
    if (file.endsWith(".ots")) return readOts(hashing, n, file, { bytes, digest }, blockRoots);
    const token = readToken(bytes, digest);
    const statement =
      `the authority says ${token.genTime}; signature: not checked; ` +
      opensslCommand(file.replace(/\.tsr$/, ""), file);
    return [{ n, kind: "rfc3161", state: "not checked", statement }];
  } catch (error) {
    if (!(error instanceof TimestampError || error instanceof TokenError)) throw error;
    throw new VerifyError({ file, n, field: "proof", message: error.message }, { cause: error });
  }
}

function readOts(
  hashing: Hashing,
  n: number,
  file: string,
  proof: { readonly bytes: Uint8Array; readonly digest: Uint8Array },
  blockRoots: ReadonlyMap<number, string>,
): AnchorReport[] {
  const reports: AnchorReport[] = [];
  for (const end of readTimestamp(hashing, proof.bytes, proof.digest)) {
    if (end.kind === "pending") {
      const statement = `promised by the calendar ${end.uri}`;
      reports.push({ n, kind: "ots", state: "pending", statement });
    } else if (end.kind === "bitcoin") {
      const { height, merkleRoot } = end;
      const root = blockRoots.get(height);
      const expected = merkleRoot;
      const message = `Bitcoin block ${height} has another Merkle root`;
      const agrees = root === undefined || root === merkleRoot;
      check(agrees, { file, n, field: "block", message, expected, found: root ?? "" });
      const state = root === undefined ? "not checked" : "confirmed";
      const condition = root === undefined ? `, if its Merkle root is ${merkleRoot}` : "";
      const statement = `existed before Bitcoin block ${height}${condition}`;
      reports.push({ n, kind: "ots", state, statement });
    }
  }
  return reports;
}
