/** A bank's CSV export as the bank lines of `iolta-reconcile`, by a mapping of its columns. */
import Papa from "papaparse";
import { sha256Hex } from "../crypto/hash.ts";
import { parseDate } from "../process/civil-date.ts";
import type { BankLineInput } from "../process/iolta/schema.ts";
import { ConvertError } from "./convert-error.ts";
import { decodeText } from "./decode.ts";
import { decimalsOf, parseMoney } from "./money.ts";

export interface CsvMapping {
  readonly date: string;
  readonly dateFormat: "YYYY-MM-DD" | "MM/DD/YYYY" | "DD/MM/YYYY" | "YYYYMMDD" | "DD.MM.YYYY";
  /** One signed column, or one for what came in and one for what went out. */
  readonly amount?: string;
  readonly credit?: string;
  readonly debit?: string;
  readonly description?: string;
  readonly checkNumber?: string;
  readonly reference?: string;
  readonly decimalMark?: "." | ",";
}

export interface ConvertedLines {
  readonly transactions: readonly BankLineInput[];
  /** Of the file, so that a reconciliation can be traced to it. */
  readonly sourceSha256: string;
}

/** @throws ConvertError with the line that cannot be read; nothing is skipped silently. */
export function bankLinesFromCsv(
  bytes: Uint8Array,
  currency: string,
  mapping: CsvMapping,
): ConvertedLines {
  const text = decodeText(bytes);
  const { data, errors, meta } = Papa.parse<Readonly<Record<string, string>>>(text, {
    header: true,
    skipEmptyLines: "greedy",
    transformHeader: (header) => header.trim(),
  });
  const [error] = errors.filter(({ code }) => code !== "UndetectableDelimiter");
  if (error) {
    const line = error.row === undefined ? null : error.row + 2;
    throw new ConvertError("file_unreadable", line, error.message);
  }
  checkColumns(mapping, meta.fields ?? []);
  return {
    transactions: data.map((row, index) => bankLine(row, index, currency, mapping)),
    sourceSha256: sha256Hex(bytes),
  };
}

function checkColumns(mapping: CsvMapping, columns: readonly string[]): void {
  const { date, amount, credit, debit, description, checkNumber, reference } = mapping;
  if (amount === undefined && (credit === undefined || debit === undefined)) {
    const message = "the mapping needs `amount`, or both `credit` and `debit`";
    throw new ConvertError("column_missing", null, message);
  }
  for (const column of [date, amount, credit, debit, description, checkNumber, reference]) {
    if (column === undefined || columns.includes(column)) continue;
    const message = `there is no column "${column}"; there are ${columns.join(", ")}`;
    throw new ConvertError("column_missing", 1, message);
  }
}

function bankLine(
  row: Readonly<Record<string, string>>,
  index: number,
  currency: string,
  mapping: CsvMapping,
): BankLineInput {
  const line = index + 2;
  const cell = (column: string | undefined): string =>
    column === undefined ? "" : (row[column] ?? "").trim();
  const description = cell(mapping.description);
  const checkNumber = cell(mapping.checkNumber).replace(/^#/, "");
  const reference = cell(mapping.reference);
  return {
    id: `B${String(index + 1).padStart(5, "0")}`,
    date: isoDate(cell(mapping.date), mapping.dateFormat, line),
    amount: amountOf(cell, currency, mapping, line),
    ...(/^[0-9]{1,12}$/.test(checkNumber) ? { check_number: checkNumber } : {}),
    ...(/^[\x21-\x7e]{1,128}$/.test(reference) ? { reference } : {}),
    ...(description === "" ? {} : { description: description.slice(0, 300) }),
  };
}

function amountOf(
  cell: (column: string | undefined) => string,
  currency: string,
  { amount, credit, debit, decimalMark = "." }: CsvMapping,
  line: number,
): number {
  const decimals = decimalsOf(currency);
  const read = (text: string): number => {
    const value = parseMoney(text, decimals, decimalMark);
    if (value !== null) return value;
    throw new ConvertError("amount_unreadable", line, `"${text}" is no amount in ${currency}`);
  };
  if (amount !== undefined) return read(cell(amount));
  const [into, out] = [cell(credit), cell(debit)];
  if ((into === "") === (out === "") && !(isZero(into) || isZero(out)))
    throw new ConvertError("amount_unreadable", line, "needs either a credit or a debit");
  // Some banks print debits with a sign, some without.
  return (into === "" ? 0 : read(into)) - (out === "" ? 0 : Math.abs(read(out)));
}

const isZero = (text: string): boolean => /^0*[.,]?0+$/.test(text);

const DATE_FORMS = {
  "YYYY-MM-DD": /^(?<year>[0-9]{4})-(?<month>[0-9]{1,2})-(?<day>[0-9]{1,2})/,
  "MM/DD/YYYY": /^(?<month>[0-9]{1,2})\/(?<day>[0-9]{1,2})\/(?<year>[0-9]{4})/,
  "DD/MM/YYYY": /^(?<day>[0-9]{1,2})\/(?<month>[0-9]{1,2})\/(?<year>[0-9]{4})/,
  "DD.MM.YYYY": /^(?<day>[0-9]{1,2})\.(?<month>[0-9]{1,2})\.(?<year>[0-9]{4})/,
  YYYYMMDD: /^(?<year>[0-9]{4})(?<month>[0-9]{2})(?<day>[0-9]{2})/,
} as const;

function isoDate(text: string, format: CsvMapping["dateFormat"], line: number): string {
  const parts = DATE_FORMS[format].exec(text)?.groups;
  const two = (part: string | undefined): string => (part ?? "").padStart(2, "0");
  const date = parts && `${parts["year"]}-${two(parts["month"])}-${two(parts["day"])}`;
  if (date !== undefined && parseDate(date) !== null) return date;
  throw new ConvertError("date_unreadable", line, `"${text}" is no date of the form ${format}`);
}
