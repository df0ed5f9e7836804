/** Samples from texts that somebody wrote whole, with all that can be asked of them (`case-data.ts`). */
import { type AnswerValue, NumberLiteral } from "./answer.ts";
import { type CaseData, isAlone, type Judgement, MARKED, type Mark } from "./case-data.ts";
import { asYesOrNo, labelsOf } from "./case-labels.ts";
import type { GeneratorData } from "./data-files.ts";
import {
  type Extraction,
  nullable,
  objectSchema,
  objectValue,
  type Property,
  type PropertyContext,
  type Schema,
  styleName,
} from "./properties.ts";
import type { Renderer } from "./render.ts";
import { asWritten, resampled } from "./resample.ts";
import type { Rng } from "./rng.ts";
import { OPAQUE, scalarOf } from "./typed.ts";
import type { Value } from "./values.ts";

/** What is asked of a text, before it has a name. */
interface Asked {
  readonly names: readonly string[];
  readonly description: string | null;
  /** The property, under the name that was drawn for it. */
  readonly make: (name: string) => Property;
}

/** A mark with the value that it has this time. */
interface Said {
  readonly mark: Mark;
  readonly value: Value;
}

interface Draft {
  readonly context: PropertyContext;
  readonly isCamel: boolean;
  readonly text: string;
}

export function fromCase(renderer: Renderer, data: GeneratorData): Extraction {
  return drawn(renderer, data, renderer.rng.pick(data.markedCases), OTHER_VALUES);
}

/** Only what has to be judged: a classification. */
export function judgedCase(renderer: Renderer, data: GeneratorData): Extraction {
  const options = { ...OTHER_VALUES, onlyJudged: true };
  return drawn(renderer, data, renderer.rng.pick(data.judgedCases), options);
}

interface CaseOptions {
  readonly onlyJudged: boolean;
  /** Share of texts that keep the values they were written with. */
  readonly keptShare: number;
}

/** How often one of a text's labels is asked for as a yes or no. */
const YES_OR_NO_SHARE = 0.12;

const OTHER_VALUES: CaseOptions = { onlyJudged: false, keptShare: 0.2 };

export function drawn(
  renderer: Renderer,
  data: GeneratorData,
  one: CaseData,
  { onlyJudged, keptShare }: CaseOptions,
): Extraction {
  const { rng, values } = renderer;
  values.newDocument();
  const { text, said } = fillCase(renderer, one, rng.chance(keptShare));
  const draft: Draft = {
    context: {
      rng,
      data,
      style: values.style,
      decisive: values.decisive,
      isDescribed: rng.chance(0.25),
      nullableShare: rng.weighted([
        [0, 5],
        [0.35, 4],
        [1, 1],
      ]),
    },
    isCamel: rng.chance(0.13),
    text,
  };
  const judged = one.judgements
    .filter(isAlone)
    .map((judgement) => (rng.chance(YES_OR_NO_SHARE) ? asYesOrNo(rng, judgement) : judgement))
    .map((judgement) => judgedAs(draft, judgement));
  const marked = onlyJudged ? [] : [...scalars(draft, said), ...groups(draft, one, said)];
  for (;;) {
    const count = rng.weighted([
      [1, 3],
      [2, 4],
      [3, 2],
      [4, 1],
    ] as const);
    const asked = onlyJudged ? rng.sample(judged, count) : someOf(rng, [...marked, ...judged]);
    const properties = named(draft, asked);
    if (!onlyJudged) addAbsent(draft, one, properties);
    if (properties.length === 0) continue;
    const [only] = properties;
    const isWhole = properties.length === 1 && only?.schema["type"] === "array" && rng.chance(0.25);
    if (isWhole) return { text, schema: only.schema, value: only.value };
    return { text, schema: objectSchema(properties), value: objectValue(properties) };
  }
}

