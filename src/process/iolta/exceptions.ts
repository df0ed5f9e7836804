/**
 * Everything a reconciliation can complain about: a closed table, part of the engine version.
 * Texts for people are made from these codes by a renderer; `detail` is one of the fixed forms
 * used here.
 */
import { compareText, sorted } from "../order.ts";

export type Severity = "critical" | "error" | "warning" | "info";

const SEVERITIES: readonly Severity[] = ["critical", "error", "warning", "info"];

type Kind = {
  readonly severity: Severity;
  /** What it rests on. */
  readonly rule: string;
  readonly suggestion: string;
};

function kind(severity: Severity, rule: string, suggestion: string): Kind {
  return { severity, rule, suggestion };
}

export const EXCEPTION_KINDS = {
  CLIENT_BALANCE_NEGATIVE: kind("critical", "ABA 1.15(a)", "RESTORE_CLIENT_FUNDS"),
  CLIENT_BALANCE_NEGATIVE_INTRAPERIOD: kind("critical", "ABA 1.15(a)", "DOCUMENT_CAUSE"),
  DISBURSED_AGAINST_UNCLEARED_FUNDS: kind("critical", "ABA 1.15(a)", "WAIT_FOR_COLLECTION"),
  RETURNED_DEPOSIT_NOT_RECORDED: kind("critical", "ABA 1.15(a)", "RECORD_RETURNED_DEPOSIT"),
  OVERDRAFT_FEE: kind("critical", "overdraft notification", "REPORT_AND_EXPLAIN_OVERDRAFT"),
  UNRECORDED_DISBURSEMENT: kind("critical", "ABA 1.15(a)", "CONTACT_BANK_WITHIN_30_DAYS"),
  BANK_FEE_CHARGED_TO_CLIENT: kind("critical", "ABA 1.15(b)", "MOVE_FEE_TO_FIRM_LEDGER"),
  PROJECTED_CLIENT_NEGATIVE: kind("critical", "ABA 1.15(a)", "RESTORE_CLIENT_FUNDS"),
  SHORTAGE_REPLENISHED_OVER: kind("error", "FL 5-1.1(a)(1)(B)", "WITHDRAW_EXCESS"),
  BANK_STATEMENT_OUT_OF_BALANCE: kind("error", "arithmetic", "ADD_MISSING_STATEMENT_LINES"),
  LEDGER_FOOTING_ERROR: kind("error", "arithmetic", "RECOMPUTE_LEDGER"),
  CLIENT_LEDGER_FOOTING_ERROR: kind("error", "arithmetic", "RECOMPUTE_CLIENT_LEDGER"),
  ROLL_FORWARD_BREAK: kind("error", "arithmetic", "FIND_CHANGE_IN_CLOSED_PERIOD"),
  LEDGER_ENTRY_UNALLOCATED: kind("error", "ABA 1.15(a)", "ALLOCATE_TO_CLIENT"),
  LINE_TO_UNKNOWN_CLIENT_LEDGER: kind("error", "ABA 1.15(a)", "OPEN_CLIENT_LEDGER"),
  CHECK_AMOUNT_MISMATCH: kind("error", "arithmetic", "CORRECT_ENTRY_OR_CONTACT_BANK"),
  DUPLICATE_CHECK_NUMBER: kind("error", "ABA 1.15(a)", "VERIFY_CHECK_NUMBER"),
  VOID_AMOUNT_MISMATCH: kind("error", "arithmetic", "CORRECT_VOID"),
  FORCED_MATCH_UNEQUAL: kind("error", "arithmetic", "REVIEW_MATCH"),
  BANK_FEE_NOT_RECORDED: kind("error", "ABA 1.15(b)", "RECORD_FEE_ON_FIRM_LEDGER"),
  UNIDENTIFIED_DEPOSIT: kind("error", "ABA 1.15(a)", "IDENTIFY_DEPOSITOR"),
  BANK_LINE_OUTSIDE_PERIOD: kind("error", "cut-off", "CHECK_STATEMENT_PERIOD"),
  CASH_OR_BEARER_DISBURSEMENT: kind("error", "MA 1.15(e)", "USE_NAMED_PAYEE"),
  TRANSFER_WITHOUT_AUTHORITY: kind("error", "ABA 1.15(a)", "DOCUMENT_AUTHORITY"),
  FIRM_FUNDS_OVER_LIMIT: kind("warning", "ABA 1.15(b)", "WITHDRAW_FIRM_FUNDS"),
  STALE_CHECK: kind("warning", "UCC 4-404", "CONTACT_PAYEE_OR_VOID"),
  AGED_DEPOSIT_IN_TRANSIT: kind("warning", "ABA 1.15(a)", "CONFIRM_DEPOSIT_WITH_BANK"),
  DORMANT_BALANCE: kind("warning", "unclaimed property", "CONTACT_CLIENT"),
  UNIDENTIFIED_FUNDS_HELD: kind("warning", "ABA 1.15(a)", "IDENTIFY_OWNER"),
  HELD_OVER_45_DAYS: kind("warning", "CA 1.15(e)", "DISTRIBUTE_FUNDS"),
  ENTRY_INCOMPLETE: kind("warning", "WA 1.15B(a)", "COMPLETE_ENTRY"),
  CHECK_SEQUENCE_GAP: kind("warning", "pre-numbered checks", "ACCOUNT_FOR_MISSING_CHECKS"),
  LATE_PREPARATION: kind("warning", "policy", "PREPARE_IN_TIME"),
  DUPLICATE_BANK_LINE: kind("warning", "arithmetic", "REMOVE_REPEATED_LINE"),
  AGED_CHECK: kind("info", "UCC 4-404", "CONTACT_PAYEE"),
  AMBIGUOUS_MATCH: kind("info", "matching", "CONFIRM_MATCH"),
  INFERRED_BATCH: kind("info", "matching", "CONFIRM_MATCH"),
  INTEREST_NOT_RECORDED: kind("info", "IOLTA programme", "RECORD_INTEREST"),
  INTEREST_REMITTANCE_NOT_RECORDED: kind("info", "IOLTA programme", "RECORD_REMITTANCE"),
  LEDGER_ENTRY_AFTER_CUTOFF: kind("info", "cut-off", "INCLUDE_NEXT_PERIOD"),
} as const satisfies Readonly<Record<string, Kind>>;

