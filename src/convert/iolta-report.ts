/**
 * A reconciliation as a page to print, sign and file. A renderer: every figure is the output's own,
 * and the page carries the hashes that tie it to the receipt. No script, no link, no fonts.
 */
import type { JsonValue } from "../bytes/canonical-json.ts";
import { decimalsOf, printMoney } from "./money.ts";

type JsonObject = { readonly [key: string]: JsonValue };

export interface ReportReceipt {
  readonly requestId: string;
  readonly outputHash: string;
}

/** @param output of `iolta-reconcile`. */
export function ioltaReport(output: JsonObject, receipt: ReportReceipt): string {
  const currency = String(output["currency"]);
  const decimals = decimalsOf(currency);
  const money = (value: JsonValue | undefined): string =>
    typeof value === "number" ? printMoney(value, decimals) : "";
  const period = objectOf(output["period"]);
  const certification = objectOf(output["certification"]);
  const title = `Trust account reconciliation ${text(output["account_id"])}`;
  return [
    "<!doctype html>",
    `<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>`,
    `<style>${STYLE}</style></head><body>`,
    `<h1>${escaped(title)}</h1>`,
    `<p>${text(period["start"])} to ${text(period["end"])}, in ${escaped(currency)}. `,
    `Status: <strong>${words(output["status"])}</strong>.</p>`,
    threeWay(objectOf(output["three_way"]), money),
    ...lists(output, money),
    certificate(certification, money),
    `<footer><p>Engine ${text(output["engine"])}. Request ${escaped(receipt.requestId)}.<br>`,
    `output_hash ${escaped(receipt.outputHash)}</p>`,
    "<p>This page repeats the figures of the reconciliation. It is not legal advice and no ",
    "statement of compliance.</p></footer></body></html>",
    "",
  ].join("\n");
}

type Money = (value: JsonValue | undefined) => string;

/** Everything that comes as rows. */
function lists(output: JsonObject, money: Money): string[] {
  const outstanding = objectOf(output["outstanding"]);
  return [
    table(
      "Outstanding deposits",
      ["Entry", "Date", "Age in days", "Amount"],
      listOf(outstanding["deposits"]).map((item) => [
        text(item["ledger_id"]),
        text(item["date"]),
        text(item["age_days"]),
        money(item["amount"]),
      ]),
    ),
    table(
      "Outstanding disbursements",
      ["Entry", "Check", "Payee", "Date", "Age in days", "Amount"],
      listOf(outstanding["disbursements"]).map((item) => [
        text(item["ledger_id"]),
        text(item["check_number"]),
        text(item["payee"]),
        text(item["date"]),
        text(item["age_days"]),
        money(item["amount"]),
      ]),
    ),
    table(
      "Client ledgers",
      ["Client", "Name", "Opening", "Receipts", "Disbursements", "Closing", "Last activity"],
      listOf(output["client_balances"]).map((item) => [
        text(item["client_id"]),
        text(item["name"]),
        money(item["opening"]),
        money(item["receipts"]),
        money(item["disbursements"]),
        money(item["closing"]),
        text(item["last_activity"]),
      ]),
    ),
    table(
      "What makes up the difference",
      ["Part", "Records", "Amount"],
      reasonsOf(objectOf(output["difference_analysis"])).map((item) => [
        words(item["part"]),
        refs(item["refs"]),
        money(item["amount"]),
      ]),
    ),
    table(
      "Exceptions",
      ["Severity", "Exception", "Records", "Amount", "Detail", "Rule"],
      listOf(output["exceptions"]).map((item) => [
        text(item["severity"]),
        words(item["code"]),
        refs(item["refs"]),
        money(item["amount"]),
        text(item["detail"]),
        text(item["rule"]),
      ]),
    ),
  ];
}

