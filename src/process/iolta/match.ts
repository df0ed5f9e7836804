/**
 * Pairs bank lines with book items in eight passes of falling certainty. What one pass matches,
 * later ones do not see; inside a pass, bank lines go in (date, id) order and take the nearest
 * candidate by (gap in days, date, id).
 */
import { compareText, groupBy, sumOf } from "../order.ts";
import type { BankLine, BookItem, Books } from "./books.ts";
import { type Dated, DatedPool } from "./dated-pool.ts";
import { bookWindow, type Match, type MatchRule, OpenPool } from "./match-pool.ts";
import { matchSplits, matchSums } from "./match-sums.ts";
import { AMBIGUOUS_SHOWN_MAX, type Policy } from "./policy.ts";
import type { IoltaInput } from "./schema.ts";

interface Ambiguity {
  readonly line: BankLine;
  readonly taken: BookItem;
  readonly others: readonly BookItem[];
}

interface UnequalForced {
  readonly bankIds: readonly string[];
  readonly ledgerIds: readonly string[];
  /** Bank minus book. */
  readonly difference: number;
}

export interface Matching {
  /** In the order of their first bank line. */
  readonly matches: readonly Match[];
  readonly unmatchedBank: readonly BankLine[];
  readonly unmatchedBook: readonly BookItem[];
  readonly matchOfLine: ReadonlyMap<BankLine, Match>;
  readonly matchOfItem: ReadonlyMap<BookItem, Match>;
  readonly ambiguities: readonly Ambiguity[];
  readonly unequalForced: readonly UnequalForced[];
  /** False when the search for sums stopped at its bound. */
  readonly searchedAll: boolean;
}

export function matchRecords(input: IoltaInput, books: Books, policy: Policy): Matching {
  const pool = new OpenPool(books);
  const unequalForced = takeForced(input, pool);
  takeKeyed(pool, "check_number_amount", keyOfCheckAndAmount);
  takeKeyed(pool, "reference_amount", keyOfReferenceAndAmount);
  takeDeposits(pool, policy);
  const ambiguities = takeByAmountAndDate(pool, policy);
  const stepsLeft = matchSums(pool, policy);
  const searchedAll = matchSplits(pool, policy, stepsLeft) > 0;
  takeKeyed(pool, "check_number_amount_differs", keyOfCheckAndSign);
  const orderOf = new Map(books.bankLines.map((line, index) => [line, index]));
  const firstLine = ({ bank }: Match): number =>
    Math.min(...bank.map((line) => orderOf.get(line) ?? 0));
  return {
    matches: [...new Set(pool.matchOfLine.values())].sort((a, b) => firstLine(a) - firstLine(b)),
    unmatchedBank: pool.bank().filter(({ amount }) => amount !== 0),
    unmatchedBook: pool.book(),
    matchOfLine: pool.matchOfLine,
    matchOfItem: pool.matchOfItem,
    ambiguities,
    unequalForced,
    searchedAll,
  };
}

/** Pass 0: what a person has decided, if the sums agree and nothing named is voided or cut off. */
function takeForced(input: IoltaInput, pool: OpenPool): UnequalForced[] {
  const bankById = new Map(pool.bank().map((line) => [line.id, line]));
  const bookById = new Map(pool.book().map((item) => [item.id, item]));
  const unequal: UnequalForced[] = [];
  for (const { bank_ids, ledger_ids } of input.matches ?? []) {
    const bankIds = [...bank_ids].sort(compareText);
    const ledgerIds = [...ledger_ids].sort(compareText);
    const bank = bankIds.flatMap((id) => bankById.get(id) ?? []);
    const book = ledgerIds.flatMap((id) => bookById.get(id) ?? []);
    const difference = sumOf(bank, ({ amount }) => amount) - sumOf(book, ({ amount }) => amount);
    // A voided item or one after the cut-off is not open: the pair cannot be equal without it.
    if (difference === 0 && book.length === ledgerIds.length) pool.take("forced", bank, book);
    else unequal.push({ bankIds, ledgerIds, difference });
  }
  return unequal.sort((a, b) => compareText(a.bankIds[0] ?? "", b.bankIds[0] ?? ""));
}

interface Keyed {
  readonly amount: number;
  readonly checkKey: string | null;
  readonly source: { readonly reference?: string };
}

