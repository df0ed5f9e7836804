/**
 * The parts of the output, as JSON. Money stays in minor units: formatting is a renderer's work.
 */

import { formatDate } from "../civil-date.ts";
import type { JsonObject } from "../definition.ts";
import type { BookItem, Books } from "./books.ts";
import type { ClientBook, ClientFigures } from "./clients.ts";
import type { Exception } from "./exceptions.ts";
import type { Analysis, Figures } from "./figures.ts";
import type { Matching } from "./match.ts";
import type { Policy } from "./policy.ts";
import type { IoltaInput } from "./schema.ts";
import type { Projection, Unrecorded } from "./unrecorded.ts";

export function threeWayOutput(figures: Figures) {
  const { adjustedBank, adjustedBook, clients } = figures;
  return {
    bank: {
      statement_closing: figures.statementClosing,
      deposits_in_transit: figures.depositsInTransit,
      outstanding_disbursements: figures.outstandingDisbursements,
      adjustments: figures.bankAdjustments,
      adjusted: adjustedBank,
    },
    book: {
      opening: figures.bookOpening,
      activity: figures.bookActivity,
      closing: figures.bookClosing,
      adjustments: figures.ledgerAdjustments,
      adjusted: adjustedBook,
    },
    clients: {
      total_positive: figures.clientsPositive,
      total_negative: figures.clientsNegative,
      total: clients,
      ledger_count: figures.ledgerCount,
    },
    differences: {
      bank_minus_book: adjustedBank - adjustedBook,
      book_minus_clients: adjustedBook - clients,
      bank_minus_clients: adjustedBank - clients,
    },
    equal: adjustedBank === adjustedBook && adjustedBook === clients,
  };
}

export function analysisOutput(figures: Figures, analysis: Analysis): JsonObject {
  return {
    bank_footing: analysis.bankFooting,
    roll_forward_break: analysis.rollForwardBreak,
    unrecorded_bank_lines: analysis.unrecordedBankLines,
    amount_mismatches: analysis.amountMismatches,
    bank_adjustments: figures.bankAdjustments,
    ledger_adjustments: figures.ledgerAdjustments,
    sum: figures.adjustedBank - figures.adjustedBook,
    reasons: analysis.bankMinusBook,
    book_minus_clients: {
      opening_gap: analysis.openingGap,
      unallocated_entries: analysis.unallocatedEntries,
      unknown_ledger_lines: analysis.unknownLedgerLines,
      unassigned_adjustments: analysis.unassignedAdjustments,
      sum: figures.adjustedBook - figures.clients,
      reasons: analysis.bookMinusClients,
    },
  };
}

export function matchesOutput({ matches }: Matching): JsonObject[] {
  return matches.map(({ rule, bank, book, mismatch }) => ({
    rule,
    bank_ids: bank.map(({ id }) => id),
    ledger_ids: book.map(({ id }) => id),
    amount: bank.reduce((sum, { amount }) => sum + amount, 0),
    ...(mismatch === 0 ? {} : { mismatch }),
  }));
}

export function outstandingOutput({ unmatchedBook }: Matching, { endDay }: Books): JsonObject {
  const output = ({ id, date, day, amount, source }: BookItem): JsonObject => ({
    ledger_id: id,
    date,
    amount,
    age_days: endDay - day,
    ...(source.check_number === undefined ? {} : { check_number: source.check_number }),
    ...(source.payee === undefined ? {} : { payee: source.payee }),
  });
  return {
    deposits: unmatchedBook.filter(({ amount }) => amount > 0).map(output),
    disbursements: unmatchedBook.filter(({ amount }) => amount < 0).map(output),
  };
}

export function unrecordedOutput(unrecorded: readonly Unrecorded[]): JsonObject[] {
  return unrecorded.map(({ line, class: code, adjustmentIds, returned }) => ({
    bank_id: line.id,
    date: line.date,
    amount: line.amount,
    class: code,
    ...(line.carried ? { carried: true } : {}),
    ...(adjustmentIds.length === 0 ? {} : { adjustment_ids: adjustmentIds }),
    ...(returned ? { returned_bank_id: returned.line.id } : {}),
  }));
}

