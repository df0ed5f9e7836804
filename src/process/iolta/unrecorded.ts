/**
 * Bank lines that the book has nothing for: what each of them is, whose money it moved, and what
 * the clients' balances would be once they are entered.
 */
import { sumOf } from "../order.ts";
import type { BankLine, BookItem, Books, ClientLedger } from "./books.ts";
import type { ClientFigures } from "./clients.ts";
import type { Matching } from "./match.ts";

type UnrecordedClass =
  | "BANK_FEE_NOT_RECORDED"
  | "INTEREST_NOT_RECORDED"
  | "INTEREST_REMITTANCE_NOT_RECORDED"
  | "OVERDRAFT_FEE"
  | "RETURNED_DEPOSIT_NOT_RECORDED"
  | "UNIDENTIFIED_DEPOSIT"
  | "UNRECORDED_DISBURSEMENT";

export interface Unrecorded {
  readonly line: BankLine;
  readonly class: UnrecordedClass;
  /** Adjustments that name this line: a person has dealt with it. */
  readonly adjustmentIds: readonly string[];
  /** The deposit that came back, for a returned item. */
  readonly returned: ReturnedDeposit | null;
}

interface ReturnedDeposit {
  readonly line: BankLine;
  /** The receipts that came back: one of a batch, or all of it; empty when that is not certain. */
  readonly items: readonly BookItem[];
}

export function classifyUnrecorded(books: Books, matching: Matching): Unrecorded[] {
  return matching.unmatchedBank.map((line) => ({
    line,
    class: classOf(line),
    adjustmentIds: books.adjustments
      .filter(({ bank_ids: bankIds }) => bankIds?.includes(line.id))
      .map(({ id }) => id),
    returned:
      classOf(line) === "RETURNED_DEPOSIT_NOT_RECORDED"
        ? returnedDeposit(line, books, matching)
        : null,
  }));
}

function classOf({ type, amount }: BankLine): UnrecordedClass {
  if (type === "service_charge") return "BANK_FEE_NOT_RECORDED";
  if (type === "overdraft_fee") return "OVERDRAFT_FEE";
  if (type === "interest") return "INTEREST_NOT_RECORDED";
  if (type === "interest_remittance") return "INTEREST_REMITTANCE_NOT_RECORDED";
  if (type === "returned_item" && amount < 0) return "RETURNED_DEPOSIT_NOT_RECORDED";
  return amount > 0 ? "UNIDENTIFIED_DEPOSIT" : "UNRECORDED_DISBURSEMENT";
}

/**
 * By the id that the bank gives, else the latest earlier deposit or receipt of the same amount.
 */
function returnedDeposit(line: BankLine, books: Books, matching: Matching): ReturnedDeposit | null {
  const amount = -line.amount;
  const { related_id: relatedId } = line.source;
  const earlier = books.bankLines.filter(
    (other) => other.amount > 0 && other.day <= line.day && matching.matchOfLine.has(other),
  );
  const bookOf = (deposit: BankLine): readonly BookItem[] =>
    matching.matchOfLine.get(deposit)?.book ?? [];
  const deposit =
    books.bankLines.find(({ id }) => id === relatedId) ??
    earlier.findLast((other) => other.amount === amount) ??
    earlier.findLast((other) => bookOf(other).some((item) => item.amount === amount));
  if (!deposit) return null;
  const items = bookOf(deposit);
  if (sumOf(items, (item) => item.amount) === amount) return { line: deposit, items };
  const same = items.filter((item) => item.amount === amount);
  return { line: deposit, items: same.length === 1 ? same : [] };
}

export interface Projection {
  readonly figures: ClientFigures;
  readonly projected: number;
  readonly bankIds: readonly string[];
}

/**
 * What clients would own once every line that is certainly theirs is entered; only those it moves.
 */
export function projectBalances(
  unrecorded: readonly Unrecorded[],
  figures: readonly ClientFigures[],
  books: Books,
): Projection[] {
  const moved = new Map<ClientLedger, { amount: number; bankIds: string[] }>();
  const move = (ledger: ClientLedger, amount: number, bankId: string): void => {
    const sofar = moved.get(ledger) ?? { amount: 0, bankIds: [] };
    sofar.amount += amount;
    if (!sofar.bankIds.includes(bankId)) sofar.bankIds.push(bankId);
    moved.set(ledger, sofar);
  };
  const firmLedgers = books.ledgers.filter(({ source }) => source.class === "firm");
  for (const { line, class: kind, returned, adjustmentIds } of unrecorded) {
    // An adjustment already says where the money of this line belongs.
    if (adjustmentIds.length > 0) continue;
    const [firm, another] = firmLedgers;
    const isFee = kind === "BANK_FEE_NOT_RECORDED" || kind === "OVERDRAFT_FEE";
    if (isFee && firm && !another) move(firm, line.amount, line.id);
    for (const item of returned?.items ?? []) {
      for (const { client_id: clientId, matter_id: matterId, amount } of item.lines) {
        const ledger = books.findLedger(clientId, matterId);
        if (ledger) move(ledger, -amount, line.id);
      }
    }
  }
  return figures.flatMap((figure) => {
    const change = moved.get(figure.ledger);
    if (!change) return [];
    const projected = figure.closing + change.amount;
    return [{ figures: figure, projected, bankIds: change.bankIds }];
  });
}
