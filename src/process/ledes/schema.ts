/** Input of `ledes-validate`, version 1. */
import Type, { type Static } from "typebox";
import { closed, ID } from "../schema-parts.ts";

/** Amounts as an invoice writes them, so that no fraction is lost. */
const DECIMAL = Type.String({ pattern: "^[0-9]{1,12}(\\.[0-9]{1,4})?$" });
const CODE = Type.String({ minLength: 1, maxLength: 20 });

export const LEDES_INPUT = closed({
  schema: Type.Optional(Type.Literal("ledes-validate/1")),
  format: Type.Optional(Type.Literal("LEDES1998B")),
  /** The whole file. */
  text: Type.String({ maxLength: 33_554_432 }),
  /** What the client agreed to pay for; each rule is checked only where it is given. */
  guidelines: Type.Optional(
    closed({
      rate_caps: Type.Optional(
        Type.Array(closed({ classification: CODE, rate: DECIMAL }), { maxItems: 100 }),
      ),
      approved_timekeepers: Type.Optional(Type.Array(ID, { maxItems: 5000 })),
      hours_per_day: Type.Optional(DECIMAL),
      unit_increment: Type.Optional(DECIMAL),
      disallowed_expenses: Type.Optional(Type.Array(CODE, { maxItems: 100 })),
      block_billing: Type.Optional(Type.Enum(["allowed", "warn"])),
      description_length_min: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    }),
  ),
  max_findings: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
});

export type LedesInput = Static<typeof LEDES_INPUT>;
export type Guidelines = NonNullable<LedesInput["guidelines"]>;
