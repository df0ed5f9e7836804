/**
 * Extraction from labelled values of any kind (`Shelf: B12`, `the shelf is B12`): nothing but the
 * label tells which property is meant, so that names no template knows are learned as well.
 */
import { type AnswerValue, Label, NumberLiteral } from "./answer.ts";
import type { FieldDefinition, GeneratorData } from "./data-files.ts";
import { capital, inWords } from "./names.ts";
import {
  type Extraction,
  nullable,
  objectSchema,
  objectValue,
  type Property,
  type Schema,
  styleName,
} from "./properties.ts";
import type { Renderer } from "./render.ts";
import type { Rng } from "./rng.ts";
import type { Value } from "./values.ts";

const KINDS = (
  "name company city country id money date date time email phone product qty large year ver " +
  "word word title room decimal decimal points temp place task street day duration color"
).split(" ");

const STATES = (
  "open closed pending active expired new used full empty ready blocked draft final high low red " +
  "green north south left right daily weekly public private internal external paid free"
).split(" ");

export interface Entry {
  readonly label: string;
  readonly name: string;
  readonly text: string;
  readonly schema: Schema;
  readonly value: AnswerValue;
}

export function labelled(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng, values } = renderer;
  values.newDocument();
  const camel = rng.chance(0.15);
  const labels = rng.sample(data.words.get("labels") ?? [], rng.chance(0.6) ? 0 : rng.int(1, 2));
  const usual = drawFields(rng, data, rng.int(2, 7)).map((field) =>
    fieldEntry(renderer, field, camel),
  );
  const names = usual.map(({ name }) => name);
  const odd = labels
    .map((label) => drawEntry(renderer, data, inventive(renderer, label), camel))
    .filter(({ name }) => !names.includes(name));
  const entries = rng.shuffle([...odd, ...usual]);
  const said = entries.slice(0, Math.max(2, entries.length - rng.int(0, 2)));
  const text = printEntries(renderer, said);
  const asked = rng.chance(0.5) ? rng.shuffle(entries) : entries;
  // Nearly all is asked for: what an answer has to decide is what a sample teaches.
  const properties = asked
    .slice(0, rng.chance(0.75) ? 11 : rng.int(2, 6))
    .map((entry): Property => entryProperty(rng, entry, said.includes(entry)));
  return { text, schema: objectSchema(properties), value: objectValue(properties) };
}

/** Fields of which none could be meant by another one's name. */
export function drawFields(rng: Rng, data: GeneratorData, count: number): FieldDefinition[] {
  const taken = new Set<string>();
  const chosen: FieldDefinition[] = [];
  for (const field of rng.sample([...data.fields.values()], 3 * count)) {
    if (chosen.length === count || field.properties.some((name) => taken.has(name))) continue;
    for (const name of field.properties) taken.add(name);
    chosen.push(field);
  }
  return chosen;
}

/** A value of the field's kind after one of its names; the property may have another one. */
function fieldEntry({ rng, values }: Renderer, field: FieldDefinition, camel: boolean): Entry {
  const word = rng.pick(field.properties);
  const asked = rng.chance(0.7) ? word : rng.pick(field.properties);
  return typed(
    rng,
    { label: inWords(word), name: styleName(asked, camel) },
    values.draw(field.kind),
  );
}

/** Some labels have a word that no list knows. */
function inventive({ rng, values }: Renderer, label: string): string {
  if (!rng.chance(0.05)) return label;
  const word =
    values
      .draw("word")
      .string.toLowerCase()
      .replace(/[^a-z]/g, "") || "item";
  return rng.pick([word, `${word} ${label}`, `${label} ${word}`]);
}

