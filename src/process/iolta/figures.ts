/**
 * The three figures, and an identity that gives every minor unit of a difference between them to
 * an item: a reader never has to guess.
 */
import { assert } from "../../bytes/assert.ts";
import { sumOf } from "../order.ts";
import { type Books, unallocatedOf } from "./books.ts";
import type { ClientBook } from "./clients.ts";
import type { Matching } from "./match.ts";
import type { AdjustmentInput, IoltaInput } from "./schema.ts";

export interface Figures {
  readonly statementClosing: number;
  readonly depositsInTransit: number;
  readonly outstandingDisbursements: number;
  readonly bankAdjustments: number;
  readonly adjustedBank: number;
  readonly bookOpening: number;
  readonly bookActivity: number;
  readonly bookClosing: number;
  readonly ledgerAdjustments: number;
  readonly adjustedBook: number;
  readonly clientsPositive: number;
  readonly clientsNegative: number;
  readonly clients: number;
  readonly ledgerCount: number;
}

/** One reason for a difference; the reasons of a difference add up to it exactly. */
type Reason = {
  readonly part: string;
  readonly refs: readonly string[];
  readonly amount: number;
};

export interface Analysis {
  readonly bankFooting: number;
  readonly rollForwardBreak: number;
  readonly unrecordedBankLines: number;
  readonly amountMismatches: number;
  readonly bankMinusBook: readonly Reason[];
  readonly openingGap: number;
  readonly unallocatedEntries: number;
  readonly unknownLedgerLines: number;
  readonly unassignedAdjustments: number;
  readonly bookMinusClients: readonly Reason[];
}

export function computeFigures(
  input: IoltaInput,
  books: Books,
  matching: Matching,
  clients: ClientBook,
): Figures {
  const { bank, ledger } = input;
  const open = matching.unmatchedBook;
  const depositsInTransit = sumOf(open, ({ amount }) => Math.max(amount, 0));
  const outstandingDisbursements = sumOf(open, ({ amount }) => Math.min(amount, 0));
  const bankAdjustments = sumOf(adjustmentsOf(books, "bank"), ({ amount }) => amount);
  const ledgerAdjustments = sumOf(adjustmentsOf(books, "ledger"), ({ amount }) => amount);
  const bookActivity = sumOf(books.entries, ({ amount }) => amount);
  const clientsPositive = sumOf(clients.figures, ({ closing }) => Math.max(closing, 0));
  const clientsNegative = sumOf(clients.figures, ({ closing }) => Math.min(closing, 0));
  return {
    statementClosing: bank.closing_balance,
    depositsInTransit,
    outstandingDisbursements,
    bankAdjustments,
    adjustedBank:
      bank.closing_balance + depositsInTransit + outstandingDisbursements + bankAdjustments,
    bookOpening: ledger.opening_balance,
    bookActivity,
    bookClosing: ledger.opening_balance + bookActivity,
    ledgerAdjustments,
    adjustedBook: ledger.opening_balance + bookActivity + ledgerAdjustments,
    clientsPositive,
    clientsNegative,
    clients: clientsPositive + clientsNegative,
    ledgerCount: clients.figures.length,
  };
}

function adjustmentsOf(books: Books, side: AdjustmentInput["side"]): AdjustmentInput[] {
  return books.adjustments.filter((adjustment) => adjustment.side === side);
}

/** @throws AssertionError when the reasons do not add up: an error of the engine. */
export function analyseDifferences(
  input: IoltaInput,
  books: Books,
  matching: Matching,
  clients: ClientBook,
  figures: Figures,
): Analysis {
  const bankMinusBook = bankReasons(input, books, matching);
  const bookMinusClients = clientReasons(input, books, clients);
  const sumsUp = (reasons: readonly Reason[], difference: number): boolean =>
    sumOf(reasons, ({ amount }) => amount) === difference;
  assert(
    sumsUp(bankMinusBook, figures.adjustedBank - figures.adjustedBook),
    "every minor unit between bank and book has a reason",
  );
  assert(
    sumsUp(bookMinusClients, figures.adjustedBook - figures.clients),
    "every minor unit between book and clients has a reason",
  );
  const part = (reasons: readonly Reason[], name: string): number =>
    sumOf(
      reasons.filter((reason) => reason.part === name),
      ({ amount }) => amount,
    );
  return {
    bankFooting: part(bankMinusBook, "bank_footing"),
    rollForwardBreak: 0 - part(bankMinusBook, "roll_forward_break"),
    unrecordedBankLines: part(bankMinusBook, "unrecorded_bank_line"),
    amountMismatches: part(bankMinusBook, "amount_mismatch"),
    bankMinusBook,
    openingGap: part(bookMinusClients, "opening_gap"),
    unallocatedEntries: part(bookMinusClients, "unallocated_entry"),
    unknownLedgerLines: part(bookMinusClients, "unknown_ledger_line"),
    unassignedAdjustments: part(bookMinusClients, "unassigned_adjustment"),
    bookMinusClients,
  };
}

/**
 * bank.closing = opening + its lines + footing; its lines and those carried over = matched + not
 * recorded; matched = the matched items + mismatches; book = opening + items - prior ones. Voided
 * pairs cancel. What is left of bank - book is this list.
 */
function bankReasons({ bank, ledger }: IoltaInput, books: Books, matching: Matching): Reason[] {
  const own = books.bankLines.filter(({ carried }) => !carried);
  const carried = books.bankLines.filter((line) => line.carried);
  const sum = (items: readonly { readonly amount: number }[]): number =>
    sumOf(items, ({ amount }) => amount);
  const footing = bank.closing_balance - (bank.opening_balance + sum(own));
  const rolled = bank.opening_balance + sum(books.priorItems) - sum(carried);
  const reasons: Reason[] = [
    { part: "bank_footing", refs: [], amount: footing },
    { part: "roll_forward_break", refs: [], amount: rolled - ledger.opening_balance },
    ...matching.unmatchedBank.map(({ id, amount }) => ({
      part: "unrecorded_bank_line",
      refs: [id],
      amount,
    })),
    ...matching.matches.map(({ bank: lines, book, mismatch }) => ({
      part: "amount_mismatch",
      refs: [...lines, ...book].map(({ id }) => id),
      amount: mismatch,
    })),
    ...adjustmentsOf(books, "bank").map(({ id, amount }) => ({
      part: "bank_adjustment",
      refs: [id],
      amount,
    })),
    ...adjustmentsOf(books, "ledger").map(({ id, amount }) => ({
      part: "ledger_adjustment",
      refs: [id],
      amount: 0 - amount,
    })),
  ];
  return reasons.filter(({ amount }) => amount !== 0);
}

/** Client balances are their openings plus the lines of the entries; the rest is this list. */
function clientReasons({ ledger }: IoltaInput, books: Books, clients: ClientBook): Reason[] {
  const openings = sumOf(clients.figures, ({ opening }) => opening);
  const reasons: Reason[] = [
    { part: "opening_gap", refs: [], amount: ledger.opening_balance - openings },
    ...books.entries.map((item) => ({
      part: "unallocated_entry",
      refs: [item.id],
      amount: unallocatedOf(item),
    })),
    ...clients.unknownLines.map(({ item, line }) => ({
      part: "unknown_ledger_line",
      refs: [item.id, line.client_id],
      amount: line.amount,
    })),
    ...adjustmentsOf(books, "ledger")
      .filter(({ client_id: clientId }) => clientId === undefined)
      .map(({ id, amount }) => ({ part: "unassigned_adjustment", refs: [id], amount })),
  ];
  return reasons.filter(({ amount }) => amount !== 0);
}
