/** Verifies exports as the command line does, with native hashing. */
import { NATIVE } from "../src/verify/native-hashing.ts";
import { type Report, type VerifyOptions, verifyArchive as verify } from "../src/verify/verify.ts";

export function verifyArchive(
  pieces: AsyncIterable<Uint8Array>,
  options: VerifyOptions = {},
): Promise<Report> {
  return verify(pieces, { hashing: NATIVE, ...options });
}

/** The whole archive in memory, to be altered. */
export async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return new Uint8Array(Buffer.concat(all));
}

/** An archive from memory, in pieces of this many bytes. */
export async function* inPieces(
  archive: Uint8Array,
  pieceBytes = 65_536,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < archive.byteLength; at += pieceBytes) {
    yield archive.subarray(at, at + pieceBytes);
  }
}
