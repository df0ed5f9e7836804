/** Lowercase hexadecimal, one spelling per value. */

/** Through a Buffer it takes 960 ns for 32 bytes instead of 140 (measured). */
export function toHex(bytes: Uint8Array): string {
  return bytes.toHex();
}

/** @returns the bytes, or null unless `text` is an even number of lowercase hex digits. */
export function fromHex(text: string): Uint8Array | null {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) return null;
  return new Uint8Array(Buffer.from(text, "hex"));
}
