/** What the line items of an invoice must be to each other. */
import { groupBy } from "../order.ts";
import { printDecimal, productInCents } from "./decimal.ts";
import { CLASSIFICATIONS, UTBMS } from "./fields.ts";
import type { AddFinding, FindingCode } from "./findings.ts";
import type { LineItem } from "./parse.ts";

export interface Invoice {
  readonly number: string;
  readonly items: readonly LineItem[];
  /** Sum of the line totals that are numbers. */
  readonly sum: bigint;
  readonly total: bigint | null;
}

export function readInvoices(items: readonly LineItem[]): Invoice[] {
  return [...groupBy(items, (item) => item.text("INVOICE_NUMBER"))].map(([number, own]) => ({
    number,
    items: own,
    sum: own.reduce((sum, item) => sum + (item.number("LINE_ITEM_TOTAL") ?? 0n), 0n),
    total: own[0]?.number("INVOICE_TOTAL") ?? null,
  }));
}

export function checkInvoice({ items, sum, total }: Invoice, add: AddFinding): void {
  const [first] = items;
  if (!first) return;
  if (total !== null && total !== sum)
    add({
      code: "INVOICE_TOTAL_MISMATCH",
      line: first.line,
      field: "INVOICE_TOTAL",
      value: printDecimal(total),
      expected: printDecimal(sum),
    });
  checkSame(items, "INVOICE_TOTAL", "INVOICE_TOTAL_VARIES", add);
  checkSame(items, "INVOICE_DATE", "INVOICE_DATE_VARIES", add);
  checkSame(items, "CLIENT_ID", "CLIENT_VARIES", add);
  const seen = new Set<string>();
  for (const item of items) {
    const number = item.text("LINE_ITEM_NUMBER");
    if (number !== "" && seen.has(number))
      add({ code: "LINE_NUMBER_REPEATED", line: item.line, value: number });
    seen.add(number);
    checkPeriod(item, add);
    checkTotal(item, add);
    checkCodes(item, add);
  }
}

function checkSame(
  items: readonly LineItem[],
  field: string,
  code: FindingCode,
  add: AddFinding,
): void {
  const expected = items[0]?.text(field) ?? "";
  const other = items.find((item) => item.text(field) !== expected);
  if (other) add({ code, line: other.line, field, value: other.text(field), expected });
}

function checkPeriod(item: LineItem, add: AddFinding): void {
  const start = item.day("BILLING_START_DATE");
  const end = item.day("BILLING_END_DATE");
  const day = item.day("LINE_ITEM_DATE");
  if (start === null || end === null) return;
  const field = "BILLING_END_DATE";
  if (end < start) add({ code: "BILLING_PERIOD_REVERSED", line: item.line, field });
  else if (day !== null && (day < start || day > end))
    add({
      code: "LINE_DATE_OUTSIDE_PERIOD",
      line: item.line,
      field: "LINE_ITEM_DATE",
      value: item.text("LINE_ITEM_DATE"),
    });
}

/** Units times unit cost, rounded to cents, plus the adjustment. */
function checkTotal(item: LineItem, add: AddFinding): void {
  const total = item.number("LINE_ITEM_TOTAL");
  const units = item.number("LINE_ITEM_NUMBER_OF_UNITS");
  const cost = item.number("LINE_ITEM_UNIT_COST");
  if (total === null || units === null || cost === null) return;
  // An adjustment of the whole invoice is an amount, with or without units.
  if (item.text("EXP/FEE/INV_ADJ_TYPE").startsWith("I") && (units === 0n || cost === 0n)) return;
  const expected = productInCents(units, cost) + (item.number("LINE_ITEM_ADJUSTMENT_AMOUNT") ?? 0n);
  if (total === expected) return;
  add({
    code: "LINE_TOTAL_MISMATCH",
    line: item.line,
    field: "LINE_ITEM_TOTAL",
    value: printDecimal(total),
    expected: printDecimal(expected),
  });
}

const TASK_CODES: ReadonlySet<string> = new Set(UTBMS.task);
const TASK_PATTERN = new RegExp(UTBMS.task_pattern);
const ACTIVITY_CODES: ReadonlySet<string> = new Set(UTBMS.activity);
const EXPENSE_CODES: ReadonlySet<string> = new Set(UTBMS.expense);

function checkCodes(item: LineItem, add: AddFinding): void {
  const unknown = (code: FindingCode, field: string, isKnown: (value: string) => boolean): void => {
    const value = item.text(field);
    if (value !== "" && !isKnown(value)) add({ code, line: item.line, field, value });
  };
  unknown("TASK_CODE_UNKNOWN", "LINE_ITEM_TASK_CODE", (value) => {
    return TASK_CODES.has(value) || TASK_PATTERN.test(value);
  });
  unknown("ACTIVITY_CODE_UNKNOWN", "LINE_ITEM_ACTIVITY_CODE", (value) => ACTIVITY_CODES.has(value));
  unknown("EXPENSE_CODE_UNKNOWN", "LINE_ITEM_EXPENSE_CODE", (value) => EXPENSE_CODES.has(value));
  unknown("CLASSIFICATION_UNKNOWN", "TIMEKEEPER_CLASSIFICATION", (value) => {
    return CLASSIFICATIONS.includes(value);
  });
  const type = item.text("EXP/FEE/INV_ADJ_TYPE");
  const expense = item.text("LINE_ITEM_EXPENSE_CODE");
  if (type === "F" && item.text("TIMEKEEPER_ID") === "")
    add({ code: "TIMEKEEPER_MISSING", line: item.line, field: "TIMEKEEPER_ID" });
  const at = { line: item.line, field: "LINE_ITEM_EXPENSE_CODE" };
  if (type === "F" && expense !== "") add({ code: "FEE_WITH_EXPENSE_CODE", ...at, value: expense });
  if (type === "E" && expense === "") add({ code: "EXPENSE_CODE_MISSING", ...at });
}
