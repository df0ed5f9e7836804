/**
 * Worked reconciliations. Sources: V1 Law Society of British Columbia, Rule 3-65 sample (30
 * September 2006); V8 Ontario Form 9 example (getatticus.ca, February 2026); V9
 * brandonlblankenship.com; V2 to V7 made for this project, worked out by hand in the comments.
 */
import { describe, expect, test } from "bun:test";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { runProcess } from "../../src/process/definition.ts";
import { ioltaReconcile } from "../../src/process/iolta/process.ts";
import british from "../vectors/iolta/v1-bc.json";
import month from "../vectors/iolta/v2-month.json";
import masked from "../vectors/iolta/v4-masked.json";
import batch from "../vectors/iolta/v6-batch.json";
import type { Month } from "./iolta-month.ts";

const FILES = {
  "V1 BC sample": british,
  "V2 full month": month,
  "V4 masked": masked,
  "V6 batch": batch,
};

const run = (input: Month) => ioltaReconcile.run(input as JsonValue);

describe("vectors from files", () => {
  for (const [name, { input, prototype_output: expected }] of Object.entries(FILES)) {
    test(`${name} reproduces`, () => {
      const { engine, ...output } = expected;
      expect(engine).toStartWith("iolta-reconcile@1.0.0");
      expect(ioltaReconcile.run(input)).toMatchObject(output);
    });
  }
});

describe("V3: check 1019 clears at 3,520.00 against 3,250.00 recorded", () => {
  const input = structuredClone(month.input) as Month;
  for (const line of input.bank.transactions) if (line.id === "B03") line.amount = -352_000;
  input.bank.closing_balance -= 27_000;
  const output = run(input);

  test("the difference is the mismatch, to the cent", () => {
    expect(output).toMatchObject({
      status: "not_reconciled",
      three_way: { differences: { bank_minus_book: -27_000, book_minus_clients: 0 }, equal: false },
      difference_analysis: { amount_mismatches: -27_000, sum: -27_000 },
    });
    expect(output["exceptions"]).toContainEqual(
      expect.objectContaining({
        code: "CHECK_AMOUNT_MISMATCH",
        refs: ["B03", "L-203"],
        amount: -27_000,
        detail: "adjacent digits transposed",
      }),
    );
  });

  test("the hint names the two records", () => {
    expect(output["hints"]).toEqual([
      { kind: "transposition", difference: -27_000, refs: ["B03", "L-203"], amount: -325_000 },
    ]);
  });
});

/** V5: 1,000.00 of One's and 5,000.00 of Two's; a deposit is spent, and then comes back. */
function returnedDeposit(): Month {
  return {
    account: { id: "iolta-1", currency: "USD" },
    period: { start: "2026-06-01", end: "2026-06-30" },
    bank: {
      opening_balance: 610_000,
      closing_balance: 257_000,
      transactions: [
        { id: "B1", date: "2026-06-05", amount: 300_000, type: "deposit" },
        { id: "B2", date: "2026-06-08", amount: -350_000, type: "check", check_number: "77" },
        { id: "B3", date: "2026-06-11", amount: -300_000, type: "returned_item" },
        { id: "B4", date: "2026-06-11", amount: -3000, type: "service_charge" },
      ],
    },
    ledger: {
      opening_balance: 610_000,
      entries: [
        {
          id: "L1",
          date: "2026-06-04",
          amount: 300_000,
          kind: "receipt",
          instrument: "check",
          lines: [{ client_id: "One", amount: 300_000 }],
        },
        {
          id: "L2",
          date: "2026-06-04",
          amount: -350_000,
          kind: "disbursement",
          check_number: "0077",
          payee: "Settlement payee",
          lines: [{ client_id: "One", amount: -350_000 }],
        },
      ],
    },
    client_ledgers: [
      { client_id: "One", name: "One", class: "client", opening_balance: 100_000 },
      { client_id: "Two", name: "Two", class: "client", opening_balance: 500_000 },
      { client_id: "FIRM", name: "Firm", class: "firm", opening_balance: 10_000 },
    ],
  };
}

