/** Each match pass: what it pairs, and the nearest thing that it must leave alone. */
import { describe, expect, test } from "bun:test";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { ioltaReconcile } from "../../src/process/iolta/process.ts";
import { addEntry, addLine, type Month, quietMonth, quietMonthWith } from "./iolta-month.ts";

/** `rule bank_ids ledger_ids` of every match beyond the two of the quiet month. */
function matchesOf(change: (month: Month) => unknown): string[] {
  const output = ioltaReconcile.run(quietMonthWith(change) as JsonValue);
  const matches = output["matches"] as unknown as {
    readonly rule: string;
    readonly bank_ids: readonly string[];
    readonly ledger_ids: readonly string[];
  }[];
  return matches
    .filter(({ bank_ids: ids }) => !ids.includes("B1") && !ids.includes("B2"))
    .map(({ rule, bank_ids: bank, ledger_ids: book }) => `${rule} ${bank} ${book}`);
}

type Entry = Parameters<typeof addEntry>[1];
type Line = Parameters<typeof addLine>[1];

const books = (entries: readonly Entry[], lines: readonly Line[]) => (month: Month) => {
  for (const entry of entries) addEntry(month, entry);
  for (const line of lines) addLine(month, line);
};

const out = (amount: number, date: string, more: Partial<Entry> = {}): Entry => ({
  amount,
  date,
  kind: amount > 0 ? "receipt" : "disbursement",
  ...more,
});

interface Case {
  readonly name: string;
  readonly entries: readonly Entry[];
  readonly lines: readonly Line[];
  readonly matches: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: "a check number matches without its leading zeros, however late",
    entries: [out(-500, "2026-06-01", { check_number: "00102" })],
    lines: [{ date: "2026-06-30", amount: -500, check_number: "102" }],
    matches: ["check_number_amount B3 L3"],
  },
  {
    name: "of two checks with one number, the nearer in time is taken",
    entries: [
      out(-500, "2026-06-01", { check_number: "102" }),
      out(-500, "2026-06-20", { check_number: "102" }),
    ],
    lines: [{ date: "2026-06-22", amount: -500, check_number: "102" }],
    matches: ["check_number_amount B3 L4"],
  },
  {
    name: "a reference matches with the same amount",
    entries: [out(-500, "2026-06-01", { reference: "W1" })],
    lines: [{ date: "2026-06-30", amount: -500, reference: "W1" }],
    matches: ["reference_amount B3 L3"],
  },
  {
    name: "a reference with another amount does not match",
    entries: [out(-500, "2026-06-01", { reference: "W1" })],
    lines: [{ date: "2026-06-30", amount: -501, reference: "W1" }],
    matches: [],
  },
  {
    name: "all receipts of a deposit slip are one credit",
    entries: [
      out(300, "2026-06-10", { deposit_id: "D" }),
      out(400, "2026-06-12", { deposit_id: "D" }),
    ],
    lines: [{ date: "2026-06-19", amount: 700 }],
    matches: ["deposit_batch B3 L3,L4"],
  },
  {
    name: "a deposit slip that is eight days old is not the credit",
    entries: [
      out(300, "2026-06-10", { deposit_id: "D" }),
      out(400, "2026-06-11", { deposit_id: "D" }),
    ],
    lines: [{ date: "2026-06-19", amount: 700 }],
    matches: [],
  },
  {
    name: "a deposit slip that the credit is a cent short of is left open",
    entries: [
      out(300, "2026-06-10", { deposit_id: "D" }),
      out(400, "2026-06-12", { deposit_id: "D" }),
    ],
    lines: [{ date: "2026-06-15", amount: 699 }],
    matches: [],
  },
  {
    name: "a single receipt of a slip says so",
    entries: [out(300, "2026-06-10", { deposit_id: "D" })],
    lines: [{ date: "2026-06-10", amount: 300 }],
    matches: ["deposit_id B3 L3"],
  },
  {
    name: "equal amounts match up to seven days after a deposit",
    entries: [out(300, "2026-06-10")],
    lines: [{ date: "2026-06-17", amount: 300 }],
    matches: ["amount_date B3 L3"],
  },
  {
    name: "equal amounts do not match eight days after a deposit",
    entries: [out(300, "2026-06-10")],
    lines: [{ date: "2026-06-18", amount: 300 }],
    matches: [],
  },
  {
    name: "equal amounts match up to five days after a payment",
    entries: [out(-300, "2026-06-10")],
    lines: [{ date: "2026-06-15", amount: -300 }],
    matches: ["amount_date B3 L3"],
  },
  {
    name: "equal amounts do not match six days after a payment",
    entries: [out(-300, "2026-06-10")],
    lines: [{ date: "2026-06-16", amount: -300 }],
    matches: [],
  },
  {
    name: "the bank may be a day earlier than the book",
    entries: [out(300, "2026-06-10")],
    lines: [{ date: "2026-06-09", amount: 300 }],
    matches: ["amount_date B3 L3"],
  },
  {
    name: "the bank may not be two days earlier than the book",
    entries: [out(300, "2026-06-10")],
    lines: [{ date: "2026-06-08", amount: 300 }],
    matches: [],
  },
  {
    name: "a fee may be booked any time after the bank took it",
    entries: [out(-15, "2026-06-30", { kind: "bank_fee" })],
    lines: [{ date: "2026-06-02", amount: -15, type: "service_charge" }],
    matches: ["amount_date B3 L3"],
  },
  {
    name: "what is booked weeks after a fee, but is none, is not it",
    entries: [out(-15, "2026-06-30")],
    lines: [{ date: "2026-06-02", amount: -15, type: "service_charge" }],
    matches: [],
  },
  {
    name: "an item with a check number never matches by amount alone",
    entries: [out(-300, "2026-06-10", { check_number: "102" })],
    lines: [{ date: "2026-06-10", amount: -300 }],
    matches: [],
  },
  {
    name: "the nearest of equal amounts is taken, the earlier of two as near",
    entries: [out(-300, "2026-06-12"), out(-300, "2026-06-10"), out(-300, "2026-06-08")],
    lines: [{ date: "2026-06-11", amount: -300 }],
    matches: ["amount_date B3 L4"],
  },
  {
    name: "a credit is the first sum of receipts in the order of ids",
    entries: [
      out(100, "2026-06-10"),
      out(200, "2026-06-10"),
      out(300, "2026-06-10"),
      out(400, "2026-06-10"),
    ],
    lines: [{ date: "2026-06-11", amount: 500 }],
    matches: ["deposit_sum B3 L3,L6"],
  },
  {
    name: "interest is never the sum of receipts",
    entries: [out(100, "2026-06-10"), out(200, "2026-06-10")],
    lines: [{ date: "2026-06-11", amount: 300, type: "interest" }],
    matches: [],
  },
  {
    name: "one payment may be up to four lines of the bank",
    entries: [out(-1000, "2026-06-10")],
    lines: [100, 200, 300, 400].map((part) => ({ date: "2026-06-11", amount: -part })),
    matches: ["bank_split B3,B4,B5,B6 L3"],
  },
  {
    name: "one payment is not five lines of the bank",
    entries: [out(-1500, "2026-06-10")],
    lines: [100, 200, 300, 400, 500].map((part) => ({ date: "2026-06-11", amount: -part })),
    matches: [],
  },
  {
    name: "a check that cleared at another amount is still that check",
    entries: [out(-325, "2026-06-10", { check_number: "102" })],
    lines: [{ date: "2026-06-20", amount: -352, check_number: "102" }],
    matches: ["check_number_amount_differs B3 L3"],
  },
  {
    name: "a credit is not the check with its number",
    entries: [out(-325, "2026-06-10", { check_number: "102" })],
    lines: [{ date: "2026-06-20", amount: 352, check_number: "102" }],
    matches: [],
  },
  {
    name: "what falls after the cut-off is not matched",
    entries: [out(300, "2026-07-01")],
    lines: [{ date: "2026-06-30", amount: 300 }],
    matches: [],
  },
];