export type ExceptionCode = keyof typeof EXCEPTION_KINDS;

export type Exception = {
  readonly code: ExceptionCode;
  readonly severity: Severity;
  readonly refs: readonly string[];
  readonly amount?: number;
  readonly client_id?: string;
  readonly matter_id?: string;
  readonly rule: string;
  readonly detail?: string;
  readonly suggestion_code: string;
};

export interface ExceptionFacts {
  /** Only `INTEREST_*` have two severities. */
  readonly severity?: Severity;
  readonly amount?: number;
  readonly client_id?: string;
  readonly matter_id?: string | undefined;
  readonly detail?: string;
}

export function exception(
  code: ExceptionCode,
  refs: readonly string[],
  facts: ExceptionFacts = {},
): Exception {
  const { severity, rule, suggestion } = EXCEPTION_KINDS[code];
  const { matter_id: matterId, ...rest } = facts;
  return {
    code,
    refs,
    rule,
    suggestion_code: suggestion,
    ...rest,
    severity: facts.severity ?? severity,
    ...(matterId === undefined ? {} : { matter_id: matterId }),
  };
}

/** Worst first, then by code and what they point at. */
export function sortExceptions(exceptions: readonly Exception[]): Exception[] {
  return sorted(
    exceptions,
    (a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      compareText(a.code, b.code) ||
      compareText(a.refs.join(" "), b.refs.join(" ")) ||
      (a.amount ?? 0) - (b.amount ?? 0),
  );
}

export type SeverityCounts = { readonly [S in Severity]: number };

export function countSeverities(exceptions: readonly Exception[]): SeverityCounts {
  const count = (severity: Severity): number =>
    exceptions.filter((one) => one.severity === severity).length;
  return {
    critical: count("critical"),
    error: count("error"),
    warning: count("warning"),
    info: count("info"),
  };
}
