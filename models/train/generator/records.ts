/**
 * Lists of any kind: values or rows of values after a heading, in whatever way people write such
 * things, so that a list is read by its form and not by what it is a list of.
 */
import { type AnswerValue, NumberLiteral } from "./answer.ts";
import type { FieldDefinition, GeneratorData } from "./data-files.ts";
import { drawFields } from "./labelled.ts";
import { capital, inWords } from "./names.ts";
import {
  type Extraction,
  nullable,
  objectSchema,
  objectValue,
  type Property,
  type Schema,
} from "./properties.ts";
import type { Renderer } from "./render.ts";
import type { Rng } from "./rng.ts";
import type { Value } from "./values.ts";

const WORDS = (
  "name name company city country id product word title room place task street skill team dish " +
  "event email phrase phrase word @ingredients @features @topics"
).split(" ");
const NUMBERS = "money qty large decimal points small temp rating pct age year".split(" ");
const OTHERS = "date time day duration phone color id word city country".split(" ");

/** Ways to write a row of so many cells. */
const ROWS: readonly (readonly string[])[] = [
  ["0"],
  ["0: 1", "0 (1)", "0 - 1", "0, 1", "0 1", "0 = 1", "1 x 0", "1 0", "0 | 1", "0 at 1", "0 for 1"],
  ["0: 1, 2", "0 (1, 2)", "0 - 1 - 2", "0, 1, 2", "0 | 1 | 2", "0 1 2", "0 (1): 2", "1 0 at 2"],
];

/** Of a column: its property names; the words that make the name of the list. */
const NAMES: Readonly<Record<string, string>> = {
  money: "amount price cost value total sum",
  qty: "quantity qty count number pieces",
  date: "date day when on",
  time: "time at start hour",
  phone: "phone tel number",
  email: "email mail address",
  name: "name person who contact",
  company: "company firm name organisation",
  city: "city place town location",
  product: "product item article goods",
  id: "id number code reference",
  word: "name brand",
  phrase: "note description text subject remark",
  street: "street address",
  task: "task todo action",
  dish: "dish meal food",
  event: "event name",
  team: "team club",
  country: "country nation",
  points: "points score",
  temp: "temperature degrees value",
  large: "visitors inhabitants count number",
  decimal: "value reading measurement weight",
  small: "count number quantity",
  rating: "rating score stars",
  pct: "percent share rate",
  duration: "duration length time_needed",
  day: "day due when",
};

/** Names for rows of anything. */
const LIST_NAMES = "item entry record row line data list result detail position".split(" ");

interface Column {
  readonly name: string;
  readonly kind: string;
}

export function records(renderer: Renderer, data: GeneratorData): Extraction {
  const { rng, values } = renderer;
  values.newDocument();
  const labels = rng.shuffle(data.words.get("labels") ?? []);
  const snake = () => (labels.pop() ?? "entry").replaceAll(" ", "_");
  const isTable = rng.chance(TABLE_SHARE);
  const isHeaded = isTable && rng.chance(0.7);
  const columns = isTable ? drawWide(rng, snake, isHeaded) : drawColumns(rng, snake);
  const count = rng.weighted([
    [1, 0.5],
    [2, 3],
    [3, 5],
    [4, 4],
    [5, 3],
    [6, 2],
    [7, 1],
    [8, 1],
    [9, 0.5],
    [10, 0.5],
  ]);
  const hasGaps = isTable && rng.chance(0.3);
  const rows = Array.from({ length: count }, () =>
    columns.map(({ kind }, i) => (hasGaps && i > 0 && rng.chance(0.15) ? null : values.draw(kind))),
  );
  const listName = plural(
    columns.length > 1 && rng.chance(0.5) ? rng.pick(LIST_NAMES) : (columns[0]?.name ?? "entry"),
  );
  const list = listProperty(rng, listName, columns, rows);
  const heading = rng.chance(0.7) ? listName.replaceAll("_", " ") : plural(rng.pick(LIST_NAMES));
  const text = isTable
    ? printTable(rng, isHeaded ? columns : null, rows)
    : printRows(rng, columns.length, rows);
  if (rng.chance(0.15)) return { text, schema: list.schema, value: list.value };
  const others = rng.weighted([
    [0, 3],
    [1, 3],
    [2, 2],
  ]);
  const around = drawFields(rng, data, others)
    .map((field) => beside(renderer, field))
    .filter(({ property }) => property.name !== listName);
  const said = around.flatMap(({ text: line }) => (line === null ? [] : [line]));
  const sum = isTable && rng.chance(0.4) ? [total(renderer)] : [];
  const below = sum.map((one) => `\n${one.text}`).join("");
  const lines = rng.shuffle([introduced(rng, heading, text) + below, ...said]);
  const asked = [...around, ...sum].flatMap(({ property }) => property ?? []);
  const properties = rng.shuffle([
    ...new Map([...asked, list].map((one) => [one.name, one])).values(),
  ]);
  return {
    text: lines.join(rng.pick(["\n", "\n", " ", "\n\n"])),
    schema: objectSchema(properties),
    value: objectValue(properties),
  };
}

