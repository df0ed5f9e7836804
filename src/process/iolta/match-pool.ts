/**
 * What the passes work on: the lines and items that are still open, and the matches made so far.
 */
import { sumOf } from "../order.ts";
import type { BankLine, BookItem, Books } from "./books.ts";
import type { Policy } from "./policy.ts";

export type MatchRule =
  | "forced"
  | "check_number_amount"
  | "reference_amount"
  | "deposit_id"
  | "deposit_batch"
  | "amount_date"
  | "deposit_sum"
  | "bank_split"
  | "check_number_amount_differs";

export interface Match {
  readonly rule: MatchRule;
  readonly bank: readonly BankLine[];
  readonly book: readonly BookItem[];
  /** Bank minus book; 0 except for `check_number_amount_differs`. */
  readonly mismatch: number;
}

/** The lines and items that no pass has matched yet. */
export class OpenPool {
  readonly #bank: readonly BankLine[];
  readonly #book: readonly BookItem[];
  readonly matchOfLine = new Map<BankLine, Match>();
  readonly matchOfItem = new Map<BookItem, Match>();

  constructor(books: Books) {
    this.#bank = books.bankLines;
    this.#book = books.open;
  }

  /** In (date, id) order. */
  bank(): BankLine[] {
    return this.#bank.filter((line) => !this.matchOfLine.has(line));
  }

  book(): BookItem[] {
    return this.#book.filter((item) => !this.matchOfItem.has(item));
  }

  take(rule: MatchRule, bank: readonly BankLine[], book: readonly BookItem[]): void {
    const mismatch = sumOf(bank, ({ amount }) => amount) - sumOf(book, ({ amount }) => amount);
    const match = { rule, bank, book, mismatch };
    for (const line of bank) this.matchOfLine.set(line, match);
    for (const item of book) this.matchOfItem.set(item, match);
  }
}

/** The days on which a book item may lie to be the origin of this bank line. */
export function bookWindow(line: BankLine, policy: Policy): readonly [number, number] {
  const late = line.amount > 0 ? policy.depositWindowDays : policy.otherWindowDays;
  return [line.day - late, line.day + policy.earlyDays];
}
