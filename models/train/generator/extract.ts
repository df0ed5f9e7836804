/** Samples of extraction: a text, a schema for part of what it says, and the answer. */
import { Label } from "./answer.ts";
import { choiceRemark } from "./classify.ts";
import { compose } from "./compose.ts";
import type { GeneratorData } from "./data-files.ts";
import { remark } from "./lexicon.ts";
import { capital } from "./names.ts";
import {
  absentSchema,
  type Extraction,
  noteDecisive,
  objectSchema,
  objectValue,
  type Property,
  type PropertyContext,
  type Schema,
  styleName,
  wordsOf,
} from "./properties.ts";
import { aside, type Filled, joinParts, type Renderer, type Scope, slotsIn } from "./render.ts";
import type { Rng } from "./rng.ts";
import { provision } from "./roles.ts";
import { messageRemark } from "./topics.ts";
import { makeProperty, OPAQUE } from "./typed.ts";

/** What a text is made of, and the slots that it holds. */
interface Draft {
  /** Of templates or of documents. */
  readonly domain: string;
  readonly parts: string[];
  readonly scope: Scope;
}

export function extract(
  renderer: Renderer,
  data: GeneratorData,
  domains: readonly string[],
): Extraction {
  const { rng, values } = renderer;
  for (;;) {
    values.newDocument();
    const isDocument = rng.chance(DOCUMENT_SHARE);
    const draft = isDocument ? drawDocument(renderer, data) : drawParts(renderer, data, domains);
    if (draft.scope.size === 0) continue;
    const context: PropertyContext = {
      rng,
      data,
      style: values.style,
      decisive: values.decisive,
      isDescribed: rng.chance(0.22),
      nullableShare: rng.weighted([
        [0, 5],
        [0.35, 4],
        [1, 1],
      ]),
    };
    const isElsewhere = !isDocument && rng.chance(0.04);
    const properties = isElsewhere
      ? absentProperties(context, rng.pick(domains), draft.scope, rng.int(1, 5))
      : drawProperties(context, draft.domain, draft.scope);
    if (properties.length === 0) continue;
    if (rng.chance(0.12)) wrapSome(rng, properties);
    if (rng.chance(isDocument ? 0.15 : 0.28)) addRemark(renderer, data, draft.parts, properties);
    const isSmallTalk = isElsewhere && rng.chance(0.5);
    const text = joinParts(rng, isSmallTalk ? smallTalk(renderer, data) : draft.parts);
    return { text, ...wholeAnswer(rng, properties) };
  }
}

function wholeAnswer(rng: Rng, properties: readonly Property[]): Omit<Extraction, "text"> {
  const [only] = properties;
  // A list alone may be the whole answer.
  if (properties.length === 1 && only?.schema["type"] === "array" && rng.chance(0.25)) {
    return { schema: only.schema, value: only.value };
  }
  return { schema: objectSchema(properties), value: objectValue(properties) };
}

function drawDocument(renderer: Renderer, { documents }: GeneratorData): Draft {
  const kinds = [...documents].map(([kind, texts]) => [kind, texts.length] as const);
  const domain = renderer.rng.weighted(kinds);
  const scope: Scope = new Map();
  const text = renderer.render(renderer.rng.pick(documents.get(domain) ?? []), scope);
  return { domain, parts: [text], scope };
}

/** Names for an object of a few properties that have nothing else in common. */
const WRAPPERS = "details info data header summary meta record main facts content overview".split(
  " ",
);

/** Puts some neighbours into an object of their own. */
function wrapSome(rng: Rng, properties: Property[]): void {
  if (properties.length < 3) return;
  const count = rng.int(2, Math.min(4, properties.length - 1));
  const at = rng.int(0, properties.length - count);
  const name = rng.pick(WRAPPERS);
  if (properties.some((one) => one.name === name)) return;
  const inner = properties.slice(at, at + count);
  const object = { name, schema: objectSchema(inner), value: objectValue(inner) };
  properties.splice(at, count, { ...object, isOptional: false });
}

