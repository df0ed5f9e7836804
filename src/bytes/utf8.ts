/** UTF-8 to and from strings, strictly. */

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function utf8Encode(text: string): Uint8Array {
  return ENCODER.encode(text);
}

/**
 * Decodes well-formed UTF-8; a byte-order mark is kept as U+FEFF, so that encoding gives the same
 * bytes back.
 * @returns null for bytes that are not well-formed UTF-8.
 */
export function utf8Decode(bytes: Uint8Array): string | null {
  try {
    return DECODER.decode(bytes);
  } catch {
    return null;
  }
}
