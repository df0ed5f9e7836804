/** Stands for `crypto/hash.ts` in a browser: the part that the schema compiler uses. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** @returns 64 lowercase hex digits. Strings are hashed as UTF-8. */
export function sha256Hex(data: Uint8Array | string): string {
  return bytesToHex(sha256(typeof data === "string" ? utf8ToBytes(data) : data));
}
