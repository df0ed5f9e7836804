/** Lowercase hexadecimal, one spelling per value. */

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** @returns the bytes, or null unless `text` is an even number of lowercase hex digits. */
export function fromHex(text: string): Uint8Array | null {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) return null;
  return new Uint8Array(Buffer.from(text, "hex"));
}
