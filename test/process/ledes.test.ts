/**
 * LEDES 1998B. Source: the field specification of the LEDES Oversight Committee (rev. 8/23/2007,
 * classifications of 7/2014), and its rules on totals, negative units and invoice adjustments. The
 * invoice is made up: 2 h at 350.00 less 70.00, 3 h at 350.00, 89 copies at 0.05, together 1,684.45.
 */
import { describe, expect, test } from "bun:test";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { parseDecimal, printDecimal, productInCents } from "../../src/process/ledes/decimal.ts";
import { FIELDS } from "../../src/process/ledes/fields.ts";
import { FINDING_KINDS, type FindingCode } from "../../src/process/ledes/findings.ts";
import { ledesValidate } from "../../src/process/ledes/process.ts";
import type { Guidelines } from "../../src/process/ledes/schema.ts";
import worked from "../vectors/ledes/worked.json";

interface Output {
  readonly status: string;
  readonly findings: readonly {
    readonly code: string;
    readonly line: number;
    readonly field?: string;
  }[];
}

const validate = (text: string, guidelines?: Guidelines): Output =>
  ledesValidate.run({
    text,
    ...(guidelines ? { guidelines } : {}),
  } as JsonValue) as unknown as Output;

const codesOf = (text: string, guidelines?: Guidelines): string[] =>
  validate(text, guidelines).findings.map(({ code }) => code);

/** The worked file with one field of one line changed. */
function changed(line: number, field: string, value: string): string {
  const index = FIELDS.findIndex(({ name }) => name === field);
  const lines = worked.text.split("\n");
  const values = (lines[line - 1] ?? "").replace("[]", "").split("|");
  values[index] = value;
  lines[line - 1] = `${values.join("|")}[]`;
  return lines.join("\n");
}

/** The worked file with its invoice total set, so that other changes stand alone. */
function totalled(text: string, total: string): string {
  return text.replaceAll("|1684.45|", `|${total}|`);
}

test("the worked invoice is valid", () => {
  expect(validate(worked.text)).toMatchObject({
    status: "valid",
    findings: [],
    invoices: [
      { invoice_number: "96542", line_items: 3, invoice_total: "1684.45", sum_of_lines: "1684.45" },
    ],
  });
  expect(validate(worked.text.replaceAll("\n", "\r\n")).status).toBe("valid");
});

type Case = readonly [code: FindingCode, withIt: string, without: string];

const CASES: readonly Case[] = [
  ["IDENTIFIER_LINE_MISSING", worked.text.replace("LEDES1998B", "LEDES1998"), worked.text],
  ["HEADER_LINE_WRONG", worked.text.replace("CLIENT_ID|", "CLIENTID|"), worked.text],
  ["NO_LINE_ITEMS", worked.text.split("\n").slice(0, 2).join("\n"), worked.text],
  ["LINE_END_MISSING", worked.text.replace("423-987[]\n", "423-987\n"), worked.text],
  ["FIELD_COUNT_WRONG", worked.text.replace("|Copies|", "|Copies||"), worked.text],
  ["FIELD_REQUIRED", changed(3, "LAW_FIRM_ID", ""), changed(3, "CLIENT_MATTER_ID", "")],
  [
    "FIELD_TOO_LONG",
    changed(3, "LAW_FIRM_MATTER_ID", "x".repeat(21)),
    changed(3, "LAW_FIRM_MATTER_ID", "x".repeat(20)),
  ],
  [
    "DATE_INVALID",
    changed(3, "LINE_ITEM_DATE", "19990132"),
    changed(3, "LINE_ITEM_DATE", "19990131"),
  ],
  [
    "NUMBER_INVALID",
    changed(5, "LINE_ITEM_ADJUSTMENT_AMOUNT", "0.00001"),
    changed(5, "LINE_ITEM_ADJUSTMENT_AMOUNT", "0.0000"),
  ],
  [
    "LINE_TYPE_INVALID",
    changed(4, "EXP/FEE/INV_ADJ_TYPE", "X"),
    changed(4, "EXP/FEE/INV_ADJ_TYPE", "IF"),
  ],
  [
    "UNITS_NEGATIVE",
    changed(4, "LINE_ITEM_NUMBER_OF_UNITS", "-3"),
    changed(4, "LINE_ITEM_NUMBER_OF_UNITS", "3"),
  ],
  [
    "LINE_TOTAL_MISMATCH",
    totalled(changed(5, "LINE_ITEM_TOTAL", "4.46"), "1684.46"),
    changed(5, "LINE_ITEM_TOTAL", "4.450"),
  ],
  ["INVOICE_TOTAL_MISMATCH", totalled(worked.text, "1684.46"), totalled(worked.text, "1684.450")],
  ["INVOICE_TOTAL_VARIES", changed(4, "INVOICE_TOTAL", "1684.46"), worked.text],
  ["INVOICE_DATE_VARIES", changed(4, "INVOICE_DATE", "19990226"), worked.text],
  ["CLIENT_VARIES", changed(4, "CLIENT_ID", "00712"), worked.text],
  [
    "BILLING_PERIOD_REVERSED",
    changed(4, "BILLING_END_DATE", "19981231"),
    changed(4, "BILLING_END_DATE", "19990118"),
  ],
  [
    "LINE_DATE_OUTSIDE_PERIOD",
    changed(4, "LINE_ITEM_DATE", "19990201"),
    changed(4, "LINE_ITEM_DATE", "19990131"),
  ],
  [
    "LINE_NUMBER_REPEATED",
    changed(4, "LINE_ITEM_NUMBER", "1"),
    changed(4, "LINE_ITEM_NUMBER", "4"),
  ],
  [
    "TASK_CODE_UNKNOWN",
    changed(3, "LINE_ITEM_TASK_CODE", "L511"),
    changed(3, "LINE_ITEM_TASK_CODE", "L520"),
  ],
  [
    "ACTIVITY_CODE_UNKNOWN",
    changed(3, "LINE_ITEM_ACTIVITY_CODE", "A112"),
    changed(3, "LINE_ITEM_ACTIVITY_CODE", "A111"),
  ],
  [
    "EXPENSE_CODE_UNKNOWN",
    changed(5, "LINE_ITEM_EXPENSE_CODE", "E125"),
    changed(5, "LINE_ITEM_EXPENSE_CODE", "E124"),
  ],
  ["EXPENSE_CODE_MISSING", changed(5, "LINE_ITEM_EXPENSE_CODE", ""), worked.text],
  ["TIMEKEEPER_MISSING", changed(3, "TIMEKEEPER_ID", ""), changed(3, "TIMEKEEPER_NAME", "")],
  ["FEE_WITH_EXPENSE_CODE", changed(3, "LINE_ITEM_EXPENSE_CODE", "E101"), worked.text],
  [
    "CLASSIFICATION_UNKNOWN",
    changed(3, "TIMEKEEPER_CLASSIFICATION", "BOSS"),
    changed(3, "TIMEKEEPER_CLASSIFICATION", "ASSOC"),
  ],
];

