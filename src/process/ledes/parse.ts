/** A LEDES 1998B file as line items: form and types of every field. */
import { parseDate } from "../civil-date.ts";
import { parseDecimal } from "./decimal.ts";
import { FIELDS, type Field, LINE_TYPES } from "./fields.ts";
import type { AddFinding } from "./findings.ts";

export interface LineItem {
  /** 1 for the file's first line. */
  readonly line: number;
  text(name: string): string;
  /** Null for what is empty or no number. */
  number(name: string): bigint | null;
  /** Null for what is empty or no date. */
  day(name: string): number | null;
}

const IDENTIFIER = "LEDES1998B";
const HEADER = FIELDS.map(({ name }) => name).join("|");

export function parseFile(text: string, add: AddFinding): LineItem[] {
  const lines = text
    .replace(/^\ufeff/, "")
    .split(/\r\n|\n|\r/)
    .map((content, index) => ({ content, line: index + 1 }))
    .filter(({ content }) => content.trim() !== "");
  const [first, second, ...rest] = lines;
  const bare = (content: string): string => content.trim().replace(/\[\]$/, "");
  if (!first || bare(first.content) !== IDENTIFIER) {
    add({ code: "IDENTIFIER_LINE_MISSING", line: 1, expected: `${IDENTIFIER}[]` });
    return [];
  }
  const header = second ? bare(second.content).replaceAll(/ *\| */g, "|") : "";
  if (header !== HEADER)
    add({ code: "HEADER_LINE_WRONG", line: second?.line ?? 2, expected: `${HEADER}[]` });
  for (const { content, line } of [first, ...(second ? [second] : [])]) {
    if (!content.trimEnd().endsWith("[]")) add({ code: "LINE_END_MISSING", line, expected: "[]" });
  }
  if (rest.length === 0) add({ code: "NO_LINE_ITEMS", line: 0 });
  return rest.flatMap(({ content, line }) => parseLine(content, line, add) ?? []);
}

function parseLine(content: string, line: number, add: AddFinding): LineItem | null {
  const trimmed = content.trimEnd();
  if (!trimmed.endsWith("[]")) add({ code: "LINE_END_MISSING", line, expected: "[]" });
  const values = trimmed.replace(/\[\]$/, "").split("|");
  if (values.length !== FIELDS.length) {
    const expected = String(FIELDS.length);
    add({ code: "FIELD_COUNT_WRONG", line, value: String(values.length), expected });
    return null;
  }
  const texts = new Map(FIELDS.map(({ name }, index) => [name, (values[index] ?? "").trim()]));
  for (const field of FIELDS) checkField(field, texts.get(field.name) ?? "", line, add);
  const text = (name: string): string => texts.get(name) ?? "";
  return {
    line,
    text,
    number: (name) => parseDecimal(text(name)),
    day: (name) => dayOf(text(name)),
  };
}

function checkField(field: Field, value: string, line: number, add: AddFinding): void {
  const at = { line, field: field.name };
  if (value === "") {
    if (field.required) add({ code: "FIELD_REQUIRED", ...at });
    return;
  }
  if (value.length > field.lengthMax)
    add({ code: "FIELD_TOO_LONG", ...at, expected: `${field.lengthMax} characters` });
  if (field.kind === "date" && dayOf(value) === null)
    add({ code: "DATE_INVALID", ...at, value, expected: "YYYYMMDD" });
  if ((field.kind === "currency" || field.kind === "units") && parseDecimal(value) === null)
    add({ code: "NUMBER_INVALID", ...at, value });
  if (field.kind === "units" && (parseDecimal(value) ?? 0n) < 0n)
    add({ code: "UNITS_NEGATIVE", ...at, value });
  if (field.kind === "type" && !(LINE_TYPES as readonly string[]).includes(value))
    add({ code: "LINE_TYPE_INVALID", ...at, value, expected: LINE_TYPES.join(", ") });
}

function dayOf(text: string): number | null {
  if (!/^[0-9]{8}$/.test(text)) return null;
  return parseDate(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`);
}
