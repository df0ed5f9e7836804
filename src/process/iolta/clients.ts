/**
 * What each client's ledger did: balances, the lowest point of the book balance, and the lowest
 * point of the money that the bank had actually collected.
 */
import { formatDate } from "../civil-date.ts";
import { compareText, groupBy, sorted, sumOf } from "../order.ts";
import { type BookItem, type Books, type ClientLedger, dayOf } from "./books.ts";
import type { Matching } from "./match.ts";
import type { Policy } from "./policy.ts";
import type { LineInput } from "./schema.ts";

/** A balance below zero, and the posting that brought it there. */
interface LowPoint {
  readonly amount: number;
  readonly day: number;
  /** Null when the ledger already began there. */
  readonly itemId: string | null;
}

export interface ClientFigures {
  readonly ledger: ClientLedger;
  readonly opening: number;
  readonly receipts: number;
  readonly disbursements: number;
  readonly adjustments: number;
  readonly closing: number;
  readonly lastActivityDay: number | null;
  /** Lowest book balance, if it was ever below zero. */
  readonly lowest: LowPoint | null;
  /** Lowest collected balance below zero at a time when the book showed enough. */
  readonly lowestCleared: LowPoint | null;
  readonly overReplenished: readonly {
    readonly itemIds: readonly string[];
    readonly excess: number;
  }[];
  /** Credited by the bank, but collected only after the period. */
  readonly uncleared: readonly { readonly amount: number; readonly available_on: string }[];
}

interface UnknownLine {
  readonly item: BookItem;
  readonly line: LineInput;
}

export interface ClientBook {
  readonly figures: readonly ClientFigures[];
  /** Lines that name a client ledger that does not exist. */
  readonly unknownLines: readonly UnknownLine[];
  /** False when no entry says whose money it is: then nothing below the totals can be tested. */
  readonly activityGiven: boolean;
}

interface Posting {
  readonly day: number;
  readonly id: string;
  readonly amount: number;
  readonly kind: BookItem["kind"];
  /** Null = not collected by the end of what is known. */
  readonly clearedDay: number | null;
  /** Already part of the opening balance: only the day of collection matters. */
  readonly opening: boolean;
  /** Not seen by the bank yet: goes on to the next period as an outstanding item. */
  readonly outstanding: boolean;
}

export function readClients(books: Books, matching: Matching, policy: Policy): ClientBook {
  const postings = new Map<ClientLedger, Posting[]>(books.ledgers.map((ledger) => [ledger, []]));
  const unknownLines: UnknownLine[] = [];
  const unmatched = new Set(matching.unmatchedBook);
  const voidedBy = new Map(books.voids.map(({ item, target }) => [item, target]));
  for (const item of [...books.priorItems, ...books.entries]) {
    const clearedDay = clearedDayOf(voidedBy.get(item) ?? item, matching, policy);
    for (const line of item.lines) {
      const ledger = books.findLedger(line.client_id, line.matter_id);
      if (!ledger) {
        if (item.kind !== null) unknownLines.push({ item, line });
        continue;
      }
      postings.get(ledger)?.push({
        day: item.day,
        id: item.id,
        amount: line.amount,
        kind: item.kind,
        clearedDay,
        opening: item.kind === null,
        outstanding: unmatched.has(item),
      });
    }
  }
  return {
    figures: books.ledgers.map((ledger) => figuresOf(ledger, postings.get(ledger) ?? [], books)),
    unknownLines,
    activityGiven:
      books.entries.length === 0 || books.entries.some(({ lines }) => lines.length > 0),
  };
}

/**
 * A receipt is collected on the day it names, at once if it is final, else when the bank says so.
 */
function clearedDayOf(item: BookItem, matching: Matching, policy: Policy): number | null {
  const { available_on: availableOn, instrument } = item.source;
  const collected = item.kind === null || item.kind === "receipt" || item.kind === "replenishment";
  if (!collected || item.amount <= 0) return item.day;
  if (availableOn !== undefined) return dayOf(availableOn);
  if (instrument !== undefined && policy.goodFundsInstruments.has(instrument)) return item.day;
  const match = matching.matchOfItem.get(item);
  return match ? Math.max(...match.bank.map(({ day }) => day)) + policy.clearingDays : null;
}

function figuresOf(
  ledger: ClientLedger,
  postings: readonly Posting[],
  books: Books,
): ClientFigures {
  const { source } = ledger;
  const own = sorted(
    postings.filter(({ opening }) => !opening),
    comparePostings,
  );
  const adjustments = sumOf(
    books.adjustments.filter(
      ({ side, client_id: clientId, matter_id: matterId }) =>
        side === "ledger" &&
        clientId !== undefined &&
        books.findLedger(clientId, matterId) === ledger,
    ),
    ({ amount }) => amount,
  );
  const receipts = sumOf(own, ({ amount }) => Math.max(amount, 0));
  const disbursements = sumOf(own, ({ amount }) => Math.min(amount, 0));
  const lastOwn = own.at(-1)?.day ?? null;
  const lastBefore = source.last_activity === undefined ? null : dayOf(source.last_activity);
  return {
    ledger,
    opening: source.opening_balance,
    receipts,
    disbursements,
    adjustments,
    closing: source.opening_balance + receipts + disbursements + adjustments,
    lastActivityDay: lastOwn === null ? lastBefore : Math.max(lastOwn, lastBefore ?? lastOwn),
    lowest: lowestBook(source.opening_balance, own, books.startDay),
    lowestCleared: lowestCleared(ledger, postings),
    overReplenished: overReplenished(source.opening_balance, own),
    uncleared: unclearedAfter(ledger, postings, books.endDay),
  };
}

