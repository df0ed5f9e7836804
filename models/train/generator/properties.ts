/** Turns what a text holds into properties of a schema, with the values that the answer has. */
import { type AnswerValue, Label, NumberLiteral } from "./answer.ts";
import type { ChoiceDefinition, GeneratorData } from "./data-files.ts";
import type { Filled, Scope } from "./render.ts";
import type { Rng } from "./rng.ts";
import type { DocumentStyle, Value } from "./values.ts";

export type Schema = { readonly [key: string]: unknown };

export interface Extraction {
  readonly text: string;
  readonly schema: Schema;
  readonly value: AnswerValue;
}

export interface Property {
  readonly name: string;
  readonly schema: Schema;
  readonly value: AnswerValue;
  readonly isOptional: boolean;
}

/** What a slot can be called and described as. */
export interface Words {
  readonly properties: readonly string[];
  readonly descriptions: readonly string[];
}

export interface PropertyContext {
  readonly rng: Rng;
  readonly data: GeneratorData;
  readonly style: DocumentStyle;
  /** Properties carry descriptions, and some have names that say nothing. */
  readonly isDescribed: boolean;
  /** Share of nullable types among values that are there. */
  readonly nullableShare: number;
}

export function wordsOf(filled: Filled, data: GeneratorData): Words {
  switch (filled.kind) {
    case "value": {
      const definition = data.fields.get(filled.field);
      if (definition === undefined) throw new Error(`no such field: ${filled.field}`);
      return definition;
    }
    case "choice":
      return filled.choice;
    case "list":
      return filled.list;
  }
}