test("V5: a returned deposit shows the client whose money is gone, and who paid for it", () => {
  const output = run(returnedDeposit());
  expect(output).toMatchObject({
    status: "not_reconciled",
    // -3,000.00 returned and -30.00 fee: nothing else is between bank and book.
    difference_analysis: {
      unrecorded_bank_lines: -303_000,
      sum: -303_000,
      reasons: [
        { part: "unrecorded_bank_line", refs: ["B3"], amount: -300_000 },
        { part: "unrecorded_bank_line", refs: ["B4"], amount: -3000 },
      ],
    },
    matches: [
      { rule: "amount_date", bank_ids: ["B1"] },
      { rule: "check_number_amount", bank_ids: ["B2"], ledger_ids: ["L2"] },
    ],
    projected_client_balances: [
      { client_id: "FIRM", closing: 10_000, projected: 7000, bank_ids: ["B4"] },
      { client_id: "One", closing: 50_000, projected: -250_000, bank_ids: ["B3"] },
    ],
  });
  const summary = (output["exceptions"] as { code: string; amount: number }[]).map(
    ({ code, amount }) => [code, amount],
  );
  expect(summary).toEqual([
    ["DISBURSED_AGAINST_UNCLEARED_FUNDS", -250_000],
    ["PROJECTED_CLIENT_NEGATIVE", -250_000],
    ["RETURNED_DEPOSIT_NOT_RECORDED", -300_000],
    ["BANK_FEE_NOT_RECORDED", -3000],
  ]);
});

test("V7: a check of last month is voided and issued again", () => {
  const output = run({
    account: { id: "iolta-1", currency: "USD" },
    period: { start: "2026-06-01", end: "2026-06-30" },
    prior: {
      outstanding: [{ id: "L-50", date: "2026-05-20", amount: -40_000, check_number: "900" }],
    },
    bank: {
      opening_balance: 100_000,
      closing_balance: 60_000,
      transactions: [{ id: "B1", date: "2026-06-12", amount: -40_000, check_number: "950" }],
    },
    ledger: {
      opening_balance: 60_000,
      entries: [
        {
          id: "L-60",
          date: "2026-06-08",
          amount: 40_000,
          kind: "void",
          check_number: "900",
          void_of: "L-50",
          lines: [{ client_id: "C1", amount: 40_000 }],
        },
        {
          id: "L-61",
          date: "2026-06-08",
          amount: -40_000,
          kind: "disbursement",
          check_number: "950",
          payee: "X",
          lines: [{ client_id: "C1", amount: -40_000 }],
        },
      ],
    },
    client_ledgers: [{ client_id: "C1", name: "One", class: "client", opening_balance: 60_000 }],
  });
  expect(output).toMatchObject({
    status: "reconciled",
    exceptions: [],
    outstanding: { deposits: [], disbursements: [] },
    matches: [{ bank_ids: ["B1"], ledger_ids: ["L-61"] }],
    client_balances: [{ client_id: "C1", closing: 60_000 }],
  });
});

/** Client ledgers alone: whatever the book holds, the bank has seen the same day. */
function ledgerOnly(
  openings: Record<string, number>,
  postings: readonly [string, number][],
): Month {
  const opening = Object.values(openings).reduce((sum, amount) => sum + amount, 0);
  const activity = postings.reduce((sum, [, amount]) => sum + amount, 0);
  return {
    account: { id: "trust", currency: "CAD" },
    period: { start: "2026-02-01", end: "2026-02-28" },
    bank: {
      opening_balance: opening,
      closing_balance: opening + activity,
      transactions: postings.map(([, amount], index) => ({
        id: `B${index}`,
        date: "2026-02-10",
        amount,
        reference: `R${index}`,
      })),
    },
    ledger: {
      opening_balance: opening,
      entries: postings.map(([client_id, amount], index) => ({
        id: `L${index}`,
        date: "2026-02-10",
        amount,
        kind: amount > 0 ? "receipt" : "disbursement",
        instrument: "wire",
        reference: `R${index}`,
        lines: [{ client_id, amount }],
      })),
    },
    client_ledgers: Object.entries(openings).map(([client_id, opening_balance]) => ({
      client_id,
      name: client_id,
      class: "client",
      opening_balance,
    })),
  };
}

