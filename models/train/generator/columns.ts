/** Turns the rows of a list into a schema and its value: objects of a few columns, or plain values. */
import { type AnswerValue, Label, NumberLiteral } from "./answer.ts";
import type { GeneratorData, ListDefinition } from "./data-files.ts";
import {
  absentSchema,
  drawLabels,
  noteDecisive,
  nullable,
  objectSchema,
  type PropertyContext,
  type Schema,
  styleName,
  wordsOf,
} from "./properties.ts";
import { type Filled, type Scope, slotsIn } from "./render.ts";
import type { Rng } from "./rng.ts";

/** A column before it has a name: what each row has for it, and what it can be called. */
interface Cells {
  readonly slots: readonly string[];
  readonly cells: readonly (Filled | undefined)[];
  readonly names: readonly string[];
}

interface Column {
  readonly name: string;
  readonly schema: Schema;
  readonly values: readonly AnswerValue[];
}

/** Of lists with several columns, those of which what the items are is asked alone. */
const PLAIN_SHARE = 0.2;

export function listOf(
  context: PropertyContext,
  { list, rows }: Filled & { readonly kind: "list" },
): { readonly schema: Schema; readonly value: AnswerValue } {
  const { rng, data } = context;
  const all = allColumns(data, rows);
  const columns = chosenColumns(rng, all);
  const mainSlots = mainSlotsOf(list);
  const main = all.find((one) => one.slots.some((slot) => mainSlots.includes(slot)) && isFull(one));
  const isAlone = columns.length === 1 && columns[0] === main;
  if (main !== undefined && rng.chance(isAlone ? 0.75 : PLAIN_SHARE)) {
    const { schema, values } = column({ ...context, nullableShare: 0 }, main.cells);
    return { schema: { type: "array", items: schema }, value: values };
  }
  const used = new Set<string>();
  const camel = rng.chance(0.1);
  const made = columns.flatMap(({ cells, names }): Column[] => {
    const free = names.map((word) => styleName(word, camel)).filter((word) => !used.has(word));
    if (free.length === 0) return [];
    const name = rng.pick(free);
    used.add(name);
    const one = { name, ...column(context, cells) };
    cells.forEach((cell, i) => {
      if (cell?.kind === "choice") {
        noteDecisive(context.decisive, cell.text, name, one.values[i] ?? null);
      }
    });
    return [one];
  });
  if (rng.chance(0.15)) made.push(...absentColumn(context, list, rows, used));
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

/** What says what an item is: most ways to write one have it. Others are no list of their own. */
function mainSlotsOf({ rows, told }: ListDefinition): string[] {
  const counts = new Map<string, number>();
  for (const line of [...rows, ...told]) {
    for (const slot of new Set(slotsIn(line))) counts.set(slot, (counts.get(slot) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  return [...counts].filter(([, count]) => count === most).map(([slot]) => slot);
}

const isFull = ({ cells }: Cells): boolean => cells.every((cell) => cell !== undefined);

/**
 * One for each slot of the rows; slots that can be called the same and never stand in one row are one (`{qty}`
 * here and `{small}` there), under a name that they share.
 */
function allColumns(data: GeneratorData, rows: readonly Scope[]): Cells[] {
  const columns: Cells[] = [];
  for (const key of new Set(rows.flatMap((row) => [...row.keys()]))) {
    const cells = rows.map((row) => row.get(key));
    const first = cells.find((cell) => cell !== undefined);
    if (first === undefined) continue;
    const names = wordsOf(first, data).properties;
    const at = columns.findIndex(
      (other) =>
        names.some((name) => other.names.includes(name)) &&
        other.cells.every(
          (cell, i) => (cell === undefined || cells[i] === undefined) && isAlike(cell, first),
        ),
    );
    const other = columns[at];
    if (other === undefined) columns.push({ slots: [key], cells, names });
    else {
      columns[at] = {
        slots: [...other.slots, key],
        cells: cells.map((cell, i) => cell ?? other.cells[i]),
        names: names.filter((name) => other.names.includes(name)),
      };
    }
  }
  return columns;
}

/** Of a choice's labels none can stand beside those of another, or beside values. */
const isAlike = (cell: Filled | undefined, other: Filled): boolean =>
  cell === undefined || (cell.kind === "value" && other.kind === "value");

/** Most of them, and of every row something that it has. */
function chosenColumns(rng: Rng, columns: readonly Cells[]): readonly Cells[] {
  if (rng.chance(0.55)) return columns;
  const chosen = columns.filter(() => rng.chance(0.6));
  const isSaid = (i: number) => chosen.some(({ cells }) => cells[i] !== undefined);
  // What most rows have says what the item is.
  const fullest = columns.toSorted((a, b) => countOf(b) - countOf(a));
  for (const i of columns[0]?.cells.keys() ?? []) {
    const missing = fullest.find(({ cells }) => cells[i] !== undefined);
    if (!isSaid(i) && missing !== undefined) chosen.push(missing);
  }
  return columns.filter((one) => chosen.includes(one));
}

const countOf = ({ cells }: Cells): number => cells.filter((cell) => cell !== undefined).length;

/** What items of such a list can have, and none of these has. */
function absentColumn(
  context: PropertyContext,
  list: ListDefinition,
  rows: readonly Scope[],
  used: Set<string>,
): Column[] {
  const { rng, data } = context;
  const slots = [...list.rows, ...list.told].flatMap(slotsIn);
  const kinds = new Set(
    rows.flatMap((row) => [...row.keys()].map((key) => data.fields.get(key)?.kind)),
  );
  // Nor may it look like what they have: of two dates, either could be the one.
  const free = [...new Set(slots)].filter((slot) => !kinds.has(data.fields.get(slot)?.kind));
  const field = data.fields.get(free.length === 0 ? "" : rng.pick(free));
  const names = field?.properties.filter((name) => !used.has(name)) ?? [];
  if (field === undefined || names.length === 0) return [];
  const schema = absentSchema(context, field.name);
  return [{ name: rng.pick(names), schema, values: rows.map(() => null) }];
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