/** One more sentence, and the label that it decides. */
function addRemark(
  renderer: Renderer,
  data: GeneratorData,
  parts: string[],
  properties: Property[],
): void {
  const { rng } = renderer;
  const draw = rng.pick([remark, messageRemark, choiceRemark, choiceRemark, provision]);
  const { text, property } = draw(renderer, data);
  if (properties.some(({ name }) => name === property.name)) return;
  noteDecisive(renderer.values.decisive, text, property.name, property.value);
  parts.splice(rng.int(0, parts.length), 0, text);
  properties.splice(rng.int(0, properties.length), 0, property);
}

/** Texts that are written whole, as long and as mixed as what people send. */
const DOCUMENT_SHARE = 0.2;

/** The fifty domains that are common have many templates each, and are seven tenths of what is drawn. */
const byVariety = (
  { templates }: GeneratorData,
  domains: readonly string[],
): (readonly [string, number])[] =>
  domains.map((domain) => [domain, (templates.get(domain)?.length ?? 0) ** 2.2]);

/** Of texts from templates, those that must have a list; the others have many values rather than few. */
const LIST_SHARE = 0.5;
/** Texts of a page, most of which is not asked for. */
const LONG_SHARE = 0.015;
/** Texts put together from clauses, with a list of any kind that is told item by item, or of templates. */
const KINDS_OF_TEXTS = [
  ["composed", 0.07],
  ["told", 0.06],
  ["templates", 0.87],
] as const;
/** Of the lists in templates, those that are told instead, where somebody wrote how. */
const TOLD_INSTEAD = 0.4;

function drawParts(renderer: Renderer, data: GeneratorData, domains: readonly string[]): Draft {
  const { rng } = renderer;
  const domain = rng.weighted(byVariety(data, domains));
  const scope: Scope = new Map();
  const isLong = rng.chance(LONG_SHARE);
  const templates = data.templates.get(domain) ?? [];
  const make = {
    composed: () => compose(renderer, data, slotsOf(data, domain), scope),
    told: () => tellAny(renderer, data, templates, scope),
    templates: () => fillTemplates(renderer, data, templates, scope, isLong ? rng.int(2, 5) : null),
  };
  const parts = make[rng.weighted(KINDS_OF_TEXTS)]();
  const fillers = isLong
    ? rng.int(3, 12)
    : rng.weighted([
        [0, 10],
        [1, 2],
        [2, 0.6],
        [4, 0.1],
      ]);
  for (let i = 0; i < fillers; i++) {
    const filler = rng.chance(0.5)
      ? renderer.render(rng.pick(data.phrases.get("filler") ?? []), new Map())
      : aside(renderer, data);
    parts.splice(rng.int(0, parts.length), 0, filler);
  }
  return { domain, parts, scope };
}

/** A list of any kind, told, and a sentence or two of the domain. */
function tellAny(
  renderer: Renderer,
  data: GeneratorData,
  templates: readonly string[],
  scope: Scope,
): string[] {
  const { rng } = renderer;
  const lists = [...data.lists.values()].filter(({ told }) => told.length > 0);
  const others = templates.filter((line) => !line.includes("{rows:"));
  const lines = rng.sample(others, rng.int(0, 2));
  const texts = lines.map((line) => renderSentence(renderer, line, scope));
  return rng.shuffle([...texts, renderer.told(rng.pick(lists).name, scope)]);
}

const ROWS = "rows:";
const isRows = (slot: string): boolean => slot.startsWith(ROWS);

/** The list of a template that can be told in its place, or null. */
function toldOf({ lists }: GeneratorData, template: string): string | null {
  const name = slotsIn(template).find(isRows)?.slice(ROWS.length) ?? "";
  return (lists.get(name)?.told.length ?? 0) > 0 ? name : null;
}