/** Of all lists, those that are tables: more columns, cells that are empty, a line below. */
const TABLE_SHARE = 0.4;

/** Numbers that nothing but a head tells apart. */
const BARE = new Set("qty large decimal points small temp rating age year".split(" "));

/** Columns of a table; where they have a head, several may have one kind of value. */
function drawWide(rng: Rng, snake: () => string, isHeaded: boolean): Column[] {
  const count = rng.weighted([
    [3, 3],
    [4, 4],
    [5, 3],
    [6, 1],
  ]);
  const kinds = [rng.pick(WORDS)];
  const others = [...NUMBERS, ...OTHERS, "money", "qty", "name", "phrase"];
  while (kinds.length < count) {
    const kind = rng.pick(others);
    const isBare = BARE.has(kind) && kinds.some((other) => BARE.has(other));
    if (isHeaded || !(isBare || kinds.includes(kind))) kinds.push(kind);
  }
  // What the item is mostly stands first, but not always.
  if (rng.chance(0.25)) kinds.splice(1, 0, ...kinds.splice(0, 1));
  return named(rng, kinds, snake);
}

function drawColumns(rng: Rng, snake: () => string): Column[] {
  const count = rng.weighted([
    [1, 4],
    [2, 5],
    [3, 3],
  ]);
  const pools = rng.sample([NUMBERS, OTHERS, NUMBERS, OTHERS], count - 1);
  const kinds = [rng.pick(rng.chance(0.85) ? WORDS : NUMBERS)];
  for (const pool of pools) kinds.push(rng.pick(pool.filter((kind) => !kinds.includes(kind))));
  return named(rng, kinds, snake);
}

function named(rng: Rng, kinds: readonly string[], snake: () => string): Column[] {
  const taken = new Set<string>();
  return kinds.map((kind) => {
    const usual = (NAMES[kind] ?? kind.replace(/^@(.*)s$/, "$1"))
      .split(" ")
      .filter((name) => !taken.has(name));
    let name = rng.chance(0.85) && usual.length > 0 ? rng.pick(usual) : snake();
    while (taken.has(name)) name = snake();
    taken.add(name);
    return { name, kind };
  });
}

const plural = (name: string): string =>
  /s$|^data$/.test(name) ? name : name.replace(/([^aeiou])y$/, "$1ie").concat("s");

/** One type for all cells of a column; it may be null where some are empty. */
function columnOf(
  rng: Rng,
  all: readonly (Value | null)[],
): { readonly schema: Schema; readonly values: readonly AnswerValue[] } {
  const cells = all.filter((cell) => cell !== null);
  const { schema, values } = typed(rng, cells);
  if (cells.length === all.length) return { schema, values };
  const left = [...values];
  return {
    schema: nullable(schema),
    values: all.map((cell) => (cell === null ? null : (left.shift() ?? null))),
  };
}

function typed(
  rng: Rng,
  cells: readonly Value[],
): { readonly schema: Schema; readonly values: readonly AnswerValue[] } {
  if (cells.every(({ isoDate }) => isoDate !== null) && rng.chance(0.5)) {
    const schema = { type: "string", format: "date" };
    return { schema, values: cells.map(({ isoDate }) => isoDate) };
  }
  if (cells.every(({ number }) => number !== null) && rng.chance(0.93)) {
    const isWhole = cells.every(({ isInteger }) => isInteger) && rng.chance(0.7);
    const values = cells.map(({ number }) => new NumberLiteral(number ?? "0"));
    return { schema: { type: isWhole ? "integer" : "number" }, values };
  }
  return { schema: { type: "string" }, values: cells.map(({ string }) => string) };
}

function listProperty(
  rng: Rng,
  name: string,
  columns: readonly Column[],
  rows: readonly (readonly (Value | null)[])[],
): Property {
  const all = columns.map((column, i) => ({
    ...column,
    ...columnOf(
      rng,
      rows.map((row) => row[i] ?? null),
    ),
  }));
  // Some columns are not asked for; a single one is mostly a list of plain values.
  const [first, ...more] = all;
  if (first === undefined) throw new Error("a list without columns");
  const share = columns.length > 3 ? 0.65 : 0.85;
  const asked = [first, ...more.filter(() => rng.chance(share))];
  if (asked.length === 1 && rng.chance(0.8)) {
    const schema = { type: "array", items: first.schema };
    return { name, schema, value: first.values, isOptional: false };
  }
  const shown = rng.chance(0.85) ? asked : rng.shuffle(asked);
  const items = objectSchema(
    shown.map((column) => ({
      name: column.name,
      schema: column.schema,
      value: null,
      isOptional: false,
    })),
  );
  const value = rows.map(
    (_, row) => new Map(shown.map((column) => [column.name, column.values[row] ?? null] as const)),
  );
  return { name, schema: { type: "array", items }, value, isOptional: false };
}

