/**
 * Numbers that their units or what is counted tell apart (`gusts of 74 km/h, 987 hPa, 3 rooms left`), asked
 * for by the thing, by the unit or by both (`wind_kmh`, `hpa`, `rooms_left`), one by one or from and to.
 */
import { NumberLiteral } from "./answer.ts";
import type { GeneratorData, UnitData } from "./data-files.ts";
import { entryProperty, numeric } from "./labelled.ts";
import {
  type Extraction,
  objectSchema,
  objectValue,
  type Property,
  styleName,
} from "./properties.ts";
import type { Renderer } from "./render.ts";
import type { Rng } from "./rng.ts";
import { joined, say } from "./roles.ts";
import type { Value } from "./values.ts";

/** Something that is said or left out, and what asks for it. */
interface Said {
  readonly line: string;
  /** Its values, which keep their case at the start of a line. */
  readonly texts: readonly string[];
  readonly properties: (isSaid: boolean) => readonly Property[];
}

type Style = "sentence" | "clause" | "line";

export function measures(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng, values } = renderer;
  values.newDocument();
  const camel = rng.chance(0.15);
  const style = rng.weighted<Style>([
    ["sentence", 5],
    ["clause", 5],
    ["line", 1.5],
  ]);
  const count = rng.int(2, 6);
  const countedShare = rng.pick([0, 0.2, 0.5, 1]);
  const all = Array.from({ length: count }).flatMap((): Said[] =>
    rng.chance(countedShare)
      ? [counted(renderer, data, style, camel)]
      : measured(renderer, data, style, camel),
  );
  const said = rng.shuffle(all.map((one) => ({ ...one, isSaid: !rng.chance(0.1) })));
  if (said.every(({ isSaid }) => !isSaid)) return measures(renderer, data);
  const asked = rng.chance(0.75) ? said : rng.sample(said, rng.int(1, count));
  const ordered = rng.chance(0.5) ? asked : rng.shuffle(asked);
  const taken = new Set<string>();
  const properties = ordered
    .flatMap(({ properties: draw, isSaid }) => draw(isSaid))
    .filter(({ name }) => !taken.has(name) && taken.add(name));
  const lines = said.filter(({ isSaid }) => isSaid);
  const text = joined(
    rng,
    `role_${style}`,
    lines.map(({ line }) => line),
    lines.flatMap(({ texts }) => texts),
  );
  return { text, schema: objectSchema(properties), value: objectValue(properties) };
}

/** One thing in one unit, or two or three in the same one. */
function measured(renderer: Renderer, data: GeneratorData, style: Style, camel: boolean): Said[] {
  const { rng } = renderer;
  const unit = rng.pick(data.units);
  const count = rng.weighted([
    [1, 6],
    [2, 2],
    [3, 1],
  ]);
  const others = count === 1 && rng.chance(0.15) ? data.words.get("anything") : undefined;
  const things = others === undefined ? rng.sample(unit.things, count) : [rng.pick(others)];
  const [thing = ""] = things;
  if (things.length > 1) {
    return things.map((one) => measurement(renderer, data, style, unit, one, camel));
  }
  if (rng.chance(0.15)) return [range(renderer, data, unit, thing, camel)];
  return [measurement(renderer, data, rng.chance(0.2) ? "bare" : style, unit, thing, camel)];
}

function measurement(
  renderer: Renderer,
  data: GeneratorData,
  style: Style | "bare",
  unit: UnitData,
  thing: string,
  camel: boolean,
): Said {
  const { rng, values } = renderer;
  const isPlain = style === "line" && rng.chance(0.15);
  const shown = values.measure(unit, isPlain ? "" : rng.pick(unit.marks));
  const frame = rng.pick(data.phrases.get(`measured_${style}`) ?? []);
  const form = rng.weighted([
    ["both", isPlain ? 2 : 6],
    ["thing", style === "bare" ? 0 : 2.5],
    ["unit", style === "bare" ? 2 : 0.7],
  ] as const);
  const name = styleName(nameOf(rng, unit, thing, form), camel);
  const entry = { label: thing, name, text: shown.text };
  // The unit is told by the name, or is part of what is asked for.
  const isText = form === "thing" && rng.chance(0.35);
  return {
    line: say(renderer, frame, { ...entry, ...numeric(rng, shown) }),
    texts: [shown.text],
    properties: (isSaid) => {
      const typed = isText
        ? { schema: { type: "string" }, value: shown.string }
        : numeric(rng, shown);
      return [entryProperty(rng, { ...entry, ...typed }, isSaid)];
    },
  };
}

function nameOf(rng: Rng, unit: UnitData, thing: string, form: "both" | "thing" | "unit"): string {
  const suffix = rng.chance(0.6) ? (unit.names[0] ?? "") : rng.pick(unit.names);
  const snake = thing.replaceAll(" ", "_");
  if (form === "thing") return snake;
  if (form === "unit") return suffix;
  return snake + rng.pick(["_", "_", "_", "_in_"]) + suffix;
}

