/**
 * Arrays of unique items, led to where it is hard: what was written once is begun again, and stopped
 * where the lock stops it. There the mask must be right, and the text must still have an end.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { compiled, expectRightMask, random, SMALL, smallVocabulary, tokensOf } from "./kit.ts";
import { validator } from "./oracle.ts";

setDefaultTimeout(600_000);

const isSlow = process.env["SLOW"] === "1";
const RUNS = isSlow ? { numRuns: 1_500 } : { numRuns: 12, seed: 20_261_122 };

/** With tokens that end an item and begin the next, or hold whole ones. */
const CROSSING = smallVocabulary([
  ...['","', '", "', ',"', ', "', '"],"', '"}', '"},{"', "},{", "{}", "[]", ',"a', '"a","b"'],
  ...["null", ",null", "nu", 'a","', '{"a":', '":"', '":null}', "ab", '"a"', ' "a', "true,"],
]);

const item: fc.Arbitrary<object | boolean> = fc.letrec<{ item: object | boolean }>((tie) => ({
  item: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<(object | boolean)[]>(
      true,
      { type: "string" },
      { type: "string", maxLength: 1 },
      { type: "string", pattern: "^[ab]{1,2}$" },
      { type: "string", pattern: "^(?:a|ab.*)$" },
      { enum: ["a", "b", "ab", null] },
      { enum: ["a", "b", { a: "a" }, ["a"]] },
      { type: ["string", "null", "boolean"] },
      { type: ["null", "boolean"] },
      { type: "object" },
      { type: "object", additionalProperties: false, properties: { a: { type: "string" } } },
      { type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      { type: ["object", "array", "string"], maxProperties: 1 },
      { type: ["number", "string"] },
      { type: "object", propertyNames: { enum: ["a", "b"] } },
    ),
    fc.record({ type: fc.constant("object"), additionalProperties: tie("item") }),
    fc.record({ type: fc.constant("array"), uniqueItems: fc.boolean(), items: tie("item") }),
    fc.record({ anyOf: fc.array(tie("item"), { minLength: 2, maxLength: 2 }) }),
  ),
})).item;

const array = fc.record(
  {
    type: fc.constant("array"),
    uniqueItems: fc.constant(true),
    items: item,
    prefixItems: fc.array(item, { minLength: 1, maxLength: 2 }),
    minItems: fc.integer({ min: 0, max: 4 }),
    maxItems: fc.integer({ min: 3, max: 4 }),
  },
  { requiredKeys: ["type", "uniqueItems", "items"] },
);

const value: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<JsonValue[]>("a", "b", "ab", "abc", "", "\n", "é", null, true, {}, []),
    fc.array(tie("value"), { minLength: 1, maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), {
      minKeys: 1,
      maxKeys: 2,
      noNullPrototype: true,
    }),
  ),
})).value;

test("an item that was written cannot be written again, and something else always can", () => {
  fc.assert(
    fc.property(
      array,
      fc.array(value, { minLength: 1, maxLength: 4 }),
      fc.constantFrom("open", "closed"),
      fc.boolean(),
      fc.nat(),
      (of, values, objects, crosses, seed) => {
        const vocabulary = crosses ? CROSSING : SMALL;
        const grammar = compiled(of, objects);
        if (!grammar) return;
        const isValid = validator(of);
        const draw = random(seed);
        const matcher = new Matcher(grammar, vocabulary);
        const again = values[Math.floor(draw() * values.length)] as JsonValue;
        let text = "";
        for (const byte of Buffer.from(JSON.stringify([...values, again]).slice(0, -1))) {
          if (draw() < 0.1) expectRightMask(matcher, vocabulary);
          if (!matcher.accept(byte)) break;
          text += String.fromCharCode(byte);
        }
        expectRightMask(matcher, vocabulary);
        const need = matcher.needTokens();
        expect(need).toBeLessThan(500);
        matcher.setBudget(need + Math.floor(draw() * 10));
        while (!matcher.isComplete) {
          const allowed = tokensOf(matcher.computeMask(), vocabulary.size);
          const token = allowed[Math.floor(draw() * allowed.length)];
          if (token === undefined) throw new Error(`nothing may follow ${text}`);
          expect(matcher.accept(token)).toBe(true);
          text += Buffer.from(vocabulary.tokenBytes(token)).toString("latin1");
        }
        const json = Buffer.from(text, "latin1").toString();
        expect([json, isValid(JSON.parse(json))]).toEqual([json, true]);
      },
    ),
    RUNS,
  );
});
