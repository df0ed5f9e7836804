/**
 * Makes the tokenizer's merges from generated text and English words:
 * `bun generator/train-tokenizer.ts FILE [PIECES] [STEMS] [SPACED]`. Pieces of words come from the
 * commonest pairs; then words that have a vector are made whole, also with a capital, up to the number
 * of stems, which are the tokens without a space in front. The last merges put a space in front of those
 * that begin a word, so that a name has the same tokens wherever it stands but for that space. Digits
 * never merge: numbers are copied digit by digit.
 */
import { writeFileSync } from "node:fs";
import { readGeneratorData } from "./data-files.ts";
import { systemText } from "./prompt.ts";
import { Rng } from "./rng.ts";
import { drawSample, SHARES } from "./sample.ts";
import {
  BYTE_TEXTS,
  type Merge,
  mergeOf,
  mergePairs,
  SPACE,
  splitSpace,
  splitWords,
  toBytes,
} from "./tokenizer.ts";
import { readVectors } from "./vectors.ts";
import { formOf } from "./vocabulary.ts";

const SAMPLES = 24_000;
const SEED = 999;
/** Rarer words are names that were made up. */
const COUNT_MIN = 4;
/** What English weighs beside the generated text: the commonest word counts as often as this. */
const ENGLISH_COUNT = 300_000;
const ENGLISH_OFFSET = 300;
/** A word with a capital opens a line of a form, and there is as good as the name of a property. */
const FORM_WEIGHT = 5;
const NEWLINE = BYTE_TEXTS[10] ?? "";

type Counts = Map<string, number>;

const add = (counts: Counts, key: string, count: number): void => {
  counts.set(key, (counts.get(key) ?? 0) + count);
};

/** How often each word occurs, as byte stand-ins: bare, and with a space in front. */
function countWords(): { readonly bare: Counts; readonly spaced: Counts } {
  const data = readGeneratorData();
  const rng = new Rng(SEED);
  const options = { shares: SHARES, domains: [...data.templates.keys()] };
  const [bare, spaced]: [Counts, Counts] = [new Map(), new Map()];
  for (let i = 0; i < SAMPLES; i++) {
    const { system, tools, user, answer } = drawSample(rng, data, options);
    for (const text of [systemText(system, tools), user, answer.map(([part]) => part).join("")]) {
      for (const word of splitWords(text)) {
        const { isSpaced, bare: stem } = splitSpace(toBytes(word).join(""));
        add(bare, stem, 1);
        if (isSpaced) add(spaced, stem, 1);
      }
    }
  }
  for (const [rank, word] of readVectors().words.entries()) {
    const count = ENGLISH_COUNT / (rank + ENGLISH_OFFSET) + 2;
    add(bare, word, count + COUNT_MIN);
    add(spaced, word, count);
  }
  return { bare, spaced };
}

const pairKey = (left: string, right: string): string => `${left} ${right}`;

/** Byte pair encoding: the commonest pair of neighbours becomes a token, again and again. */
class PairCounts {
  readonly #words: { parts: string[]; readonly count: number }[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #counts: Counts = new Map();
  /** The words in which a pair stands or has stood. */
  readonly #places = new Map<string, Set<number>>();

  constructor(counts: ReadonlyMap<string, number>) {
    for (const [word, count] of counts) {
      if (count < COUNT_MIN || /[0-9]/.test(word)) continue;
      this.#indexes.set(word, this.#words.length);
      this.#words.push({ parts: [...word], count });
      this.#count(this.#words.length - 1, 1);
    }
  }

  #count(index: number, sign: 1 | -1): void {
    const { parts = [], count = 0 } = this.#words[index] ?? {};
    for (let i = 0; i + 1 < parts.length; i++) {
      const pair = pairKey(parts[i] ?? "", parts[i + 1] ?? "");
      add(this.#counts, pair, sign * count);
      const places = this.#places.get(pair) ?? new Set();
      this.#places.set(pair, places.add(index));
    }
  }

  /** Null where no pair is left. */
  commonest(): Merge | null {
    let best: string | null = null;
    let most = 2;
    for (const [pair, count] of this.#counts) {
      if (count <= most || pair.includes(SPACE) || pair.includes(NEWLINE)) continue;
      best = pair;
      most = count;
    }
    if (best === null) return null;
    return mergeOf(best);
  }

  merge(pair: Merge): void {
    const key = pairKey(...pair);
    for (const index of this.#places.get(key) ?? []) {
      const word = this.#words[index];
      if (word === undefined) continue;
      this.#count(index, -1);
      word.parts = mergePairs(word.parts, pair);
      this.#count(index, 1);
    }
    this.#counts.delete(key);
    this.#places.delete(key);
  }

  partsOf(word: string): readonly string[] {
    return this.#words[this.#indexes.get(word) ?? -1]?.parts ?? [];
  }

  /** Those that are in pieces, the commonest for the tokens that they would cost first. */
  byValue(words: readonly string[]): string[] {
    const value = (word: string): number => {
      const { parts = [], count = 0 } = this.#words[this.#indexes.get(word) ?? -1] ?? {};
      const weight = /^[A-Z]/.test(word) ? FORM_WEIGHT : 1;
      return parts.length < 2 ? 0 : (weight * count) / (parts.length - 1);
    };
    const valued = words.map((word) => [word, value(word)] as const);
    return valued
      .filter(([, worth]) => worth > 0)
      .toSorted(([, a], [, b]) => b - a)
      .map(([word]) => word);
  }

  get words(): string[] {
    return [...this.#indexes.keys()];
  }

  /** The first token of each word. */
  firsts(): Map<string, string> {
    return new Map(this.#words.map(({ parts }) => [parts.join(""), parts[0] ?? ""]));
  }
}

const [path, pieces = "6500", stems = "13500", spacedTokens = "7800"] = Bun.argv.slice(2);
if (path === undefined) throw new Error("usage: train-tokenizer.ts FILE [PIECES] [STEMS] [SPACED]");
const { bare, spaced } = countWords();
const pairs = new PairCounts(bare);
const merges: Merge[] = [];
const keep = (merge: Merge) => {
  merges.push(merge);
  pairs.merge(merge);
};
while (merges.length < Number(pieces) - BYTE_TEXTS.length) {
  const best = pairs.commonest();
  if (best === null) break;
  keep(best);
}
// A word in two pieces costs one token, one in three a token that is no word besides.
const words = new Set(readVectors().words);
const isKnown = (word: string) => words.has(word);
const forms = pairs.words.filter((word) => {
  const { stem } = formOf(word, isKnown);
  return stem !== word && isKnown(stem);
});
for (const word of pairs.byValue([...words, ...forms])) {
  for (;;) {
    const [left, right] = pairs.partsOf(word);
    if (left === undefined || right === undefined) break;
    if (merges.length >= Number(stems) - BYTE_TEXTS.length) break;
    keep([left, right]);
  }
}
const firsts = pairs.firsts();
const beginnings: Counts = new Map();
for (const [word, count] of spaced) add(beginnings, firsts.get(word) ?? word.charAt(0), count);
const spaces = [...beginnings]
  .toSorted(([, a], [, b]) => b - a)
  .slice(0, Number(spacedTokens))
  .map(([stem]): Merge => [SPACE, stem]);
const lines = [...merges, ...spaces].map(([left, right]) => `${left} ${right}\n`);
writeFileSync(path, lines.join(""));
