/**
 * Where to look for the cause of a difference. Hints prove nothing: the reasons in
 * `difference_analysis` already account for every minor unit.
 */
import { compareText, sorted } from "../order.ts";
import type { Books } from "./books.ts";
import type { Figures } from "./figures.ts";
import { transposed } from "./findings-records.ts";
import type { Matching } from "./match.ts";
import { HINTS_MAX } from "./policy.ts";

const KINDS = ["exact_amount", "wrong_sign", "transposition", "slide"] as const;

export type Hint = {
  readonly kind: (typeof KINDS)[number];
  readonly difference: number;
  readonly refs: readonly string[];
  readonly amount: number;
};

interface Suspect {
  readonly refs: readonly string[];
  readonly amount: number;
}

export function findHints(books: Books, matching: Matching, figures: Figures): Hint[] {
  const bankMinusBook = figures.adjustedBank - figures.adjustedBook;
  const bookMinusClients = figures.adjustedBook - figures.clients;
  // What agrees with the bank cannot be the cause of a difference from it.
  const open: Suspect[] = [
    ...matching.matches
      .filter(({ mismatch }) => mismatch !== 0)
      .map(({ bank, book }) => ({
        refs: [...bank, ...book].map(({ id }) => id),
        amount: book[0]?.amount ?? 0,
      })),
    ...[...matching.unmatchedBank, ...matching.unmatchedBook].map(({ id, amount }) => ({
      refs: [id],
      amount,
    })),
  ];
  const allocated: Suspect[] = [
    ...books.entries.flatMap(({ id, lines }) =>
      lines.map(({ client_id: clientId, amount }) => ({ refs: [id, clientId], amount })),
    ),
    ...books.ledgers.map(({ source }) => ({
      refs: [source.client_id],
      amount: source.opening_balance,
    })),
  ];
  const hints = [...hintsFor(bankMinusBook, open), ...hintsFor(bookMinusClients, allocated)];
  return sorted(
    hints,
    (a, b) =>
      KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
      compareText(a.refs.join(" "), b.refs.join(" ")) ||
      a.difference - b.difference ||
      a.amount - b.amount,
  ).slice(0, HINTS_MAX);
}

function hintsFor(difference: number, suspects: readonly Suspect[]): Hint[] {
  if (difference === 0) return [];
  return suspects.flatMap(({ refs, amount }) => {
    const kind = kindOf(Math.abs(difference), Math.abs(amount));
    return kind === null ? [] : [{ kind, difference, refs, amount }];
  });
}

function kindOf(difference: number, amount: number): Hint["kind"] | null {
  if (amount === 0) return null;
  if (amount === difference) return "exact_amount";
  if (amount * 2 === difference) return "wrong_sign";
  // Both errors below are multiples of nine.
  if (difference % 9 !== 0) return null;
  if (transposed(amount, amount + difference) || transposed(amount, amount - difference))
    return "transposition";
  return isSlide(difference, amount) ? "slide" : null;
}

/** The point moved by one or two places, either way: 9x, 99x, 9x/10, 99x/100. */
function isSlide(difference: number, amount: number): boolean {
  return [10, 100].some(
    (factor) =>
      amount * (factor - 1) === difference ||
      (amount % factor === 0 && (amount / factor) * (factor - 1) === difference),
  );
}
