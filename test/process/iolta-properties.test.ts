/**
 * What must hold for every month, however broken. That reasons add up is asserted inside the
 * engine.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson, type JsonValue } from "../../src/bytes/canonical-json.ts";
import { ioltaReconcile } from "../../src/process/iolta/process.ts";
import { MONTH } from "./iolta-arbitrary.ts";
import type { Month } from "./iolta-month.ts";

interface Output {
  readonly status: string;
  readonly three_way: {
    readonly differences: Readonly<Record<string, number>>;
    readonly equal: boolean;
  };
  readonly difference_analysis: {
    readonly sum: number;
    readonly roll_forward_break: number;
    readonly reasons: readonly { readonly amount: number }[];
    readonly book_minus_clients: {
      readonly sum: number;
      readonly reasons: readonly { readonly amount: number }[];
    };
  };
  readonly matches: readonly { readonly bank_ids: string[]; readonly ledger_ids: string[] }[];
  readonly outstanding: unknown;
  readonly carry_forward: {
    readonly bank_opening_balance: number;
    readonly ledger_opening_balance: number;
    readonly client_ledgers: Month["client_ledgers"];
    readonly prior: NonNullable<Month["prior"]>;
  };
}

const run = (month: Month): Output => ioltaReconcile.run(month as JsonValue) as unknown as Output;

const RUNS = process.env["SLOW"] === "1" ? 20_000 : 400;

const add = (items: readonly { readonly amount: number }[]): number =>
  items.reduce((sum, { amount }) => sum + amount, 0);

test("the listed reasons of a difference add up to it", () => {
  fc.assert(
    fc.property(MONTH, (month) => {
      const { difference_analysis: analysis, three_way: threeWay } = run(month);
      expect(add(analysis.reasons)).toBe(threeWay.differences["bank_minus_book"] ?? Number.NaN);
      expect(add(analysis.book_minus_clients.reasons)).toBe(
        threeWay.differences["book_minus_clients"] ?? Number.NaN,
      );
    }),
    { numRuns: RUNS },
  );
});

test("no bank line and no book item is matched twice", () => {
  fc.assert(
    fc.property(MONTH, (month) => {
      const { matches } = run(month);
      const bank = matches.flatMap(({ bank_ids: ids }) => ids);
      const book = matches.flatMap(({ ledger_ids: ids }) => ids);
      expect(new Set(bank).size).toBe(bank.length);
      expect(new Set(book).size).toBe(book.length);
    }),
    { numRuns: RUNS },
  );
});

test("the order of the input never changes a byte", () => {
  const shuffled = MONTH.chain((month) =>
    fc.record({
      month: fc.constant(month),
      transactions: shuffle(month.bank.transactions),
      entries: shuffle(month.ledger.entries),
      ledgers: shuffle(month.client_ledgers),
      outstanding: shuffle(month.prior?.outstanding ?? []),
      adjustments: shuffle(month.adjustments ?? []),
    }),
  );
  fc.assert(
    fc.property(shuffled, ({ month, transactions, entries, ledgers, outstanding, adjustments }) => {
      const other: Month = {
        adjustments,
        prior: { outstanding },
        client_ledgers: ledgers,
        ledger: { ...month.ledger, entries },
        bank: { ...month.bank, transactions },
        period: month.period,
        account: month.account,
      };
      expect(bytes(other)).toBe(bytes(month));
    }),
    { numRuns: RUNS },
  );
});

test("amounts a hundred times as large give differences a hundred times as large", () => {
  fc.assert(
    fc.property(MONTH, (month) => {
      const plain = run(month).three_way.differences;
      const scaled = run(scale(month, 100)).three_way.differences;
      for (const [name, difference] of Object.entries(plain))
        expect(scaled[name]).toBe(difference * 100 + 0);
    }),
    { numRuns: RUNS },
  );
});

test("a pair that book and bank agree on changes no difference and nothing outstanding", () => {
  fc.assert(
    fc.property(MONTH, fc.integer({ min: 1, max: 99_999 }), (month, amount) => {
      const more = structuredClone(month);
      const lines = [{ client_id: "C0", amount }];
      const date = "2026-06-15";
      more.bank.transactions.push({ id: "BX", date, amount, reference: "X" });
      more.bank.closing_balance += amount;
      more.ledger.entries.push({ id: "LX", date, amount, kind: "receipt", reference: "X", lines });
      const [before, after] = [run(month), run(more)];
      expect(after.three_way.differences).toEqual(before.three_way.differences);
      expect(after.outstanding).toEqual(before.outstanding);
    }),
    { numRuns: RUNS },
  );
});

test("a quiet month after any month has no break at its start", () => {
  fc.assert(
    fc.property(MONTH, (month) => {
      // A book that never agreed with its own opening breaks again, by the same amount: not meant.
      month.ledger.opening_balance = openingThatRolls(month);
      const june = run(month);
      const { carry_forward: carried } = june;
      const july = run({
        account: month.account,
        period: { start: "2026-07-01", end: "2026-07-31" },
        bank: {
          opening_balance: carried.bank_opening_balance,
          closing_balance: carried.bank_opening_balance,
          transactions: [],
        },
        ledger: { opening_balance: carried.ledger_opening_balance, entries: [] },
        client_ledgers: carried.client_ledgers,
        prior: carried.prior,
      });
      const footing = june.difference_analysis as unknown as { readonly bank_footing: number };
      // The bank's own missing lines are the only thing that nobody can carry.
      expect(july.difference_analysis.roll_forward_break + 0).toBe(0 - footing.bank_footing + 0);
    }),
    { numRuns: RUNS },
  );
});

function openingThatRolls(month: Month): number {
  return month.bank.opening_balance + add(month.prior?.outstanding ?? []);
}

function shuffle<T>(items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length });
}

function bytes(month: Month): string {
  return canonicalJson(run(month) as unknown as JsonValue);
}

function scale(month: Month, factor: number): Month {
  const isAmount = (key: string): boolean => key === "amount" || key.endsWith("_balance");
  return JSON.parse(JSON.stringify(month), (key, value) =>
    isAmount(key) ? value * factor : value,
  ) as Month;
}
