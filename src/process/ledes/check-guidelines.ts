/** What the client agreed to pay for. */
import { compareText, groupBy, sorted } from "../order.ts";
import { parseDecimal, printDecimal } from "./decimal.ts";
import type { AddFinding } from "./findings.ts";
import type { LineItem } from "./parse.ts";
import type { Guidelines } from "./schema.ts";

export function checkGuidelines(
  items: readonly LineItem[],
  guidelines: Guidelines,
  add: AddFinding,
): void {
  for (const item of items) {
    const type = item.text("EXP/FEE/INV_ADJ_TYPE");
    if (type === "F") checkFee(item, guidelines, add);
    if (type === "E") checkExpense(item, guidelines, add);
    checkDescription(item, guidelines, add);
  }
  checkDays(items, guidelines, add);
}

function checkFee(item: LineItem, guidelines: Guidelines, add: AddFinding): void {
  const { line } = item;
  const rate = item.number("LINE_ITEM_UNIT_COST");
  const classification = item.text("TIMEKEEPER_CLASSIFICATION");
  const cap = guidelines.rate_caps?.find((one) => one.classification === classification)?.rate;
  if (rate !== null && cap !== undefined && rate > (parseDecimal(cap) ?? 0n))
    add({
      code: "RATE_OVER_CAP",
      line,
      field: "LINE_ITEM_UNIT_COST",
      value: printDecimal(rate),
      expected: cap,
    });
  const timekeeper = item.text("TIMEKEEPER_ID");
  const approved = guidelines.approved_timekeepers;
  if (approved && timekeeper !== "" && !approved.includes(timekeeper))
    add({ code: "TIMEKEEPER_NOT_APPROVED", line, field: "TIMEKEEPER_ID", value: timekeeper });
  const units = item.number("LINE_ITEM_NUMBER_OF_UNITS");
  const increment = parseDecimal(guidelines.unit_increment ?? "") ?? 0n;
  if (units !== null && increment > 0n && units % increment !== 0n)
    add({
      code: "UNITS_NOT_IN_INCREMENTS",
      line,
      field: "LINE_ITEM_NUMBER_OF_UNITS",
      value: printDecimal(units),
      expected: printDecimal(increment),
    });
}

function checkExpense(item: LineItem, guidelines: Guidelines, add: AddFinding): void {
  const value = item.text("LINE_ITEM_EXPENSE_CODE");
  if (!guidelines.disallowed_expenses?.includes(value)) return;
  const field = "LINE_ITEM_EXPENSE_CODE";
  add({ code: "EXPENSE_NOT_ALLOWED", line: item.line, field, value });
}

/** Several tasks in one entry: two semicolons, or two "and"s between verbs in the past. */
const BLOCKS =
  /;[^;]+;|;[^;]*\b[a-z]+ed\b|\b[a-z]+ed\b[^.;]*\band\b[^.;]*\b[a-z]+ed\b[^.;]*\band\b/i;

function checkDescription(item: LineItem, guidelines: Guidelines, add: AddFinding): void {
  const value = item.text("LINE_ITEM_DESCRIPTION");
  const at = { line: item.line, field: "LINE_ITEM_DESCRIPTION" };
  if (guidelines.block_billing === "warn" && BLOCKS.test(value))
    add({ code: "BLOCK_BILLING", ...at });
  const least = guidelines.description_length_min;
  if (least !== undefined && value.length < least)
    add({ code: "DESCRIPTION_TOO_SHORT", ...at, expected: `${least} characters` });
}

/** Hours of one timekeeper on one day, over all invoices of the file. */
function checkDays(items: readonly LineItem[], guidelines: Guidelines, add: AddFinding): void {
  const limit = parseDecimal(guidelines.hours_per_day ?? "");
  if (limit === null) return;
  const fees = items.filter((item) => item.text("EXP/FEE/INV_ADJ_TYPE") === "F");
  const days = groupBy(
    fees,
    (item) => `${item.text("TIMEKEEPER_ID")} ${item.text("LINE_ITEM_DATE")}`,
  );
  for (const [key, own] of sorted([...days], ([a], [b]) => compareText(a, b))) {
    const hours = own.reduce((sum, item) => {
      return sum + (item.number("LINE_ITEM_NUMBER_OF_UNITS") ?? 0n);
    }, 0n);
    if (hours <= limit) continue;
    add({
      code: "HOURS_PER_DAY_EXCEEDED",
      line: own.at(-1)?.line ?? 0,
      value: `${key}: ${printDecimal(hours)}`,
      expected: printDecimal(limit),
    });
  }
}
