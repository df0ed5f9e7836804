/**
 * Ed25519 (RFC 8032), native: 16 µs a signature, against 446 µs for @noble (measured). Only the
 * offline verifier (`src/verify`) uses @noble.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { assert } from "../bytes/assert.ts";
import { toHex } from "../bytes/hex.ts";
import { sha256 } from "./hash.ts";

/** DER prefixes of an Ed25519 key (RFC 8410): the raw 32 bytes follow. */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

export interface SigningKey {
  /** First 16 hex digits of the SHA-256 of the public key's SPKI DER form. */
  readonly kid: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly publicKeyPem: string;
  /** @returns a 64-byte signature over exactly these bytes. */
  sign(message: Uint8Array): Uint8Array;
  /** The 32-byte seed, for storage under a master key. */
  exportSeed(): Uint8Array;
}

export function generateSigningKey(): SigningKey {
  return signingKey(generateKeyPairSync("ed25519").privateKey);
}

/** @param seed 32 bytes (RFC 8032 section 5.1.5). */
export function signingKeyFromSeed(seed: Uint8Array): SigningKey {
  assert(seed.byteLength === 32, "an Ed25519 seed has 32 bytes");
  const key = Buffer.concat([PKCS8_PREFIX, seed]);
  return signingKey(createPrivateKey({ key, format: "der", type: "pkcs8" }));
}

/** @returns false for a wrong signature and for a malformed one alike. */
export type SignatureCheck = (message: Uint8Array, signature: Uint8Array) => boolean;

/** For a key that signs more than once. @param publicKey 32 bytes. */
export function signatureCheck(publicKey: Uint8Array): SignatureCheck {
  assert(publicKey.byteLength === 32, "an Ed25519 public key has 32 bytes");
  const key = createPublicKey({ key: spki(publicKey), format: "der", type: "spki" });
  return (message, signature) =>
    signature.byteLength === 64 && verify(null, message, key, signature);
}

/** @returns false for a malformed key too. */
export function verifySignature(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  return publicKey.byteLength === 32 && signatureCheck(publicKey)(message, signature);
}

/** @returns the key id that `SigningKey.kid` has for this public key. */
export function keyIdOf(publicKey: Uint8Array): string {
  return toHex(sha256(spki(publicKey))).slice(0, 16);
}

function spki(publicKey: Uint8Array): Buffer {
  return Buffer.concat([SPKI_PREFIX, publicKey]);
}

function signingKey(privateKey: KeyObject): SigningKey {
  const publicKeyObject = createPublicKey(privateKey);
  const der = publicKeyObject.export({ format: "der", type: "spki" });
  const publicKey = new Uint8Array(der.subarray(SPKI_PREFIX.byteLength));
  return {
    kid: keyIdOf(publicKey),
    publicKey,
    publicKeyPem: String(publicKeyObject.export({ format: "pem", type: "spki" })),
    sign: (message) => new Uint8Array(sign(null, message, privateKey)),
    exportSeed: () =>
      new Uint8Array(
        privateKey.export({ format: "der", type: "pkcs8" }).subarray(PKCS8_PREFIX.byteLength),
      ),
  };
}
