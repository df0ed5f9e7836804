/**
 * Reads an export's archive: POSIX ustar, every byte of which follows from the files' names and
 * contents. Headers and padding are demanded exactly, so that no bit can change unnoticed.
 */
import { equalBytes, latin1, utf8 } from "./encoding.ts";
import { check } from "./finding.ts";

export interface ArchiveFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const BLOCK = 512;
/** More than any file of an export has. */
const FILE_BYTES_MAX = 256 * 2 ** 20;

/**
 * @throws VerifyError naming the file, or the one before it, where the archive has another form.
 */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ArchiveFile> {
  const input = new ByteReader(chunks);
  let previous = "the beginning";
  for (;;) {
    const header = await input.read(BLOCK);
    const after = { file: `archive, after ${previous}` };
    check(header !== null, { ...after, field: "header", message: "the archive ends early" });
    if (header.every((byte) => byte === 0)) {
      const end = await input.read(BLOCK);
      const isEnd = end?.every((byte) => byte === 0) === true && (await input.read(1)) === null;
      const message = "the archive does not end with two empty blocks";
      check(isEnd, { ...after, field: "end", message });
      return;
    }
    const name = latin1(header.subarray(0, 100)).replace(/\0.*$/s, "");
    const size = Number.parseInt(latin1(header.subarray(124, 135)), 8);
    const isExact =
      /^[a-z0-9][a-z0-9._/-]*$/.test(name) &&
      size <= FILE_BYTES_MAX &&
      equalBytes(header, tarHeader(name, size));
    check(isExact, { ...after, field: "header", message: "is not the header of a file" });
    const bytes = await input.read(size);
    const padding = await input.read((BLOCK - (size % BLOCK)) % BLOCK);
    check(bytes !== null && padding !== null, { file: name, field: "size", message: "ends early" });
    const isPadded = padding.every((byte) => byte === 0);
    check(isPadded, { file: name, field: "padding", message: "is not followed by zeros" });
    yield { name, bytes };
    previous = name;
  }
}

function tarHeader(name: string, size: number): Uint8Array {
  const fields: readonly (readonly [number, string])[] = [
    [0, name],
    [100, "0000644\0"],
    [108, "0000000\0"],
    [116, "0000000\0"],
    [124, `${size.toString(8).padStart(11, "0")}\0`],
    [136, "00000000000\0"],
    [148, "        "],
    [156, "0"],
    [257, "ustar\x0000"],
  ];
  const header = new Uint8Array(BLOCK);
  for (const [offset, text] of fields) header.set(utf8(text), offset);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.set(utf8(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return header;
}

/** Hands out exact numbers of bytes from chunks of any size, copying only across chunk borders. */
class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** @returns null when fewer bytes are left. */
  async read(count: number): Promise<Uint8Array | null> {
    if (this.#chunk.byteLength >= count) return this.#take(count);
    const joined = new Uint8Array(count);
    let filled = 0;
    while (filled < count) {
      if (this.#chunk.byteLength === 0) {
        const next = await this.#chunks.next();
        if (next.done === true) return null;
        this.#chunk = next.value;
      }
      const piece = this.#take(Math.min(count - filled, this.#chunk.byteLength));
      joined.set(piece, filled);
      filled += piece.byteLength;
    }
    return joined;
  }

  #take(count: number): Uint8Array {
    const taken = this.#chunk.subarray(0, count);
    this.#chunk = this.#chunk.subarray(count);
    return taken;
  }
}
