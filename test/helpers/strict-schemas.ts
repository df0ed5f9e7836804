/** Twenty schemas that between them use every keyword that the lock enforces. */

const text = (maxLength: number) => ({ type: "string", maxLength });

const CONDITION = `{
  "if": { "properties": { "country": { "const": "US" } } },
  "then": { "properties": { "code": { "pattern": "^[0-9]{5}$" } } },
  "else": { "properties": { "code": { "pattern": "^[A-Z][0-9][A-Z]$" } } }
}`;

export const STRICT_SCHEMAS: Readonly<Record<string, unknown>> = {
  "types in a list": {
    type: "object",
    properties: {
      a: { type: ["integer", "null", "boolean"] },
      b: { type: ["string", "null"], maxLength: 3 },
    },
    required: ["a", "b"],
  },
  "enum and const": {
    type: "object",
    properties: { kind: { const: "x/1" }, color: { enum: ["red", "green", 3, null, { a: [1] }] } },
    required: ["kind", "color"],
    additionalProperties: false,
  },
  "bounds of integers": {
    type: "array",
    items: { type: "integer", minimum: -17, exclusiveMaximum: 1203 },
    minItems: 2,
    maxItems: 5,
  },
  "bounds of numbers": {
    type: "object",
    properties: {
      ratio: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
      price: { type: "number", minimum: 9.95, maximum: 10_000 },
    },
    required: ["ratio", "price"],
  },
  multiples: {
    type: "object",
    properties: { cents: { type: "integer", multipleOf: 25, minimum: 0, maximum: 1000 } },
    required: ["cents"],
  },
  lengths: {
    type: "object",
    properties: { code: { type: "string", minLength: 4, maxLength: 6 }, note: text(12) },
    required: ["code"],
  },
  patterns: {
    type: "object",
    properties: {
      plate: { type: "string", pattern: "^[A-Z]{2}-\\d{3,4}$" },
      word: { type: "string", pattern: "b+c", maxLength: 8 },
    },
    required: ["plate", "word"],
  },
  formats: {
    type: "object",
    properties: {
      day: { type: "string", format: "date" },
      at: { type: "string", format: "date-time", maxLength: 25 },
      id: { type: "string", format: "uuid" },
      mail: { type: "string", format: "email", maxLength: 24 },
      host: { type: "string", format: "ipv4" },
    },
    required: ["day", "at", "id", "mail", "host"],
  },
  tuples: {
    type: "array",
    prefixItems: [{ type: "boolean" }, { type: "integer", minimum: 0, maximum: 9 }],
    items: text(2),
    minItems: 3,
    maxItems: 4,
  },
  "unique items": {
    type: "array",
    items: { enum: ["a", "b", "c", 1, 2] },
    uniqueItems: true,
    minItems: 3,
    maxItems: 4,
  },
  contains: {
    type: "array",
    items: { type: "integer", minimum: 0, maximum: 99 },
    contains: { type: "integer", minimum: 90 },
    minContains: 1,
    maxContains: 2,
    maxItems: 4,
  },
  "open keys": {
    type: "object",
    patternProperties: { "^n_": { type: "integer", minimum: 0, maximum: 9 } },
    additionalProperties: { type: "boolean" },
    propertyNames: { maxLength: 5 },
    minProperties: 1,
    maxProperties: 3,
  },
  "dependent keys": {
    type: "object",
    properties: { card: { type: "integer", minimum: 1, maximum: 9 }, cvc: text(3), iban: text(3) },
    additionalProperties: false,
    dependentRequired: { card: ["cvc"] },
    dependentSchemas: { iban: { required: ["cvc"] } },
    minProperties: 1,
  },
  "any of": {
    anyOf: [
      { type: "object", properties: { a: text(3) }, required: ["a"], additionalProperties: false },
      { type: "array", items: { type: "null" }, minItems: 1, maxItems: 2 },
      { type: "integer", minimum: 5, maximum: 7 },
    ],
  },
  "one of": {
    type: "object",
    oneOf: [
      {
        properties: { type: { const: "cat" }, lives: { type: "integer", minimum: 1, maximum: 9 } },
      },
      { properties: { type: { const: "dog" }, name: text(4) } },
    ],
    required: ["type"],
  },
  "all of": {
    allOf: [
      { type: "object", properties: { a: { type: "integer", minimum: 3 } }, required: ["a"] },
      { type: "object", properties: { a: { type: "integer", maximum: 6 } } },
    ],
  },
  not: {
    type: "object",
    properties: { n: { type: "integer", minimum: 0, maximum: 20, not: { multipleOf: 3 } } },
    required: ["n"],
  },
  "if, then, else": {
    type: "object",
    properties: { country: { enum: ["CA", "US"] }, code: { type: "string", maxLength: 7 } },
    required: ["country", "code"],
    // As text: an object with a member "then" looks like a promise.
    ...(JSON.parse(CONDITION) as object),
  },
  recursion: {
    $defs: {
      node: {
        type: "object",
        properties: {
          name: text(3),
          next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] },
        },
        required: ["name", "next"],
        additionalProperties: false,
      },
    },
    $ref: "#/$defs/node",
  },
  unevaluated: {
    type: "object",
    allOf: [{ properties: { a: true, b: false } }],
    properties: { c: { type: "array", prefixItems: [text(2)], unevaluatedItems: false } },
    unevaluatedProperties: false,
    required: ["c"],
  },
};
