/**
 * The MAC chain beside the hash chain: only the tenant and the service can continue it, so rows
 * that someone else rewrote, hashes and all, do not pass. Frozen: see FORMAT.md.
 */
import { utf8Encode } from "../bytes/utf8.ts";
import { hmacSha256 } from "../crypto/hash.ts";
import { hkdfSha256 } from "../crypto/hkdf.ts";

export const ZERO_MAC: Uint8Array = new Uint8Array(32);

/** The key of a tenant's MAC chain; never the one that signs responses. */
function macKey(hmacSecret: string): Uint8Array {
  return hkdfSha256(utf8Encode(hmacSecret), "svc/audit-chain/v1");
}

/** @param previous the row before's MAC; 32 zero bytes for the first row of a chain or epoch. */
export function rowMac(key: Uint8Array, previous: Uint8Array, rowHash: Uint8Array): Uint8Array {
  const message = new Uint8Array(64);
  message.set(previous);
  message.set(rowHash, 32);
  return hmacSha256(key, message);
}

/** The MAC keys of all tenants, derived once each. */
export class MacKeys {
  readonly #secrets: Secrets;
  readonly #keys = new Map<string, Uint8Array>();

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** The epoch that new rows of a tenant belong to. */
  currentEpoch(tenantId: string): number {
    return this.#secrets.currentSecret(tenantId).epoch;
  }

  /** @returns null when the tenant never had such an epoch. */
  keyOf(tenantId: string, epoch: number): Uint8Array | null {
    const name = `${tenantId}/${epoch}`;
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const secret = this.#secrets.secretOfEpoch(tenantId, epoch);
    if (secret === null) return null;
    const key = macKey(secret);
    this.#keys.set(name, key);
    return key;
  }
}

/** Where HMAC secrets come from. */
export interface Secrets {
  currentSecret(tenantId: string): { readonly epoch: number };
  secretOfEpoch(tenantId: string, epoch: number): string | null;
}
