/** The schemas of `decode.ts`: what a lock costs in strings, in everything, and where it saves. */

export type SchemaName = "strings" | "mixed" | "half_forced";

/**
 * The schemas bound their answers, so that no budget has to. Far above the bytes that the rest of
 * any answer may take: near them each token has its way out looked for.
 */
export const LOCKED_TOKENS_MAX = 3000;

const text = { type: "string", minLength: 300, maxLength: 400 };

/** Long names and fixed values around short answers. */
const halfForced = Object.fromEntries(
  ["customer_reference", "delivery_address_verified", "responsible_department"].map((name) => [
    name,
    {
      type: "object",
      properties: {
        [`${name}_source_document`]: { const: "scanned original, page one" },
        [`${name}_confidence_level`]: { enum: ["low", "medium", "high"] },
        [`${name}_value`]: { type: "string", minLength: 8, maxLength: 40 },
      },
      required: [`${name}_source_document`, `${name}_confidence_level`, `${name}_value`],
    },
  ]),
);

export const DECODE_SCHEMAS: Readonly<Record<SchemaName, unknown>> = {
  strings: {
    type: "object",
    properties: { summary: text, details: text },
    required: ["summary", "details"],
  },
  mixed: {
    type: "object",
    properties: {
      id: { type: "integer", minimum: 1, maximum: 999999 },
      kind: { enum: ["invoice", "receipt", "order", "offer"] },
      paid: { type: "boolean" },
      total: { type: "number", minimum: 0, maximum: 99999, multipleOf: 0.01 },
      date: { type: "string", format: "date" },
      note: { type: "string", maxLength: 120 },
      tags: { type: "array", items: { type: "string", maxLength: 16 }, maxItems: 4 },
      lines: {
        type: "array",
        minItems: 2,
        maxItems: 4,
        items: {
          type: "object",
          properties: {
            sku: { type: "string", pattern: "^[A-Z]{3}-[0-9]{4}$" },
            qty: { type: "integer", minimum: 1, maximum: 5000 },
            text: { type: "string", maxLength: 60 },
          },
          required: ["sku", "qty", "text"],
        },
      },
    },
    required: ["id", "kind", "paid", "total", "date", "note", "tags", "lines"],
  },
  half_forced: {
    type: "object",
    properties: halfForced,
    required: Object.keys(halfForced),
  },
};
