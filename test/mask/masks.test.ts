/** The fast mask is the set of tokens that `accept` takes one by one. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { compileSchema, type SchemaGrammar } from "../../src/grammar/compile.ts";
import { JsonRecogniser } from "../../src/mask/json-recogniser.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { loadVocabulary, type Vocabulary } from "../../src/mask/vocabulary.ts";
import { vocabulariesAvailable, vocabularyPath } from "../helpers/vocabularies.ts";
import {
  expectRightList,
  expectRightMask,
  random,
  SMALL,
  smallVocabulary,
  tokensOf,
} from "./kit.ts";
import { ORDERS, SCHEMAS } from "./schemas.ts";

setDefaultTimeout(60_000);

const WALKS = process.env["SLOW"] ? 200 : 3;
const LARGE_WALKS = process.env["SLOW"] ? 30 : 1;
const STEPS_MAX = 60;
const LONG = smallVocabulary(["aa", "bb", "b b b b b b b b b b b", " a a a a", '.vc"', ". . ."]);

describe.each([
  ["closed", "compact"],
  ["closed", "flexible"],
  ["open", "compact"],
  ["open", "flexible"],
] as const)("%s objects, %s white space", (objects, whitespace) => {
  test.each(Object.entries({ ...SCHEMAS, ...ORDERS }))("%s", (_, schema) => {
    const matcher = new Matcher(compileSchema(schema, { objects, whitespace }), SMALL);
    for (let walk = 0; walk < WALKS; walk++) {
      const draw = random(walk + 1);
      matcher.reset();
      for (let step = 0; step < STEPS_MAX; step++) {
        const allowed = tokensOf(matcher.computeMask(), SMALL.size);
        expect(allowed).toEqual(naiveMask(matcher));
        expect(allowed.length).toBeGreaterThan(0);
        expectRightList(matcher, allowed);
        const token = allowed[Math.floor(draw() * allowed.length)] as number;
        matcher.accept(token);
        if (SMALL.isEndOfGeneration(token)) break;
      }
    }
  });
});

test.each([
  ["one length only", { pattern: "^a*(bb)*$", minLength: 400, maxLength: 400 }],
  ["words to be counted", { pattern: "^(?:\\S+\\s+){0,30}\\S+$" }],
  ["what must come later", { pattern: "^.*\\.[vV][cC]$", maxLength: 500 }],
])("far from the end of a string: %s", (_, rules) => {
  const matcher = new Matcher(compileSchema({ type: "string", ...rules }), LONG);
  matcher.accept(0x22);
  for (const byte of Buffer.from(`${"a".repeat(9)} .v a bb`)) {
    expectRightMask(matcher, LONG);
    matcher.accept(byte);
  }
});

test("listed numbers have the same masks whatever the length of a string before them", () => {
  const list = { type: "array", prefixItems: [{ type: "string" }, { enum: [111, 122, 133, 2] }] };
  const grammar = compileSchema({ ...list, items: false, minItems: 2 });
  for (let length = 0; length < 20; length++) {
    const matcher = new Matcher(grammar, SMALL);
    for (const byte of Buffer.from(`["${"a".repeat(length)}",1`)) matcher.accept(byte);
    expectRightMask(matcher, SMALL);
    matcher.accept(0x31 + (length % 3));
    expectRightMask(matcher, SMALL);
  }
});

test.each(Object.entries(SCHEMAS))("there is room for the way out: %s", (_, schema) => {
  const grammar = compileSchema(schema, { objects: "open" });
  const matcher = new Matcher(grammar, SMALL);
  const recogniser = new JsonRecogniser(grammar as SchemaGrammar, SMALL);
  const draw = random(7);
  for (let step = 0; step < STEPS_MAX; step++) {
    const wayOut = recogniser.tokensOut() ?? [];
    const bytes = wayOut.reduce((sum, token) => sum + SMALL.tokenBytes(token).length, 0);
    // Where the room is not known, the way out is looked for.
    expect(Number.isNaN(recogniser.room) ? bytes : recogniser.room).toBeGreaterThanOrEqual(bytes);
    const allowed = tokensOf(matcher.computeMask(), SMALL.size);
    const token = allowed[Math.floor(draw() * allowed.length)] as number;
    if (SMALL.isEndOfGeneration(token)) break;
    matcher.accept(token);
    for (const byte of SMALL.tokenBytes(token)) recogniser.machine.step(byte);
  }
});

test("a string far below its least length and one far above it have masks of their own", () => {
  const matcher = new Matcher(compileSchema({ type: "string", minLength: 40 }), LONG);
  matcher.accept(0x22);
  for (let length = 0; length < 100; length++) {
    expectRightMask(matcher, LONG);
    matcher.accept(0x61);
  }
});

test.each(Object.entries(SCHEMAS))("near the end of the budget some that fit: %s", (_, schema) => {
  const matcher = new Matcher(compileSchema(schema, { objects: "open" }), SMALL);
  const draw = random(11);
  for (let step = 0; step < STEPS_MAX && !matcher.isComplete; step++) {
    matcher.setBudget(matcher.needTokens() + Math.floor(draw() * 4));
    const fitting = new Set(tokensOf(matcher.computeMask(), SMALL.size));
    const closing = tokensOf(matcher.closingMask(), SMALL.size);
    expect(closing.filter((token) => !fitting.has(token))).toEqual([]);
    expect(closing).toContain(matcher.shortestWayOut()?.[0] ?? -1);
    matcher.setBudget(null);
    const allowed = tokensOf(matcher.computeMask(), SMALL.size);
    matcher.accept(allowed[Math.floor(draw() * allowed.length)] as number);
  }
});

test.each(Object.entries(SCHEMAS))("answers side by side keep apart: %s", (_, schema) => {
  const grammar = compileSchema(schema, { objects: "open", whitespace: "flexible" });
  const answers = [1, 2, 3].map((seed) => ({
    matcher: new Matcher(grammar, SMALL),
    draw: random(seed),
    hasEnded: false,
  }));
  for (let step = 0; step < STEPS_MAX; step++) {
    for (const answer of answers) {
      if (answer.hasEnded) continue;
      const { matcher, draw } = answer;
      const allowed = tokensOf(matcher.computeMask(), SMALL.size);
      expect(allowed).toEqual(naiveMask(matcher));
      const token = allowed[Math.floor(draw() * allowed.length)] as number;
      expect(matcher.accept(token)).toBe(true);
      answer.hasEnded = SMALL.isEndOfGeneration(token);
    }
  }
});

describe.skipIf(!vocabulariesAvailable)("over the 128,256 tokens of Llama 3", () => {
  let llama: Vocabulary;
  beforeAll(async () => {
    llama = await loadVocabulary(vocabularyPath("llama-bpe"));
  });

  test.each(Object.entries(SCHEMAS))("%s", (name, schema) => {
    const matcher = new Matcher(compileSchema(schema, { objects: "open" }), llama);
    const draw = random(name.length);
    for (let walk = 0; walk < LARGE_WALKS; walk++) {
      matcher.reset();
      // Asking for each token takes a tenth of a second: one place of each walk is looked at.
      for (let left = Math.floor(draw() * 12); left >= 0; left--) {
        const allowed = tokensOf(matcher.computeMask(), llama.size);
        if (left === 0) expect(allowed).toEqual(naiveMask(matcher, llama));
        const token = allowed[Math.floor(draw() * allowed.length)] as number;
        if (llama.isEndOfGeneration(token)) break;
        expect(matcher.accept(token)).toBe(true);
      }
    }
  });
});

function naiveMask(matcher: Matcher, vocabulary = SMALL): number[] {
  const allowed: number[] = [];
  for (let token = 0; token < vocabulary.size; token++) {
    if (!matcher.accept(token)) continue;
    matcher.rollback(1);
    allowed.push(token);
  }
  return allowed;
}
