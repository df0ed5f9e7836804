/** `ledes-validate`: an electronic invoice against LEDES 1998B and a client's guidelines. */
import { defineProcess, type JsonObject } from "../definition.ts";
import { compareText } from "../order.ts";
import { checkGuidelines } from "./check-guidelines.ts";
import { checkInvoice, readInvoices } from "./check-invoice.ts";
import { printDecimal } from "./decimal.ts";
import { CLASSIFICATIONS, FIELDS, LINE_TYPES, UTBMS } from "./fields.ts";
import { FINDING_KINDS, type Finding } from "./findings.ts";
import golden from "./golden.json";
import { parseFile } from "./parse.ts";
import { LEDES_INPUT, type LedesInput } from "./schema.ts";

const VERSION = "1.0.0";

const FINDINGS_MAX_DEFAULT = 1000;

export const ledesValidate = defineProcess({
  slug: "ledes-validate",
  version: VERSION,
  description:
    "Checks a LEDES 1998B invoice file: form, types, sums, dates, UTBMS codes, and a client's " +
    "billing guidelines given as data. Every finding names its line and field.",
  inputSchema: LEDES_INPUT,
  tables: {
    fields: FIELDS.map((field) => ({ ...field })),
    line_types: LINE_TYPES,
    classifications: CLASSIFICATIONS,
    utbms: UTBMS,
    findings: FINDING_KINDS,
    findings_max: FINDINGS_MAX_DEFAULT,
  },
  goldens: golden,
  compute: validate,
});

function validate(input: LedesInput): JsonObject {
  const findings: Finding[] = [];
  const add = (finding: Finding): void => {
    findings.push(finding);
  };
  const items = parseFile(input.text, add);
  const invoices = readInvoices(items);
  for (const invoice of invoices) checkInvoice(invoice, add);
  if (input.guidelines) checkGuidelines(items, input.guidelines, add);
  findings.sort(compareFindings);
  const count = (kind: string): number =>
    findings.filter(({ code }) => FINDING_KINDS[code] === kind).length;
  const counts = {
    error: count("error"),
    warning: count("warning"),
    guideline: count("guideline"),
  };
  const shown = findings.slice(0, input.max_findings ?? FINDINGS_MAX_DEFAULT);
  return {
    engine: `ledes-validate@${VERSION}`,
    format: "LEDES1998B",
    status: statusOf(counts),
    counts,
    findings: shown.map((finding) => ({ ...finding, severity: FINDING_KINDS[finding.code] })),
    findings_left_off: findings.length - shown.length,
    invoices: invoices
      .map(({ number, items: own, sum, total }) => ({
        invoice_number: number,
        line_items: own.length,
        invoice_total: total === null ? null : printDecimal(total),
        sum_of_lines: printDecimal(sum),
      }))
      .sort((a, b) => compareText(a.invoice_number, b.invoice_number)),
    guidelines_checked: input.guidelines !== undefined,
  };
}

function statusOf(
  counts: { readonly [kind in "error" | "warning" | "guideline"]: number },
): string {
  if (counts.error > 0) return "invalid";
  if (counts.guideline > 0) return "valid_outside_guidelines";
  return counts.warning > 0 ? "valid_with_warnings" : "valid";
}

function compareFindings(a: Finding, b: Finding): number {
  return (
    a.line - b.line ||
    compareText(a.code, b.code) ||
    compareText(a.field ?? "", b.field ?? "") ||
    compareText(a.value ?? "", b.value ?? "")
  );
}