/** Each rule, set so that the worked invoice breaks it, and one step looser. */
const GUIDELINES: readonly (readonly [FindingCode, Guidelines, Guidelines])[] = [
  [
    "RATE_OVER_CAP",
    { rate_caps: [{ classification: "PARTNR", rate: "349.99" }] },
    { rate_caps: [{ classification: "PARTNR", rate: "350" }] },
  ],
  ["TIMEKEEPER_NOT_APPROVED", { approved_timekeepers: ["1"] }, { approved_timekeepers: ["22547"] }],
  ["HOURS_PER_DAY_EXCEEDED", { hours_per_day: "2.9" }, { hours_per_day: "3" }],
  ["UNITS_NOT_IN_INCREMENTS", { unit_increment: "0.7" }, { unit_increment: "0.1" }],
  ["EXPENSE_NOT_ALLOWED", { disallowed_expenses: ["E101"] }, { disallowed_expenses: ["E102"] }],
  ["DESCRIPTION_TOO_SHORT", { description_length_min: 7 }, { description_length_min: 6 }],
];

describe("every finding, with and without", () => {
  test.each(CASES)("%s", (code, withIt, without) => {
    expect(codesOf(withIt)).toContain(code);
    expect(codesOf(without)).not.toContain(code);
  });

  test.each(GUIDELINES)("%s", (code, strict, loose) => {
    expect(new Set(codesOf(worked.text, strict))).toEqual(new Set([code]));
    expect(validate(worked.text, strict).status).toBe("valid_outside_guidelines");
    expect(validate(worked.text, loose).status).toBe("valid");
  });

  test("BLOCK_BILLING", () => {
    const block = changed(3, "LINE_ITEM_DESCRIPTION", "Research; drafted brief; called client");
    expect(codesOf(block, { block_billing: "warn" })).toEqual(["BLOCK_BILLING"]);
    expect(codesOf(block, { block_billing: "allowed" })).toEqual([]);
    const single = changed(3, "LINE_ITEM_DESCRIPTION", "Research on limitation and laches");
    expect(codesOf(single, { block_billing: "warn" })).toEqual([]);
  });

  test("none is left out", () => {
    const tested = [...CASES.map(([code]) => code), ...GUIDELINES.map(([code]) => code)];
    expect(new Set([...tested, "BLOCK_BILLING"])).toEqual(new Set(Object.keys(FINDING_KINDS)));
  });
});

test("a finding names its line and field", () => {
  expect(validate(changed(5, "LINE_ITEM_TOTAL", "4.5")).findings).toMatchObject([
    { code: "INVOICE_TOTAL_MISMATCH", line: 3, expected: "1684.50", value: "1684.45" },
    {
      code: "LINE_TOTAL_MISMATCH",
      line: 5,
      field: "LINE_ITEM_TOTAL",
      value: "4.50",
      expected: "4.45",
    },
  ]);
});

test("an invoice discount is a line of its own", () => {
  const discount =
    "19990225|96542|00711|0528|1684.45|19990101|19990131||4|IF|1|-84.45|-84.45|" +
    "19990131|||||Discount|24-6437381|0|||423-987[]\n";
  expect(codesOf(totalled(worked.text + discount, "1600"))).toEqual([]);
});

test("findings are cut off at the number asked for, and counted", () => {
  const broken = changed(3, "LAW_FIRM_ID", "").replaceAll("19990131", "19990199");
  const output = ledesValidate.run({ text: broken, max_findings: 2 });
  expect(output["findings"]).toHaveLength(2);
  expect(output).toMatchObject({ counts: { error: 4 }, findings_left_off: 2 });
});

test("decimals are exact", () => {
  expect(parseDecimal("0.1")).toBe(1000n);
  expect(parseDecimal("-12.3456")).toBe(-123_456n);
  expect(parseDecimal("1,000")).toBeNull();
  expect(parseDecimal(".5")).toBeNull();
  expect(printDecimal(-123_456n)).toBe("-12.3456");
  expect(printDecimal(1000n)).toBe("0.10");
  // 0.1 h at 0.05 is half a cent: away from zero.
  expect(productInCents(1000n, 500n)).toBe(100n);
  expect(productInCents(-1000n, 500n)).toBe(-100n);
  expect(productInCents(1000n, 490n)).toBe(0n);
});