function drawEntry(renderer: Renderer, data: GeneratorData, label: string, camel: boolean): Entry {
  const { rng, values } = renderer;
  const snake = label.replaceAll(" ", "_");
  const name = camel ? snake.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase()) : snake;
  const draw = rng.next();
  if (draw < 0.1) {
    const yes = rng.chance(0.5);
    const text = rng.pick(yes ? ["yes", "true", "Yes", "on", "X"] : ["no", "false", "No", "off"]);
    return { label, name, text, schema: { type: "boolean" }, value: yes };
  }
  if (draw < 0.2) {
    const states = rng.sample(STATES, rng.int(2, 5));
    const own = rng.pick(states);
    return {
      label,
      name,
      text: own,
      schema: { type: "string", enum: states },
      value: new Label(own),
    };
  }
  if (draw < 0.35) return measure(renderer, data, label, name);
  const value = values.draw(rng.pick(KINDS));
  return typed(rng, { label, name }, value);
}

export function typed(
  rng: Rng,
  { label, name }: { readonly label: string; readonly name: string },
  value: Value,
): Entry {
  const { text, string, number, isoDate } = value;
  if (isoDate !== null && rng.chance(0.6)) {
    return { label, name, text, schema: { type: "string", format: "date" }, value: isoDate };
  }
  if (number !== null && rng.chance(0.9)) return { label, name, text, ...numeric(rng, value) };
  return { label, name, text, schema: { type: "string" }, value: string };
}

/** `weight_kg` from `weight 12 kg`. */
function measure(
  { rng, values }: Renderer,
  { units }: GeneratorData,
  label: string,
  name: string,
): Entry {
  const unit = rng.pick(units);
  const value = values.measure(unit, rng.pick(unit.marks));
  const asked = rng.chance(0.6) ? `${name}_${rng.pick(unit.names)}` : name;
  return { label, name: asked, text: value.text, ...numeric(rng, value) };
}

/** What asks for a value that is a number, and the answer. */
export const numeric = (
  rng: Rng,
  { number, isInteger }: Value,
): Pick<Entry, "schema" | "value"> => ({
  schema: { type: isInteger && rng.chance(0.7) ? "integer" : "number" },
  value: new NumberLiteral(number ?? "0"),
});

export function entryProperty(
  rng: Rng,
  { label, name, schema, value }: Entry,
  isSaid: boolean,
): Property {
  const isDescribed = rng.chance(0.06);
  const note = isDescribed ? { description: `the ${label}` } : {};
  const shown = isDescribed && rng.chance(0.5) ? rng.pick(["a", "b", "c", "v1", "x"]) : name;
  if (!isSaid) return { name, schema: nullable(schema), value: null, isOptional: false };
  const full = { ...(rng.chance(0.4) ? nullable(schema) : schema), ...note };
  return {
    name: shown === name ? name : `${shown}_${name.length}`,
    schema: full,
    value,
    isOptional: false,
  };
}

const SENTENCES = [
  "The {l} is {v}.",
  "Its {l} is {v}.",
  "The {l} was {v}.",
  "We set the {l} to {v}.",
  "{L} is {v}.",
  "It has a {l} of {v}.",
  "{v} is the {l}.",
  "As for the {l}, it is {v}.",
  "For {l} we noted {v}.",
  "You asked for the {l}: {v}.",
  "With {v} as {l}.",
];

function printEntries({ rng }: Renderer, entries: readonly Entry[]): string {
  const style = rng.weighted([
    ["colon", 5],
    ["sentence", 7],
    ["equals", 1],
    ["dash", 1],
    ["bare", 2],
    ["table", 1],
  ] as const);
  const casing = rng.pick([
    capital,
    capital,
    (text: string) => text.toUpperCase(),
    (text: string) => text,
  ]);
  const lines = entries.map(({ label, text }) => {
    if (style === "sentence") {
      const line = rng.pick(SENTENCES).replace("{l}", label).replace("{L}", capital(label));
      return line.replace("{v}", () => text);
    }
    const mark = { colon: ": ", equals: " = ", dash: " - ", bare: " ", table: " | " }[style];
    return casing(label) + mark + text;
  });
  if (style === "sentence") return lines.join(" ");
  return lines.join(rng.pick(["\n", "\n", ", ", ", ", "; ", ". ", " / "]));
}
