/** `iolta-reconcile`: the three-way reconciliation of a lawyer's trust account. */
import { defineProcess, type JsonObject } from "../definition.ts";
import { readBooks } from "./books.ts";
import { carryForward } from "./carry-forward.ts";
import { readClients } from "./clients.ts";
import { countSeverities, EXCEPTION_KINDS, type Exception, sortExceptions } from "./exceptions.ts";
import { analyseDifferences, computeFigures } from "./figures.ts";
import { ageFindings, clientFindings } from "./findings-clients.ts";
import {
  bankFindings,
  footingFindings,
  interestSeverityOf,
  ledgerFindings,
  matchFindings,
} from "./findings-records.ts";
import golden from "./golden.json";
import { findHints } from "./hints.ts";
import { checkInput } from "./input-checks.ts";
import { matchRecords } from "./match.ts";
import {
  analysisOutput,
  balancesOutput,
  certificationOutput,
  matchesOutput,
  notTested,
  outstandingOutput,
  projectionsOutput,
  threeWayOutput,
  unrecordedOutput,
} from "./output.ts";
import {
  AMBIGUOUS_SHOWN_MAX,
  CHECK_GAP_MAX,
  GENERIC_PROFILE,
  HINTS_MAX,
  policyOf,
  profileOf,
  SUM_SEARCH,
} from "./policy.ts";
import { IOLTA_INPUT, type IoltaInput } from "./schema.ts";
import { classifyUnrecorded, projectBalances } from "./unrecorded.ts";

const VERSION = "1.0.0";

export const ioltaReconcile = defineProcess({
  slug: "iolta-reconcile",
  version: VERSION,
  description:
    "Three-way reconciliation of a lawyer's trust account: bank statement, ledger and client " +
    "ledgers. Matches lines, explains every minor unit of a difference and lists exceptions. It " +
    "finds and explains; it does not decide, and it is not legal advice.",
  inputSchema: IOLTA_INPUT,
  tables: {
    profiles: [GENERIC_PROFILE],
    exceptions: EXCEPTION_KINDS,
    sum_search: SUM_SEARCH,
    ambiguous_shown_max: AMBIGUOUS_SHOWN_MAX,
    check_gap_max: CHECK_GAP_MAX,
    hints_max: HINTS_MAX,
  },
  goldens: golden,
  compute: reconcile,
});

function reconcile(input: IoltaInput): JsonObject {
  checkInput(input);
  const policy = policyOf(input);
  const [profile, profileNote] = profileOf(input.jurisdiction);
  const books = readBooks(input);
  const matching = matchRecords(input, books, policy);
  const clients = readClients(books, matching, policy);
  const figures = computeFigures(input, books, matching, clients);
  const analysis = analyseDifferences(input, books, matching, clients, figures);
  const unrecorded = classifyUnrecorded(books, matching);
  const projections = projectBalances(unrecorded, clients.figures, books);
  const exceptions = sortExceptions([
    ...footingFindings(input, analysis, figures.bookClosing),
    ...bankFindings(books, matching, unrecorded, interestSeverityOf(unrecorded, books)),
    ...matchFindings(matching),
    ...ledgerFindings(input, books, clients, policy),
    ...clientFindings(books, clients, projections, policy),
    ...ageFindings(matching.unmatchedBook, books, policy),
  ]);
  const threeWay = threeWayOutput(figures);
  const status = statusOf(threeWay.equal, exceptions);
  return {
    engine: `iolta-reconcile@${VERSION}`,
    account_id: input.account.id,
    currency: input.account.currency,
    period: { start: input.period.start, end: input.period.end },
    profile,
    ...(profileNote === null ? {} : { profile_note: profileNote }),
    status,
    three_way: threeWay,
    difference_analysis: analysisOutput(figures, analysis),
    matches: matchesOutput(matching),
    outstanding: outstandingOutput(matching, books),
    unrecorded_bank_lines: unrecordedOutput(unrecorded),
    client_balances: balancesOutput(clients.figures),
    projected_client_balances: projectionsOutput(projections),
    exceptions,
    exception_counts: countSeverities(exceptions),
    hints: findHints(books, matching, figures),
    not_tested: notTested(clients, matching, policy),
    certification: certificationOutput(input, matching, figures, clients.figures, exceptions),
    carry_forward: carryForward(input, matching, clients.figures, unrecorded, figures),
  };
}

const FOOTING_CODES: ReadonlySet<string> = new Set([
  "BANK_STATEMENT_OUT_OF_BALANCE",
  "CLIENT_LEDGER_FOOTING_ERROR",
  "LEDGER_FOOTING_ERROR",
  "ROLL_FORWARD_BREAK",
]);

/**
 * Equality is not compliance: a client's overdraft inside the pool leaves all three figures equal.
 */
function statusOf(equal: boolean, exceptions: readonly Exception[]): string {
  if (!equal || exceptions.some(({ code }) => FOOTING_CODES.has(code))) return "not_reconciled";
  const has = (severity: string): boolean => exceptions.some((one) => one.severity === severity);
  if (has("critical") || has("error")) return "reconciled_with_exceptions";
  return has("warning") ? "reconciled_with_warnings" : "reconciled";
}
