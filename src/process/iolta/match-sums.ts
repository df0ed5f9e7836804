/**
 * Passes 5 and 6: one credit that is the sum of several receipts, and one item that the bank shows
 * as several lines. A bounded search for an exact sum; the bound is a count of steps, so the same
 * input always stops at the same place.
 */
import { compareText, sorted } from "../order.ts";
import type { BankLine, BookItem } from "./books.ts";
import { DatedPool } from "./dated-pool.ts";
import { bookWindow, type OpenPool } from "./match-pool.ts";
import { type Policy, SUM_SEARCH } from "./policy.ts";

/** The bank's own postings: they are never the sum of anything. */
const OWN_POSTINGS: ReadonlySet<string> = new Set([
  "interest",
  "interest_remittance",
  "overdraft_fee",
  "returned_item",
  "service_charge",
]);

/** @returns the steps that are left for the next pass; 0 = the search stopped early. */
export function matchSums(pool: OpenPool, policy: Policy): number {
  const receipts = new DatedPool(pool.book().filter(({ amount }) => amount > 0));
  const search = { stepsLeft: SUM_SEARCH.steps_max };
  for (const line of pool.bank()) {
    if (line.amount <= 0 || line.checkKey !== null || OWN_POSTINGS.has(line.type)) continue;
    const near = receipts.nearest(
      line.day,
      ...bookWindow(line, policy),
      SUM_SEARCH.candidates_max,
      ({ amount }) => amount < line.amount,
    );
    const items = findSum(near, line.amount, policy.batchItemsMax, search);
    if (!items) continue;
    for (const item of items) receipts.remove(item);
    pool.take("deposit_sum", [line], items);
  }
  return search.stepsLeft;
}

/** @returns the steps that are left; 0 = the search stopped early. */
export function matchSplits(pool: OpenPool, policy: Policy, stepsLeft: number): number {
  const open = pool
    .bank()
    .filter(({ checkKey, type }) => checkKey === null && !OWN_POSTINGS.has(type));
  const credits = new DatedPool(open.filter(({ amount }) => amount > 0));
  const debits = new DatedPool(open.filter(({ amount }) => amount < 0));
  const search = { stepsLeft };
  for (const item of pool.book()) {
    if (item.checkKey !== null || item.amount === 0) continue;
    const lines = item.amount > 0 ? credits : debits;
    const near = linesNear(lines, item, policy);
    const found = findSum(near, item.amount, SUM_SEARCH.split_lines_max, search);
    if (!found) continue;
    for (const line of found) lines.remove(line);
    pool.take("bank_split", found, [item]);
  }
  return search.stepsLeft;
}

function linesNear(lines: DatedPool<BankLine>, item: BookItem, policy: Policy): BankLine[] {
  const late = item.amount > 0 ? policy.depositWindowDays : policy.otherWindowDays;
  const [earliest, latest] = [item.day - policy.earlyDays, item.day + late];
  return lines.nearest(
    item.day,
    earliest,
    latest,
    SUM_SEARCH.candidates_max,
    ({ amount }) => Math.abs(amount) < Math.abs(item.amount),
  );
}

interface Summand {
  readonly id: string;
  readonly amount: number;
}

/**
 * The first subset of 2 to `countMax` items, in the order of their ids, that adds up to `target`.
 * All amounts have the sign of `target`.
 */
function findSum<T extends Summand>(
  candidates: readonly T[],
  target: number,
  countMax: number,
  search: { stepsLeft: number },
): T[] | null {
  const items = sorted(candidates, (a, b) => compareText(a.id, b.id));
  const amounts = items.map(({ amount }) => Math.abs(amount));
  const restFrom = [...amounts, 0];
  for (let i = amounts.length - 1; i >= 0; i -= 1)
    restFrom[i] = (amounts[i] ?? 0) + (restFrom[i + 1] ?? 0);
  const chosen: number[] = [];
  const visit = (from: number, rest: number): boolean => {
    for (let i = from; i < amounts.length; i += 1) {
      if (search.stepsLeft === 0 || (restFrom[i] ?? 0) < rest) return false;
      search.stepsLeft -= 1;
      const left = rest - (amounts[i] ?? 0);
      if (left < 0) continue;
      chosen.push(i);
      if (left === 0 && chosen.length > 1) return true;
      if (left > 0 && chosen.length < countMax && visit(i + 1, left)) return true;
      chosen.pop();
    }
    return false;
  };
  if (!visit(0, Math.abs(target))) return null;
  return chosen.flatMap((i) => items[i] ?? []);
}
