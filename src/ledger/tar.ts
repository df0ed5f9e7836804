/**
 * Tar archives (POSIX ustar) in which every byte is determined by the files' names and contents:
 * no times, owners or modes that differ. Frozen: the verifier demands exactly these bytes.
 */
import { assert } from "../bytes/assert.ts";
import { utf8Encode } from "../bytes/utf8.ts";

const BLOCK_BYTES = 512;
const NAME_BYTES_MAX = 100;

/** The 512 bytes before a file's content. */
export function tarHeader(name: string, size: number): Uint8Array {
  const bytes = utf8Encode(name);
  assert(bytes.byteLength <= NAME_BYTES_MAX, "a name in an archive is too long");
  const header = new Uint8Array(BLOCK_BYTES);
  const put = (offset: number, text: string): void => header.set(utf8Encode(text), offset);
  put(0, name);
  put(100, "0000644\0");
  put(108, "0000000\0");
  put(116, "0000000\0");
  put(124, `${size.toString(8).padStart(11, "0")}\0`);
  put(136, "00000000000\0");
  // The checksum is taken with its own field full of spaces.
  put(148, "        ");
  put(156, "0");
  put(257, "ustar\x0000");
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return header;
}

/** The zero bytes after a file's content. */
export function tarPadding(size: number): Uint8Array {
  return new Uint8Array((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
}

/** The end of an archive. */
export function tarEnd(): Uint8Array {
  return new Uint8Array(2 * BLOCK_BYTES);
}