/** The text with values drawn for its marks; those of alternatives that were not drawn are not there. */
function fillCase(
  renderer: Renderer,
  { text, marks }: CaseData,
  keeps: boolean,
): { text: string; said: Said[] } {
  const { rng, values } = renderer;
  const line = renderer.alternatives(text);
  const others = new Map<string, Value>();
  const said: Said[] = [];
  const replaced: (readonly [string, string])[] = [];
  const filled = line.replace(MARKED, (_, index: string, words: string) => {
    const mark = marks[Number(index)];
    if (mark === undefined) throw new Error(`no mark ${index}`);
    const written = { ...mark, words };
    const key = `${mark.kind} ${words}`;
    const value = others.get(key) ?? (keeps ? asWritten(written) : resampled(rng, values, written));
    others.set(key, value);
    values.note(value);
    said.push({ mark, value });
    if (isNamed(mark) && words.length > 3) replaced.push([words, value.text]);
    return `\uE001${value.text}\uE002`;
  });
  return { text: withNames(filled, replaced), said };
}

const isNamed = ({ kind }: Mark): boolean => ["person", "company", "place", "code"].includes(kind);

/** Names stand for the same thing where they are not marked. */
function withNames(filled: string, replaced: readonly (readonly [string, string])[]): string {
  const parts = filled.split(/(\uE001[^\uE002]*\uE002)/);
  const done = parts.map((part) => {
    if (part.startsWith("\uE001")) return part.slice(1, -1);
    let text = part;
    for (const [from, to] of replaced) {
      const word = new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(from)}(?![\\p{L}\\p{N}])`, "gu");
      text = text.replace(word, () => to);
    }
    return text;
  });
  return done.join("");
}

/** Mostly most of what there is, at times a single thing. */
function someOf(rng: Rng, all: readonly Asked[]): Asked[] {
  const share = rng.weighted([
    [1, 3],
    [0.75, 4],
    [0.45, 3],
    [0.15, 1],
  ] as const);
  const some = all.filter(() => rng.chance(share));
  const kept = some.length > 10 ? rng.sample(some, 10) : some;
  if (kept.length === 0 && all.length > 0) kept.push(rng.pick(all));
  return rng.chance(0.35) ? rng.shuffle(kept) : all.filter((one) => kept.includes(one));
}

function named({ context, isCamel }: Draft, asked: readonly Asked[]): Property[] {
  const { rng } = context;
  const taken = new Set<string>();
  return asked.flatMap(({ names, description, make }) => {
    const isOpaque = description !== null && context.isDescribed && rng.chance(0.4);
    const choices = isOpaque ? OPAQUE : names;
    const free = choices.map((name) => styleName(name, isCamel)).filter((name) => !taken.has(name));
    const [first] = free;
    if (first === undefined) return [];
    const name = !isOpaque && rng.chance(0.4) ? first : rng.pick(free);
    taken.add(name);
    const property = make(name);
    if (description === null || !(isOpaque || (context.isDescribed && rng.chance(0.7)))) {
      return [property];
    }
    const note = rng.chance(0.2) ? { title: description } : { description };
    return [{ ...property, schema: { ...property.schema, ...note } }];
  });
}

const required = (
  name: string,
  typed: { readonly schema: Schema; readonly value: AnswerValue },
): Property => ({ name, ...typed, isOptional: false });

function typed(context: PropertyContext, value: Value) {
  const scalar = scalarOf(context, value);
  const isNullable = context.rng.chance(context.nullableShare);
  return isNullable ? { ...scalar, schema: nullable(scalar.schema) } : scalar;
}

function scalars({ context }: Draft, said: readonly Said[]): Asked[] {
  return said
    .filter(({ mark: { place } }) => place.row === null && place.member === null)
    .map(({ mark, value }) => ({
      names: mark.names,
      description: mark.description,
      make: (name) => required(name, typed(context, value)),
    }));
}

/** Lists and objects, each in one property or an object's members in one of their own each. */
function groups(draft: Draft, one: CaseData, said: readonly Said[]): Asked[] {
  const { rng } = draft.context;
  const byName = new Map<string, Said[]>();
  for (const each of said) {
    const { name, row, member } = each.mark.place;
    if (row === null && member === null) continue;
    byName.set(name, [...(byName.get(name) ?? []), each]);
  }
  return [...byName].flatMap(([name, members]) => {
    const names = [name, ...(one.synonyms.get(name) ?? [])];
    const isList = members.some(({ mark }) => mark.place.row !== null);
    if (isList) return [{ names, description: null, make: listMaker(draft, one, name, members) }];
    const judged = one.judgements.filter(
      ({ place }) => place.name === name && place.member !== null,
    );
    const inner = [...scalarsOf(draft, members), ...judged.map((each) => judgedAs(draft, each))];
    if (rng.chance(0.6)) {
      const make = (own: string) => {
        const properties = named(draft, someOf(rng, inner));
        const object = { schema: objectSchema(properties), value: objectValue(properties) };
        return required(own, object);
      };
      return [{ names, description: null, make }];
    }
    const prefix = rng.pick(names);
    return inner.map((each) => ({ ...each, names: each.names.map((own) => `${prefix}_${own}`) }));
  });
}

const scalarsOf = (draft: Draft, members: readonly Said[]): Asked[] =>
  scalars(
    draft,
    members.map(({ mark, value }) => ({
      mark: { ...mark, place: { ...mark.place, member: null } },
      value,
    })),
  );

/** A column of a list: its names, and for each row what stands there. */
interface Column {
  readonly names: readonly string[];
  readonly type: (context: PropertyContext) => readonly [Schema, readonly AnswerValue[]];
}

function listMaker(
  draft: Draft,
  one: CaseData,
  name: string,
  members: readonly Said[],
): (own: string) => Property {
  const { context, isCamel } = draft;
  const { rng } = context;
  // Rows whose marks stood in an alternative that was not drawn are not there.
  const rows = [...new Set(members.map(({ mark }) => mark.place.row ?? 0))].sort((a, b) => a - b);
  const isPlain = members.every(({ mark }) => mark.place.member === null);
  const columns = isPlain ? [] : columnsOf(one, name, members, rows);
  return (own) => {
    if (isPlain) {
      const [schema, values] = column(
        context,
        rows.map((row) => cell(members, row, null)),
        true,
      );
      return required(own, { schema: { type: "array", items: schema }, value: values });
    }
    const kept = columns.filter(() => rng.chance(0.8));
    const chosen = kept.length === 0 ? columns.slice(0, 1) : kept;
    const taken = new Set<string>();
    const made = chosen.flatMap(({ names, type }) => {
      const free = names.map((each) => styleName(each, isCamel)).filter((each) => !taken.has(each));
      const [first] = free;
      if (first === undefined) return [];
      const label = rng.chance(0.5) ? first : rng.pick(free);
      taken.add(label);
      return [{ name: label, column: type(context) }];
    });
    const [only] = made;
    if (made.length === 1 && only !== undefined && rng.chance(0.5)) {
      const [schema, values] = only.column;
      if (!values.includes(null)) {
        return required(own, { schema: { type: "array", items: schema }, value: values });
      }
    }
    const items = objectSchema(
      made.map(({ name: label, column: [schema] }) => required(label, { schema, value: null })),
    );
    const value = rows.map(
      (_, i) =>
        new Map(made.map(({ name: label, column: [, values] }) => [label, values[i] ?? null])),
    );
    return required(own, { schema: { type: "array", items }, value });
  };
}

const cell = (members: readonly Said[], row: number, member: string | null): Value | null =>
  members.find(({ mark: { place } }) => place.row === row && place.member === member)?.value ??
  null;

function columnsOf(
  one: CaseData,
  name: string,
  members: readonly Said[],
  rows: readonly number[],
): Column[] {
  const names = new Map<string, readonly string[]>();
  for (const { mark } of members) {
    const { member } = mark.place;
    // Synonyms stand at the first row that has the column.
    if (member !== null && !names.has(member)) names.set(member, mark.names);
  }
  const marked = [...names].map(
    ([member, own]): Column => ({
      names: own,
      type: (context) =>
        column(
          context,
          rows.map((row) => cell(members, row, member)),
        ),
    }),
  );
  const judged = one.judgements
    .filter(({ place }) => place.name === name && place.member !== null)
    .map(
      (judgement): Column => ({
        names: judgement.names,
        type: (context) => {
          const { schema, print } = labelsOf(context, judgement, one.text);
          return [schema, rows.map((row) => print(judgement.values[row - 1] ?? null))];
        },
      }),
    );
  return [...marked, ...judged];
}

/** One type for all values of a column; null where a row has none. Plain items are never null. */
function column(
  { rng }: PropertyContext,
  values: readonly (Value | null)[],
  isPlain = false,
): readonly [Schema, readonly AnswerValue[]] {
  const there = values.filter((value) => value !== null);
  const make = (schema: Schema, print: (value: Value) => AnswerValue) => {
    const hasNone = there.length < values.length;
    return [
      hasNone || (!isPlain && rng.chance(0.1)) ? nullable(schema) : schema,
      values.map((value) => (value === null ? null : print(value))),
    ] as const;
  };
  if (there.every(({ isoDate }) => isoDate !== null) && rng.chance(0.6)) {
    return make({ type: "string", format: "date" }, ({ isoDate }) => isoDate);
  }
  if (there.every(({ number }) => number !== null) && rng.chance(0.94)) {
    const isWhole = there.every(({ isInteger }) => isInteger) && rng.chance(0.75);
    const type = isWhole ? "integer" : "number";
    return make({ type }, ({ number }) => new NumberLiteral(number ?? ""));
  }
  return make({ type: "string" }, ({ string }) => string);
}

function judgedAs({ context, text }: Draft, judgement: Judgement): Asked {
  const make = (name: string) => {
    const { schema, print } = labelsOf(context, judgement, text);
    return required(name, { schema, value: print(judgement.values[0] ?? null) });
  };
  return { names: judgement.names, description: null, make };
}

const AMOUNT =
  /amount|total|price|fee|cost|sum$|balance|discount|tax|deposit|rate$|percent|pct|weight|height|width|length|score|rating|salary|limit|penalty|surcharge|refund|premium|budget|wage|interest|area|size|distance|temperature/;
const COUNT =
  /(?<!dis|ac)count|qty|quantity|number_of|_years?$|age$|nights|guests|minutes|hours|days$|pages|floor$|seats|persons|people|children|rooms|pieces/;
const DAY = /date|deadline|_on$|_day$|until|birthday|_due$|expires|expiry/;

/** Of what a text does not say, by its name. */
function absentType(rng: Rng, name: string): Schema {
  if (/^(is|has|was|can|are)_/.test(name)) return { type: ["boolean", "null"] };
  if (DAY.test(name) && rng.chance(0.6)) return { type: ["string", "null"], format: "date" };
  const isCode = /number|_no$|_id$|code|reference/.test(name) && !/^number_of/.test(name);
  if (!isCode && COUNT.test(name))
    return { type: [rng.chance(0.75) ? "integer" : "number", "null"] };
  if (!isCode && AMOUNT.test(name)) return { type: ["number", "null"] };
  return { type: ["string", "null"] };
}

function addAbsent(
  { context, isCamel }: Draft,
  { absent }: CaseData,
  properties: Property[],
): void {
  const { rng } = context;
  const count = rng.weighted([
    [0, 12],
    [1, 6],
    [2, 3],
    [3, 1],
  ] as const);
  for (const word of rng.sample(absent, count)) {
    const name = styleName(word, isCamel);
    if (properties.some((one) => one.name === name)) continue;
    const schema = absentType(rng, word);
    const [type] = schema["type"] as readonly string[];
    // An optional property is left out instead.
    const isOptional = rng.chance(0.06);
    const own = isOptional ? { ...schema, type } : schema;
    const at = rng.int(0, properties.length);
    properties.splice(at, 0, { name, schema: own, value: null, isOptional });
  }
}
