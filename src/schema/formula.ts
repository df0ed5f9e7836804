/**
 * What a schema says of values of one type: a formula over atoms, in negation normal form. An atom
 * is the part of one schema object that speaks of that type alone; it is decided by the value's own
 * text, without looking at other schemas at the same place.
 */
import type { JsonValue } from "../bytes/canonical-json.ts";
import { ARRAY, JSON_TYPES, type JsonType, NUMBER, OBJECT, STRING, typeOf } from "./json-type.ts";
import type { ArrayRules, NumberRules, ObjectRules, Schema, StringRules } from "./schema.ts";

export type Formula =
  | { readonly kind: "constant"; readonly value: boolean }
  | { readonly kind: "atom"; readonly atom: Atom; readonly positive: boolean }
  | { readonly kind: "and" | "or"; readonly items: readonly Formula[] };

export type Atom =
  | {
      readonly kind: "number";
      readonly id: number;
      readonly integer: boolean;
      readonly rules: NumberRules | null;
    }
  | { readonly kind: "numbers"; readonly id: number; readonly values: readonly number[] }
  | { readonly kind: "string"; readonly id: number; readonly rules: StringRules }
  | { readonly kind: "strings"; readonly id: number; readonly values: readonly string[] }
  | { readonly kind: "array"; readonly id: number; readonly rules: ArrayRules }
  | { readonly kind: "object"; readonly id: number; readonly rules: ObjectRules };

export type ArrayAtom = Extract<Atom, { kind: "array" }>;
export type ObjectAtom = Extract<Atom, { kind: "object" }>;

const ALWAYS: Formula = { kind: "constant", value: true };
const NEVER: Formula = { kind: "constant", value: false };

export function and(items: readonly Formula[]): Formula {
  return junction("and", items);
}

function or(items: readonly Formula[]): Formula {
  return junction("or", items);
}

function junction(kind: "and" | "or", items: readonly Formula[]): Formula {
  const neutral = kind === "and";
  const kept: Formula[] = [];
  for (const item of items) {
    if (item.kind === "constant") {
      if (item.value !== neutral) return item;
    } else if (item.kind === kind) kept.push(...item.items);
    else kept.push(item);
  }
  const [first] = kept;
  if (first === undefined) return neutral ? ALWAYS : NEVER;
  return kept.length === 1 ? first : { kind, items: kept };
}

/** The formulas of one compilation, made once per schema, type and sign. */
export class Formulas {
  readonly #made = new Map<number, Formula>();
  readonly #derive: (rules: Partial<Schema>) => Schema;
  readonly #constants = new Map<JsonValue, Schema>();
  readonly #atoms = new Map<number, { readonly values: Formula; readonly rules: Formula }>();
  #atomCount = 0;

  /** @param derive makes a schema that stands in no document. */
  constructor(derive: (rules: Partial<Schema>) => Schema) {
    this.#derive = derive;
  }

  of(schema: Schema, type: JsonType, positive: boolean): Formula {
    if (schema.always !== null) return schema.always === positive ? ALWAYS : NEVER;
    const key = (schema.id * JSON_TYPES.length + JSON_TYPES.indexOf(type)) * 2 + (positive ? 1 : 0);
    const known = this.#made.get(key);
    if (known) return known;
    const formula = positive ? this.#positive(schema, type) : this.#negative(schema, type);
    this.#made.set(key, formula);
    return formula;
  }

