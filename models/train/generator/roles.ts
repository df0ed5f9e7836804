/**
 * Several values of one kind, each told apart by the words beside it alone: any word of the lexicon can be
 * the part that a value plays (`the harbor is Lena Voss`), so that any name of a property can be followed.
 */
import type { GeneratorData } from "./data-files.ts";
import { type Entry, entryProperty, typed } from "./labelled.ts";
import { capital } from "./names.ts";
import {
  type Extraction,
  objectSchema,
  objectValue,
  type Property,
  styleName,
} from "./properties.ts";
import { joinParts, type Renderer } from "./render.ts";
import type { Rng } from "./rng.ts";

/** Kinds of values with words that name them. */
const KINDS: readonly (readonly [string, string])[] = [
  ["name", "name contact person"],
  ["name", "name contact manager"],
  ["company", "company firm supplier"],
  ["city", "city town location"],
  ["date", "date day on"],
  ["date", "date since until"],
  ["time", "time hour at"],
  ["money", "amount price cost total"],
  ["money", "fee amount budget value"],
  ["qty", "count number quantity"],
  ["large", "count number total"],
  ["decimal", "value reading level"],
  ["pct", "percent share rate"],
  ["phone", "phone tel number"],
  ["email", "email mail address"],
  ["id", "id code number reference"],
  ["product", "product item article"],
  ["room", "room place"],
  ["street", "street address"],
  ["word", "name brand label"],
  ["year", "year"],
  ["phrase", "note text description"],
  ["phrase", "reason subject remark"],
];

/** What was said of one part, or what could have been and was not. */
interface Part {
  readonly entry: Entry;
  readonly said: string | null;
}

export function roles(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng, values } = renderer;
  values.newDocument();
  const camel = rng.chance(0.12);
  const drawn = rng.chance(0.15) ? KINDS.filter(([kind]) => kind === "date") : KINDS;
  const kinds = rng.sample(drawn, rng.chance(0.65) ? 1 : 2);
  const words = partWords(rng, data, kinds.length > 1 ? rng.int(2, 4) : rng.int(2, 7));
  const section = rng.weighted([
    ["role_sentence", 5],
    ["role_clause", 4],
    ["role_line", 2],
  ] as const);
  const frames = data.phrases.get(section) ?? [];
  const frame = rng.chance(0.35) ? rng.pick(frames) : null;
  const withKind = kinds.length > 1 || rng.chance(0.5);
  const parts = words.flatMap((word) =>
    kinds.map(([kind, named]): Part => {
      const label = withKind ? `${word} ${rng.pick(named.split(" "))}` : word;
      const name = styleName(label.replaceAll(" ", "_"), camel);
      const entry = typed(rng, { label, name }, values.draw(kind));
      const line = say(renderer, frame ?? rng.pick(frames), entry);
      return { entry, said: rng.chance(0.1) ? null : line };
    }),
  );
  const unsaid = parts.filter(({ said }) => said === null);
  const denied = unsaid
    .filter(() => rng.chance(0.4))
    .map(({ entry }) => deny(renderer, data, entry));
  const facts = rng.chance(0.3)
    ? partWords(rng, data, rng.int(1, 4)).map((word) => fact(renderer, data, word, camel))
    : [];
  const said = rng.shuffle([
    ...parts.flatMap((part) => part.said ?? []),
    ...denied,
    ...facts.map(({ text }) => text),
  ]);
  const asked = rng.sample(parts, rng.chance(0.75) ? 10 : rng.int(2, 6));
  const ordered = rng.chance(0.4) ? parts.filter((part) => asked.includes(part)) : asked;
  const properties = ordered.map(
    (part): Property => entryProperty(rng, part.entry, part.said !== null),
  );
  for (const { property } of facts) properties.splice(rng.int(0, properties.length), 0, property);
  const taken = properties.filter(
    ({ name }, i) => properties.findIndex((one) => one.name === name) === i,
  );
  return {
    text: joined(
      rng,
      section,
      said,
      parts.map(({ entry }) => entry.text),
    ),
    schema: objectSchema(taken),
    value: objectValue(taken),
  };
}

/** One or two words each, no word twice. */
function partWords(rng: Rng, data: GeneratorData, count: number): string[] {
  const source = rng.weighted([
    ["qualifiers", 5],
    ["anything", 4],
    ["labels", 2],
  ] as const);
  const one = () => rng.pick(data.words.get(source) ?? []);
  const found = new Set<string>();
  while (found.size < count) found.add(rng.chance(0.12) ? `${one()} ${one()}` : one());
  return [...found];
}

/** A line of a frame: `%` is the label, `{}` the value. */
export function say(
  renderer: Renderer,
  frame: string,
  { label, text }: Pick<Entry, "label" | "text">,
): string {
  const line = renderer.render(frame.replaceAll("{}", "\u0001"), new Map());
  // A value keeps its case, so that the answer can copy it.
  const start = line.startsWith("\u0001") ? line : capital(line.replaceAll("%", () => label));
  const shown = renderer.rng.chance(0.8) ? start : line;
  return shown.replaceAll("%", () => label).replaceAll("\u0001", () => text);
}

/** A line that has the word, and no value. */
function deny(renderer: Renderer, data: GeneratorData, { label }: Entry): string {
  const frame = renderer.rng.pick(data.phrases.get("role_unknown") ?? []);
  return renderer.render(frame, new Map()).replaceAll("%", () => label);
}

/** Whether there is something that offers and contracts mention. */
export function provision(
  renderer: Renderer,
  data: GeneratorData,
): { readonly text: string; readonly property: Property } {
  const word = renderer.rng.pick(data.words.get("provisions") ?? []);
  const { text, property } = fact(renderer, data, word, false);
  return { text: `${capital(text)}.`, property };
}

/** Whether there is something: a boolean. */
function fact(
  renderer: Renderer,
  data: GeneratorData,
  word: string,
  camel: boolean,
): { readonly text: string; readonly property: Property } {
  const { rng } = renderer;
  const value = rng.chance(0.5);
  const frame = rng.pick(data.phrases.get(value ? "role_yes" : "role_no") ?? []);
  const text = renderer.render(frame, new Map()).replaceAll("%", () => word);
  const snake = word.replaceAll(" ", "_");
  const name = rng.pick([
    ...[snake, snake, `has_${snake}`, `has_${snake}`, `with_${snake}`, `${snake}_included`],
    ...[`${snake}_available`, `includes_${snake}`, `${snake}_allowed`, `is_${snake}`],
  ]);
  const type = rng.chance(0.2) ? ["boolean", "null"] : "boolean";
  return {
    text,
    property: { name: styleName(name, camel), schema: { type }, value, isOptional: false },
  };
}

/** @param values keep their case where a line begins with one. */
export function joined(
  rng: Rng,
  section: string,
  said: readonly string[],
  values: readonly string[],
): string {
  if (section === "role_line") return said.join("\n");
  if (section === "role_sentence")
    return joinParts(
      rng,
      said.map((line) => `${values.some((text) => line.startsWith(text)) ? line : capital(line)}.`),
    );
  const [last = "", ...before] = [...said].reverse();
  const mark = rng.pick([", ", ", ", "; ", " and ", " - ", " / "]);
  const end = mark === ", " && rng.chance(0.6) ? " and " : mark;
  const text = before.length === 0 ? last : before.reverse().join(mark) + end + last;
  return text + (rng.chance(0.7) ? "." : "");
}