function threeWay(three: JsonObject, money: Money): string {
  const bank = objectOf(three["bank"]);
  const book = objectOf(three["book"]);
  const clients = objectOf(three["clients"]);
  const rows = [
    ["Bank statement, closing", money(bank["statement_closing"])],
    ["Deposits in transit", money(bank["deposits_in_transit"])],
    ["Outstanding disbursements", money(bank["outstanding_disbursements"])],
    ["Adjustments", money(bank["adjustments"])],
    ["Adjusted bank balance", money(bank["adjusted"])],
    ["Book balance, adjusted", money(book["adjusted"])],
    ["Client ledgers, positive", money(clients["total_positive"])],
    ["Client ledgers, negative", money(clients["total_negative"])],
    ["Client ledgers, total", money(clients["total"])],
    ["All three agree", three["equal"] === true ? "yes" : "NO"],
  ];
  return table("Three-way balance", ["", "Amount"], rows);
}

function certificate(certification: JsonObject, money: Money): string {
  const rows = rowsOf(certification["lines"]).map(([number, name, ...values]) => [
    text(number),
    sentence(words(name)),
    values
      .map((value, index) =>
        typeof value === "number" && index === values.length - 1 ? money(value) : yesOrNo(value),
      )
      .join(", in all "),
  ]);
  const by = text(certification["prepared_by"]) || BLANK;
  const on = text(certification["prepared_on"]) || BLANK;
  return [
    table("Certification", ["Line", "", "Amount"], rows),
    `<p class="sign">Prepared by ${by} on ${on}</p>`,
    `<p class="sign">Reviewed and certified by a lawyer: ${BLANK} Date: ${BLANK}</p>`,
  ].join("\n");
}

const BLANK = '<span class="blank"></span>';

const STYLE = [
  "body{font:11pt/1.4 serif;margin:2cm auto;max-width:18cm;color:#000}",
  "h1{font-size:16pt}h2{font-size:12pt;margin-bottom:.2em}",
  "table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid #999;padding:2pt 6pt;",
  "text-align:left;vertical-align:top}",
  ".number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}",
  ".blank{display:inline-block;min-width:6cm;border-bottom:1px solid #000}.sign{margin-top:1cm}",
  "footer{margin-top:1cm;font-size:9pt;overflow-wrap:anywhere}",
  "@media print{body{margin:0}tr,h2{break-inside:avoid;break-after:avoid}}",
].join("");

const NUMBER_COLUMNS: ReadonlySet<string> = new Set([
  "Amount",
  "Opening",
  "Receipts",
  "Disbursements",
  "Closing",
  "Age in days",
]);

/** Cells are text that was escaped before. */
function table(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (rows.length === 0) return `<h2>${title}</h2>\n<p>None.</p>`;
  const cell = (tag: "th" | "td", content: string, column: number): string => {
    const isNumber = NUMBER_COLUMNS.has(head[column] ?? "");
    return `<${tag}${isNumber ? ' class="number"' : ""}>${content}</${tag}>`;
  };
  const cells = (tag: "th" | "td", row: readonly string[]): string =>
    `<tr>${row.map((content, column) => cell(tag, content, column)).join("")}</tr>`;
  const body = rows.map((row) => cells("td", row)).join("\n");
  return `<h2>${title}</h2>\n<table>\n${cells("th", head)}\n${body}\n</table>`;
}

function escaped(value: string): string {
  return value
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** A scalar of the output; nothing for what is absent. */
function text(value: JsonValue | undefined): string {
  return value === undefined || value === null || typeof value === "object"
    ? ""
    : escaped(String(value));
}

/** CLIENT_BALANCE_NEGATIVE as words. */
function words(value: JsonValue | undefined): string {
  return text(value).replaceAll("_", " ").toLowerCase();
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function yesOrNo(value: JsonValue): string {
  return typeof value === "boolean" ? (value ? "yes" : "no") : text(value);
}

function refs(value: JsonValue | undefined): string {
  return Array.isArray(value) ? value.map((one: JsonValue) => text(one)).join(", ") : "";
}

function objectOf(value: JsonValue | undefined): JsonObject {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : {};
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((item: JsonValue) => objectOf(item)) : [];
}

function rowsOf(value: JsonValue | undefined): readonly (readonly JsonValue[])[] {
  return Array.isArray(value)
    ? value.flatMap((row: JsonValue) => (Array.isArray(row) ? [row as readonly JsonValue[]] : []))
    : [];
}

function reasonsOf(analysis: JsonObject): readonly JsonObject[] {
  const clients = objectOf(analysis["book_minus_clients"]);
  return [...listOf(analysis["reasons"]), ...listOf(clients["reasons"])];
}
