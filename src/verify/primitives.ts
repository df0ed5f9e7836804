/**
 * The three primitives everything rests on. SHA-256 and HMAC may be handed in (a command line has
 * native ones, many times faster); Ed25519 is always @noble, with its strict rules: no signature
 * or key that is not canonical, no key of small order.
 */
import { verifyAsync } from "@noble/ed25519";
import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { utf8 } from "./encoding.ts";

export interface Hashing {
  /** @returns 32 bytes. */
  sha256(data: Uint8Array): Uint8Array;
  /** The same as 64 lowercase hex digits: the runtime's own makes them faster than its bytes. */
  sha256Hex(data: Uint8Array): string;
  /** @returns 32 bytes. */
  hmacSha256(key: Uint8Array, data: Uint8Array): Uint8Array;
}

/** In JavaScript, anywhere. */
export const NOBLE: Hashing = {
  sha256,
  sha256Hex: (data) => bytesToHex(sha256(data)),
  hmacSha256: (key, data) => hmac(sha256, key, data),
};

/** @returns false for anything but a signature over exactly this message by exactly this key. */
export async function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (publicKey.byteLength !== 32 || signature.byteLength !== 64) return false;
  try {
    return await verifyAsync(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

/** The key of a tenant's MAC chain. @param hmacSecret 64 hex digits, as they were shown. */
export function macKey(hmacSecret: string): Uint8Array {
  return hkdf(sha256, utf8(hmacSecret), undefined, utf8("svc/audit-chain/v1"), 32);
}

/** First 16 hex digits of SHA-256 of the public key in SPKI DER form (RFC 8410). */
export const SPKI_PREFIX = Uint8Array.of(48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0);