function keyOfCheckAndAmount({ checkKey, amount }: Keyed): string | null {
  return checkKey === null ? null : `${checkKey} ${amount}`;
}

function keyOfCheckAndSign({ checkKey, amount }: Keyed): string | null {
  return checkKey === null ? null : `${checkKey} ${Math.sign(amount)}`;
}

function keyOfReferenceAndAmount({ source, amount }: Keyed): string | null {
  return source.reference === undefined ? null : `${source.reference} ${amount}`;
}

/** Passes 1, 2 and 7: one line and one item with the same key, however far apart in time. */
function takeKeyed(pool: OpenPool, rule: MatchRule, keyOf: (item: Keyed) => string | null): void {
  const byKey = poolsBy(pool.book(), keyOf);
  for (const line of pool.bank()) {
    const key = keyOf(line);
    const candidates = key === null ? undefined : byKey.get(key);
    const [item] = candidates?.nearest(line.day, -Infinity, Infinity, 1) ?? [];
    if (!item) continue;
    candidates?.remove(item);
    pool.take(rule, [line], [item]);
  }
}

interface Deposit extends Dated {
  readonly amount: number;
  readonly items: readonly BookItem[];
}

/** Pass 3: the receipts of one deposit slip are one credit at the bank. */
function takeDeposits(pool: OpenPool, policy: Policy): void {
  const receipts = pool.book().filter(({ source, amount }) => source.deposit_id && amount > 0);
  const deposits = [...groupBy(receipts, ({ source }) => source.deposit_id ?? "")].map(
    ([id, items]): Deposit => ({
      id,
      // A deposit cannot be made before its last receipt is there.
      day: Math.max(...items.map(({ day }) => day)),
      amount: sumOf(items, ({ amount }) => amount),
      items,
    }),
  );
  const byAmount = poolsBy(deposits, ({ amount }) => amount);
  for (const line of pool.bank()) {
    const candidates = byAmount.get(line.amount);
    const [deposit] = candidates?.nearest(line.day, ...bookWindow(line, policy), 1) ?? [];
    if (!deposit) continue;
    candidates?.remove(deposit);
    pool.take(deposit.items.length > 1 ? "deposit_batch" : "deposit_id", [line], deposit.items);
  }
}

/** Pass 4. With several candidates the balances are safe, but which item is open is a guess. */
function takeByAmountAndDate(pool: OpenPool, policy: Policy): Ambiguity[] {
  const byAmount = poolsBy(
    pool.book().filter(({ checkKey }) => checkKey === null),
    ({ amount }) => amount,
  );
  const ambiguities: Ambiguity[] = [];
  for (const line of pool.bank()) {
    const candidates = line.checkKey === null ? byAmount.get(line.amount) : undefined;
    const [earliest, latest] = bookWindow(line, policy);
    const fits = (item: BookItem): boolean => item.day <= latest || isBookedAfter(line, item);
    const near =
      candidates?.nearest(line.day, earliest, Infinity, AMBIGUOUS_SHOWN_MAX + 1, fits) ?? [];
    const [taken, ...others] = near;
    if (!taken) continue;
    candidates?.remove(taken);
    pool.take("amount_date", [line], [taken]);
    if (others.length > 0) ambiguities.push({ line, taken, others });
  }
  return ambiguities;
}

/** What the bank posts of its own accord, the book can only learn from the statement. */
const BOOK_KIND_OF: ReadonlyMap<string, BookItem["kind"]> = new Map([
  ["interest", "interest"],
  ["interest_remittance", "interest_remittance"],
  ["overdraft_fee", "bank_fee"],
  ["returned_item", "returned_item"],
  ["service_charge", "bank_fee"],
] as const);

/** Whether the entry may be later than the bank's line by any number of days. */
function isBookedAfter(line: BankLine, { kind }: BookItem): boolean {
  const bookKind = BOOK_KIND_OF.get(line.type);
  if (bookKind !== undefined) return kind === bookKind || (line.carried && kind === "correction");
  return line.carried;
}

function poolsBy<T extends Dated, K>(
  items: readonly T[],
  keyOf: (item: T) => K | null,
): Map<K, DatedPool<T>> {
  const pools = new Map<K, DatedPool<T>>();
  for (const [key, group] of groupBy(items, keyOf))
    if (key !== null) pools.set(key, new DatedPool(group));
  return pools;
}
