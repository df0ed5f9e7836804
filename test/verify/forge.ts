/** Takes exports apart and puts them together again, as an attacker with more or fewer keys can. */
import { canonicalJsonBytes, type JsonValue } from "../../src/bytes/canonical-json.ts";
import type { SigningKey } from "../../src/crypto/ed25519.ts";
import { sha256Hex } from "../../src/crypto/hash.ts";
import { signNote } from "../../src/crypto/signed-note.ts";
import { tarEnd, tarHeader, tarPadding } from "../../src/ledger/tar.ts";
import { readTar } from "../../src/verify/tar.ts";
import { inPieces } from "../trust-export.ts";

/** Files in their order. */
export type Files = Map<string, Uint8Array>;

export async function unpack(archive: Uint8Array): Promise<Files> {
  const files: Files = new Map();
  for await (const { name, bytes } of readTar(inPieces(archive))) files.set(name, bytes);
  return files;
}

export function pack(files: Files): Uint8Array {
  const pieces = [...files].flatMap(([name, bytes]) => [
    tarHeader(name, bytes.byteLength),
    bytes,
    tarPadding(bytes.byteLength),
  ]);
  return new Uint8Array(Buffer.concat([...pieces, tarEnd()]));
}

export function textIn(files: Files, name: string): string {
  const bytes = files.get(name);
  if (bytes === undefined) throw new Error(`the export has no ${name}`);
  return Buffer.from(bytes).toString();
}

/** The same files with one changed. */
export function edited(files: Files, name: string, edit: (text: string) => string): Files {
  const text = edit(textIn(files, name));
  return new Map(files).set(name, new Uint8Array(Buffer.from(text)));
}

/** The manifest made anew over these files, and signed: what only the running service can do. */
export function remanifested(files: Files, key: SigningKey): Files {
  const manifest = JSON.parse(textIn(files, "manifest.json")) as Record<string, JsonValue>;
  const origin = String(manifest["origin"]);
  const named = [...files].filter(([name]) => !name.startsWith("manifest."));
  const entries = named.map(([name, bytes]) => entryOf(name, bytes));
  const bytes = canonicalJsonBytes({ ...manifest, kid: key.kid, files: entries });
  const text = `${origin}/export\nsvc-export 1 ${sha256Hex(bytes)}\n`;
  const note = signNote(key, `${origin}/export`, text);
  return new Map([
    ...named,
    ["manifest.json", bytes],
    ["manifest.note", new Uint8Array(Buffer.from(note))],
  ]);
}

function entryOf(name: string, bytes: Uint8Array): Record<string, JsonValue> {
  const size = bytes.byteLength;
  if (!name.startsWith("rows/")) return { name, size, sha256: sha256Hex(bytes) };
  const lines = Buffer.from(bytes).toString().trimEnd().split("\n");
  const hashes = lines.map((line) => line.slice(0, 64) + line.slice(65, 129)).join("");
  return { name, size, rows: lines.length, digest: sha256Hex(Buffer.from(hashes, "hex")) };
}
