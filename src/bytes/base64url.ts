/** Base64url without padding (RFC 4648 section 5), one spelling per value. */

export function toBase64Url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** @returns the bytes, or null unless `text` is exactly how `toBase64Url` would write them. */
export function fromBase64Url(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return null;
  const bytes = new Uint8Array(Buffer.from(text, "base64url"));
  // The last character may carry bits that decode to nothing: only the canonical spelling passes.
  return toBase64Url(bytes) === text ? bytes : null;
}