describe("match passes", () => {
  for (const { name, entries, lines, matches } of CASES) {
    test(name, () => {
      expect(matchesOf(books(entries, lines))).toEqual([...matches]);
    });
  }
});

test("what a person has matched goes before every rule", () => {
  const change = (month: Month): void => {
    books(
      [out(-300, "2026-06-10"), out(-300, "2026-06-02")],
      [{ date: "2026-06-10", amount: -300 }],
    )(month);
    month.matches = [{ bank_ids: ["B3"], ledger_ids: ["L4"] }];
  };
  expect(matchesOf(change)).toEqual(["forced B3 L4"]);
});

test("a batch of nine receipts is found only if the policy allows nine", () => {
  const nine = (month: Month): void => {
    for (let i = 0; i < 9; i += 1) addEntry(month, out(2 ** i, "2026-06-10"));
    addLine(month, { date: "2026-06-11", amount: 511 });
  };
  expect(matchesOf(nine)).toEqual([]);
  const allowed = (month: Month): void => {
    nine(month);
    month.policy = { batch_max_items: 9 };
  };
  expect(matchesOf(allowed)).toHaveLength(1);
});

test("a search for sums that stops at its bound says so", () => {
  const month = quietMonth();
  // Twenty even receipts and odd credits: no sum exists, and every subset has to be refused.
  for (let i = 0; i < 20; i += 1) addEntry(month, out(1000 + 2 * i, "2026-06-10"));
  for (let i = 0; i < 200; i += 1) addLine(month, { date: "2026-06-11", amount: 8001 + 2 * i });
  expect(ioltaReconcile.run(month as JsonValue)["not_tested"]).toContain("sum_search");
  expect(ioltaReconcile.run(quietMonth() as JsonValue)["not_tested"]).not.toContain("sum_search");
});
