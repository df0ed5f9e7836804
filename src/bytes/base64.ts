/** Padded base64 (RFC 4648 section 4), one spelling per value. */

export function toBase64(bytes: Uint8Array): string {
  return bytes.toBase64();
}

/** @returns the bytes, or null unless `text` is exactly how `toBase64` would write them. */
export function fromBase64(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  return toBase64(bytes) === text ? bytes : null;
}
