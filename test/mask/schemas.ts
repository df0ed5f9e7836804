/** Schemas that between them use every enforced keyword, for tests that sample texts from them. */
export const SCHEMAS: Readonly<Record<string, unknown>> = {
  anything: {},
  scalars: { type: ["null", "boolean", "integer", "number", "string"] },
  integers: { type: "integer", minimum: -17, exclusiveMaximum: 4096, multipleOf: 3 },
  decimals: { type: "number", minimum: 0.25, maximum: 19.95, multipleOf: 0.05 },
  lengths: { type: "string", minLength: 3, maxLength: 9 },
  pattern: { type: "string", pattern: "^[A-Z]{2}-\\d{3,5}(?:\\.[a-f]+)?$", maxLength: 12 },
  search: { type: "string", pattern: "foo|ba+r", minLength: 5, maxLength: 14 },
  notPattern: { type: "string", not: { pattern: "[aeiou]" }, minLength: 1, maxLength: 6 },
  notEnum: { type: "string", not: { enum: ["", "a", "bar"] }, maxLength: 3 },
  uniqueStrings: {
    type: "array",
    items: { type: "string", not: { enum: ["", "a"] }, maxLength: 3 },
    minItems: 2,
    maxItems: 3,
    uniqueItems: true,
  },
  uniqueObjects: {
    type: "array",
    items: { type: "object", properties: { a: {}, b: { type: "integer" } } },
    minItems: 2,
    maxItems: 3,
    uniqueItems: true,
  },
  oneOfTwo: { type: "string", oneOf: [{ maxLength: 4 }, { enum: ["a", "foo", "longer"] }] },
  formats: {
    type: "object",
    properties: {
      day: { type: "string", format: "date" },
      at: { type: "string", format: "date-time" },
      mail: { type: "string", format: "email" },
      ip: { type: "string", format: "ipv4" },
      six: { type: "string", format: "ipv6" },
      id: { type: "string", format: "uuid" },
    },
    required: ["day", "at", "mail", "ip", "six", "id"],
    additionalProperties: false,
  },
  enums: { enum: ["a", "ab", "abc", 1, 1.5, -20, null, true, { k: [1, "x"] }, [], '\u00e9"\n'] },
  constant: { const: { z: 1, a: [true, null, "x"] } },
  person: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 20 },
      age: { type: "integer", minimum: 0, maximum: 150 },
      tags: { type: "array", items: { enum: ["x", "y", "z"] }, maxItems: 4, uniqueItems: true },
      address: {
        type: "object",
        properties: { street: { type: "string" }, zip: { type: "string", pattern: "^\\d{5}$" } },
        required: ["zip"],
        additionalProperties: false,
      },
    },
    required: ["name", "age", "address"],
    additionalProperties: false,
  },
  open: { type: "object", properties: { a: { type: "integer" } }, required: ["a", "b"] },
  counts: {
    type: "object",
    additionalProperties: { type: "boolean" },
    minProperties: 2,
    maxProperties: 4,
    propertyNames: { pattern: "^[a-c]{1,2}$" },
  },
  patterns: {
    type: "object",
    patternProperties: { "^n": { type: "integer" }, s$: { minimum: 3 } },
    additionalProperties: { type: "null" },
    minProperties: 1,
    maxProperties: 5,
  },
  dependent: {
    type: "object",
    properties: { card: { type: "string" }, billing: { type: "string" }, x: { type: "integer" } },
    dependentRequired: { card: ["billing"] },
    dependentSchemas: { x: { required: ["card"] } },
    additionalProperties: false,
  },
  tuple: {
    type: "array",
    prefixItems: [{ type: "integer" }, { enum: ["GET", "PUT"] }],
    items: { type: "boolean" },
    minItems: 3,
    maxItems: 6,
  },
  contains: {
    type: "array",
    items: { type: "integer", minimum: 0, maximum: 9 },
    contains: { minimum: 7 },
    minContains: 2,
    maxContains: 3,
    maxItems: 8,
  },
  unique: {
    type: "array",
    items: { type: "integer" },
    uniqueItems: true,
    minItems: 3,
    maxItems: 5,
  },
  anyOf: {
    anyOf: [
      { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
      { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
      { type: "array", items: { type: "null" }, maxItems: 3 },
    ],
  },
  oneOf: {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "integer" }, c: { type: "integer" } },
    additionalProperties: false,
    oneOf: [{ required: ["a"] }, { required: ["b", "c"] }],
  },
  /** What follows a key is known by its value only. */
  tagged: {
    type: "object",
    oneOf: [
      {
        properties: {
          type: { const: "cat" },
          lives: { type: "integer", minimum: 1, maximum: 9 },
        },
      },
      { properties: { type: { const: "dog" }, name: { type: "string", maxLength: 4 } } },
    ],
    required: ["type"],
  },
  oneOfNumbers: { type: "integer", oneOf: [{ multipleOf: 3 }, { multipleOf: 5 }] },
  not: { type: "object", additionalProperties: { type: "integer" }, not: { required: ["bad"] } },
  conditional: {
    type: "object",
    properties: {
      kind: { enum: ["circle", "box"] },
      r: { type: "integer" },
      w: { type: "integer" },
    },
    required: ["kind"],
    additionalProperties: false,
    if: { properties: { kind: { const: "circle" } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ["r"] },
    else: { required: ["w"], not: { required: ["r"] } },
  },
  allOf: {
    allOf: [
      { type: "object", properties: { a: { type: "integer", minimum: 2 } }, required: ["a"] },
      { properties: { a: { maximum: 4 }, b: { type: "string", maxLength: 3 } } },
    ],
    required: ["b"],
  },
  recursive: {
    $ref: "#/$defs/node",
    $defs: {
      node: {
        type: "object",
        properties: {
          value: { type: "integer" },
          next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] },
          children: { type: "array", items: { $ref: "#/$defs/node" }, maxItems: 2 },
        },
        required: ["value", "next"],
        additionalProperties: false,
      },
    },
  },
};

/** Objects meet that state the same names in different orders: closed ones write the first's. */
export const ORDERS: Readonly<Record<string, unknown>> = {
  orders: { enum: [[{ d: "", a: null }], [{ a: 0, d: 0 }]] },
  orderOfArrays: {
    type: "array",
    minItems: 1,
    maxItems: 2,
    anyOf: [
      { items: { type: "object", properties: { d: { enum: ["long"] }, a: {} }, required: ["d"] } },
      { items: { type: "object", properties: { a: {}, d: { const: 1 } }, required: ["a", "d"] } },
    ],
  },
};
