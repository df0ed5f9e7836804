/** A bank's OFX or QFX file as the bank side of `iolta-reconcile`. */
import { parseSync } from "ofx-js";
import { sha256Hex } from "../crypto/hash.ts";
import { parseDate } from "../process/civil-date.ts";
import type { BankLineInput } from "../process/iolta/schema.ts";
import { ConvertError } from "./convert-error.ts";
import { decodeText } from "./decode.ts";
import { decimalsOf, parseMoney } from "./money.ts";

export interface OfxStatement {
  readonly currency: string;
  /** The account number's last four digits. */
  readonly numberLast4: string | null;
  readonly period: { readonly start: string; readonly end: string };
  readonly closingBalance: number;
  /** OFX has no opening balance: what the closing one and the lines leave. */
  readonly openingBalance: number;
  readonly transactions: readonly BankLineInput[];
  readonly sourceSha256: string;
}

type Node = { readonly [key: string]: unknown };

/** OFX 1.x is SGML, 2.x XML; both are read. @throws ConvertError */
export function bankStatementsFromOfx(bytes: Uint8Array): readonly OfxStatement[] {
  const text = decodeText(bytes);
  const sourceSha256 = sha256Hex(bytes);
  const responses = listOf(at(parsed(text), "BANKMSGSRSV1", "STMTTRNRS"));
  const statements = responses
    .map((response) => nodeOf(at(response, "STMTRS")))
    .filter((statement) => statement !== null);
  if (statements.length === 0)
    throw new ConvertError("no_statement", null, "the file holds no bank statement");
  return statements.map((statement) => readStatement(statement, sourceSha256));
}

function parsed(text: string): unknown {
  try {
    return parseSync(text).OFX;
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): ConvertError {
  const reason = error instanceof Error ? error.message : String(error);
  return new ConvertError("file_unreadable", null, `this is no OFX file: ${reason}`);
}

function readStatement(statement: Node, sourceSha256: string): OfxStatement {
  const currency = textAt(statement, "CURDEF");
  const decimals = decimalsOf(currency);
  const list = nodeOf(at(statement, "BANKTRANLIST")) ?? {};
  const transactions = listOf(list["STMTTRN"]).map((entry, index) =>
    readLine(nodeOf(entry) ?? {}, index, decimals),
  );
  const closingBalance = moneyAt(statement, decimals, "LEDGERBAL", "BALAMT");
  const account = textAt(statement, "BANKACCTFROM", "ACCTID");
  const activity = transactions.reduce((sum, { amount }) => sum + amount, 0);
  return {
    currency,
    numberLast4: /[0-9]{4}$/.exec(account)?.[0] ?? null,
    period: { start: dateAt(list, "DTSTART"), end: dateAt(list, "DTEND") },
    closingBalance,
    openingBalance: closingBalance - activity,
    transactions,
    sourceSha256,
  };
}

const LINE_TYPES: Readonly<Record<string, BankLineInput["type"]>> = {
  CHECK: "check",
  DEP: "deposit",
  DIRECTDEP: "ach_credit",
  DIRECTDEBIT: "ach_debit",
  PAYMENT: "ach_debit",
  FEE: "service_charge",
  SRVCHG: "service_charge",
  INT: "interest",
  XFER: "transfer",
};

/** FITID is a reference, not an identity: banks change it between downloads. */
function readLine(entry: Node, index: number, decimals: number): BankLineInput {
  const type = LINE_TYPES[textAt(entry, "TRNTYPE")];
  const checkNumber = textAt(entry, "CHECKNUM");
  const reference = textAt(entry, "REFNUM");
  const description = [textAt(entry, "NAME"), textAt(entry, "MEMO")].filter(Boolean).join(" / ");
  return {
    id: `B${String(index + 1).padStart(5, "0")}`,
    date: dateAt(entry, "DTPOSTED"),
    amount: moneyAt(entry, decimals, "TRNAMT"),
    ...(type === undefined ? {} : { type }),
    ...(/^[0-9]{1,12}$/.test(checkNumber) ? { check_number: checkNumber } : {}),
    ...(/^[\x21-\x7e]{1,128}$/.test(reference) ? { reference } : {}),
    ...(description === "" ? {} : { description: description.slice(0, 300) }),
  };
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) found = nodeOf(found)?.[key];
  return found;
}

function nodeOf(value: unknown): Node | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Node)
    : null;
}

/** The parser makes a list only where there are several. */
function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === "") return [];
  return Array.isArray(value) ? value : [value];
}

function textAt(value: unknown, ...keys: readonly string[]): string {
  const text = at(value, ...keys);
  return typeof text === "string" ? text.trim() : "";
}

function moneyAt(value: unknown, decimals: number, ...keys: readonly string[]): number {
  const text = textAt(value, ...keys);
  // Some banks write the comma of their country.
  const mark = /,[0-9]{1,2}$/.test(text) && !text.includes(".") ? "," : ".";
  const trimmed = text.replace(/([.,][0-9]*?)0+$/, "$1").replace(/[.,]$/, "");
  const amount = parseMoney(trimmed, decimals, mark);
  if (amount !== null) return amount;
  throw new ConvertError("amount_unreadable", null, `${keys.join("/")} is "${text}", no amount`);
}

/** The calendar day as the bank wrote it; the time of day and its zone are left out. */
function dateAt(value: unknown, key: string): string {
  const text = textAt(value, key);
  const date = `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6, 8)}`;
  if (parseDate(date) !== null) return date;
  throw new ConvertError("date_unreadable", null, `${key} is "${text}", no date`);
}