function fillTemplates(
  renderer: Renderer,
  data: GeneratorData,
  templates: readonly string[],
  scope: Scope,
  fixed: number | null,
): string[] {
  const { rng } = renderer;
  const drawn = rng.weighted([
    [1, 10],
    [2, 1.7],
    [3, 0.3],
    [4, 0.1],
  ]);
  const count = fixed ?? drawn;
  const lists = templates.filter((line) => line.includes("{rows:"));
  const rich =
    lists.length > 0 && rng.chance(LIST_SHARE)
      ? rng.pick(lists)
      : rng.weighted(templates.map((line) => [line, richness(line)] as const));
  const others = templates.filter((line) => line !== rich);
  const list = toldOf(data, rich);
  const isTold = list !== null && rng.chance(TOLD_INSTEAD);
  const around = rng.sample(others, isTold ? rng.int(0, 2) : count - 1);
  const lines = rng.shuffle([rich, ...around]);
  renderer.rowsMax = count > 2 ? 5 : 10;
  return lines.map((line) => {
    if (isTold && line === rich) return renderer.told(list, scope);
    return renderSentence(renderer, line, scope);
  });
}

/** With a capital, but where a value begins it: that keeps its case, so that the answer can copy it. */
function renderSentence(renderer: Renderer, line: string, scope: Scope): string {
  const text = renderer.render(line, scope);
  return line.startsWith("{") ? text : capital(text);
}

/** Templates with many values are drawn more often, and prose more often than forms. */
const richness = (line: string): number =>
  line.split("{").length ** 1.5 * (line.includes("\\n") ? 0.4 : 1);

/** A text that holds nothing of what a form asks for. */
function smallTalk(renderer: Renderer, data: GeneratorData): string[] {
  const { rng } = renderer;
  const topical = data.phrases.get("topical") ?? [];
  return Array.from({ length: rng.int(1, 3) }, () => {
    const choice = data.choices.get(rng.pick(topical));
    const phrase = rng.pick(rng.pick(choice?.labels ?? []).phrases);
    return `${capital(renderer.render(phrase, new Map()))}.`;
  });
}

function absentProperties(
  context: PropertyContext,
  domain: string,
  scope: Scope,
  count: number,
): Property[] {
  const taken = new Set<string>();
  return Array.from({ length: count }).flatMap(
    () => absentProperty(context, domain, scope, taken, false) ?? [],
  );
}

function drawProperties(context: PropertyContext, domain: string, scope: Scope): Property[] {
  const { rng } = context;
  const camel = rng.chance(0.12);
  const taken = new Set<string>();
  const most = rng.weighted([
    [1, 0.5],
    [2, 0.7],
    [3, 1],
    [4, 2],
    [5, 2],
    [6, 3],
    [8, 4],
    [12, 5],
  ]);
  const keys = rng.chance(0.45)
    ? rng.sample([...scope.keys()], most)
    : [...scope.keys()].slice(0, most);
  const made: Property[] = [];
  for (const [part, members] of byPart(context, keys)) {
    if (part === null) {
      for (const key of members) {
        const property = namedProperty(context, scope, key, { taken, camel, prefix: null });
        if (property !== null) made.push(property);
      }
    } else {
      const property = nestedProperty(context, scope, part, members, { taken, camel });
      if (property !== null) made.push(property);
    }
  }
  if (made.length === 0) return made;
  made.push(...currencyProperty(context, scope, taken));
  const absent = rng.chance(0.6)
    ? rng.weighted([
        [1, 5],
        [2, 2],
        [3, 1],
      ])
    : 0;
  for (let i = 0; i < absent; i++) {
    const property = absentProperty(context, domain, scope, taken, camel);
    if (property !== null) made.splice(rng.int(0, made.length), 0, property);
  }
  return made;
}

interface Naming {
  readonly taken: Set<string>;
  readonly camel: boolean;
}

/** Keys of one part (`name@sender`, `city@sender`) together, others one by one. */
function byPart(context: PropertyContext, keys: readonly string[]): [string | null, string[]][] {
  const nested = context.rng.chance(0.6);
  const groups: [string | null, string[]][] = [];
  for (const key of keys) {
    const part = key.split("@")[1] ?? null;
    const group = part === null || !nested ? undefined : groups.find(([name]) => name === part);
    if (group !== undefined) group[1].push(key);
    else groups.push([nested ? part : null, [key]]);
  }
  // An object of one member only now and then.
  return groups.map(([part, members]) =>
    part !== null && members.length === 1 && context.rng.chance(0.6)
      ? [null, members]
      : [part, members],
  );
}

