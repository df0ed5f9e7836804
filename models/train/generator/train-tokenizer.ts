/**
 * Makes the tokenizer's merges from generated text: `bun generator/train-tokenizer.ts FILE [TOKENS]`.
 * Digits never merge, so that numbers are copied digit by digit; a space in front of a word merges
 * only for the commonest words, so that a name has the same tokens wherever it stands.
 */
import { writeFileSync } from "node:fs";
import { readGeneratorData } from "./data-files.ts";
import { systemText } from "./prompt.ts";
import { Rng } from "./rng.ts";
import { drawSample, SHARES } from "./sample.ts";
import { BYTE_TEXTS, CONTROL, type Merge, mergePairs, splitWords, toBytes } from "./tokenizer.ts";

const SAMPLES = 12_000;
const SEED = 999;
/** Rarer words are names that were made up. */
const COUNT_MIN = 4;
const SPACE = BYTE_TEXTS[32] ?? "";
const NEWLINE = BYTE_TEXTS[10] ?? "";
const COMMON = (
  "the is to and of in for on from at with my was your a it has by an I are be we you this that " +
  "will please as or not have The"
).split(" ");

/** How often each word occurs, as byte stand-ins, without the space in front of it. */
function countWords(): Map<string, number> {
  const data = readGeneratorData();
  const rng = new Rng(SEED);
  const options = { shares: SHARES, domains: [...data.templates.keys()] };
  const counts = new Map<string, number>();
  for (let i = 0; i < SAMPLES; i++) {
    const { system, tools, user, answer } = drawSample(rng, data, options);
    for (const text of [systemText(system, tools), user, answer.map(([part]) => part).join("")]) {
      for (const word of splitWords(text)) {
        const bytes = toBytes(word).join("");
        const bare = bytes.length > 1 && bytes.startsWith(SPACE) ? bytes.slice(1) : bytes;
        counts.set(bare, (counts.get(bare) ?? 0) + 1);
      }
    }
  }
  return counts;
}

interface Word {
  parts: string[];
  readonly count: number;
}

/** Byte pair encoding: the commonest pair of neighbours becomes a token, again and again. */
function learnMerges(counts: ReadonlyMap<string, number>, wanted: number): Merge[] {
  const words: Word[] = [...counts]
    .filter(([word, count]) => count >= COUNT_MIN && !/[0-9]/.test(word))
    .map(([word, count]) => ({ parts: [...word], count }));
  const merges: Merge[] = [];
  while (merges.length < wanted) {
    const best = commonestPair(words);
    if (best === null) break;
    merges.push(best);
    for (const word of words) {
      if (word.parts.includes(best[0])) word.parts = mergePairs(word.parts, best);
    }
  }
  return merges;
}

function commonestPair(words: readonly Word[]): Merge | null {
  const pairs = new Map<string, number>();
  for (const { parts, count } of words) {
    for (let i = 0; i + 1 < parts.length; i++) {
      const pair = `${parts[i]} ${parts[i + 1]}`;
      pairs.set(pair, (pairs.get(pair) ?? 0) + count);
    }
  }
  let best: string | null = null;
  let most = 2;
  for (const [pair, count] of pairs) {
    if (count <= most || pair.includes(SPACE) || pair.includes(NEWLINE)) continue;
    best = pair;
    most = count;
  }
  if (best === null) return null;
  const [left = "", right = ""] = best.split(" ");
  return [left, right];
}

const [path, tokens = "1535"] = Bun.argv.slice(2);
if (path === undefined) throw new Error("usage: train-tokenizer.ts FILE [TOKENS]");
const wanted = Number(tokens) - BYTE_TEXTS.length - CONTROL.length;
const learned = learnMerges(countWords(), wanted - COMMON.length);
const known = new Set([...learned.map(([left, right]) => left + right), ..."aI"]);
const spaced = COMMON.filter((word) => known.has(word)).map((word): Merge => [SPACE, word]);
const lines = [...learned, ...spaced].map(([left, right]) => `${left} ${right}\n`);
writeFileSync(path, lines.join(""));
