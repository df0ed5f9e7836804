/** Every keyword of the table in src/grammar/README.md: an instance, and one edit that is refused. */
import { describe, expect, test } from "bun:test";
import Ajv7 from "ajv";
import Ajv2019 from "ajv/dist/2019";
import Ajv2020 from "ajv/dist/2020";
import addFormats from "ajv-formats";
import { compileSchema } from "../../src/grammar/compile.ts";
import { JsonMachine } from "../../src/mask/json-machine.ts";
import { SchemaError } from "../../src/schema/schema-error.ts";

const DRAFTS = {
  "draft-04": "http://json-schema.org/draft-04/schema#",
  "draft-06": "http://json-schema.org/draft-06/schema#",
  "draft-07": "http://json-schema.org/draft-07/schema#",
  "2019-09": "https://json-schema.org/draft/2019-09/schema",
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
} as const;
type Draft = keyof typeof DRAFTS;

const ALL = Object.keys(DRAFTS) as Draft[];
const from = (draft: Draft): Draft[] => ALL.slice(ALL.indexOf(draft));
const until = (draft: Draft): Draft[] => ALL.slice(0, ALL.indexOf(draft) + 1);

/** Keyword, drafts, schema, a text that is valid, an edit of it that is not. */
const CASES: readonly (readonly [string, readonly Draft[], object, string, string])[] = [
  ["type", ALL, { type: "integer" }, "12", "12.5"],
  ["type", ALL, { type: ["null", "string"] }, '"a"', "1"],
  ["enum", ALL, { enum: ["a", [1, { b: null }]] }, '[1,{"b":null}]', '[1,{"b":true}]'],
  ["const", from("draft-06"), { const: { a: 1 } }, '{"a":1}', '{"a":2}'],
  ["minimum", ALL, { minimum: 2.5 }, "2.5", "2.4"],
  ["maximum", ALL, { maximum: 2.5 }, "2.5", "2.6"],
  ["exclusiveMinimum", ["draft-04"], { minimum: 3, exclusiveMinimum: true }, "4", "3"],
  ["exclusiveMinimum", from("draft-06"), { exclusiveMinimum: 3 }, "4", "3"],
  ["exclusiveMaximum", ["draft-04"], { maximum: 3, exclusiveMaximum: true }, "2", "3"],
  ["exclusiveMaximum", from("draft-06"), { exclusiveMaximum: 3 }, "2", "3"],
  ["multipleOf", ALL, { multipleOf: 0.5 }, "1.5", "1.25"],
  ["minLength", ALL, { minLength: 2 }, '"ab"', '"a"'],
  ["maxLength", ALL, { maxLength: 2 }, '"ab"', '"abc"'],
  ["pattern", ALL, { pattern: "^a+b" }, '"aab"', '"aa"'],
  ["format", ALL, { format: "ipv4" }, '"127.0.0.1"', '"127.0.0.256"'],
  ["format", ALL, { format: "date-time" }, '"2024-02-29T01:02:03Z"', '"2023-02-29T01:02:03Z"'],
  ["format", ALL, { format: "email" }, '"a@b.example"', '"a.b.example"'],
  [
    "format",
    from("2019-09"),
    { format: "uuid" },
    '"00000000-0000-4000-8000-00000000000f"',
    '"00000000-0000-4000-8000-00000000000g"',
  ],
  ["properties", ALL, { properties: { a: { type: "null" } } }, '{"a":null}', '{"a":1}'],
  ["required", ALL, { type: "object", required: ["a"] }, '{"a":1}', '{"b":1}'],
  [
    "additionalProperties",
    ALL,
    { properties: { a: {} }, additionalProperties: false },
    '{"a":1}',
    '{"b":1}',
  ],
  [
    "patternProperties",
    ALL,
    { patternProperties: { "^x": { type: "null" } } },
    '{"x1":null}',
    '{"x1":1}',
  ],
  ["propertyNames", from("draft-06"), { propertyNames: { maxLength: 2 } }, '{"ab":1}', '{"abc":1}'],
  ["minProperties", ALL, { minProperties: 2 }, '{"a":1,"b":2}', '{"a":1}'],
  ["maxProperties", ALL, { maxProperties: 1 }, '{"a":1}', '{"a":1,"b":2}'],
  [
    "dependencies",
    until("draft-07"),
    { dependencies: { a: ["b"] } },
    '{"a":1,"b":2}',
    '{"a":1,"c":2}',
  ],
  [
    "dependentRequired",
    from("2019-09"),
    { dependentRequired: { a: ["b"] } },
    '{"a":1,"b":2}',
    '{"a":1,"c":2}',
  ],
  [
    "dependentSchemas",
    from("2019-09"),
    { dependentSchemas: { a: { required: ["b"] } } },
    '{"a":1,"b":2}',
    '{"a":1,"c":2}',
  ],
  ["items", ALL, { items: { type: "integer" } }, "[1,2]", '[1,"2"]'],
  [
    "items",
    until("2019-09"),
    { items: [{ type: "integer" }, { type: "string" }] },
    '[1,"a"]',
    "[1,2]",
  ],
  ["additionalItems", until("2019-09"), { items: [{}], additionalItems: false }, "[1]", "[1,2]"],
  ["prefixItems", ["2020-12"], { prefixItems: [{ type: "integer" }] }, '[1,"a"]', '["1","a"]'],
  ["minItems", ALL, { minItems: 2 }, "[1,2]", "[1]"],
  ["maxItems", ALL, { maxItems: 2 }, "[1,2]", "[1,2,3]"],
  [
    "uniqueItems",
    ALL,
    { uniqueItems: true },
    '[1,"1",{"a":1,"b":2}]',
    '[{"b":2,"a":1},"1",{"a":1,"b":2}]',
  ],
  ["contains", from("draft-06"), { contains: { type: "null" } }, "[1,null]", "[1,2]"],
  [
    "minContains",
    from("2019-09"),
    { contains: { type: "null" }, minContains: 2 },
    "[null,null]",
    "[null,1]",
  ],
  [
    "maxContains",
    from("2019-09"),
    { contains: { type: "null" }, maxContains: 1 },
    "[null,1]",
    "[null,null]",
  ],
  ["allOf", ALL, { allOf: [{ minimum: 1 }, { maximum: 3 }] }, "2", "4"],
  ["anyOf", ALL, { anyOf: [{ type: "null" }, { type: "integer" }] }, "1", "1.5"],
  ["oneOf", ALL, { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, "4", "6"],
  ["not", ALL, { not: { type: "string" } }, "1", '"1"'],
  ["if", from("draft-07"), { if: { type: "integer" }, else: { type: "null" } }, "1", '"1"'],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  ["then", from("draft-07"), { if: { type: "integer" }, then: { minimum: 5 } }, "5", "4"],
  ["else", from("draft-07"), { if: { type: "integer" }, else: { maxLength: 1 } }, '"a"', '"ab"'],
  [
    "$ref",
    ALL,
    { properties: { a: { $ref: "#" } }, additionalProperties: false },
    '{"a":{"a":{}}}',
    '{"a":{"b":{}}}',
  ],
  [
    "definitions",
    ALL,
    { allOf: [{ $ref: "#/definitions/n" }], definitions: { n: { type: "null" } } },
    "null",
    "1",
  ],
  ["$defs", from("2019-09"), { $ref: "#/$defs/n", $defs: { n: { type: "null" } } }, "null", "1"],
  [
    "$anchor",
    from("2019-09"),
    { $ref: "#n", $defs: { n: { $anchor: "n", type: "null" } } },
    "null",
    "1",
  ],
  [
    "id",
    ["draft-04"],
    { allOf: [{ $ref: "urn:x" }], definitions: { n: { id: "urn:x", type: "null" } } },
    "null",
    "1",
  ],
  [
    "$id",
    from("2019-09"),
    { $ref: "urn:x", $defs: { n: { $id: "urn:x", type: "null" } } },
    "null",
    "1",
  ],
  [
    "unevaluatedProperties",
    from("2019-09"),
    { anyOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
    '{"a":1}',
    '{"b":1}',
  ],
  [
    "unevaluatedItems",
    ["2020-12"],
    { allOf: [{ prefixItems: [true] }], unevaluatedItems: false },
    "[1]",
    "[1,2]",
  ],
];

describe.each(ALL)("%s", (draft) => {
  const cases = CASES.filter(([, drafts]) => drafts.includes(draft));
  test.each(
    cases.map(([keyword, , schema, valid, invalid]) => [keyword, schema, valid, invalid] as const),
  )("%s is enforced", (_, schema, valid, invalid) => {
    const stated = { $schema: DRAFTS[draft], ...schema };
    expect(accepts(stated, valid)).toBe(true);
    expect(accepts(stated, invalid)).toBe(false);
    const judge = judgeOf(draft);
    if (judge === null) return;
    expect(judge(stated, JSON.parse(valid))).toBe(true);
    expect(judge(stated, JSON.parse(invalid))).toBe(false);
  });
});

function accepts(schema: unknown, text: string): boolean {
  const machine = new JsonMachine(compileSchema(schema, { objects: "open" }));
  return [...Buffer.from(text)].every((byte) => machine.step(byte)) && machine.canEnd;
}

/** Ajv reads draft-06 with the rules of draft-07, and draft-04 not at all. */
function judgeOf(draft: Draft): ((schema: object, value: unknown) => boolean) | null {
  if (draft === "draft-04" || draft === "draft-06") return null;
  const options = { strict: false, validateSchema: false } as const;
  const ajv =
    draft === "2020-12"
      ? new Ajv2020(options)
      : draft === "2019-09"
        ? new Ajv2019(options)
        : new Ajv7(options);
  addFormats(ajv);
  return (schema, value) => ajv.compile(schema)(value) as boolean;
}

describe("what is refused names the keyword, where it stands, and a way out", () => {
  test.each([
    [{ properties: { a: { pattern: "(a)\\1" } } }, "unsupported_keyword", "/properties/a/pattern"],
    [{ pattern: "a(?=b)" }, "unsupported_keyword", "/pattern"],
    [{ $ref: "https://elsewhere.example/s" }, "unresolved_reference", "/$ref"],
    [{ type: "integer", minimum: 2, maximum: 1 }, "unsatisfiable", ""],
    [{ minLength: "3" }, "invalid_schema", "/minLength"],
    [{ $ref: "#" }, "infinite_recursion", ""],
  ] as const)("%j", (schema, code, pointer) => {
    try {
      compileSchema(schema);
    } catch (error) {
      expect(error).toBeInstanceOf(SchemaError);
      expect(error).toMatchObject({ code, pointer });
      expect((error as Error).message.length).toBeGreaterThan(20);
      return;
    }
    throw new Error("it was taken");
  });
});

describe("hostile schemas end, compiled or refused", () => {
  const nested = (depth: number): unknown => (depth === 0 ? {} : { allOf: [nested(depth - 1)] });
  const names = Array.from({ length: 10_000 }, (_, i) => [`p${i}`, { type: "integer" }]);
  const HOSTILE: Readonly<Record<string, unknown>> = {
    "a pattern of a million states": { pattern: "[ab]*a[ab]{20}" },
    "maxLength of a billion": { type: "string", maxLength: 1e9 },
    "10,000 properties": { type: "object", properties: Object.fromEntries(names) },
    "1,000 nested allOf": nested(1000),
    "a reference without a base case": {
      $defs: { a: { type: "object", properties: { b: { $ref: "#/$defs/a" } }, required: ["b"] } },
      $ref: "#/$defs/a",
    },
    "a megabyte of enum": { enum: Array.from({ length: 60_000 }, (_, i) => `value number ${i}`) },
    "a product of oneOf": {
      allOf: Array.from({ length: 12 }, (_, i) => ({
        oneOf: [{ required: [`a${i}`] }, { required: [`b${i}`] }, { required: [`c${i}`] }],
      })),
    },
    "steps too small for a double": { type: "number", multipleOf: 1e-300 },
    "an array of a billion": { type: "array", minItems: 1e9 },
  };
  test.each(Object.entries(HOSTILE))("%s", (_, schema) => {
    const before = process.cpuUsage();
    try {
      compileSchema(schema);
    } catch (error) {
      expect(error).toBeInstanceOf(SchemaError);
    }
    const { user, system } = process.cpuUsage(before);
    // One second is what is promised; a machine that is busy elsewhere gets twice that.
    expect((user + system) / 1e6).toBeLessThan(2);
  });
});
