/**
 * Secrets at rest: AES-256-GCM under a master key. Frozen: blobs of this form are in databases.
 *
 * blob = version (1 byte, 0x01) ‖ master key id (8 bytes) ‖ nonce (12) ‖ ciphertext ‖ tag (16).
 * The associated data is the purpose's UTF-8 bytes, so that a blob cannot be moved to another row.
 * Nonces are random: safe for 2^32 blobs under one master key (NIST SP 800-38D, 8.3).
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from "node:crypto";
import { assert } from "../bytes/assert.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import { sha256 } from "./hash.ts";

const VERSION = 1;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES;

class SecretBoxError extends Error {
  override readonly name = "SecretBoxError";
  /** `other_key`: sealed under another master key. `damaged`: not what this key sealed. */
  readonly code: "other_key" | "damaged";
  constructor(code: "other_key" | "damaged", message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export class MasterKey {
  /** First 8 bytes of SHA-256("svc/master-key-id" ‖ key): says which key sealed a blob. */
  readonly id: Uint8Array;
  readonly #key: KeyObject;

  /** @param key 32 bytes. */
  constructor(key: Uint8Array) {
    assert(key.byteLength === 32, "a master key has 32 bytes");
    this.#key = createSecretKey(key);
    const tagged = new Uint8Array([...utf8Encode("svc/master-key-id"), ...key]);
    this.id = sha256(tagged).slice(0, KEY_ID_BYTES);
  }

  seal(secret: Uint8Array, purpose: string, randomBytes: RandomBytes): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(utf8Encode(purpose));
    const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
    const header = new Uint8Array([VERSION, ...this.id, ...nonce]);
    return new Uint8Array(Buffer.concat([header, sealed, cipher.getAuthTag()]));
  }

  /** Whether the blob says that it was sealed under this key; only `open` proves it. */
  sealed(blob: Uint8Array): boolean {
    return Buffer.compare(blob.subarray(1, 1 + KEY_ID_BYTES), this.id) === 0;
  }

  /** @throws SecretBoxError when the blob was sealed under another key or for another purpose. */
  open(blob: Uint8Array, purpose: string): Uint8Array {
    if (blob.byteLength < HEADER_BYTES + TAG_BYTES || blob[0] !== VERSION) {
      throw new SecretBoxError("damaged", `the sealed ${purpose} has no known form`);
    }
    if (!this.sealed(blob)) {
      throw new SecretBoxError("other_key", `${purpose} is sealed under another master key`);
    }
    const nonce = blob.subarray(1 + KEY_ID_BYTES, HEADER_BYTES);
    const decipher = createDecipheriv("aes-256-gcm", this.#key, nonce, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(utf8Encode(purpose));
    decipher.setAuthTag(blob.subarray(blob.byteLength - TAG_BYTES));
    try {
      const body = blob.subarray(HEADER_BYTES, blob.byteLength - TAG_BYTES);
      return new Uint8Array(Buffer.concat([decipher.update(body), decipher.final()]));
    } catch (cause) {
      throw damaged(purpose, cause);
    }
  }
}

/** @returns `count` unpredictable bytes. */
export type RandomBytes = (count: number) => Uint8Array;

function damaged(purpose: string, cause: unknown): SecretBoxError {
  return new SecretBoxError("damaged", `the sealed ${purpose} does not open`, { cause });
}
