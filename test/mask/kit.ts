/** Small vocabularies, a random number generator and walks for tests of the lock. */
import { expect } from "bun:test";
import { compileSchema, type SchemaGrammar } from "../../src/grammar/compile.ts";
import type { Grammar } from "../../src/grammar/grammar.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { Vocabulary } from "../../src/mask/vocabulary.ts";
import { SchemaError } from "../../src/schema/schema-error.ts";

/** Every byte, some longer tokens that cross the seams of JSON, and an end. */
export const SMALL = smallVocabulary([
  ...'{} [] ": "," ",  }, }} ],[ ":{" ":[ "a": true false null 12 00 .5 e-1 -1 0,'.split(" "),
  // Values that end inside of a token, with what is around them.
  ...'"" ""} ""] "} "}, "}] "]} 1} 0}, 0] 2,3 null} true}, {}} []] {}, ":""} ":1, ":1}'.split(" "),
  ...["abc", "the ", " ", '","', '":"', "\\n", '\\"', "é", "日本", "2024-", "name", "foo", "bar"],
]);

export function smallVocabulary(texts: readonly string[]): Vocabulary {
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
  const longer = texts.filter((text) => text.length > 1).map((text) => Buffer.from(text));
  return new Vocabulary([
    ...[...bytes, ...longer].map((text) => ({
      bytes: text,
      isControl: false,
      isEndOfGeneration: false,
    })),
    { bytes: new Uint8Array(0), isControl: true, isEndOfGeneration: true },
  ]);
}

/** Mulberry32: the same numbers for the same seed, from 0 to below 1. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function tokensOf(mask: Uint32Array, size: number): number[] {
  const tokens: number[] = [];
  for (let token = 0; token < size; token++) {
    if (((mask[token >> 5] as number) >>> (token & 31)) & 1) tokens.push(token);
  }
  return tokens;
}

export interface Sampled {
  readonly text: string;
  readonly tokens: readonly number[];
}

/**
 * A random text of a grammar: each token drawn from the mask, the end taken as soon as `eagerness`
 * says so. With a budget, the text must be whole when it is used up.
 * @param options.budgetBy `mask` (the default): the mask leaves out what does not fit the budget;
 *   `accept`: the mask is that of the grammar alone; what is drawn from it is offered, and after
 *   some refusals the closing mask has the word, as in a server that checks first.
 */
export function sample(
  grammar: Grammar,
  vocabulary: Vocabulary,
  draw: () => number,
  options: {
    readonly budget: number;
    readonly eagerness: number;
    readonly budgetBy?: "mask" | "accept";
  },
): Sampled {
  const matcher = new Matcher(grammar, vocabulary);
  const tokens: number[] = [];
  const bytes: Uint8Array[] = [];
  for (let left = options.budget; ; left--) {
    matcher.setBudget(options.budgetBy === "accept" ? null : left);
    const allowed = tokensOf(matcher.computeMask(), vocabulary.size);
    matcher.setBudget(left);
    const ends = allowed.filter((token) => vocabulary.isEndOfGeneration(token));
    const canEnd = ends.length > 0;
    if (canEnd !== matcher.isComplete) throw new Error(`end and isComplete differ: ${text(bytes)}`);
    const candidates = canEnd && draw() < options.eagerness ? ends : allowed;
    const wanted = candidates.length;
    const isOffered = options.budgetBy === "accept";
    const token =
      takeOne(matcher, candidates, draw, isOffered ? OFFERS_MAX : wanted) ??
      (isOffered ? takeClosing(matcher, vocabulary, draw) : undefined);
    if (token === undefined) throw new Error(`nothing may follow ${text(bytes)}`);
    if (!isOffered && candidates.length < wanted) {
      throw new Error(`refused what the mask allows after ${text(bytes)}`);
    }
    tokens.push(token);
    if (vocabulary.isEndOfGeneration(token)) return { text: text(bytes), tokens };
    bytes.push(vocabulary.tokenBytes(token));
  }
}

/** Refused tokens after which the closing mask is asked for. */
const OFFERS_MAX = 3;

/** Any token of the closing mask is accepted. */
function takeClosing(
  matcher: Matcher,
  vocabulary: Vocabulary,
  draw: () => number,
): number | undefined {
  const closing = tokensOf(matcher.closingMask(), vocabulary.size);
  const token = closing[Math.floor(draw() * closing.length)];
  return token !== undefined && matcher.accept(token) ? token : undefined;
}

/** Draws from the candidates, which it uses up, until one is accepted. */
function takeOne(
  matcher: Matcher,
  candidates: number[],
  draw: () => number,
  offers: number,
): number | undefined {
  for (let offer = 0; offer < offers && candidates.length > 0; offer++) {
    const pick = Math.floor(draw() * candidates.length);
    const token = candidates[pick] as number;
    if (matcher.accept(token)) return token;
    candidates[pick] = candidates.at(-1) as number;
    candidates.pop();
  }
  return undefined;
}

function text(bytes: readonly Uint8Array[]): string {
  return new TextDecoder("utf-8", { fatal: false }).decode(Buffer.concat(bytes));
}

/** The mask is what asking for each token gives. @returns its tokens. */
export function expectRightMask(matcher: Matcher, vocabulary: Vocabulary): number[] {
  const naive: number[] = [];
  for (let token = 0; token < vocabulary.size; token++) {
    if (!matcher.accept(token)) continue;
    matcher.rollback(1);
    naive.push(token);
  }
  expect(tokensOf(matcher.computeMask(), vocabulary.size)).toEqual(naive);
  expectRightList(matcher, naive);
  return naive;
}

/** @param allowed the tokens that may come next, ascending. */
export function expectRightList(matcher: Matcher, allowed: readonly number[]): void {
  const few = matcher.fewTokens();
  if (few !== null) expect([...few].sort((a, b) => a - b)).toEqual([...allowed]);
}

/** Null for a schema that is refused: most of those have no value at all. */
export function compiled(of: object, objects: "open" | "closed"): SchemaGrammar | null {
  try {
    return compileSchema(of, { objects });
  } catch (error) {
    if (error instanceof SchemaError) return null;
    throw error;
  }
}
