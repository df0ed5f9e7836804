/** Key files: 32 bytes as 64 lowercase hex digits and a newline, readable by their owner only. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { fromHex, toHex } from "../bytes/hex.ts";

export class KeyFileError extends Error {
  override readonly name = "KeyFileError";
  readonly code: "bad_permissions" | "bad_form";
  constructor(code: "bad_permissions" | "bad_form", message: string) {
    super(message);
    this.code = code;
  }
}

/** @returns the 32 bytes, or null when there is no such file. @throws KeyFileError */
export function readKeyFile(path: string): Uint8Array | null {
  if (!existsSync(path)) return null;
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) !== 0) {
    const found = `${path} can be read by others (mode ${mode.toString(8)})`;
    throw new KeyFileError("bad_permissions", `${found}; run: chmod 600 ${path}`);
  }
  return parseKey(readFileSync(path, "utf8").trim(), path);
}

/** @param from where the text came from, for the message. @throws KeyFileError */
export function parseKey(text: string, from: string): Uint8Array {
  const key = fromHex(text);
  if (key?.byteLength === 32) return key;
  throw new KeyFileError("bad_form", `${from} must hold 64 lowercase hex digits`);
}

/** Writes a new key file with mode 0600; it is durable on return. Fails when the file exists. */
export function writeKeyFile(path: string, key: Uint8Array): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, `${toHex(key)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  syncDirectory(dirname(path));
}

/** Renames a file over another; durable on return. */
export function replaceFile(from: string, to: string): void {
  renameSync(from, to);
  syncDirectory(dirname(to));
}

function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
