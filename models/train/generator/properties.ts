/** Turns what a text holds into properties of a schema, with the values that the answer has. */
import { type AnswerValue, Label, NumberLiteral } from "./answer.ts";
import type { ChoiceDefinition, GeneratorData } from "./data-files.ts";
import { capital } from "./names.ts";
import type { Filled } from "./render.ts";
import type { Rng } from "./rng.ts";
import type { Decisive, DocumentStyle } from "./values.ts";

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
  /** Is told what decides the properties that are made. */
  readonly decisive: Decisive[];
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

/** The schema with `null` allowed too. */
export function nullable(schema: Schema): Schema {
  const { type, enum: labels } = schema;
  const withNull = typeof type === "string" ? { ...schema, type: [type, "null"] } : schema;
  return Array.isArray(labels) ? { ...withNull, enum: [...labels, null] } : withNull;
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

/** Notes that the text says what a property's value is; of values that are copied there is nothing to note. */
export function noteDecisive(
  decisive: Decisive[],
  text: string,
  name: string,
  value: AnswerValue,
): void {
  if (value instanceof Label) decisive.push({ text, name, label: value.text });
  else if (typeof value === "boolean") decisive.push({ text, name, label: null });
}

/** A property that one label answers: a boolean, a figure on the scale of the labels, or an enum of some of them. */
export function labelProperty(rng: Rng, name: string, choice: Labels, label: string): Property {
  if (label === "true" || label === "false") {
    return { name, schema: { type: "boolean" }, value: label === "true", isOptional: false };
  }
  if (isFigure(label)) {
    const numbers = choice.labels.map(({ names }) => Number(names[0]));
    const bounds = { minimum: Math.min(...numbers), maximum: Math.max(...numbers) };
    const schema = { type: "integer", ...bounds };
    return { name, schema, value: new NumberLiteral(label), isOptional: false };
  }
  const { names, own } = drawLabels(rng, choice, [label]);
  const schema = { type: "string", enum: names };
  return { name, schema, value: new Label(own[0] ?? ""), isOptional: false };
}

/** Whether a label is a figure on a scale. */
export const isFigure = (label: string): boolean => /^\d+$/.test(label);

interface Labels {
  readonly labels: readonly { readonly names: readonly string[] }[];
}

/** Kinds of values that are numbers: with decimals, or whole ones. */
export const DECIMAL_KINDS = new Set("money signed price decimal pct temp area rating".split(" "));
export const WHOLE_KINDS = new Set("qty small years age year large months points".split(" "));

/** Of what can be in a slot, where it is null. */
export function absentSchema(
  { rng, data }: PropertyContext,
  slot: string,
): Schema & { readonly type?: unknown } {
  const choice = data.choices.get(slot);
  if (choice !== undefined) {
    const labels = choice.labels.map(({ names }) => names[0] ?? "");
    if (labels.includes("true")) return { type: ["boolean", "null"] };
    return nullable({ type: "string", enum: labels.slice(0, 5) });
  }
  const kind = data.fields.get(slot)?.kind ?? "";
  if (DECIMAL_KINDS.has(kind)) return { type: ["number", "null"] };
  if (WHOLE_KINDS.has(kind)) return { type: [rng.chance(0.7) ? "integer" : "number", "null"] };
  const isDate = kind === "date" && rng.chance(0.5);
  return isDate ? { type: ["string", "null"], format: "date" } : { type: ["string", "null"] };
}

/** Names for some of a choice's labels, those in `kept` among them; `own` are theirs. */
export function drawLabels(
  rng: Rng,
  choice: Labels,
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
    if (style === "title") return capital(name);
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