/** By day; on one day, what came in goes before what went out. */
function comparePostings(
  a: Pick<Posting, "day" | "id" | "amount">,
  b: Pick<Posting, "day" | "id" | "amount">,
): number {
  if (a.day !== b.day) return a.day - b.day;
  const [aOut, bOut] = [a.amount < 0, b.amount < 0];
  if (aOut !== bOut) return aOut ? 1 : -1;
  return compareText(a.id, b.id) || a.amount - b.amount;
}

function lowestBook(opening: number, own: readonly Posting[], startDay: number): LowPoint | null {
  let balance = opening;
  let lowest: LowPoint | null =
    opening < 0 ? { amount: opening, day: startDay, itemId: null } : null;
  for (const { amount, day, id } of own) {
    balance += amount;
    if (balance < (lowest?.amount ?? 0)) lowest = { amount: balance, day, itemId: id };
  }
  return lowest;
}

interface ClearedStep {
  readonly day: number;
  readonly id: string;
  /** Of the posting, for the order within a day. */
  readonly amount: number;
  readonly book: number;
  readonly cleared: number;
  readonly spends: boolean;
}

/** Follows book and collected balance together, in the order of `comparePostings`. */
function lowestCleared(ledger: ClientLedger, postings: readonly Posting[]): LowPoint | null {
  const steps = postings.flatMap(clearedSteps);
  for (const { amount, available_on: availableOn } of ledger.source.opening_uncleared ?? [])
    steps.push({ ...NO_STEP, day: dayOf(availableOn), amount, cleared: amount });
  let book = ledger.source.opening_balance;
  let cleared = openingCleared(ledger, postings);
  let lowest: LowPoint | null = null;
  for (const step of sorted(steps, compareSteps)) {
    book += step.book;
    cleared += step.cleared;
    if (step.spends && book >= 0 && cleared < (lowest?.amount ?? 0))
      lowest = { amount: cleared, day: step.day, itemId: step.id };
  }
  return lowest;
}

const NO_STEP = { id: "", book: 0, cleared: 0, spends: false } as const;

/** A posting moves the book on its own day, and the collected balance when the bank collects. */
function clearedSteps({ day, id, amount, kind, clearedDay, opening }: Posting): ClearedStep[] {
  const waits = amount > 0 || kind === "void";
  const cleared = waits && clearedDay === null ? 0 : amount;
  const clearDay = Math.max(day, amount > 0 ? (clearedDay ?? day) : day);
  const spends = amount < 0 && kind !== "void";
  // Of the opening items, only deposits in transit still have something to collect.
  if (opening) return amount > 0 ? [{ ...NO_STEP, day: clearDay, id, amount, cleared }] : [];
  if (clearDay === day) return [{ day, id, amount, book: amount, cleared, spends }];
  return [
    { ...NO_STEP, day, id, amount, book: amount, spends },
    { ...NO_STEP, day: clearDay, id, amount, cleared },
  ];
}

function compareSteps(a: ClearedStep, b: ClearedStep): number {
  return comparePostings(a, b) || a.book - b.book;
}

/** What had been collected when the period began. */
function openingCleared(ledger: ClientLedger, postings: readonly Posting[]): number {
  const {
    opening_balance: balance,
    opening_cleared: given,
    opening_uncleared: pending,
  } = ledger.source;
  if (given !== undefined) return given;
  const inTransit = postings.filter(({ opening, amount }) => opening && amount > 0);
  return (
    balance -
    sumOf(pending ?? [], ({ amount }) => amount) -
    sumOf(inTransit, ({ amount }) => amount)
  );
}

/** Replenishing is allowed up to the shortage, which is what the day's other postings leave. */
function overReplenished(
  opening: number,
  own: readonly Posting[],
): { itemIds: string[]; excess: number }[] {
  const found: { itemIds: string[]; excess: number }[] = [];
  let balance = opening;
  for (const today of groupBy(own, ({ day }) => day).values()) {
    const paidIn = today.filter(({ kind, amount }) => kind === "replenishment" && amount > 0);
    const replenished = sumOf(paidIn, ({ amount }) => amount);
    balance += sumOf(today, ({ amount }) => amount);
    const excess = replenished - Math.max(0, replenished - balance);
    if (replenished > 0 && excess > 0)
      found.push({ itemIds: [...new Set(paidIn.map(({ id }) => id))], excess });
  }
  return found;
}

function unclearedAfter(
  ledger: ClientLedger,
  postings: readonly Posting[],
  endDay: number,
): { amount: number; available_on: string }[] {
  const pending = (ledger.source.opening_uncleared ?? []).map(({ amount, available_on }) => ({
    amount,
    day: dayOf(available_on),
  }));
  const credited = postings.flatMap(({ amount, clearedDay, outstanding }) =>
    amount > 0 && clearedDay !== null && !outstanding ? [{ amount, day: clearedDay }] : [],
  );
  return sorted([...pending, ...credited], (a, b) => a.day - b.day || a.amount - b.amount)
    .filter(({ day }) => day > endDay)
    .map(({ amount, day }) => ({ amount, available_on: formatDate(day) }));
}
