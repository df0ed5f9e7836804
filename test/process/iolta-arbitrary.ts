/**
 * Random months: a book that is mostly mirrored by the bank, with errors of both sides mixed in.
 */
import fc from "fast-check";
import type { Month } from "./iolta-month.ts";

interface Event {
  readonly client: number;
  readonly day: number;
  readonly amount: number;
  readonly how: "check" | "reference" | "deposit" | "plain";
  readonly group: number;
  /** What goes wrong between book and bank. */
  readonly fate:
    | "seen"
    | "seen"
    | "unseen"
    | "unbooked"
    | "wrong_amount"
    | "voided"
    | "unallocated";
  readonly delay: number;
}

const EVENT: fc.Arbitrary<Event> = fc.record({
  client: fc.nat(3),
  day: fc.integer({ min: 1, max: 30 }),
  amount: fc
    .oneof(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -500_000, max: 500_000 }))
    .filter((amount) => amount !== 0),
  how: fc.constantFrom("check", "reference", "deposit", "plain"),
  group: fc.nat(4),
  fate: fc.constantFrom(
    "seen",
    "seen",
    "unseen",
    "unbooked",
    "wrong_amount",
    "voided",
    "unallocated",
  ),
  delay: fc.integer({ min: -1, max: 9 }),
});

const TYPES = ["deposit", "service_charge", "interest", "returned_item", "other"] as const;

/** Clients C0 to C2 exist; lines to C3 go nowhere. */
export const MONTH: fc.Arbitrary<Month> = fc
  .record({
    events: fc.array(EVENT, { maxLength: 25 }),
    prior: fc.array(fc.integer({ min: -5000, max: 5000 }), { maxLength: 4 }),
    openings: fc.tuple(fc.nat(90_000), fc.nat(90_000), fc.nat(90_000)),
    drift: fc.tuple(fc.integer({ min: -2, max: 2 }), fc.integer({ min: -2, max: 2 })),
    adjustments: fc.array(
      fc.record({
        side: fc.constantFrom("bank" as const, "ledger" as const),
        amount: fc.integer({ min: -900, max: 900 }),
        client: fc.option(fc.constantFrom("C0", "C1"), { nil: undefined }),
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ events, prior, openings, drift, adjustments }) => {
    const month = emptyMonth(openings, prior, drift);
    for (const [index, event] of events.entries()) play(month, event, index);
    month.adjustments = adjustments.map(({ side, amount, client }, index) => ({
      id: `A${index}`,
      side,
      kind: "other",
      amount,
      date: "2026-06-30",
      explanation: "made up",
      ...(client === undefined ? {} : { client_id: client }),
    }));
    return month;
  });

function emptyMonth(
  openings: readonly number[],
  prior: readonly number[],
  [bankDrift, bookDrift]: readonly [number, number],
): Month {
  const book = openings.reduce((sum, amount) => sum + amount, 0);
  const outstanding = prior.reduce((sum, amount) => sum + amount, 0);
  return {
    account: { id: "iolta-1", currency: "USD" },
    period: { start: "2026-06-01", end: "2026-06-30" },
    bank: {
      opening_balance: book - outstanding,
      closing_balance: book - outstanding + bankDrift,
      transactions: [],
    },
    ledger: { opening_balance: book + bookDrift, entries: [] },
    client_ledgers: openings.map((opening, index) => ({
      client_id: `C${index}`,
      name: `Client ${index}`,
      class: index === 2 ? "firm" : "client",
      opening_balance: opening,
    })),
    prior: {
      outstanding: prior.map((amount, index) => ({
        id: `P${index}`,
        date: "2026-05-28",
        amount,
        ...(amount < 0 ? { check_number: `${900 + index}` } : {}),
      })),
    },
  };
}

function play(month: Month, event: Event, index: number): void {
  const { amount, how, fate, group } = event;
  const marks = {
    ...(how === "check" ? { check_number: `${100 + group}` } : {}),
    ...(how === "reference" ? { reference: `R${group}` } : {}),
  };
  if (fate !== "unbooked") {
    month.ledger.entries.push({
      id: `L${index}`,
      date: dateOf(event.day),
      amount,
      kind: amount > 0 ? "receipt" : "disbursement",
      ...marks,
      ...(how === "deposit" ? { deposit_id: `D${group}` } : {}),
      lines: [
        { client_id: `C${event.client}`, amount: fate === "unallocated" ? amount - 1 : amount },
      ],
    });
  }
  if (fate === "voided") {
    month.ledger.entries.push({
      id: `V${index}`,
      date: dateOf(event.day),
      amount: -amount,
      kind: "void",
      void_of: `L${index}`,
      lines: [{ client_id: `C${event.client}`, amount: -amount }],
    });
    return;
  }
  if (fate === "unseen") return;
  const seen = fate === "wrong_amount" ? amount + 9 : amount;
  month.bank.transactions.push({
    id: `B${index}`,
    date: dateOf(Math.min(30, Math.max(1, event.day + event.delay))),
    amount: seen,
    type: fate === "unbooked" ? (TYPES[group] ?? "other") : "other",
    ...marks,
  });
  month.bank.closing_balance += seen;
}

function dateOf(day: number): string {
  return `2026-06-${String(day).padStart(2, "0")}`;
}
