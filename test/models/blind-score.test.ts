import { describe, expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { isGrounded, matches, newScore, scoreExtraction, share } from "./blind-score.ts";

interface BlindCase {
  readonly id: string;
  readonly task: string;
  readonly kind: string;
  readonly schema?: object;
  readonly expected?: unknown;
}

async function readCases(name: string): Promise<BlindCase[]> {
  const text = await Bun.file(new URL(`../vectors/${name}`, import.meta.url).pathname).text();
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as BlindCase);
}

const cases = await readCases("tiny-blind.jsonl");
const SETS = [
  ["blind", cases],
  ["development", await readCases("tiny-dev.jsonl")],
] as const;

describe("what counts as right", () => {
  test("numbers by value, strings by text without white space around them", () => {
    expect(matches(46, JSON.parse("46.00"))).toBe(true);
    expect(matches("Oslo", " Oslo")).toBe(true);
    expect(matches("Oslo", "oslo")).toBe(false);
    expect(matches(46, "46")).toBe(false);
    expect(matches(null, "")).toBe(false);
  });

  test("one of several, a range, and what nobody can say", () => {
    expect(matches({ $any: ["lamp", "the lamp"] }, "the lamp")).toBe(true);
    expect(matches({ $any: ["lamp", "the lamp"] }, "a lamp")).toBe(false);
    expect(matches({ $range: [0, 1] }, 0.5)).toBe(true);
    expect(matches({ $range: [0, 1] }, 2)).toBe(false);
    expect(matches({ $ignore: true }, undefined)).toBe(true);
  });

  test("a document needs all its scalars, and lists of the right length", () => {
    const score = newScore();
    const expected = { id: "A", to: null, items: [{ n: 1 }, { n: 2 }] };
    expect(scoreExtraction(score, expected, expected)).toBe(true);
    const long = { id: "A", to: "x", items: [{ n: 2 }, { n: 1 }, { n: 2 }] };
    expect(scoreExtraction(score, expected, long)).toBe(false);
    expect(score.documents).toEqual({ right: 1, of: 2 });
    expect(score.absent).toEqual({ right: 1, of: 2 });
    // Two of three items are in the list, in whatever order; by position both are wrong.
    expect(score.items).toEqual({ right: 2 + 2, of: 2 + 3 });
    expect(score.fields).toEqual({ right: 4 + 1, of: 8 });
    expect(share(score.documents)).toBe(0.5);
  });

  test("no answer at all has every field wrong", () => {
    const score = newScore();
    expect(scoreExtraction(score, { a: 1, b: { c: "x" } }, undefined)).toBe(false);
    expect(score.fields).toEqual({ right: 0, of: 2 });
  });

  test("a grounded answer cites what it should and nothing else", () => {
    expect(isGrounded(["9 euros"], [2], "It costs 9 euros. [2]")).toBe(true);
    expect(isGrounded(["9 euros"], [2], "It costs 9 euros. [1]")).toBe(false);
    expect(isGrounded(["9 euros"], [2], "It costs 9 euros. [1] [2]")).toBe(false);
    expect(isGrounded([], [], "The sources do not say.")).toBe(true);
  });
});

/** The expectation with its first alternative in place of each rule. */
function resolve(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolve);
  if (typeof value !== "object" || value === null) return value;
  if ("$any" in value && Array.isArray(value.$any)) return value.$any[0];
  if ("$range" in value && Array.isArray(value.$range)) return value.$range[0];
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one)]));
}

describe("sets of inputs", () => {
  test("the blind set has 150 inputs or more, of 15 kinds or more, each with its own name", () => {
    expect(cases.length).toBeGreaterThanOrEqual(150);
    expect(new Set(cases.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(15);
  });

  test.each(SETS)(
    "the %s set has names of its own and expects what its schemas allow",
    (_, set) => {
      expect(new Set(set.map(({ id }) => id)).size).toBe(set.length);
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      for (const { id, schema, expected } of set) {
        if (schema === undefined || JSON.stringify(expected).includes("$ignore")) continue;
        expect([id, ajv.validate(schema, resolve(expected))]).toEqual([id, true]);
      }
    },
  );
});
