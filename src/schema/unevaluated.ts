/**
 * `unevaluatedProperties` and `unevaluatedItems`, written out: what a schema evaluates depends on
 * which of its branches hold, so each way in which they can becomes a variant with a rule for the
 * rest. A branch that holds beside those of a variant only evaluates more: the variant's rule is
 * then narrower than it need be, never wider, and the variant with that branch allows the rest.
 */
import type { Dialect } from "./dialect.ts";
import { PLANS_MAX } from "./limits.ts";
import type { NamedLanguage, Schema } from "./schema.ts";
import { pointerTo, SchemaError } from "./schema-error.ts";

/** One way in which the branches of a schema can hold, and what is evaluated then. */
interface Variant {
  readonly holds: readonly Schema[];
  readonly fails: readonly Schema[];
  readonly names: ReadonlySet<string>;
  readonly patterns: readonly NamedLanguage[];
  readonly allKeys: boolean;
  /** So many items from the front. */
  readonly prefix: number;
  readonly allItems: boolean;
  /** Items that match one of these, wherever they stand. */
  readonly contains: readonly Schema[];
}

const NOTHING: Variant = {
  holds: [],
  fails: [],
  names: new Set(),
  patterns: [],
  allKeys: false,
  prefix: 0,
  allItems: false,
  contains: [],
};

type Derive = (pointer: string, rules: Partial<Schema>) => Schema;

/**
 * Replaces the two keywords in every schema by rules that need no knowledge of branches.
 * @param schemas without recursion in place.
 * @throws SchemaError too_complex
 */
export function writeOutUnevaluated(
  schemas: readonly Schema[],
  dialect: Dialect,
  derive: Derive,
): void {
  for (const schema of [...schemas]) {
    const { unevaluatedProperties, unevaluatedItems, pointer } = schema;
    if (unevaluatedProperties === null && unevaluatedItems === null) continue;
    const keyword = unevaluatedProperties ? "unevaluatedProperties" : "unevaluatedItems";
    const variants = variantsOf(
      { ...schema, unevaluatedItems: null, unevaluatedProperties: null },
      {
        containsEvaluates: dialect !== "2019-09",
        refuse: () => tooMany(pointer, keyword),
      },
    );
    const ways = variants.map((variant) =>
      derive(pointer, {
        allOf: [
          ...variant.holds,
          ...variant.fails.map((not) => derive(pointer, { not })),
          ...restOfObject(variant, unevaluatedProperties, pointer, derive),
          ...restOfArray(variant, unevaluatedItems, pointer, derive),
        ],
      }),
    );
    schema.allOf = [
      ...schema.allOf,
      ways.length === 1 ? (ways[0] as Schema) : derive(pointer, { anyOf: ways }),
    ];
  }
}

function tooMany(pointer: string, keyword: string): SchemaError {
  return new SchemaError(
    `"${keyword}" depends on more than ${PLANS_MAX} combinations of branches: move it into them`,
    { code: "too_complex", pointer: pointerTo(pointer, keyword), keyword },
  );
}

function restOfObject(
  { names, patterns, allKeys }: Variant,
  rest: Schema | null,
  pointer: string,
  derive: Derive,
): Schema[] {
  if (rest === null || allKeys) return [];
  const anything = derive(pointer, { always: true });
  return [
    derive(pointer, {
      object: {
        properties: new Map([...names].map((name) => [name, anything])),
        patterns: patterns.map((language) => ({ language, schema: anything })),
        additional: rest,
        additionalStated: true,
        names: null,
        required: [],
        minProperties: 0,
        maxProperties: Number.POSITIVE_INFINITY,
        dependents: new Map(),
      },
    }),
  ];
}

function restOfArray(
  { prefix, allItems, contains }: Variant,
  rest: Schema | null,
  pointer: string,
  derive: Derive,
): Schema[] {
  if (rest === null || allItems) return [];
  const anything = derive(pointer, { always: true });
  const items = contains.length === 0 ? rest : derive(pointer, { anyOf: [rest, ...contains] });
  return [
    derive(pointer, {
      array: {
        prefix: Array.from({ length: prefix }, () => anything),
        items,
        minItems: 0,
        maxItems: Number.POSITIVE_INFINITY,
        contains: null,
        uniqueItems: false,
      },
    }),
  ];
}

interface Reading {
  readonly containsEvaluates: boolean;
  readonly refuse: () => SchemaError;
}

function variantsOf(schema: Schema, reading: Reading): Variant[] {
  let variants = [ownOf(schema, reading)];
  const multiply = (choices: readonly Variant[]): void => {
    variants = variants.flatMap((variant) => choices.map((choice) => both(variant, choice)));
    if (variants.length > PLANS_MAX) throw reading.refuse();
  };
  for (const part of schema.allOf) multiply(variantsOf(part, reading));
  if (schema.oneOf) multiply(schema.oneOf.flatMap((branch) => holding(branch, reading)));
  if (schema.anyOf) multiply(anyOfVariants(schema.anyOf, reading));
  for (const { condition, consequence, alternative } of schema.conditionals) {
    const yes = holding(condition, reading);
    const then = consequence ? holding(consequence, reading) : [NOTHING];
    const no = alternative ? holding(alternative, reading) : [NOTHING];
    multiply([
      ...yes.flatMap((variant) => then.map((other) => both(variant, other))),
      ...no.map((variant) => ({ ...variant, fails: [...variant.fails, condition] })),
    ]);
  }
  return variants;
}

/** What a schema evaluates if it holds. */
function holding(schema: Schema, reading: Reading): Variant[] {
  if (schema.always !== null) return schema.always ? [NOTHING] : [];
  return variantsOf(schema, reading).map((variant) => ({
    ...variant,
    holds: [...variant.holds, schema],
  }));
}

/** Branches that evaluate nothing need not be told apart; of the others, any that hold count. */
function anyOfVariants(branches: readonly Schema[], reading: Reading): Variant[] {
  let variants: Variant[] = [NOTHING];
  for (const branch of branches) {
    const own = holding(branch, reading).filter(evaluates);
    variants = variants.flatMap((variant) => [
      variant,
      ...own.map((choice) => both(variant, choice)),
    ]);
    if (variants.length > PLANS_MAX) throw reading.refuse();
  }
  return variants;
}

function evaluates({ names, patterns, allKeys, prefix, allItems, contains }: Variant): boolean {
  const keys = allKeys || names.size > 0 || patterns.length > 0;
  return keys || allItems || prefix > 0 || contains.length > 0;
}

function ownOf({ object, array, ...schema }: Schema, { containsEvaluates }: Reading): Variant {
  const contains = containsEvaluates && array?.contains ? [array.contains.schema] : [];
  return {
    ...NOTHING,
    names: new Set(object?.properties.keys()),
    patterns: object?.patterns.map(({ language }) => language) ?? [],
    allKeys: object?.additionalStated === true || schema.unevaluatedProperties !== null,
    prefix: array?.prefix.length ?? 0,
    allItems: (array?.items ?? null) !== null || schema.unevaluatedItems !== null,
    contains,
  };
}

function both(a: Variant, b: Variant): Variant {
  return {
    holds: [...a.holds, ...b.holds],
    fails: [...a.fails, ...b.fails],
    names: new Set([...a.names, ...b.names]),
    patterns: [...a.patterns, ...b.patterns],
    allKeys: a.allKeys || b.allKeys,
    prefix: Math.max(a.prefix, b.prefix),
    allItems: a.allItems || b.allItems,
    contains: [...a.contains, ...b.contains],
  };
}
