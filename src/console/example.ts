/** The first question of a newcomer, on the command line and in the playground. */

export const EXAMPLE_TEXT = "Invoice INV-2041 from Northwind Ltd. Total due: 1290.50 EUR.";

export const EXAMPLE_SCHEMA = {
  type: "object",
  properties: {
    invoice_number: { type: "string", maxLength: 20 },
    vendor: { type: "string", maxLength: 40 },
    total: { type: "number", minimum: 0 },
    currency: { enum: ["EUR", "GBP", "USD"] },
  },
  required: ["invoice_number", "vendor", "total", "currency"],
  additionalProperties: false,
};
