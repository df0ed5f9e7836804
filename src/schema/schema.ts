/**
 * A JSON Schema, parsed: one object per schema of the document, dialects and references resolved.
 * The keywords are sorted into rules by the type of value that they speak of, and into applicators
 * that hold at the same place.
 */
import type { Decimal } from "../automaton/decimal.ts";
import type { PatternLanguage } from "../automaton/regex.ts";
import type { JsonValue } from "../bytes/canonical-json.ts";

/** A schema. Made empty first and filled later, since schemas may refer to themselves. */
export interface Schema {
  /** Unique within one compilation, in the order of first visit. */
  readonly id: number;
  readonly pointer: string;
  /** Set for `true`, `false`, and schemas without any rule. */
  always: boolean | null;
  /** Bits of `json-type.ts`. */
  types: number;
  /** The type is "integer" and not "number". */
  integer: boolean;
  /** `enum` and `const`; null where there is neither. */
  values: readonly JsonValue[] | null;
  number: NumberRules | null;
  string: StringRules | null;
  array: ArrayRules | null;
  object: ObjectRules | null;
  /** `allOf` and references. */
  allOf: readonly Schema[];
  anyOf: readonly Schema[] | null;
  oneOf: readonly Schema[] | null;
  not: Schema | null;
  /** `if`/`then`/`else`, and `dependentSchemas` as conditions on a key. */
  conditionals: readonly Conditional[];
  unevaluatedProperties: Schema | null;
  unevaluatedItems: Schema | null;
}

export interface Conditional {
  readonly condition: Schema;
  /** `then`: holds where the condition holds. */
  readonly consequence: Schema | null;
  /** `else`: holds where it does not. */
  readonly alternative: Schema | null;
}

export interface NumberRules {
  readonly minimum: Bound | null;
  readonly maximum: Bound | null;
  readonly multipleOf: Decimal | null;
}

export interface Bound {
  readonly value: Decimal;
  readonly exclusive: boolean;
}

export interface StringRules {
  /** In code points. */
  readonly minLength: number;
  readonly maxLength: number;
  /** `pattern` and `format`. */
  readonly languages: readonly NamedLanguage[];
}

export interface NamedLanguage {
  /** For messages and cache keys: the pattern or format as written. */
  readonly name: string;
  readonly language: PatternLanguage;
}

export interface ArrayRules {
  /** The schemas of the first items; `items` for the rest, null for anything. */
  readonly prefix: readonly Schema[];
  readonly items: Schema | null;
  readonly minItems: number;
  readonly maxItems: number;
  readonly contains: Contains | null;
  readonly uniqueItems: boolean;
}

export interface Contains {
  readonly schema: Schema;
  readonly min: number;
  readonly max: number;
}

export interface ObjectRules {
  readonly properties: ReadonlyMap<string, Schema>;
  readonly patterns: readonly { readonly language: NamedLanguage; readonly schema: Schema }[];
  /** For keys that neither of the two above covers; null for anything. */
  readonly additional: Schema | null;
  /** `additional` was written in the schema, not assumed. */
  readonly additionalStated: boolean;
  readonly names: Schema | null;
  readonly required: readonly string[];
  readonly minProperties: number;
  readonly maxProperties: number;
  /** `dependentRequired`: these keys must come with that key. */
  readonly dependents: ReadonlyMap<string, readonly string[]>;
}

export function emptySchema(id: number, pointer: string): Schema {
  return {
    id,
    pointer,
    always: null,
    types: 127,
    integer: false,
    values: null,
    number: null,
    string: null,
    array: null,
    object: null,
    allOf: [],
    anyOf: null,
    oneOf: null,
    not: null,
    conditionals: [],
    unevaluatedProperties: null,
    unevaluatedItems: null,
  };
}
