/** Input that a reconciliation refuses, and where it points. */
import { describe, expect, test } from "bun:test";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { ProcessInputError } from "../../src/process/input-error.ts";
import { ioltaReconcile } from "../../src/process/iolta/process.ts";
import { addEntry, addLine, type Month, quietMonth, quietMonthWith } from "./iolta-month.ts";

function refusal(input: JsonValue): string {
  try {
    ioltaReconcile.run(input);
  } catch (error) {
    if (error instanceof ProcessInputError) return `${error.code} ${error.pointer}`;
    throw error;
  }
  return "accepted";
}

/** The quiet month with the member at the path replaced, or removed by `undefined`. */
function edited(path: readonly (string | number)[], value: JsonValue | undefined): JsonValue {
  const month = quietMonth() as unknown as Record<string, JsonValue>;
  let at = month;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string, JsonValue>;
  const last = path.at(-1) ?? "";
  if (value === undefined) delete at[last];
  else at[last] = value;
  return month;
}

const SCHEMA_CASES: readonly [
  path: readonly (string | number)[],
  value: JsonValue | undefined,
  refusal: string,
][] = [
  [["account"], undefined, "invalid_input /account"],
  [["account", "currency"], undefined, "invalid_input /account/currency"],
  [["account", "currency"], "usd", "invalid_input /account/currency"],
  [["account", "colour"], "red", "invalid_input /account/colour"],
  [["account", "id"], "a b", "invalid_input /account/id"],
  [["bank", "closing_balance"], 12.5, "not_canonical /bank/closing_balance"],
  [["bank", "closing_balance"], 2 ** 53, "not_canonical /bank/closing_balance"],
  [["bank", "closing_balance"], "100", "invalid_input /bank/closing_balance"],
  [["bank", "transactions", 0, "type"], "gift", "invalid_input /bank/transactions/0/type"],
  [
    ["bank", "transactions", 1, "check_number"],
    "1O1",
    "invalid_input /bank/transactions/1/check_number",
  ],
  [["ledger", "entries", 1, "kind"], "theft", "invalid_input /ledger/entries/1/kind"],
  [["client_ledgers", 2, "class"], "partner", "invalid_input /client_ledgers/2/class"],
  [["partys"], [], "invalid_input /partys"],
  [["policy"], { batch_max_items: 13 }, "invalid_input /policy/batch_max_items"],
  [["policy"], { batch_max_items: 1 }, "invalid_input /policy/batch_max_items"],
  [
    ["bank", "transactions", 0, "description"],
    "\ud800",
    "not_canonical /bank/transactions/0/description",
  ],
];

describe("the schema", () => {
  for (const [path, value, expected] of SCHEMA_CASES) {
    test(`refuses ${JSON.stringify(value) ?? "nothing"} at /${path.join("/")}`, () => {
      expect(refusal(edited(path, value))).toBe(expected);
    });
  }

  test("accepts the month itself", () => {
    expect(refusal(quietMonth() as JsonValue)).toBe("accepted");
  });

  test("refuses nesting past 64 levels instead of overflowing", () => {
    let deep: JsonValue = 0;
    for (let i = 0; i < 10_000; i += 1) deep = [deep];
    expect(refusal(deep)).toStartWith("not_canonical /0/0/");
  });
});

