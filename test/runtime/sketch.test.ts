/** The sketch's bytes are frozen: svc-tiny is trained on them. Expected texts are written by hand from its grammar. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { printSketch } from "../../src/runtime/sketch.ts";

const CASES: readonly (readonly [unknown, string])[] = [
  [{ type: "string" }, "string"],
  [{ type: "string", format: "date" }, "date"],
  [{ type: ["string", "null"], format: "date" }, "date|null"],
  [{ type: "integer", minimum: 1, maximum: 5 }, "integer(1..5)"],
  [{ type: "number", exclusiveMinimum: 0 }, "number(0..)"],
  [{ type: "number", maximum: 1.5 }, "number(..1.5)"],
  [{ enum: ["a", 'b"c', 1, null] }, '"a"|"b\\"c"|1|null'],
  [{ const: "x" }, '"x"'],
  [{ type: "array", items: { type: "string" } }, "[string]"],
  [{ type: "array", items: { type: "string" }, minItems: 1, maxItems: 3 }, "[string](1..3)"],
  [{ type: "array", prefixItems: [{ type: "string" }, { type: "number" }] }, "[string,number]"],
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string|null"],
  [{ allOf: [{ type: "string" }] }, "string"],
  [true, "any"],
  [{}, "any"],
  [{ type: "number", description: "net\n amount" }, "number/*net amount*/"],
  [{ type: "number", title: "Net", description: "" }, "number/*Net*/"],
  [{ type: "string", description: "a */ b" }, "string/*a * / b*/"],
  [
    {
      type: "object",
      properties: {
        id: { type: "string" },
        due: { type: "string" },
        "two words": { type: "boolean" },
      },
      required: ["id", "two words"],
    },
    '{id:string,due?:string,"two words":boolean}',
  ],
  [{ type: "object", additionalProperties: { type: "number" } }, "{[key]:number}"],
  [{ type: "object", additionalProperties: false }, "{}"],
  [
    {
      type: "object",
      properties: { a: { $ref: "#/$defs/A~1b", description: "lost" } },
      required: ["a"],
      $defs: { "A/b": { type: "integer", description: "kept out" } },
    },
    "{a:integer/*lost*/}",
  ],
];

test.each(CASES)("%j prints as %s", (schema, sketch) => {
  expect(printSketch(schema)).toBe(sketch);
});

test("a schema that refers to itself ends in any", () => {
  const list = {
    type: "object",
    properties: { next: { $ref: "#" } },
    required: ["next"],
  };
  const printed = printSketch(list);
  expect(printed).toStartWith("{next:{next:");
  expect(printed).toContain("any");
});

test("a schema that doubles at each level stays bounded", () => {
  const $defs: Record<string, unknown> = { d0: { type: "string" } };
  for (let i = 1; i <= 12; i += 1) {
    const below = { $ref: `#/$defs/d${i - 1}` };
    $defs[`d${i}`] = { type: "array", prefixItems: [below, below, below] };
  }
  expect(printSketch({ $ref: "#/$defs/d12", $defs }).length).toBeLessThan(20_000);
});

test("unknown references, broken pointers and prototype names print any", () => {
  for (const $ref of [
    "https://example.com/x",
    "#/$defs/none",
    "#/%",
    "#/constructor",
    "#/__proto__",
  ])
    expect(printSketch({ $ref })).toBe("any");
});

test("a long description is cut between code points", () => {
  const printed = printSketch({ type: "string", description: "😀".repeat(300) });
  expect(printed).toBe(`string/*${"😀".repeat(160)}*/`);
});

test("any JSON value prints without an exception, the same each time", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (schema) => {
      expect(printSketch(schema)).toBe(printSketch(structuredClone(schema)));
    }),
    { numRuns: 300 },
  );
});
