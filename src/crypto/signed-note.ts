/**
 * Signed notes and their verifier keys, as C2SP specifies them (https://c2sp.org/signed-note), with
 * Ed25519. Frozen.
 */
import { assert } from "../bytes/assert.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import type { SigningKey } from "./ed25519.ts";
import { sha256 } from "./hash.ts";

/** The algorithm byte of Ed25519. */
const ED25519 = 1;

/**
 * @param text ends with a newline and has no empty line.
 * @param keyName without spaces and plus signs.
 */
export function signNote(key: SigningKey, keyName: string, text: string): string {
  assert(text.endsWith("\n") && !text.includes("\n\n"), "a note's text has another form");
  assertKeyName(keyName);
  const signature = key.sign(utf8Encode(text));
  const blob = Buffer.concat([keyHash(keyName, key.publicKey), signature]);
  return `${text}\n— ${keyName} ${blob.toString("base64")}\n`;
}

/** What stock verifiers take as the key: name, key hash and public key in one line. */
export function verifierKey(keyName: string, publicKey: Uint8Array): string {
  assertKeyName(keyName);
  const hash = Buffer.from(keyHash(keyName, publicKey)).toString("hex");
  return `${keyName}+${hash}+${Buffer.from([ED25519, ...publicKey]).toString("base64")}`;
}

/** The first 4 bytes of SHA-256(name ‖ newline ‖ algorithm ‖ public key). */
function keyHash(keyName: string, publicKey: Uint8Array): Uint8Array {
  const named = utf8Encode(`${keyName}\n`);
  return sha256(Buffer.concat([named, Uint8Array.of(ED25519), publicKey])).subarray(0, 4);
}

function assertKeyName(name: string): void {
  assert(/^[^\s+]+$/.test(name), "a note key's name has a space or a plus sign");
}
