/**
 * Vectors of English words, in order of how often they are used: `data/vectors.bin`, a JSON line
 * {words, width}, then `width` signed bytes for each word, in a scale of its own.
 */
import { readFileSync } from "node:fs";

interface WordVectors {
  readonly words: readonly string[];
  readonly width: number;
  /** One word's after the other's. */
  readonly values: Int8Array;
}

const PATH = new URL("../data/vectors.bin", import.meta.url).pathname;
const NEWLINE = 10;

export function readVectors(): WordVectors {
  const bytes = readFileSync(PATH);
  const end = bytes.indexOf(NEWLINE);
  const { words, width } = JSON.parse(bytes.toString("utf8", 0, end)) as {
    words: string[];
    width: number;
  };
  const values = new Int8Array(bytes.buffer, bytes.byteOffset + end + 1, words.length * width);
  return { words, width, values };
}