/** A row a line, with a head where columns are given. */
function printTable(
  rng: Rng,
  columns: readonly Column[] | null,
  rows: readonly (readonly (Value | null)[])[],
): string {
  const mark = rng.pick([" | ", " | ", "  ", "   ", "\t", ", ", "; ", ";", " - ", " "]);
  const isFenced = mark === " | " && rng.chance(0.3);
  const isNumbered = rng.chance(0.2);
  const empty = rng.pick(["-", "-", "n/a", "–", "?"]);
  const line = (cells: readonly string[]) =>
    isFenced ? `| ${cells.join(mark)} |` : cells.join(mark);
  const style = rng.pick([
    capital,
    capital,
    (word: string) => word.toUpperCase(),
    (word: string) => word,
  ]);
  const heads = columns?.map(({ name }) => style(inWords(name)));
  const body = rows.map((row, i) => {
    const cells = row.map((cell) => cell?.text ?? empty);
    return line(isNumbered ? [String(i + 1), ...cells] : cells);
  });
  if (heads === undefined) return body.join("\n");
  const head = isNumbered ? [rng.pick(["No", "#", "Pos", "Nr."]), ...heads] : heads;
  const rule = rng.chance(0.2) ? [line(head.map(() => "---"))] : [];
  return [line(head), ...rule, ...body].join("\n");
}

/** A line below a table that is none of its rows, asked for or not. */
function total({ rng, values }: Renderer): {
  readonly text: string;
  readonly property: Property | null;
} {
  const value = values.draw("money");
  const label = rng.pick([
    "Total",
    "Sum",
    "TOTAL",
    "Grand total",
    "Subtotal",
    "Balance",
    "Total due",
  ]);
  const { schema, values: cells } = columnOf(rng, [value]);
  const name = label.toLowerCase().replace(" ", "_");
  const property = { name, schema, value: cells[0] ?? null, isOptional: false };
  const text = `${label}${rng.pick([" ", ": ", "  ", " | "])}${value.text}`;
  return { text, property: rng.chance(0.5) ? property : null };
}

function printRows(rng: Rng, width: number, rows: readonly (readonly (Value | null)[])[]): string {
  const form = rng.pick(ROWS[width - 1] ?? []);
  const texts = rows.map((row) => form.replace(/\d/g, (place) => row[Number(place)]?.text ?? ""));
  const bullets = rng.pick(["", "", "- ", "* ", "• ", "#"]);
  if (rng.chance(/, /.test(form) ? 0.55 : 0.25)) {
    return texts
      .map((text, i) => (bullets === "#" ? `${i + 1}. ` : bullets) + text)
      .join(/, /.test(form) && bullets === "" && rng.chance(0.4) ? "; " : "\n");
  }
  const [last = "", ...before] = [...texts].reverse();
  const mark = rng.pick([", ", ", ", "; ", " / ", " | ", " + "]);
  const end = mark === ", " ? rng.pick([", ", " and ", ", and ", " as well as "]) : mark;
  return before.length === 0 ? last : before.reverse().join(mark) + end + last;
}

function introduced(rng: Rng, heading: string, rows: string): string {
  if (rows.includes("\n")) return rng.pick([`${capital(heading)}:\n`, `${heading}\n`, ""]) + rows;
  const before = rng.pick([
    `${capital(heading)}: `,
    `${heading} - `,
    `The ${heading}: `,
    `For the ${heading} we have `,
    `We need ${rows.length % 2 === 0 ? "these" : "the following"}: `,
    `Here are the ${heading}: `,
    "There are ",
    "It lists ",
    "",
  ]);
  return `${before}${rows}${rng.chance(0.5) ? "." : ""}`;
}

/** Another property, with the line that says it; none where the text does not. */
function beside(
  { rng, values }: Renderer,
  { properties: names, kind }: FieldDefinition,
): { readonly text: string | null; readonly property: Property } {
  const name = rng.pick(names);
  const value = values.draw(kind);
  const { schema, values: cells } = columnOf(rng, [value]);
  if (rng.chance(0.35)) {
    const property = { name, schema: nullable(schema), value: null, isOptional: false };
    return { text: null, property };
  }
  const label = name.replaceAll("_", " ");
  const line = rng.pick([`${capital(label)}: `, `The ${label} is `, `${label} = `, `${label} `]);
  const shown = rng.chance(0.25) ? nullable(schema) : schema;
  const property = { name, schema: shown, value: cells[0] ?? null, isOptional: false };
  return { text: line + value.text, property };
}
