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

/** Of unit length. */
export type Vector = Float32Array;

let units: ReadonlyMap<string, Vector> | undefined;

/** The words' vectors at unit length, the most used word first. */
export function unitVectors(): ReadonlyMap<string, Vector> {
  if (units !== undefined) return units;
  const { words, width, values } = readVectors();
  units = new Map(
    words.map((word, i) => {
      const vector = Float32Array.from(values.subarray(i * width, (i + 1) * width));
      const length = Math.hypot(...vector);
      return [word, vector.map((one) => one / length)];
    }),
  );
  return units;
}

/** Cosine of two vectors of unit length. */
export function cosine(a: Vector, b: Vector): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

export interface Nearness {
  /** The mean cosine with the two of the words that are nearest. */
  readonly score: number;
  readonly best: number;
}

/** Of a word and the words of a text. */
export function nearness(vector: Vector, heard: Iterable<Vector>): Nearness {
  let best = -1;
  let second = -1;
  for (const its of heard) {
    const own = cosine(vector, its);
    if (own > best) [best, second] = [own, best];
    else if (own > second) second = own;
  }
  return { score: (best + second) / 2, best };
}
