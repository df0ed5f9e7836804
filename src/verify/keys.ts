/** The root key and the chain of attestation keys that it certified. */
import { concat, fromBase64Url, fromHex, utf8 } from "./encoding.ts";
import { HASH, KID, parseMembers, REV, ZERO_HASH } from "./fields.ts";
import { check, type Finding } from "./finding.ts";
import { type Hashing, SPKI_PREFIX, verifyEd25519 } from "./primitives.ts";

export interface AttestationKey {
  readonly kid: string;
  readonly publicKey: Uint8Array;
  /** Unix milliseconds; in use from here until the next key's. */
  readonly notBefore: number;
  /** SHA-256 of its record, hex. */
  readonly recordHash: string;
}

export interface KeyChain {
  readonly rootKid: string;
  /** `svc.local/<root kid>`: under this name checkpoints are signed. */
  readonly origin: string;
  readonly keys: readonly AttestationKey[];
}

const RECORD = {
  kid: KID,
  n: "whole",
  not_before: "whole",
  prev: HASH,
  public_key: HASH,
  rev: REV,
  root_kid: KID,
  t: { is: "svc.key" },
  v: { is: 1 },
} as const;

/** @param rootText the file `root.pub`. @param keysText the file `keys.txt`. */
export async function verifyKeys(
  hashing: Hashing,
  rootText: string,
  keysText: string,
): Promise<KeyChain> {
  const rootHex = /^([0-9a-f]{64})\n$/.exec(rootText)?.[1];
  const message = "is not 64 hexadecimal digits and a newline";
  check(rootHex !== undefined, { file: "root.pub", field: "form", message });
  const root = fromHex(rootHex);
  const rootKid = keyId(hashing, root);
  const lines = keysText.split("\n");
  const keys: AttestationKey[] = [];
  const end = lines.pop();
  const where = (n: number, field: string, text: string): Finding => ({
    file: "keys.txt",
    n,
    field,
    message: text,
  });
  check(end === "" && lines.length > 0, where(0, "form", "does not end with a whole record"));
  for (const [index, line] of lines.entries()) {
    const n = index + 1;
    const parts = /^([A-Za-z0-9_-]{86}) (\{.*\})$/.exec(line);
    check(parts !== null, where(n, "form", "is not a signature and a record"));
    const [, signatureText = "", record = ""] = parts;
    const members = parseMembers(record, RECORD, { file: "keys.txt", n });
    const before = keys.at(-1);
    check(members.n === n, where(n, "n", "is out of place"));
    check(members.root_kid === rootKid, {
      ...where(n, "root_kid", "names another root key than root.pub holds"),
      expected: rootKid,
      found: members.root_kid,
    });
    const prev = before?.recordHash ?? ZERO_HASH;
    check(members.prev === prev, where(n, "prev", "is not the hash of the record before"));
    const publicKey = fromHex(members.public_key);
    const kid = keyId(hashing, publicKey);
    check(members.kid === kid, where(n, "kid", "does not belong to the public key"));
    const isLater = members.not_before >= (before?.notBefore ?? 0);
    check(isLater, where(n, "not_before", "is older than the record before"));
    const signature = fromBase64Url(signatureText);
    const isCertified = signature !== null && (await verifyEd25519(root, utf8(record), signature));
    check(isCertified, where(n, "signature", "is not the root key's signature over the record"));
    const recordHash = hashing.sha256Hex(utf8(record));
    keys.push({ kid, publicKey, notBefore: members.not_before, recordHash });
  }
  return { rootKid, origin: `svc.local/${rootKid}`, keys };
}

/** The key of this id, if it was in use at that time: bounds included, both being milliseconds. */
export function keyInUse(chain: KeyChain, kid: string, ms: number): AttestationKey | null {
  const index = chain.keys.findIndex((key) => key.kid === kid);
  const key = chain.keys[index];
  if (key === undefined || ms < key.notBefore) return null;
  const next = chain.keys[index + 1];
  return next === undefined || ms <= next.notBefore ? key : null;
}

function keyId(hashing: Hashing, publicKey: Uint8Array): string {
  return hashing.sha256Hex(concat(SPKI_PREFIX, publicKey)).slice(0, 16);
}