function nestedProperty(
  context: PropertyContext,
  scope: Scope,
  part: string,
  keys: readonly string[],
  { taken, camel }: Naming,
): Property | null {
  const name = drawName(context, context.data.parts.get(part) ?? [part], taken, camel);
  if (name === null) return null;
  const inner = new Set<string>();
  const own: Scope = new Map([...scope].filter(([key]) => keys.includes(key)));
  const members = keys.flatMap((key) => {
    const plain = { taken: inner, camel, prefix: "" as const };
    return namedProperty(context, own, key, plain) ?? [];
  });
  if (members.length === 0) return null;
  return { name, schema: objectSchema(members), value: objectValue(members), isOptional: false };
}

/** @param prefix null writes the part of a key into the name (`sender_city`). */
function namedProperty(
  context: PropertyContext,
  scope: Scope,
  key: string,
  { taken, camel, prefix }: Naming & { readonly prefix: "" | null },
): Property | null {
  const { rng, data } = context;
  const filled = scope.get(key);
  if (filled === undefined) return null;
  const words = wordsOf(filled, data);
  const part = prefix === null ? (key.split("@")[1] ?? null) : null;
  const choices =
    part === null
      ? unambiguous(data, scope, key, words.properties)
      : partNames(data, part, filled, words.properties);
  const described = context.isDescribed && words.descriptions.length > 0 && rng.chance(0.75);
  const isOpaque = part === null && described && rng.chance(0.45);
  const inCurrency = withCurrency(context, filled, choices);
  const name = drawName(context, isOpaque ? OPAQUE : inCurrency, taken, camel);
  if (name === null) return null;
  const property = makeProperty(context, name, filled);
  const note = part === null && described ? noteOf(context, words.descriptions) : {};
  return { ...property, schema: { ...property.schema, ...note } };
}

/** `total_eur` now and then, where the text names the currency. */
function withCurrency(
  { rng, data, style }: PropertyContext,
  filled: Filled,
  names: readonly string[],
): readonly string[] {
  const kind = filled.kind === "value" ? data.fields.get(filled.field)?.kind : undefined;
  if (!MONEY.has(kind ?? "") || style.money === "bare" || !rng.chance(0.08)) return names;
  const suffix = rng.pick([style.currency.code, style.currency.word]).toLowerCase();
  return names.map((name) => `${name}_${suffix.replaceAll(" ", "_")}`);
}

function noteOf({ rng }: PropertyContext, descriptions: readonly string[]): Schema {
  const text = rng.pick(descriptions);
  if (rng.chance(0.25)) return { title: capital(text) };
  return { description: text };
}

function drawName(
  { rng }: PropertyContext,
  choices: readonly string[],
  taken: Set<string>,
  camel: boolean,
): string | null {
  // The first names are the usual ones.
  const free = choices.filter((name) => !taken.has(styleName(name, camel)));
  if (free.length === 0) return null;
  const name = styleName(rng.pick(rng.chance(0.45) ? free.slice(0, 3) : free), camel);
  taken.add(name);
  return name;
}

/** Names that nothing else in the text could be meant by. */
function unambiguous(
  data: GeneratorData,
  scope: Scope,
  key: string,
  names: readonly string[],
): readonly string[] {
  const others = [...scope].filter(([other]) => other !== key);
  const claimed = new Set(others.flatMap(([, filled]) => wordsOf(filled, data).properties));
  return names.filter((name) => !claimed.has(name));
}

function partNames(
  data: GeneratorData,
  part: string,
  filled: Filled,
  names: readonly string[],
): string[] {
  const parts = data.parts.get(part) ?? [part];
  const isName =
    filled.kind === "value" &&
    ["person", "name", "company", "team", "city", "account"].includes(
      data.fields.get(filled.field)?.kind ?? "",
    );
  const joined = parts.flatMap((word) => names.slice(0, 3).map((name) => `${word}_${name}`));
  const isAlone =
    isName &&
    !(
      filled.kind === "value" &&
      filled.field === "city" &&
      !["origin", "destination"].includes(part)
    );
  return isAlone ? [...parts, ...parts, ...joined] : joined;
}

const MONEY = new Set(["money", "signed", "price"]);

