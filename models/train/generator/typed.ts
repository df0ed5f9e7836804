/** Gives what a slot holds a type, and the value that the answer has for it. */
import { type AnswerValue, NumberLiteral } from "./answer.ts";
import { listOf } from "./columns.ts";
import {
  choiceOf,
  noteDecisive,
  nullable,
  type Property,
  type PropertyContext,
  type Schema,
} from "./properties.ts";
import type { Filled } from "./render.ts";
import type { Value } from "./values.ts";

/** Names that say nothing: only the description tells what is asked for. */
export const OPAQUE =
  "a b c x y x1 x2 x3 v1 v2 val value field field_1 f1 f2 data item1 p q ref info".split(" ");

export function makeProperty(context: PropertyContext, name: string, filled: Filled): Property {
  const { schema, value } = typedValue(context, filled);
  if (filled.kind === "choice") noteDecisive(context.decisive, filled.text, name, value);
  return { name, schema, value, isOptional: false };
}

function typedValue(
  context: PropertyContext,
  filled: Filled,
): { readonly schema: Schema; readonly value: AnswerValue } {
  switch (filled.kind) {
    case "value": {
      const scalar = scalarOf(context, filled.value);
      const isNullable = context.rng.chance(context.nullableShare);
      return isNullable ? { ...scalar, schema: nullable(scalar.schema) } : scalar;
    }
    case "choice":
      return choiceOf(context, filled.choice, filled.label);
    case "list":
      return listOf(context, filled);
  }
}

/** A number, a date or what is written, as the schema has it. */
export function scalarOf(
  { rng }: PropertyContext,
  value: Value,
): { readonly schema: Schema; readonly value: AnswerValue } {
  if (value.isoDate !== null && rng.chance(0.65)) {
    return { schema: { type: "string", format: "date" }, value: value.isoDate };
  }
  // A sum without cents is a whole number, also where it is written with them.
  if (value.number?.endsWith(".00") === true && rng.chance(0.3)) {
    return { schema: { type: "integer" }, value: new NumberLiteral(value.number.slice(0, -3)) };
  }
  if (value.number !== null && rng.chance(0.94)) {
    const type = value.isInteger && rng.chance(0.75) ? "integer" : "number";
    return { schema: { type }, value: new NumberLiteral(value.number) };
  }
  return { schema: { type: "string" }, value: value.string };
}
