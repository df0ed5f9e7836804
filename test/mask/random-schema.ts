/** Random schemas of draft 2020-12 and random values that they may speak of, small on both sides. */
import fc from "fast-check";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";

const NAMES = ["a", "b", "c", "ab"] as const;
const PATTERNS = ["^a", "b$", "^[ab]{1,2}$", "a|b", "^(?:a|bc)*$"] as const;
const FORMATS = ["date", "ipv4", "uuid"] as const;

const name = fc.constantFrom(...NAMES);
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, false),
  fc.integer({ min: -3, max: 6 }),
  fc.constantFrom(0.5, -1.25, 2.5, 10, 100),
  fc.constantFrom("", "a", "b", "ab", "abc", "bc", "é", "2024-02-29", "127.0.0.1"),
);

/** Values in whose terms the schemas speak: the same names, small numbers, short strings. */
export const value: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(name, fc.constantFrom("d", "x", "")), tie("value"), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).value;

const count = fc.integer({ min: 0, max: 3 });
const number = fc.record(
  {
    minimum: fc.integer({ min: -3, max: 3 }),
    maximum: fc.integer({ min: 0, max: 6 }),
    exclusiveMinimum: fc.constantFrom(-1.5, 0, 2),
    exclusiveMaximum: fc.constantFrom(1, 2.5, 5),
    multipleOf: fc.constantFrom(1, 2, 0.5, 0.25, 3),
  },
  { requiredKeys: [] },
);
const string = fc.record(
  {
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom(...PATTERNS),
    format: fc.constantFrom(...FORMATS),
  },
  { requiredKeys: [] },
);
const types = fc.oneof(
  fc.constantFrom("null", "boolean", "integer", "number", "string", "array", "object"),
  fc.uniqueArray(fc.constantFrom("null", "boolean", "integer", "string", "array", "object"), {
    minLength: 1,
    maxLength: 3,
  }),
);

/** `$ref` goes to one of two definitions, which may refer to each other. */
export const schema: fc.Arbitrary<object> = fc
  // Not together: Ajv does not count what `contains` has found as evaluated, as the standard does.
  .oneof(schemaWith("contains"), schemaWith("unevaluatedItems"))
  .chain((root) =>
    fc.tuple(fc.constant(root), schemaPart(), schemaPart()).map(([top, p, q]) => ({
      allOf: [top],
      $defs: { p, q },
    })),
  );

function schemaWith(keyword: "contains" | "unevaluatedItems"): fc.Arbitrary<object | boolean> {
  return fc.letrec<{ schema: object | boolean }>((tie) => {
    const sub = tie("schema");
    const some = fc.array(sub, { minLength: 1, maxLength: 3 });
    const object = fc.record(
      {
        properties: fc.dictionary(name, sub, { maxKeys: 3, noNullPrototype: true }),
        required: fc.uniqueArray(name, { maxLength: 2 }),
        additionalProperties: sub,
        patternProperties: fc.dictionary(fc.constantFrom(...PATTERNS), sub, {
          maxKeys: 2,
          noNullPrototype: true,
        }),
        propertyNames: fc.oneof(
          string,
          fc.record({ enum: fc.uniqueArray(name, { minLength: 1 }) }),
        ),
        minProperties: count,
        maxProperties: count,
        dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), {
          maxKeys: 1,
          noNullPrototype: true,
        }),
        dependentSchemas: fc.dictionary(name, sub, { maxKeys: 1, noNullPrototype: true }),
        unevaluatedProperties: sub,
      },
      { requiredKeys: [] },
    );
    const contains = fc.record(
      { contains: sub, minContains: count, maxContains: count },
      { requiredKeys: ["contains"] },
    );
    const findings: Record<string, fc.Arbitrary<unknown>> = keyword === "unevaluatedItems"
      ? { unevaluatedItems: sub }
      : // By itself: beside `prefixItems`, Ajv lets the empty array contain what it likes.
        { allOf: contains.map((rules) => [rules]) };
    const items = fc.record<Record<string, unknown>>(
      {
        ...findings,
        items: sub,
        prefixItems: some,
        minItems: count,
        maxItems: count,
        uniqueItems: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    // Spelled apart: an object with a property "then" would pass for a promise.
    const one = ["not", "if", "then", "else"].map((keyword) => [keyword, sub] as const);
    const many = ["allOf", "anyOf", "oneOf"].map((keyword) => [keyword, some] as const);
    const combined = fc.record(Object.fromEntries([...one, ...many]), { requiredKeys: [] });
    const reference = fc.record({ $ref: fc.constantFrom("#/$defs/p", "#/$defs/q") });
    const typed = fc.record({ type: types });
    const parts = [typed, number, string, object, items] as const;
    const picked = fc.tuple(typed, fc.oneof(...parts)).map(([a, b]) => ({ ...a, ...b }));
    return {
      schema: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        { weight: 3, arbitrary: typed },
        { weight: 1, arbitrary: fc.boolean() },
        {
          weight: 2,
          arbitrary: fc.record({ enum: fc.array(value, { minLength: 1, maxLength: 3 }) }),
        },
        { weight: 1, arbitrary: fc.record({ const: value }) },
        { weight: 1, arbitrary: reference },
        { weight: 6, arbitrary: fc.oneof(...parts, picked) },
        { weight: 3, arbitrary: fc.tuple(picked, combined).map(([a, b]) => ({ ...a, ...b })) },
      ),
    };
  }).schema;
}

function schemaPart(): fc.Arbitrary<object> {
  return fc.constantFrom<object>(
    { type: "string" },
    { type: "array", items: { $ref: "#/$defs/q" }, maxItems: 2 },
    { properties: { a: { $ref: "#/$defs/p" } }, type: "object" },
    { anyOf: [{ type: "null" }, { $ref: "#/$defs/q" }] },
  );
}