/** Where amounts are in one currency that the text names. */
function currencyProperty(context: PropertyContext, scope: Scope, taken: Set<string>): Property[] {
  const { rng, style } = context;
  const has = [...scope.values()].some(
    (filled) =>
      filled.kind === "value" && MONEY.has(context.data.fields.get(filled.field)?.kind ?? ""),
  );
  if (!has || style.money === "bare" || taken.has("currency") || !rng.chance(0.22)) return [];
  const { code } = style.currency;
  const others = ["USD", "EUR", "GBP", "CHF", "JPY", "SEK"].filter((other) => other !== code);
  if (rng.chance(0.5)) {
    const labels = rng.shuffle([code, ...rng.sample(others, rng.int(1, 3))]);
    return [
      {
        name: "currency",
        schema: { type: "string", enum: labels },
        value: new Label(code),
        isOptional: false,
      },
    ];
  }
  return [{ name: "currency", schema: { type: "string" }, value: code, isOptional: false }];
}

const GENERIC = new Set(
  (
    "price amount total cost value sum name full_name person person_name contact company firm " +
    "company_name organization date day when time number id code reference city place location " +
    "town address rate percent count units quantity qty points item product title topic subject"
  ).split(" "),
);

const PART_OF_NAME = new Set(["first", "last", "surname"]);
const NAMED = new Set(["person", "name", ...PART_OF_NAME]);

/** A property that the text says nothing about: null, or an empty list. */
function absentProperty(
  context: PropertyContext,
  domain: string,
  scope: Scope,
  taken: Set<string>,
  camel: boolean,
): Property | null {
  const { rng, data } = context;
  const near = rng.chance(0.7);
  const names = near ? slotsOf(data, domain) : [...data.fields.keys()];
  const claimed = new Set(
    [...scope.values()].flatMap((filled) => [
      ...wordsOf(filled, data).properties,
      ...rowWords(filled, data),
    ]),
  );
  const present = new Set([...scope.keys()].map((key) => key.split("@")[0] ?? ""));
  const free = names.filter((name) => !present.has(name));
  if (free.length === 0) return null;
  const slot = rng.pick(free);
  const list = slot.startsWith("rows:") ? data.lists.get(slot.slice(5)) : undefined;
  const definition = list ?? data.fields.get(slot) ?? data.choices.get(slot);
  if (definition === undefined) return null;
  if (definition.properties.some((name) => claimed.has(name))) return null;
  const kind = data.fields.get(slot)?.kind;
  const kinds = [...present].map((other) => data.fields.get(other)?.kind ?? "");
  // Whoever is named has a first and a last name.
  if (PART_OF_NAME.has(kind ?? "") && kinds.some((other) => NAMED.has(other))) return null;
  const isKindSaid = kind !== undefined && kinds.includes(kind);
  // What could be any value of its kind is not absent where there is one.
  const specific = definition.properties.filter((word) => !(isKindSaid && GENERIC.has(word)));
  const name = drawName(context, specific, taken, camel);
  if (name === null) return null;
  if (list !== undefined) {
    return {
      name,
      schema: { type: "array", items: { type: "string" } },
      value: [],
      isOptional: false,
    };
  }
  const note =
    context.isDescribed && definition.descriptions.length > 0
      ? noteOf(context, definition.descriptions)
      : {};
  const schema = { ...absentSchema(context, slot), ...note };
  const [type] = Array.isArray(schema.type) ? schema.type : [];
  // An optional property is left out instead.
  if (rng.chance(0.06)) return { name, schema: { ...schema, type }, value: null, isOptional: true };
  return { name, schema, value: null, isOptional: false };
}

function rowWords(filled: Filled, data: GeneratorData): string[] {
  if (filled.kind !== "list") return [];
  return filled.rows.flatMap((row) =>
    [...row.values()].flatMap((cell) => wordsOf(cell, data).properties),
  );
}

/** Slots that any template of the domain has. */
function slotsOf(data: GeneratorData, domain: string): string[] {
  const text = (data.templates.get(domain) ?? data.documents.get(domain) ?? []).join("\n");
  return [...new Set(slotsIn(text).map((slot) => slot.split("@")[0] ?? ""))];
}
