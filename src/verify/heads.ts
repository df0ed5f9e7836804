/** The signed head of each chain, and the leaves that checkpoints took of it. */
import type { Checkpoint } from "./checkpoints.ts";
import {
  canonicalJson,
  fromBase64,
  fromBase64Url,
  type JsonValue,
  parseCanonicalObject,
  textOf,
  utf8,
} from "./encoding.ts";
import { DATE, HASH, KID, parseMembers, SIGNATURE, TENANT_ID } from "./fields.ts";
import { check, type Finding } from "./finding.ts";
import { type KeyChain, keyInUse } from "./keys.ts";
import { leafHash, verifyInclusion } from "./merkle.ts";
import { type Hashing, verifyEd25519 } from "./primitives.ts";

/** What a chain's rows have to lead to. */
export interface ChainClaim {
  readonly appId: string;
  readonly tenantId: string;
  readonly height: number;
  /** Hex. */
  readonly headHash: string;
  readonly asOf: string;
  /** Ascending by height. */
  readonly leaves: readonly CoveredHead[];
}

/** A height that a checkpoint has. */
interface CoveredHead {
  readonly height: number;
  readonly headHash: string;
  /** The checkpoint that added the leaf. */
  readonly checkpoint: Checkpoint;
}

const HEAD = {
  as_of: DATE,
  attestation_kid: KID,
  head_hash: HASH,
  height: "whole",
  signature: SIGNATURE,
  tenant_id: TENANT_ID,
} as const;

export interface HeadContext {
  readonly hashing: Hashing;
  readonly keys: KeyChain;
  readonly checkpoints: readonly Checkpoint[];
}

/** @param file `heads/<app id>.jsonl`. */
export async function verifyHeadFile(
  context: HeadContext,
  file: string,
  appId: string,
  bytes: Uint8Array,
): Promise<ChainClaim> {
  const where = { file, chain: appId };
  const lines = (textOf(bytes) ?? "").split("\n");
  const isWhole = lines.pop() === "" && lines.length > 0;
  check(isWhole, { ...where, field: "form", message: "does not end with a whole line" });
  const [first = "", ...leafLines] = lines;
  const head = parseMembers(first, HEAD, where);
  const asOfMs = Date.parse(head.as_of);
  const key = keyInUse(context.keys, head.attestation_kid, asOfMs);
  const keyMessage = "names a key that was not in use at as_of";
  check(key !== null, { ...where, field: "attestation_kid", message: keyMessage });
  const signed = `${head.tenant_id}${head.head_hash}${head.height}${head.as_of}`;
  const signature = fromBase64Url(head.signature);
  const isSigned =
    signature !== null && (await verifyEd25519(key.publicKey, utf8(signed), signature));
  check(isSigned, { ...where, field: "signature", message: "does not sign the head" });

  const leaves: CoveredHead[] = [];
  let previousLeaf = -1;
  for (const line of leafLines) {
    const before = leaves.at(-1)?.height ?? 0;
    const leaf = verifyLeaf(context, { ...where, height: before + 1 }, head.tenant_id, line);
    const isLater = leaf.index > previousLeaf && leaf.covered.height > before;
    check(isLater, { ...where, field: "leaf", message: "is not in order" });
    check(leaf.covered.height <= head.height, {
      ...where,
      field: "height",
      message: "a checkpoint has a longer chain than the head says",
    });
    previousLeaf = leaf.index;
    leaves.push(leaf.covered);
  }
  const { tenant_id: tenantId, height, head_hash: headHash, as_of: asOf } = head;
  return { appId, tenantId, height, headHash, asOf, leaves };
}

function verifyLeaf(
  context: HeadContext,
  where: Omit<Finding, "message" | "field"> & { readonly chain: string },
  tenantId: string,
  line: string,
): { readonly index: number; readonly covered: CoveredHead } {
  const members = parseCanonicalObject(line) ?? {};
  const { head_hash: headHash, height, leaf, proof } = members;
  const isForm =
    Object.keys(members).length === 4 &&
    typeof headHash === "string" &&
    HASH.test(headHash) &&
    isWhole(height) &&
    isWhole(leaf) &&
    Array.isArray(proof);
  check(isForm, { ...where, field: "leaf", message: "has another form than specified" });
  const hashes = proof.map((text: JsonValue) =>
    typeof text === "string" ? fromBase64(text) : null,
  );
  const data = canonicalJson({
    app_id: where.chain,
    head_hash: headHash,
    height,
    tenant_id: tenantId,
  });
  const latest = context.checkpoints.at(-1);
  const isProven =
    latest !== undefined &&
    hashes.every((hash: Uint8Array | null) => hash?.byteLength === 32) &&
    verifyInclusion(
      context.hashing,
      { hash: leafHash(context.hashing, utf8(data)), index: leaf },
      { size: latest.treeSize, root: latest.treeRoot },
      hashes as Uint8Array[],
    );
  const message = "is not proven to be in the newest checkpoint";
  check(isProven, { ...where, height, field: "proof", message });
  // The checkpoint that added the leaf is the first whose tree reaches past it.
  const checkpoint = firstReaching(context.checkpoints, leaf);
  check(checkpoint !== undefined, { ...where, height, field: "leaf", message });
  return { index: leaf, covered: { height, headHash, checkpoint } };
}

function firstReaching(checkpoints: readonly Checkpoint[], leaf: number): Checkpoint | undefined {
  let low = 0;
  let high = checkpoints.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((checkpoints[middle]?.treeSize ?? 0) > leaf) high = middle;
    else low = middle + 1;
  }
  return checkpoints[low];
}

function isWhole(value: JsonValue | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
