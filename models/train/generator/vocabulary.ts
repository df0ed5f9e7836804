/**
 * What the trainer has to know of the tokens: `bun generator/vocabulary.ts FILE`. Forms of one word
 * (` invoice`, `Invoice`) share the row of their stem in the embedding, and words have a vector to
 * begin with (read by ../trainer/vocabulary.py).
 */
import { writeArrays } from "./arrays.ts";
import { readTokenizer } from "./shards.ts";
import { splitSpace } from "./tokenizer.ts";
import { readVectors } from "./vectors.ts";

/** Bits of what a token has besides its stem. */
const SPACED = 1;
const CAPITALISED = 2;
const CAPITALS = 4;
/** Other words than those in lower case. */
const NAMES = new Set(["May", "March"]);
/** Shorter ones are abbreviations: IT, US. */
const CAPITALS_MIN = 4;

interface Form {
  readonly stem: string;
  readonly marks: number;
}

export function formOf(token: string, isToken: (text: string) => boolean): Form {
  const { isSpaced, bare } = splitSpace(token);
  const space = isSpaced ? SPACED : 0;
  const lower = bare.toLowerCase();
  if (!isToken(lower)) return { stem: bare, marks: space };
  if (/^[A-Z][a-z]+$/.test(bare) && !NAMES.has(bare))
    return { stem: lower, marks: space + CAPITALISED };
  if (/^[A-Z]+$/.test(bare) && bare.length >= CAPITALS_MIN)
    return { stem: lower, marks: space + CAPITALS };
  return { stem: bare, marks: space };
}

function writeVocabulary(path: string): void {
  const tokenizer = readTokenizer();
  const { tokens } = tokenizer;
  const ids = new Map(tokens.map((text, id) => [text, id]));
  const { words, width, values } = readVectors();
  const places = new Map(words.map((word, place) => [word, place]));
  const forms = tokens.map((text) => formOf(text, (other) => ids.has(other)));
  writeArrays(path, { width, user: tokenizer.control("<|user|>") }, [
    { name: "stem", type: "i4", data: Int32Array.from(forms, ({ stem }) => ids.get(stem) ?? -1) },
    { name: "marks", type: "u1", data: Uint8Array.from(forms, ({ marks }) => marks) },
    {
      name: "word",
      type: "i4",
      data: Int32Array.from(forms, ({ stem }) => places.get(stem) ?? -1),
    },
    { name: "vectors", type: "i1", data: values },
  ]);
}

if (import.meta.main) {
  const [path] = Bun.argv.slice(2);
  if (path === undefined) throw new Error("usage: vocabulary.ts FILE");
  writeVocabulary(path);
}
