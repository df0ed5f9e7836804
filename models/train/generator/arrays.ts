/** Arrays of numbers in a file, for ../trainer/arrays.py: a JSON line {..., arrays}, then one after the other. */
import { renameSync, writeFileSync } from "node:fs";

interface NamedArray {
  readonly name: string;
  /** As NumPy calls it. */
  readonly type: "u1" | "u2" | "u4" | "i1" | "i4";
  readonly data: Uint8Array | Uint16Array | Uint32Array | Int8Array | Int32Array;
}

/** The file is there whole or not at all. */
export function writeArrays(path: string, about: object, arrays: readonly NamedArray[]): void {
  const named = arrays.map(({ name, type, data }) => [name, type, data.length]);
  const header = Buffer.from(`${JSON.stringify({ ...about, arrays: named })}\n`);
  const bodies = arrays.map(({ data }) =>
    Buffer.from(data.buffer, data.byteOffset, data.byteLength),
  );
  writeFileSync(`${path}.part`, Buffer.concat([header, ...bodies]));
  renameSync(`${path}.part`, path);
}
