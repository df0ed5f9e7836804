/** SHA-256 and SHA-512 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), native. */
import { createHash, createHmac, type Hash, type Hmac, hash, timingSafeEqual } from "node:crypto";

/** @returns 32 bytes. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return new Uint8Array(hash("sha256", data, "buffer"));
}

/** @returns 64 bytes. */
export function sha512(data: Uint8Array): Uint8Array {
  return new Uint8Array(hash("sha512", data, "buffer"));
}

/** @returns 64 lowercase hex digits. Strings are hashed as UTF-8. */
export function sha256Hex(data: Uint8Array | string): string {
  return hash("sha256", data, "hex");
}

/** @returns 32 bytes. A string key stands for its UTF-8 bytes. */
export function hmacSha256(key: Uint8Array | string, data: Uint8Array): Uint8Array {
  return new Uint8Array(createHmac("sha256", key).update(data).digest());
}

/** @returns 64 lowercase hex digits. */
export function hmacSha256Hex(key: Uint8Array | string, data: Uint8Array): string {
  return createHmac("sha256", key).update(data).digest("hex");
}

/** SHA-256 over bytes that come in pieces. */
export class Sha256 {
  readonly #hash: Hash = createHash("sha256");

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  /** @returns 64 lowercase hex digits; ends the computation. */
  digestHex(): string {
    return this.#hash.digest("hex");
  }
}

/** HMAC-SHA-256 over bytes that come in pieces. */
export class HmacSha256 {
  readonly #hmac: Hmac;

  constructor(key: Uint8Array | string) {
    this.#hmac = createHmac("sha256", key);
  }

  update(data: Uint8Array): void {
    this.#hmac.update(data);
  }

  /** @returns 64 lowercase hex digits; ends the computation. */
  digestHex(): string {
    return this.#hmac.digest("hex");
  }
}

/** Compares secrets in time that depends on neither; strings of any length. */
export function secretsEqual(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}