const MEANING_CASES: readonly [name: string, change: (month: Month) => unknown, refusal: string][] =
  [
    ["30 February", (m) => (m.period.end = "2026-02-30"), "invalid_date /period/end"],
    [
      "29 February of a common year",
      (m) => (m.period.end = "2100-02-29"),
      "invalid_date /period/end",
    ],
    [
      "a period that ends before it starts",
      (m) => (m.period.start = "2026-07-01"),
      "conflicting_input /period/end",
    ],
    [
      "31 June in a line",
      (m) => addLine(m, { date: "2026-06-31", amount: 1 }),
      "invalid_date /bank/transactions/2/date",
    ],
    [
      "a bank id used twice",
      (m) => addLine(m, { id: "B1", date: "2026-06-30", amount: 1 }),
      "duplicate_id /bank/transactions/2/id",
    ],
    [
      "an entry that is still outstanding too",
      (m) => (m.prior = { outstanding: [{ id: "L1", date: "2026-05-01", amount: 1 }] }),
      "duplicate_id /prior/outstanding/0/id",
    ],
    [
      "one client twice",
      (m) =>
        m.client_ledgers.push({ client_id: "Two", name: "T", class: "client", opening_balance: 0 }),
      "duplicate_id /client_ledgers/3/client_id",
    ],
    [
      "another currency in the ledger",
      (m) => (m.ledger.currency = "CAD"),
      "currency_mismatch /ledger/currency",
    ],
    [
      "a match with a line that is not there",
      (m) => (m.matches = [{ bank_ids: ["B9"], ledger_ids: ["L1"] }]),
      "unknown_reference /matches/0/bank_ids/0",
    ],
    [
      "a line matched twice",
      (m) =>
        (m.matches = [
          { bank_ids: ["B1"], ledger_ids: ["L1"] },
          { bank_ids: ["B1"], ledger_ids: ["L2"] },
        ]),
      "duplicate_id /matches/1/bank_ids/0",
    ],
    [
      "a void without a target",
      (m) => addEntry(m, { date: "2026-06-30", amount: 1, kind: "void" }),
      "conflicting_input /ledger/entries/2/void_of",
    ],
    [
      "a void of nothing",
      (m) => addEntry(m, { date: "2026-06-30", amount: 1, kind: "void", void_of: "L9" }),
      "unknown_reference /ledger/entries/2/void_of",
    ],
    [
      "a void of itself",
      (m) => addEntry(m, { date: "2026-06-30", amount: 1, kind: "void", void_of: "L3" }),
      "unknown_reference /ledger/entries/2/void_of",
    ],
    [
      "an adjustment of an unknown client",
      (m) =>
        (m.adjustments = [
          {
            id: "A",
            side: "ledger",
            kind: "other",
            amount: 1,
            date: "2026-06-30",
            explanation: "test",
            client_id: "Nobody",
          },
        ]),
      "unknown_reference /adjustments/0/client_id",
    ],
    [
      "amounts whose sums would not be exact",
      (m) => ((m.client_ledgers.at(-1) ?? { opening_balance: 0 }).opening_balance = 2 ** 52),
      "amount_too_large /client_ledgers/2/opening_balance",
    ],
  ];

describe("the meaning", () => {
  for (const [name, change, expected] of MEANING_CASES) {
    test(`refuses ${name}`, () => {
      expect(refusal(quietMonthWith(change) as JsonValue)).toBe(expected);
    });
  }

  test("29 February of a leap year is a date", () => {
    const month = quietMonthWith((m) => (m.prepared = { prepared_on: "2028-02-29" }));
    expect(refusal(month as JsonValue)).toBe("accepted");
  });

  test("a client may have one ledger per matter", () => {
    const month = quietMonthWith((m) =>
      m.client_ledgers.push({
        client_id: "Two",
        matter_id: "M",
        name: "T",
        class: "client",
        opening_balance: 0,
      }),
    );
    expect(refusal(month as JsonValue)).toBe("accepted");
  });
});

test("client balances without any activity are still compared with the book", () => {
  const month = quietMonth();
  for (const entry of month.ledger.entries) delete entry.lines;
  for (const ledger of month.client_ledgers)
    if (ledger.client_id === "One") ledger.opening_balance = 80_000;
  expect(ioltaReconcile.run(month as JsonValue)).toMatchObject({
    status: "reconciled",
    three_way: { equal: true },
    exceptions: [],
    not_tested: expect.arrayContaining(["cleared_funds", "client_activity"]),
  });
});
