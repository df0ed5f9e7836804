/** HKDF with SHA-256 (RFC 5869), native. */
import { hkdfSync } from "node:crypto";
import { utf8Encode } from "../bytes/utf8.ts";

/** @returns 32 bytes derived from `secret` with an empty salt; `info` names the use. */
export function hkdfSha256(secret: Uint8Array, info: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(0), utf8Encode(info), 32));
}