export function balancesOutput(clients: readonly ClientFigures[]): JsonObject[] {
  return clients.map((figures) => ({
    ...whoOf(figures),
    name: figures.ledger.source.name,
    class: figures.ledger.source.class,
    opening: figures.opening,
    receipts: figures.receipts,
    disbursements: figures.disbursements,
    ...(figures.adjustments === 0 ? {} : { adjustments: figures.adjustments }),
    closing: figures.closing,
    ...(figures.lastActivityDay === null
      ? {}
      : { last_activity: formatDate(figures.lastActivityDay) }),
  }));
}

export function projectionsOutput(projections: readonly Projection[]): JsonObject[] {
  return projections.map(({ figures, projected, bankIds }) => ({
    ...whoOf(figures),
    closing: figures.closing,
    projected,
    bank_ids: bankIds,
  }));
}

function whoOf({ ledger }: ClientFigures): JsonObject {
  const { client_id: clientId, matter_id: matterId } = ledger.source;
  return { client_id: clientId, ...(matterId === undefined ? {} : { matter_id: matterId }) };
}

/** What could not be tested: silence about it would read as a pass. */
export function notTested(clients: ClientBook, matching: Matching, policy: Policy): string[] {
  const { figures } = clients;
  const undated = figures.some(
    ({ closing, lastActivityDay }) => closing !== 0 && lastActivityDay === null,
  );
  return [
    ...(clients.activityGiven ? [] : ["cleared_funds", "client_activity"]),
    ...(undated ? ["dormant_balance"] : []),
    ...(policy.requiredEntryFields.length === 0 ? ["entry_completeness"] : []),
    ...(policy.firmFundsLimit === null ? ["firm_funds_limit"] : []),
    ...(policy.preparationDeadlineDays === null ? ["preparation_deadline"] : []),
    ...(matching.searchedAll ? [] : ["sum_search"]),
  ];
}

/** The lines that bar forms ask for, numbered as on North Carolina's, to be signed by a person. */
export function certificationOutput(
  input: IoltaInput,
  { unmatchedBook }: Matching,
  figures: Figures,
  clients: readonly ClientFigures[],
  exceptions: readonly Exception[],
): JsonObject {
  const { prepared = {} } = input;
  const deposits = unmatchedBook.filter(({ amount }) => amount > 0);
  const disbursements = unmatchedBook.filter(({ amount }) => amount < 0);
  const agrees =
    figures.adjustedBank === figures.adjustedBook && figures.adjustedBook === figures.clients;
  const critical = exceptions.some(({ severity }) => severity === "critical");
  return {
    lines: [
      ["1", "total_positive_client_ledgers", figures.clientsPositive],
      ["1a", "any_negative_client_ledger", clients.some(({ closing }) => closing < 0)],
      ["2", "book_balance", figures.bookClosing],
      ["3", "statement_ending_balance", figures.statementClosing],
      ["4", "outstanding_deposits", deposits.length, figures.depositsInTransit],
      ["5", "outstanding_disbursements", disbursements.length, -figures.outstandingDisbursements],
      ["6", "adjusted_bank_balance", figures.adjustedBank],
      ["7", "agrees", agrees],
    ],
    statement_code: statementCode(agrees, critical),
    prepared_by: prepared.prepared_by ?? null,
    prepared_on: prepared.prepared_on ?? null,
    preparer_has_signing_authority: prepared.preparer_has_signing_authority ?? null,
    reviewed_by: prepared.reviewed_by ?? null,
    reviewed_on: prepared.reviewed_on ?? null,
    signature_required: true,
  };
}

function statementCode(agrees: boolean, critical: boolean): string {
  if (!agrees) return "CERT_NOT_EQUAL";
  return critical ? "CERT_EQUAL_WITH_CRITICAL" : "CERT_EQUAL_NO_CRITICAL";
}
