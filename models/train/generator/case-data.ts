/**
 * Cases: texts as people send them, each with all that can be asked of it, one after the other in
 * `../data/cases/*.txt`. A case is a text behind `= `, in which what can be asked for is marked, and
 * lines below it for what the text says without having it word for word:
 *
 *     = Order [PO-1182](i order_number order_no) from [Kim Lee](p buyer.name name), [2](n items1.qty count) x
 *       [desk lamp](w items1.product article) ... due [3 May 2025](d due_date -- last day to deliver)
 *     ~ items products lines        other names of a list or an object
 *     ? is_gift gift : false        yes or no; null where the text leaves it open
 *     ! priority : high | high, normal, low      a label, and all there are
 *     - iban discount               what could be asked for and is not there
 *
 * A mark is `[words](kind names -- description)`; the kinds stand in `MARK_KINDS`. `items1.qty` is a
 * column of a list's first item, `tags1` a list's first plain item, `buyer.name` a member of an object.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Letter of a mark -> what is marked. All but words are given other values each time. */
export const MARK_KINDS = {
  p: "person",
  c: "company",
  g: "place",
  a: "address",
  d: "date",
  t: "time",
  m: "money",
  n: "number",
  i: "code",
  e: "email",
  f: "phone",
  u: "web",
  w: "words",
} as const;
export type MarkKind = (typeof MARK_KINDS)[keyof typeof MARK_KINDS];

/** Where in an answer something stands. */
export interface Place {
  /** Of the property, the list or the object. */
  readonly name: string;
  /** From 1; null outside of lists. */
  readonly row: number | null;
  /** A list's column or an object's member. */
  readonly member: string | null;
}

export interface Mark {
  readonly kind: MarkKind;
  readonly place: Place;
  /** Of the property, or of the column or member; the first one is the place's own. */
  readonly names: readonly string[];
  readonly description: string | null;
  /** What a JSON number is where the words do not show it: `six`. */
  readonly number: string | null;
}

/** What a text says without having it word for word. */
export interface Judgement {
  readonly place: Omit<Place, "row">;
  readonly names: readonly string[];
  /** All labels; null where it is yes or no. */
  readonly labels: readonly string[] | null;
  /** One, or of a list's column one for each row. */
  readonly values: readonly (string | boolean | null)[];
}

export interface CaseData {
  /** Template: alternatives in `(a|b)`, line ends, and marks as `MARKED` finds them. */
  readonly text: string;
  readonly marks: readonly Mark[];
  readonly judgements: readonly Judgement[];
  /** Of lists and objects. */
  readonly synonyms: ReadonlyMap<string, readonly string[]>;
  readonly absent: readonly string[];
}

/** A mark in a case's text: its index and its words. Alternatives may stand inside, and around it. */
export const MARKED = /\uE000(\d+)\uE001([^\uE002]*)\uE002/g;

const FOLDER = join(import.meta.dirname, "../data/cases");
const MARK = /\[([^[\]]+)\]\(([^()]*)\)/g;
const NAME = /^[a-z][a-z0-9_]*$/;
const KEY = /^([a-z][a-z_]*?)(\d+)?(?:\.([a-z][a-z0-9_]*))?$/;

/** @throws Error naming file and line of every mistake. */
export function readCases(folder = FOLDER): CaseData[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(".txt"));
  const mistakes: string[] = [];
  const cases = files.sort().flatMap((file) => {
    const found = parseCases(readFileSync(join(folder, file), "utf8"));
    mistakes.push(...found.mistakes.map((mistake) => `${file}:${mistake}`));
    return found.cases;
  });
  if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
  return cases;
}

/** One case in sixteen, told by its text alone: it is never trained on (`held-out.ts`). */
export const isHeldOut = ({ text }: CaseData): boolean =>
  (createHash("sha256").update(text).digest()[0] ?? 0) < 16;

/** Whether its text says something that is asked for. */
export const isMarked = ({ marks }: CaseData): boolean => marks.length > 0;

/** Whether there is a label or a yes or no to ask for alone. */
export const isJudged = ({ judgements }: CaseData): boolean => judgements.some(isAlone);

export const isAlone = ({ place, values }: Judgement): boolean =>
  values.length === 1 && place.member === null;

export function parseCases(text: string): { cases: CaseData[]; mistakes: string[] } {
  const cases: CaseData[] = [];
  const mistakes: string[] = [];
  let [block, start]: [string[], number] = [[], 0];
  const flush = () => {
    if (block.length > 0) {
      try {
        cases.push(parseCase(block));
      } catch (error) {
        mistakes.push(`${start + 1}: ${(error as Error).message}`);
      }
    }
    block = [];
  };
  for (const [at, line] of text.split("\n").entries()) {
    if (line.startsWith("#") || line.trim() === "") continue;
    if (line.startsWith("= ")) {
      flush();
      start = at;
    }
    block.push(line.trimEnd());
  }
  flush();
  return { cases, mistakes };
}

