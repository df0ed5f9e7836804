/** C2SP signed notes (https://c2sp.org/signed-note) with exactly one Ed25519 signature. */
import { concat, equalBytes, fromBase64, utf8 } from "./encoding.ts";
import { type Hashing, verifyEd25519 } from "./primitives.ts";

/** Whether `note` is `text` with one signature line by this key, and nothing else. */
export async function verifyNote(
  hashing: Hashing,
  note: string,
  signed: { readonly text: string; readonly keyName: string; readonly publicKey: Uint8Array },
): Promise<boolean> {
  const { text, keyName, publicKey } = signed;
  const head = `${text}\n— ${keyName} `;
  if (!note.startsWith(head) || !note.endsWith("\n")) return false;
  const blob = fromBase64(note.slice(head.length, -1));
  if (blob?.byteLength !== 4 + 64) return false;
  const named = concat(utf8(`${keyName}\n`), Uint8Array.of(1), publicKey);
  const keyHash = hashing.sha256(named).subarray(0, 4);
  if (!equalBytes(keyHash, blob.subarray(0, 4))) return false;
  return await verifyEd25519(publicKey, utf8(text), blob.subarray(4));
}