  #positive(schema: Schema, type: JsonType): Formula {
    if ((schema.types & type) === 0) return NEVER;
    const items = [this.#parts(schema, type).values, this.#parts(schema, type).rules];
    for (const part of schema.allOf) items.push(this.of(part, type, true));
    if (schema.anyOf) items.push(or(schema.anyOf.map((branch) => this.of(branch, type, true))));
    if (schema.oneOf) items.push(this.#exactlyOne(schema.oneOf, type));
    if (schema.not) items.push(this.of(schema.not, type, false));
    for (const { condition, consequence, alternative } of schema.conditionals) {
      const holds = consequence ? this.of(consequence, type, true) : ALWAYS;
      const otherwise = alternative ? this.of(alternative, type, true) : ALWAYS;
      items.push(
        or([
          and([this.of(condition, type, false), otherwise]),
          and([this.of(condition, type, true), holds]),
        ]),
      );
    }
    return and(items);
  }

  #negative(schema: Schema, type: JsonType): Formula {
    if ((schema.types & type) === 0) return ALWAYS;
    const items = [
      negation(this.#parts(schema, type).values),
      negation(this.#parts(schema, type).rules),
    ];
    for (const part of schema.allOf) items.push(this.of(part, type, false));
    if (schema.anyOf) items.push(and(schema.anyOf.map((branch) => this.of(branch, type, false))));
    if (schema.oneOf) items.push(this.#notExactlyOne(schema.oneOf, type));
    if (schema.not) items.push(this.of(schema.not, type, true));
    for (const { condition, consequence, alternative } of schema.conditionals) {
      const fails = consequence ? this.of(consequence, type, false) : NEVER;
      const otherwise = alternative ? this.of(alternative, type, false) : NEVER;
      items.push(
        and([this.of(condition, type, true), fails]),
        and([this.of(condition, type, false), otherwise]),
      );
    }
    return or(items);
  }

  #exactlyOne(branches: readonly Schema[], type: JsonType): Formula {
    const positive = branches.map((branch) => this.of(branch, type, true));
    const negative = branches.map((branch) => this.of(branch, type, false));
    return or(
      positive.map((formula, i) => and([formula, ...negative.filter((_, other) => other !== i)])),
    );
  }

  #notExactlyOne(branches: readonly Schema[], type: JsonType): Formula {
    const none = and(branches.map((branch) => this.of(branch, type, false)));
    const positive = branches.map((branch) => this.of(branch, type, true));
    const two = positive.flatMap((one, i) =>
      positive.slice(i + 1).map((other) => and([one, other])),
    );
    return or([none, ...two]);
  }

  /** The schema's own atoms of a type: the same ones for both signs. */
  #parts(schema: Schema, type: JsonType): { readonly values: Formula; readonly rules: Formula } {
    const key = schema.id * JSON_TYPES.length + JSON_TYPES.indexOf(type);
    const known = this.#atoms.get(key);
    if (known) return known;
    const parts = { values: this.#values(schema, type), rules: this.#rules(schema, type) };
    this.#atoms.set(key, parts);
    return parts;
  }

  #values(schema: Schema, type: JsonType): Formula {
    if (schema.values === null) return ALWAYS;
    const values = schema.values.filter((value) => typeOf(value) === type);
    if (values.length === 0) return NEVER;
    if (type === NUMBER) {
      return this.#atom({
        kind: "numbers",
        id: this.#nextId(),
        values: values as readonly number[],
      });
    }
    if (type === STRING) {
      return this.#atom({
        kind: "strings",
        id: this.#nextId(),
        values: values as readonly string[],
      });
    }
    if (type !== ARRAY && type !== OBJECT) return ALWAYS;
    return or(values.map((value) => this.of(this.constant(value), type, true)));
  }

  #rules(schema: Schema, type: JsonType): Formula {
    const { number, string, array, object } = schema;
    if (type === NUMBER && (number || schema.integer)) {
      const { integer } = schema;
      return this.#atom({ kind: "number", id: this.#nextId(), integer, rules: number });
    }
    if (type === STRING && string) {
      return this.#atom({ kind: "string", id: this.#nextId(), rules: string });
    }
    if (type === ARRAY && array) {
      return this.#atom({ kind: "array", id: this.#nextId(), rules: array });
    }
    if (type === OBJECT && object) {
      return this.#atom({ kind: "object", id: this.#nextId(), rules: object });
    }
    return ALWAYS;
  }

  #atom(atom: Atom): Formula {
    return { kind: "atom", atom, positive: true };
  }

  #nextId(): number {
    this.#atomCount += 1;
    return this.#atomCount;
  }

  /** The schema that only one value satisfies: objects and arrays by their parts. */
  constant(value: JsonValue): Schema {
    const known = typeof value === "object" ? this.#constants.get(value) : undefined;
    if (known) return known;
    const schema = this.#derive(constantRules(value, (part) => this.constant(part)));
    if (typeof value === "object") this.#constants.set(value, schema);
    return schema;
  }
}

function constantRules(value: JsonValue, constant: (part: JsonValue) => Schema): Partial<Schema> {
  if (Array.isArray(value)) {
    const parts = value as readonly JsonValue[];
    const rules: ArrayRules = {
      prefix: parts.map(constant),
      items: null,
      minItems: parts.length,
      maxItems: parts.length,
      contains: null,
      uniqueItems: false,
    };
    return { types: ARRAY, array: rules };
  }
  if (typeof value !== "object" || value === null) return { types: typeOf(value), values: [value] };
  const entries = Object.entries(value);
  const rules: ObjectRules = {
    properties: new Map(entries.map(([key, part]) => [key, constant(part)])),
    patterns: [],
    additional: null,
    additionalStated: false,
    names: null,
    required: entries.map(([key]) => key),
    minProperties: 0,
    maxProperties: entries.length,
    dependents: new Map(),
  };
  return { types: OBJECT, object: rules };
}

function negation(formula: Formula): Formula {
  switch (formula.kind) {
    case "constant":
      return formula.value ? NEVER : ALWAYS;
    case "atom":
      return { ...formula, positive: !formula.positive };
    case "and":
      return or(formula.items.map(negation));
    case "or":
      return and(formula.items.map(negation));
  }
}

/** Truth of a formula, given that of its atoms. */
export function evaluate(formula: Formula, holds: (atom: Atom) => boolean): boolean {
  switch (formula.kind) {
    case "constant":
      return formula.value;
    case "atom":
      return holds(formula.atom) === formula.positive;
    case "and":
      return formula.items.every((item) => evaluate(item, holds));
    case "or":
      return formula.items.some((item) => evaluate(item, holds));
  }
}

/** Every atom of a formula, each once. */
export function atomsOf(formulas: Iterable<Formula>): Atom[] {
  const found = new Map<number, Atom>();
  const queue = [...formulas];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (next.kind === "atom") found.set(next.atom.id, next.atom);
    else if (next.kind !== "constant") queue.push(...next.items);
  }
  return [...found.values()].sort((a, b) => a.id - b.id);
}