/** An object schema; every property is required unless it says otherwise. */
export function objectSchema(properties: readonly Property[]): Schema {
  return {
    type: "object",
    properties: Object.fromEntries(properties.map(({ name, schema }) => [name, schema])),
    required: properties.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** Optional properties without a value are left out. */
export function objectValue(properties: readonly Property[]): AnswerValue {
  const present = properties.filter(({ value, isOptional }) => !isOptional || value !== null);
  return new Map(present.map(({ name, value }) => [name, value]));
}

/** In camel case where the sample has it. */
export function styleName(name: string, camel: boolean): string {
  if (!camel) return name;
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function makeProperty(context: PropertyContext, name: string, filled: Filled): Property {
  const { schema, value } = typedValue(context, filled);
  return { name, schema, value, isOptional: false };
}

/** The schema with `null` allowed too. */
export function nullable(schema: Schema): Schema {
  const { type, enum: labels } = schema;
  const withNull = typeof type === "string" ? { ...schema, type: [type, "null"] } : schema;
  return Array.isArray(labels) ? { ...withNull, enum: [...labels, null] } : withNull;
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
      return listOf(context, filled.rows);
  }
}

function scalarOf(
  { rng }: PropertyContext,
  value: Value,
): { readonly schema: Schema; readonly value: AnswerValue } {
  if (value.isoDate !== null && rng.chance(0.65)) {
    return { schema: { type: "string", format: "date" }, value: value.isoDate };
  }
  if (value.number !== null && rng.chance(0.94)) {
    const type = value.isInteger && rng.chance(0.75) ? "integer" : "number";
    return { schema: { type }, value: new NumberLiteral(value.number) };
  }
  return { schema: { type: "string" }, value: value.string };
}

/** A boolean where the labels are true and false, else an enum with the label and some others. */
export function choiceOf(
  context: PropertyContext,
  choice: ChoiceDefinition,
  label: string,
): { readonly schema: Schema; readonly value: AnswerValue } {
  const { rng } = context;
  if (label === "true" || label === "false") {
    const type = rng.chance(0.1) ? ["boolean", "null"] : "boolean";
    return { schema: { type }, value: label === "true" };
  }
  const { names, own } = drawLabels(rng, choice, [label]);
  const schema = { type: "string", enum: names };
  const isNullable = rng.chance(context.nullableShare / 2);
  return { schema: isNullable ? nullable(schema) : schema, value: new Label(own[0] ?? "") };
}

/** Names for some of a choice's labels, those in `kept` among them; `own` are theirs. */
export function drawLabels(
  rng: Rng,
  choice: ChoiceDefinition,
  kept: readonly string[],
): { readonly names: readonly string[]; readonly own: readonly string[] } {
  const others = choice.labels.filter(({ names }) => !kept.includes(names[0] ?? ""));
  const count = choice.labels.length <= 4 ? others.length : rng.int(2, Math.min(5, others.length));
  const dropped = others.length > 1 && rng.chance(0.15) ? 1 : 0;
  const labels = rng.sample(others, count - dropped);
  const style = rng.weighted([
    ["as-is", 7],
    ["upper", 1],
    ["title", 1.5],
    ["spaces", 0.7],
  ] as const);
  const print = (names: readonly string[]) => {
    const name = rng.chance(0.6) ? (names[0] ?? "") : rng.pick(names);
    if (style === "upper") return name.toUpperCase();
    if (style === "spaces") return name.replaceAll("_", " ");
    if (style === "title") return name.charAt(0).toUpperCase() + name.slice(1);
    return name;
  };
  const own = choice.labels.filter(({ names }) => kept.includes(names[0] ?? ""));
  const ownNames = own.map(({ names }) => print(names));
  const otherNames = labels.map(({ names }) => print(names));
  const names = [...new Set([...ownNames, ...otherNames])];
  // Mostly in the choice's own order, as people list them; else in any.
  return {
    names: rng.shuffle(names),
    own: kept.map((label) => ownNames[own.findIndex(({ names: all }) => all[0] === label)] ?? ""),
  };
}

function listOf(
  context: PropertyContext,
  rows: readonly Scope[],
): { readonly schema: Schema; readonly value: AnswerValue } {
  const { rng, data } = context;
  const keys = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const chosen = rng.chance(0.55) ? keys : keys.filter(() => rng.chance(0.6));
  const columns = chosen.length === 0 ? keys.slice(0, 1) : chosen;
  const [only = ""] = columns;
  if (columns.length === 1 && rows.every((row) => row.has(only)) && rng.chance(0.75)) {
    return plainList(
      context,
      rows.flatMap((row) => row.get(only) ?? []),
    );
  }
  const used = new Set<string>();
  const camel = rng.chance(0.1);
  const made = columns.map((key) => {
    const first = rows.map((row) => row.get(key)).find((filled) => filled !== undefined);
    if (first === undefined) throw new Error(`a list without ${key}`);
    const words = wordsOf(first, data);
    const free = words.properties.filter((word) => !used.has(word));
    const name = styleName(rng.pick(free.length === 0 ? [key] : free), camel);
    used.add(name);
    return {
      key,
      name,
      ...column(
        context,
        rows.map((row) => row.get(key)),
      ),
    };
  });
  const order = rng.chance(0.6) ? made : rng.shuffle(made);
  const properties = order.map(({ name, schema }) => ({
    name,
    schema,
    value: null,
    isOptional: false,
  }));
  const value = rows.map(
    (_, i) => new Map(order.map(({ name, values }) => [name, values[i] ?? null] as const)),
  );
  return { schema: { type: "array", items: objectSchema(properties) }, value };
}

/** One property of all rows: one type for all, null where a row has none. */
function column(
  context: PropertyContext,
  cells: readonly (Filled | undefined)[],
): { readonly schema: Schema; readonly values: readonly AnswerValue[] } {
  const present = cells.filter((cell) => cell !== undefined);
  const [first] = present;
  if (first?.kind === "choice") {
    const kept = [...new Set(present.map((cell) => (cell.kind === "choice" ? cell.label : "")))];
    if (kept.some((label) => label === "true" || label === "false")) {
      const values = cells.map((cell) => (cell?.kind === "choice" ? cell.label === "true" : null));
      const schema = { type: "boolean" };
      return { schema: present.length < cells.length ? nullable(schema) : schema, values };
    }
    const { names, own } = drawLabels(context.rng, first.choice, kept);
    const values = cells.map((cell) =>
      cell?.kind === "choice" ? new Label(own[kept.indexOf(cell.label)] ?? "") : null,
    );
    const schema = { type: "string", enum: names };
    return { schema: present.length < cells.length ? nullable(schema) : schema, values };
  }
  const asDate =
    present.every((cell) => cell.kind === "value" && cell.value.isoDate !== null) &&
    context.rng.chance(0.65);
  const asNumber =
    present.every((cell) => cell.kind === "value" && cell.value.number !== null) &&
    context.rng.chance(0.95);
  const allIntegers = present.every((cell) => cell.kind === "value" && cell.value.isInteger);
  const integer = allIntegers && context.rng.chance(0.75) ? "integer" : "number";
  const type = asNumber && !asDate ? integer : "string";
  const schema: Schema = asDate ? { type, format: "date" } : { type };
  const values = cells.map((cell) => {
    if (cell?.kind !== "value") return null;
    const { value } = cell;
    if (asDate) return value.isoDate;
    return asNumber && value.number !== null ? new NumberLiteral(value.number) : value.string;
  });
  const isNullable = present.length < cells.length || context.rng.chance(context.nullableShare / 2);
  return { schema: isNullable ? nullable(schema) : schema, values };
}

function plainList(
  context: PropertyContext,
  cells: readonly Filled[],
): { readonly schema: Schema; readonly value: AnswerValue } {
  const { schema, values } = column({ ...context, nullableShare: 0 }, cells);
  return { schema: { type: "array", items: schema }, value: values };
}
