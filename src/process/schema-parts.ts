/** Building blocks that the input schemas of all processes share. */
import Type, { type TObject, type TProperties } from "typebox";

/** An object that refuses members it does not name: a misspelt member must not vanish silently. */
export function closed<Properties extends TProperties>(
  properties: Properties,
): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false });
}

/** Printable ASCII without spaces. */
export const ID = Type.String({ minLength: 1, maxLength: 128, pattern: "^[\\x21-\\x7E]+$" });

export const TEXT = Type.String({ maxLength: 300 });

/** YYYY-MM-DD; that the day exists is checked by the process. */
export const DATE = Type.String({
  pattern: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
});

export const MONEY = Type.Integer({
  minimum: -9_007_199_254_740_991,
  maximum: 9_007_199_254_740_991,
  description: "minor units, signed from the trust account's point of view: + into, - out of",
});

export const CURRENCY = Type.String({ pattern: "^[A-Z]{3}$" });

export const SHA256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
