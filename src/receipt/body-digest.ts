/**
 * The two digests of a response body: its hash, which the row and the attestation carry, and the
 * tenant's signature over it, `X-Svc-Signature`. Frozen: see FORMAT.md.
 */
import { HmacSha256, hmacSha256Hex, Sha256 } from "../crypto/hash.ts";

/**
 * @param hmacSecret the tenant's secret as it was shown: 64 hex digits, whose UTF-8 bytes are the
 *   key.
 * @returns 64 lowercase hex digits.
 */
export function signResponse(hmacSecret: string, body: Uint8Array): string {
  return hmacSha256Hex(hmacSecret, body);
}

/** Both digests over a body that is sent in pieces. */
export class BodyDigest {
  readonly #hash = new Sha256();
  readonly #hmac: HmacSha256 | null;

  /** @param hmacSecret null where no tenant is known: then there is no signature. */
  constructor(hmacSecret: string | null) {
    this.#hmac = hmacSecret === null ? null : new HmacSha256(hmacSecret);
  }

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#hmac?.update(bytes);
  }

  finish(): { readonly bodyHash: string; readonly signature: string | null } {
    return { bodyHash: this.#hash.digestHex(), signature: this.#hmac?.digestHex() ?? null };
  }
}