/** `between 12 and 18 kg`, the unit behind both or behind the last one. */
function range(
  renderer: Renderer,
  data: GeneratorData,
  unit: UnitData,
  thing: string,
  camel: boolean,
): Said {
  const { rng, values } = renderer;
  const mark = rng.pick(unit.marks);
  const drawn = [values.measure(unit), values.measure(unit)];
  const [low, high] = drawn.sort((a, b) => Number(a.number) - Number(b.number)) as [Value, Value];
  const isWhole = low.isInteger && high.isInteger;
  const lowText = rng.chance(0.6) ? low.text : low.text + mark;
  const highText = high.text + mark;
  const frame = rng.pick(data.phrases.get("measured_range") ?? []);
  const entry = { label: thing, text: lowText };
  const line = say(renderer, frame, entry).replace("[]", () => highText);
  const [from, to] = rng.pick([
    ["min", "max"],
    ["min", "max"],
    ["from", "to"],
    ["low", "high"],
    ["lower", "upper"],
    ["minimum", "maximum"],
  ] as const);
  const suffix = rng.chance(0.5) ? `_${unit.names[0]}` : "";
  const snake = thing.replaceAll(" ", "_");
  const type = isWhole && rng.chance(0.7) ? "integer" : "number";
  const property = (name: string, value: Value, isSaid: boolean) =>
    entryProperty(
      rng,
      {
        ...{ label: `${name} ${thing}`, name: styleName(name, camel), text: value.text },
        ...{ schema: { type }, value: new NumberLiteral(value.number ?? "0") },
      },
      isSaid,
    );
  const isBefore = rng.chance(0.4);
  const properties = (isSaid: boolean): Property[] => {
    if (rng.chance(0.35)) {
      const inner = [property(from, low, isSaid), property(to, high, isSaid)];
      const object = { schema: objectSchema(inner), value: objectValue(inner) };
      return [{ name: styleName(snake + suffix, camel), ...object, isOptional: false }];
    }
    const named = (end: string) => (isBefore ? `${end}_${snake}` : `${snake}_${end}`) + suffix;
    return [property(named(from), low, isSaid), property(named(to), high, isSaid)];
  };
  return { line, texts: [lowText, highText], properties };
}

/** `3 rooms free, 12 booked`: one number, or some of the same thing. */
function counted(renderer: Renderer, data: GeneratorData, style: Style, camel: boolean): Said {
  const { rng, values } = renderer;
  const { noun, states } = rng.pick(data.counted);
  const count = rng.weighted([
    [1, 3],
    [2, 3],
    [3, 1],
  ]);
  const drawn = rng.sample(states, count);
  const isBare = count === 1 && rng.chance(0.25);
  const isShort = rng.chance(0.5);
  const entries = drawn.map((state, i) => {
    const word = state.replace(/^\+/, "");
    const high = rng.pick([12, 12, 99, 4000]);
    const value = values.measure({ low: 1, high, decimals: 0 });
    const said = { noun, state, isBare, isShort: isShort && i > 0 };
    const name = styleName(countedName(rng, noun, isBare ? null : word), camel);
    const label = `number of ${isBare ? noun : `${word} ${noun}`}`;
    return { phrase: countedPhrase(said, value), label, name, text: value.text, value };
  });
  const frames = style === "sentence" ? data.phrases.get("counted_sentence") : undefined;
  const text = entries.map(({ phrase }) => phrase).join(rng.pick([", ", ", ", " and ", ", and "]));
  return {
    line: say(renderer, rng.pick(frames ?? ["{}"]), { label: noun, text }),
    texts: [],
    properties: (isSaid) =>
      entries.map(({ value, ...entry }) =>
        entryProperty(rng, { ...entry, ...numeric(rng, value) }, isSaid),
      ),
  };
}

interface Counted {
  readonly noun: string;
  /** As `measures.txt` has it. */
  readonly state: string;
  readonly isBare: boolean;
  /** The noun has been said just before. */
  readonly isShort: boolean;
}

function countedPhrase({ noun, state, isBare, isShort }: Counted, { text, number }: Value): string {
  const one = number === "1" ? singular(noun) : noun;
  const word = state.replace(/^\+/, "");
  if (isBare) return `${text} ${one}`;
  if (isShort) return `${text} ${word}`;
  return state.startsWith("+") ? `${text} ${one} ${word}` : `${text} ${word} ${one}`;
}

/** Property names such as `rooms_left`, `open_tickets`, `ticket_count`. */
function countedName(rng: Rng, noun: string, state: string | null): string {
  const one = singular(noun);
  if (state === null) {
    return rng.pick([
      noun,
      noun,
      `${one}_count`,
      `number_of_${noun}`,
      `num_${noun}`,
      `total_${noun}`,
    ]);
  }
  const word = state.replaceAll(/[ -]/g, "_");
  return rng.pick([
    ...[`${noun}_${word}`, `${noun}_${word}`, `${word}_${noun}`, `${word}_${noun}`],
    ...[word, `${word}_count`, `${one}_count_${word}`, `number_of_${word}_${noun}`, `num_${word}`],
  ]);
}

const IRREGULAR: Readonly<Record<string, string>> = {
  people: "person",
  children: "child",
  sheep: "sheep",
};

function singular(noun: string): string {
  const known = IRREGULAR[noun];
  if (known !== undefined) return known;
  return noun
    .replace(/(ss|x|ch)es$/, "$1")
    .replace(/ies$/, "y")
    .replace(/([^s])s$/, "$1");
}