test("V8: the client ledgers of the Ontario Form 9 example add up to 47,800.00", () => {
  const openings = { Brown: 0, Jones: 250_000, Smith: 500_000 };
  const output = run(
    ledgerOnly(openings, [
      ["Smith", 18_000_000],
      ["Smith", -18_350_000],
      ["Jones", -120_000],
      ["Brown", 4_500_000],
    ]),
  );
  expect(output).toMatchObject({
    status: "reconciled",
    three_way: { clients: { total: 4_780_000 } },
    client_balances: [
      { client_id: "Brown", closing: 4_500_000 },
      { client_id: "Jones", closing: 130_000 },
      { client_id: "Smith", closing: 150_000 },
    ],
  });
});

test("V9: retainer, fees, expenses and refund leave nothing", () => {
  const output = run(
    ledgerOnly({ Client: 0 }, [
      ["Client", 100_000],
      ["Client", -50_000],
      ["Client", -10_000],
      ["Client", -40_000],
    ]),
  );
  expect(output).toMatchObject({
    status: "reconciled",
    client_balances: [{ receipts: 100_000, disbursements: -100_000, closing: 0 }],
  });
});

test("July follows from June by what June carries forward", () => {
  const june = run(month.input as Month);
  const carried = june["carry_forward"] as unknown as {
    bank_opening_balance: number;
    ledger_opening_balance: number;
    client_ledgers: Month["client_ledgers"];
    prior: NonNullable<Month["prior"]>;
  };
  const july = run({
    account: { id: "iolta-1", currency: "USD" },
    period: { start: "2026-07-01", end: "2026-07-31" },
    bank: {
      opening_balance: carried.bank_opening_balance,
      closing_balance: 3_109_600,
      transactions: [
        { id: "B01", date: "2026-07-01", amount: 80_000, type: "deposit" },
        { id: "B02", date: "2026-07-06", amount: -120_000, type: "check", check_number: "1020" },
      ],
    },
    ledger: { opening_balance: carried.ledger_opening_balance, entries: [] },
    client_ledgers: carried.client_ledgers,
    prior: carried.prior,
  });
  expect(july).toMatchObject({
    status: "reconciled_with_warnings",
    three_way: { bank: { adjusted: 3_086_100 }, equal: true },
    outstanding: { deposits: [], disbursements: [{ ledger_id: "L-098", check_number: "1007" }] },
  });
});

test("what the bank has and the book lacks is carried until the book has it", () => {
  const june = returnedDeposit();
  const carried = run(june)["carry_forward"] as unknown as {
    bank_opening_balance: number;
    ledger_opening_balance: number;
    client_ledgers: Month["client_ledgers"];
    prior: NonNullable<Month["prior"]>;
  };
  const july = run({
    account: june.account,
    period: { start: "2026-07-01", end: "2026-07-31" },
    // The bank numbers its lines anew.
    bank: {
      opening_balance: carried.bank_opening_balance,
      closing_balance: carried.bank_opening_balance,
      transactions: [],
    },
    ledger: {
      opening_balance: carried.ledger_opening_balance,
      entries: [
        {
          id: "L7",
          date: "2026-07-01",
          amount: -300_000,
          kind: "returned_item",
          lines: [{ client_id: "One", amount: -300_000 }],
        },
        {
          id: "L8",
          date: "2026-07-01",
          amount: -3000,
          kind: "bank_fee",
          lines: [{ client_id: "FIRM", amount: -3000 }],
        },
      ],
    },
    client_ledgers: carried.client_ledgers,
    prior: carried.prior,
  });
  expect(july).toMatchObject({
    status: "reconciled_with_exceptions",
    three_way: { equal: true },
    matches: [
      { bank_ids: ["B3@2026-06-30"], ledger_ids: ["L7"] },
      { bank_ids: ["B4@2026-06-30"], ledger_ids: ["L8"] },
    ],
    unrecorded_bank_lines: [],
    exceptions: [{ code: "CLIENT_BALANCE_NEGATIVE", amount: -250_000 }],
  });
});

test("the same input gives the same hashes in every build", () => {
  // Cut from engine 1.0.0; a change here is a new engine version.
  expect(runProcess(ioltaReconcile, month.input).outputHash).toBe(
    "652bf7d33d6c62377e50620ed95e7d1e8d2e08837f537245e361c44813b682e1",
  );
});
