/** Numbers with bounds, steps and exceptions, as those see them who read doubles. */
import { expect, test } from "bun:test";
import { compileSchema } from "../../src/grammar/compile.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { random, SMALL, sample } from "../mask/kit.ts";
import { validator } from "../mask/oracle.ts";

const CHARACTERS = [..."-+.e015"];
const LENGTH_MAX = 7;

/** Every number of these characters that the lock lets end. */
function texts(schema: object): string[] {
  const matcher = new Matcher(compileSchema(schema, { objects: "open" }), SMALL);
  const found: string[] = [];
  const go = (text: string): void => {
    if (text !== "" && matcher.isComplete) found.push(text);
    if (text.length === LENGTH_MAX) return;
    for (const character of CHARACTERS) {
      if (!matcher.accept(character.charCodeAt(0))) continue;
      go(text + character);
      matcher.rollback(1);
    }
  };
  go("");
  return found;
}

const takes = (schema: object, text: string): boolean => {
  const matcher = new Matcher(compileSchema(schema, { objects: "open" }), SMALL);
  return [...Buffer.from(text)].every((byte) => matcher.accept(byte)) && matcher.isComplete;
};

for (const bounds of [
  { minimum: 0 },
  { exclusiveMinimum: 0 },
  { maximum: 0 },
  { minimum: 0, maximum: 1 },
  { minimum: -5, exclusiveMaximum: 0.5 },
  { minimum: 0.05, maximum: 5 },
  { exclusiveMaximum: -1 },
]) {
  const schema = { type: "number", ...bounds };
  test(`every short text of ${JSON.stringify(bounds)} is within them`, () => {
    const isValid = validator(schema);
    const all = texts(schema);
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter((text) => !isValid(JSON.parse(text)))).toEqual([]);
  });
}

test.each<[object, string[], string[]]>([
  [{ minimum: 0 }, ["1e-06", "2.5e10", "0e5", "1E+3"], ["-1e5", "1e300"]],
  [{ exclusiveMinimum: 0 }, ["1e-6"], ["0e5", "0.0e1", "1e-999"]],
  [{ minimum: 0, maximum: 1 }, ["0.5e-1", "1e-199"], ["1e0", "5e-1", "5e-01e1", "1e1", "5e-1e-1"]],
  [{ minimum: 1 }, ["10"], ["1e1", "10e-1"]],
  [{ minimum: 0, multipleOf: 0.5 }, ["2.5"], ["5e-1", "1e1"]],
])("%p takes and refuses", (bounds, taken, refused) => {
  const schema = { type: "number", ...bounds };
  expect(taken.filter((text) => !takes(schema, text))).toEqual([]);
  expect(refused.filter((text) => takes(schema, text))).toEqual([]);
});

test.each<object>([
  { exclusiveMaximum: 1 },
  { exclusiveMinimum: 1, exclusiveMaximum: 1.0001 },
  { not: { type: "integer" } },
  { not: { const: 7 } },
  { multipleOf: 0.01 },
  { multipleOf: 7 },
  { oneOf: [{ multipleOf: 3 }, { multipleOf: 5 }] },
])("%p: who reads numbers as doubles finds them right, long ones too", (rules) => {
  const schema = { type: "number", ...rules };
  const isValid = validator(schema);
  for (const objects of ["closed", "open"] as const) {
    const grammar = compileSchema(schema, { objects });
    let longest = 0;
    for (let round = 0; round < 300; round++) {
      const options = { budget: 60, eagerness: 0.02, budgetBy: "accept" } as const;
      const { text } = sample(grammar, SMALL, random(round), options);
      if (!isValid(JSON.parse(text))) throw new Error(text);
      longest = Math.max(longest, text.replace(/e.*|\D/gi, "").length);
    }
    expect(longest).toBe(15);
  }
});

test("numbers with no more than a bound that they may reach have as many digits as before", () => {
  expect(takes({ minimum: 0 }, "0.1234567890123456789")).toBe(true);
  expect(takes({ exclusiveMinimum: 0 }, "0.30000000000000004")).toBe(true);
  expect(takes({ exclusiveMaximum: 1 }, "0.30000000000000004")).toBe(false);
});