function parseCase([head = "", ...lines]: readonly string[]): CaseData {
  if (!head.startsWith("= ")) throw new Error(`a case begins with "= ": ${head}`);
  const marks: Mark[] = [];
  const text = head
    .slice(2)
    .replaceAll("\\n", "\n")
    .replace(MARK, (_, words: string, note: string) => {
      marks.push(parseMark(words, note));
      return `\uE000${marks.length - 1}\uE001${words}\uE002`;
    });
  if (/[[\]]/.test(text)) throw new Error("a bracket that is no mark");
  const rows = rowsOf(marks);
  const judgements: Judgement[] = [];
  const synonyms = new Map<string, readonly string[]>();
  const absent: string[] = [];
  for (const line of lines) {
    const rest = line.slice(2).trim();
    if (line.startsWith("? ")) judgements.push(parseJudgement(rest, false, rows));
    else if (line.startsWith("! ")) judgements.push(parseJudgement(rest, true, rows));
    else if (line.startsWith("- ")) absent.push(...names(rest));
    else if (line.startsWith("~ ")) {
      const [name = "", ...others] = names(rest);
      if (!marks.some(({ place }) => place.name === name))
        throw new Error(`no list or object ${name}`);
      synonyms.set(name, others);
    } else throw new Error(`a line that begins with none of ? ! - ~: ${line}`);
  }
  if (marks.length + judgements.length === 0) throw new Error("nothing to ask for");
  assertPlaces([...marks, ...judgements].map(({ place }) => ({ row: null, ...place })));
  return { text, marks, judgements, synonyms, absent };
}

/** How many rows each list has. */
function rowsOf(marks: readonly Mark[]): ReadonlyMap<string, number> {
  const rows = new Map<string, number>();
  for (const { name, row } of marks.map(({ place }) => place)) {
    if (row !== null) rows.set(name, Math.max(rows.get(name) ?? 0, row));
  }
  return rows;
}

function names(text: string): string[] {
  const found = text.split(/[\s,]+/).filter((name) => name !== "");
  for (const name of found) if (!NAME.test(name)) throw new Error(`not a property's name: ${name}`);
  return found;
}

function parsePlace(key: string): Place {
  // Digits are of a name but at its end: `co2_ppm`.
  if (NAME.test(key) && !/[\d_]$/.test(key)) return { name: key, row: null, member: null };
  const match = KEY.exec(key);
  const [, name = "", row, member] = match ?? [];
  if (match === null || name.endsWith("_")) throw new Error(`not a property's name: ${key}`);
  return { name, row: row === undefined ? null : Number(row), member: member ?? null };
}

function parseMark(words: string, note: string): Mark {
  const [front = "", description = null] = note.split(" -- ").map((part) => part.trim());
  const [head = "", key = "", ...others] = front.split(/[\s,]+/);
  const [letter = "", number = null] = head.split("=");
  const kind = MARK_KINDS[letter as keyof typeof MARK_KINDS];
  if (kind === undefined)
    throw new Error(`no such kind of mark: "${letter}" in [${words}](${note})`);
  if (number !== null && kind !== "number" && kind !== "money")
    throw new Error(`a number of ${kind}: ${note}`);
  if (number !== null && !/^-?\d+(\.\d+)?$/.test(number)) throw new Error(`not a number: ${note}`);
  const place = parsePlace(key);
  const isNumeric = kind === "number" || kind === "money";
  if (isNumeric && number === null && !/\d/.test(words))
    throw new Error(`no figures in [${words}]: say n=6 or the like`);
  return {
    kind,
    place,
    names: [place.member ?? place.name, ...names(others.join(" "))],
    description,
    number,
  };
}

function parseJudgement(
  text: string,
  isLabel: boolean,
  rows: ReadonlyMap<string, number>,
): Judgement {
  const at = text.indexOf(" : ");
  if (at < 0) throw new Error(`" : " is missing: ${text}`);
  const [key = "", ...others] = text.slice(0, at).split(/[\s,]+/);
  const place = parsePlace(key);
  if (place.row !== null) throw new Error(`values of all rows stand in one line: ${key}`);
  const [said = "", all = ""] = text.slice(at + 3).split(" | ");
  const labels = isLabel ? all.split(",").map((label) => label.trim()) : null;
  if (
    labels !== null &&
    (labels.length < 2 || labels.includes("") || new Set(labels).size < labels.length)
  )
    throw new Error(`labels that are different, two or more of them, stand behind " | ": ${text}`);
  const inList = place.member !== null && rows.has(place.name);
  const parts = inList ? said.trim().split(isLabel ? /\s*,\s*/ : /[\s,]+/) : [said.trim()];
  const expected = inList ? rows.get(place.name) : 1;
  if (parts.length !== expected)
    throw new Error(`${parts.length} values for ${expected} rows: ${text}`);
  const values = parts.map((part) => {
    if (part === "null") return null;
    if (labels === null) {
      if (part !== "true" && part !== "false") throw new Error(`neither true nor false: ${part}`);
      return part === "true";
    }
    if (!labels.includes(part)) throw new Error(`${part} is none of ${labels.join(", ")}`);
    return part;
  });
  const own = place.member ?? place.name;
  return { place, names: [own, ...names(others.join(" "))], labels, values };
}

function assertPlaces(places: readonly Place[]): void {
  const seen = new Set<string>();
  const kinds = new Map<string, string>();
  for (const { name, row, member } of places) {
    const key = `${name}${row ?? ""}.${member ?? ""}`;
    if (seen.has(key)) throw new Error(`twice: ${key}`);
    seen.add(key);
    if (row === null && member !== null) continue;
    const kind = row === null ? "value" : member === null ? "plain list" : "list";
    if ((kinds.get(name) ?? kind) !== kind) throw new Error(`${name} is two things`);
    kinds.set(name, kind);
  }
}

if (import.meta.main) {
  for (const file of Bun.argv.slice(2)) {
    const { cases, mistakes } = parseCases(readFileSync(file, "utf8"));
    for (const mistake of mistakes) process.stdout.write(`${file}:${mistake}\n`);
    process.stdout.write(`${file}: ${cases.length} cases, ${mistakes.length} mistakes\n`);
  }
}
