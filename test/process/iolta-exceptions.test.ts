/**
 * Every exception code: one month that has it, and one a cent, a day or a role away that has not.
 */
import { expect, test } from "bun:test";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { EXCEPTION_KINDS, type Exception } from "../../src/process/iolta/exceptions.ts";
import { ioltaReconcile } from "../../src/process/iolta/process.ts";
import { addEntry, addLine, type Month, quietMonth, quietMonthWith } from "./iolta-month.ts";

interface Case {
  readonly code: keyof typeof EXCEPTION_KINDS;
  readonly severity?: string;
  readonly amount?: number;
  readonly detail?: string;
  readonly refs: readonly string[];
  readonly with: (month: Month) => unknown;
  readonly without: (month: Month) => unknown;
}

/** A check of One's money that the bank pays on the day it is written. */
const pay = (month: Month, amount: number, date = "2026-06-20", number = "102"): void => {
  addEntry(month, { date, amount, kind: "disbursement", check_number: number, payee: "X" });
  addLine(month, { date, amount, type: "check", check_number: number });
};

const priorCheck = (month: Month, date: string): void => {
  month.prior = { outstanding: [{ id: "P1", date, amount: -1000, check_number: "90" }] };
  month.bank.opening_balance += 1000;
  month.bank.closing_balance += 1000;
};

const client = (month: Month, id: string) => {
  const found = month.client_ledgers.find(({ client_id: clientId }) => clientId === id);
  if (!found) throw new Error(`no client ${id}`);
  return found;
};

const entry = (month: Month, id: string) => {
  const found = month.ledger.entries.find((one) => one.id === id);
  if (!found) throw new Error(`no entry ${id}`);
  return found;
};

/** One check over `amount`, split on the bank's side or the book's. */
const CASES: readonly Case[] = [
  {
    code: "CLIENT_BALANCE_NEGATIVE",
    refs: ["One"],
    amount: -1,
    with: (month) => pay(month, -80_001),
    without: (month) => pay(month, -80_000),
  },
  {
    code: "CLIENT_BALANCE_NEGATIVE_INTRAPERIOD",
    refs: ["Two", "L3"],
    amount: -1,
    with: (month) => {
      addEntry(
        month,
        { date: "2026-06-20", amount: -25_001, kind: "disbursement", reference: "R1" },
        "Two",
      );
      addLine(month, { date: "2026-06-20", amount: -25_001, reference: "R1" });
      addEntry(
        month,
        { date: "2026-06-21", amount: 500, kind: "receipt", instrument: "wire", reference: "R2" },
        "Two",
      );
      addLine(month, { date: "2026-06-21", amount: 500, reference: "R2" });
    },
    // The same two postings on one day: what comes in counts first.
    without: (month) => {
      addEntry(
        month,
        { date: "2026-06-20", amount: -25_001, kind: "disbursement", reference: "R1" },
        "Two",
      );
      addLine(month, { date: "2026-06-20", amount: -25_001, reference: "R1" });
      addEntry(
        month,
        { date: "2026-06-20", amount: 500, kind: "receipt", instrument: "wire", reference: "R2" },
        "Two",
      );
      addLine(month, { date: "2026-06-20", amount: 500, reference: "R2" });
    },
  },
  {
    code: "DISBURSED_AGAINST_UNCLEARED_FUNDS",
    refs: ["One", "L3"],
    amount: -1,
    // On the 2nd the book shows 1,000.00, but the bank credits 300.00 of it on the 3rd.
    with: (month) => pay(month, -70_001, "2026-06-02"),
    without: (month) => pay(month, -70_000, "2026-06-02"),
  },
  {
    code: "RETURNED_DEPOSIT_NOT_RECORDED",
    refs: ["B3", "B1", "L1"],
    amount: -30_000,
    with: (month) => addLine(month, { date: "2026-06-09", amount: -30_000, type: "returned_item" }),
    without: (month) => {
      addLine(month, { date: "2026-06-09", amount: -30_000, type: "returned_item" });
      addEntry(month, { date: "2026-06-09", amount: -30_000, kind: "returned_item" });
    },
  },
  {
    code: "OVERDRAFT_FEE",
    refs: ["B3"],
    amount: -3500,
    with: (month) => addLine(month, { date: "2026-06-09", amount: -3500, type: "overdraft_fee" }),
    without: (month) =>
      addLine(month, { date: "2026-06-09", amount: -3500, type: "service_charge" }),
  },
  {
    code: "UNRECORDED_DISBURSEMENT",
    refs: ["B3"],
    amount: -5000,
    with: (month) => addLine(month, { date: "2026-06-09", amount: -5000, type: "ach_debit" }),
    without: (month) => {
      addLine(month, { date: "2026-06-09", amount: -5000, type: "ach_debit" });
      addEntry(month, { date: "2026-06-09", amount: -5000, kind: "disbursement" });
    },
  },
  {
    code: "BANK_FEE_CHARGED_TO_CLIENT",
    refs: ["Two", "L3"],
    amount: -1500,
    with: (month) => {
      addEntry(month, { date: "2026-06-30", amount: -1500, kind: "bank_fee" }, "Two");
      addLine(month, { date: "2026-06-30", amount: -1500, type: "service_charge" });
    },
    without: (month) => {
      addEntry(month, { date: "2026-06-30", amount: -1500, kind: "bank_fee" }, "Firm");
      addLine(month, { date: "2026-06-30", amount: -1500, type: "service_charge" });
    },
  },
  {
    code: "PROJECTED_CLIENT_NEGATIVE",
    refs: ["One", "B4"],
    amount: -1,
    // One has 800.00 left; 500.01 are spent, then the deposit of 300.00 comes back.
    with: (month) => {
      pay(month, -50_001);
      addLine(month, {
        date: "2026-06-22",
        amount: -30_000,
        type: "returned_item",
        related_id: "B1",
      });
    },
    without: (month) => {
      pay(month, -50_000);
      addLine(month, {
        date: "2026-06-22",
        amount: -30_000,
        type: "returned_item",
        related_id: "B1",
      });
    },
  },
  {
    code: "SHORTAGE_REPLENISHED_OVER",
    refs: ["One", "L4"],
    amount: 1,
    with: (month) => {
      pay(month, -80_500);
      addEntry(month, { date: "2026-06-21", amount: 501, kind: "replenishment", reference: "R9" });
      addLine(month, { date: "2026-06-21", amount: 501, reference: "R9" });
    },
    without: (month) => {
      pay(month, -80_500);
      addEntry(month, { date: "2026-06-21", amount: 500, kind: "replenishment", reference: "R9" });
      addLine(month, { date: "2026-06-21", amount: 500, reference: "R9" });
    },
  },
  {
    code: "BANK_STATEMENT_OUT_OF_BALANCE",
    refs: [],
    amount: 1,
    with: (month) => {
      month.bank.closing_balance += 1;
    },
    without: () => null,
  },
  {
    code: "LEDGER_FOOTING_ERROR",
    refs: [],
    amount: -1,
    with: (month) => {
      month.ledger.closing_balance = 109_999;
    },
    without: (month) => {
      month.ledger.closing_balance = 110_000;
    },
  },
  {
    code: "CLIENT_LEDGER_FOOTING_ERROR",
    refs: ["One"],
    amount: 1,
    with: (month) => {
      client(month, "One").closing_balance = 80_001;
    },
    without: (month) => {
      client(month, "One").closing_balance = 80_000;
    },
  },
  {
    code: "ROLL_FORWARD_BREAK",
    refs: [],
    amount: 1,
    with: (month) => {
      month.ledger.opening_balance += 1;
    },
    without: (month) => {
      month.ledger.opening_balance += 1;
      month.prior = { outstanding: [{ id: "P1", date: "2026-05-31", amount: 1 }] };
    },
  },
  {
    code: "LEDGER_ENTRY_UNALLOCATED",
    refs: ["L1"],
    amount: 1,
    with: (month) => {
      entry(month, "L1").lines = [{ client_id: "One", amount: 29_999 }];
    },
    without: (month) => {
      entry(month, "L1").lines = [
        { client_id: "One", amount: 29_999 },
        { client_id: "Two", amount: 1 },
      ];
    },
  },
  {
    code: "LINE_TO_UNKNOWN_CLIENT_LEDGER",
    refs: ["L1", "Three"],
    amount: 30_000,
    with: (month) => {
      entry(month, "L1").lines = [{ client_id: "Three", amount: 30_000 }];
    },
    without: (month) => {
      entry(month, "L1").lines = [{ client_id: "Two", amount: 30_000 }];
    },
  },
  {
    code: "CHECK_AMOUNT_MISMATCH",
    refs: ["B3", "L3"],
    amount: -2700,
    detail: "adjacent digits transposed",
    with: (month) => {
      addEntry(month, {
        date: "2026-06-20",
        amount: -32_500,
        kind: "disbursement",
        check_number: "102",
      });
      addLine(month, { date: "2026-06-22", amount: -35_200, check_number: "0102" });
    },
    without: (month) => {
      addEntry(month, {
        date: "2026-06-20",
        amount: -35_200,
        kind: "disbursement",
        check_number: "102",
      });
      addLine(month, { date: "2026-06-22", amount: -35_200, check_number: "0102" });
    },
  },
  {
    code: "DUPLICATE_CHECK_NUMBER",
    refs: ["L2", "L3"],
    detail: "101",
    with: (month) =>
      addEntry(month, {
        date: "2026-06-20",
        amount: -100,
        kind: "disbursement",
        check_number: "0101",
      }),
    without: (month) =>
      addEntry(month, {
        date: "2026-06-20",
        amount: -100,
        kind: "disbursement",
        check_number: "1010",
      }),
  },
  {
    code: "VOID_AMOUNT_MISMATCH",
    refs: ["L4", "L3"],
    amount: -1,
    with: (month) => {
      addEntry(month, {
        date: "2026-06-20",
        amount: -500,
        kind: "disbursement",
        check_number: "102",
      });
      addEntry(month, { date: "2026-06-21", amount: 499, kind: "void", void_of: "L3" });
    },
    without: (month) => {
      addEntry(month, {
        date: "2026-06-20",
        amount: -500,
        kind: "disbursement",
        check_number: "102",
      });
      addEntry(month, { date: "2026-06-21", amount: 500, kind: "void", void_of: "L3" });
    },
  },
  {
    code: "FORCED_MATCH_UNEQUAL",
    refs: ["B3", "L3"],
    amount: -1,
    with: (month) => {
      addEntry(month, { date: "2026-06-01", amount: -500, kind: "disbursement" });
      addLine(month, { date: "2026-06-29", amount: -501 });
      month.matches = [{ bank_ids: ["B3"], ledger_ids: ["L3"] }];
    },
    without: (month) => {
      addEntry(month, { date: "2026-06-01", amount: -500, kind: "disbursement" });
      addLine(month, { date: "2026-06-29", amount: -500 });
      month.matches = [{ bank_ids: ["B3"], ledger_ids: ["L3"] }];
    },
  },
  {
    code: "BANK_FEE_NOT_RECORDED",
    refs: ["B3"],
    amount: -1500,
    with: (month) => addLine(month, { date: "2026-06-30", amount: -1500, type: "service_charge" }),
    without: (month) => {
      addLine(month, { date: "2026-06-30", amount: -1500, type: "service_charge" });
      month.adjustments = [
        {
          id: "A1",
          side: "ledger",
          kind: "service_charge",
          amount: -1500,
          date: "2026-06-30",
          explanation: "to be entered in July",
          bank_ids: ["B3"],
          client_id: "Firm",
        },
      ];
    },
  },
  {
    code: "UNIDENTIFIED_DEPOSIT",
    refs: ["B3"],
    amount: 1,
    with: (month) => addLine(month, { date: "2026-06-09", amount: 1, type: "deposit" }),
    without: (month) => addLine(month, { date: "2026-06-09", amount: -1, type: "deposit" }),
  },
  {
    code: "BANK_LINE_OUTSIDE_PERIOD",
    refs: ["B3"],
    amount: -100,
    with: (month) => pay(month, -100, "2026-07-01"),
    without: (month) => pay(month, -100, "2026-06-30"),
  },
  {
    code: "CASH_OR_BEARER_DISBURSEMENT",
    refs: ["L2"],
    amount: -20_000,
    with: (month) => {
      entry(month, "L2").payee = "CASH ";
    },
    without: (month) => {
      entry(month, "L2").payee = "Cash America Inc.";
    },
  },
  {
    code: "TRANSFER_WITHOUT_AUTHORITY",
    refs: ["L3"],
    amount: 0,
    with: (month) => addTransfer(month, {}),
    without: (month) => addTransfer(month, { authorised_by: "R. Okafor" }),
  },
  {
    code: "FIRM_FUNDS_OVER_LIMIT",
    refs: ["Firm"],
    amount: 1,
    with: (month) => {
      month.policy = { firm_funds_limit: 4999 };
    },
    without: (month) => {
      month.policy = { firm_funds_limit: 5000 };
    },
  },
  {
    code: "STALE_CHECK",
    refs: ["P1"],
    amount: -1000,
    detail: "181 days",
    with: (month) => priorCheck(month, "2025-12-31"),
    without: (month) => priorCheck(month, "2026-01-01"),
  },
  {
    code: "AGED_CHECK",
    refs: ["P1"],
    amount: -1000,
    detail: "91 days",
    with: (month) => priorCheck(month, "2026-03-31"),
    without: (month) => priorCheck(month, "2026-04-01"),
  },
  {
    code: "AGED_DEPOSIT_IN_TRANSIT",
    refs: ["L3"],
    amount: 700,
    detail: "4 days",
    with: (month) => addEntry(month, { date: "2026-06-26", amount: 700, kind: "receipt" }),
    without: (month) => addEntry(month, { date: "2026-06-27", amount: 700, kind: "receipt" }),
  },
  {
    code: "DORMANT_BALANCE",
    refs: ["Two"],
    amount: 25_000,
    detail: "366 days",
    with: (month) => {
      client(month, "Two").last_activity = "2025-06-29";
    },
    without: (month) => {
      client(month, "Two").last_activity = "2025-06-30";
    },
  },
  {
    code: "UNIDENTIFIED_FUNDS_HELD",
    refs: ["Two"],
    amount: 25_000,
    with: (month) => {
      client(month, "Two").class = "unidentified";
    },
    without: (month) => {
      client(month, "Two").class = "third_party";
    },
  },
  {
    code: "HELD_OVER_45_DAYS",
    refs: ["Two"],
    amount: 25_000,
    detail: "46 days",
    with: (month) => {
      client(month, "Two").undisputed_on = "2026-05-15";
    },
    without: (month) => {
      client(month, "Two").undisputed_on = "2026-05-16";
    },
  },
  {
    code: "ENTRY_INCOMPLETE",
    refs: ["L2"],
    detail: "payee",
    with: (month) => {
      month.policy = { required_entry_fields: ["payee", "payor", "purpose", "check_number"] };
      delete entry(month, "L2").payee;
    },
    without: (month) => {
      month.policy = { required_entry_fields: ["payee", "payor", "purpose", "check_number"] };
    },
  },
  {
    code: "CHECK_SEQUENCE_GAP",
    refs: ["L2", "L3"],
    detail: "1 between 101 and 103",
    with: (month) => pay(month, -100, "2026-06-20", "103"),
    without: (month) => pay(month, -100, "2026-06-20", "102"),
  },
  {
    code: "LATE_PREPARATION",
    refs: [],
    detail: "26 days",
    with: (month) => {
      month.policy = { preparation_deadline_days: 25 };
      month.prepared = { prepared_on: "2026-07-26" };
    },
    without: (month) => {
      month.policy = { preparation_deadline_days: 25 };
      month.prepared = { prepared_on: "2026-07-25" };
    },
  },
  {
    code: "DUPLICATE_BANK_LINE",
    refs: ["B2", "B3"],
    amount: -20_000,
    with: (month) => addLine(month, { date: "2026-06-15", amount: -20_000, check_number: "101" }),
    without: (month) =>
      addLine(month, { date: "2026-06-16", amount: -20_000, check_number: "101" }),
  },
  {
    code: "AMBIGUOUS_MATCH",
    refs: ["B3", "L3", "L4"],
    amount: -500,
    with: (month) => {
      addEntry(month, { date: "2026-06-20", amount: -500, kind: "disbursement" });
      addEntry(month, { date: "2026-06-21", amount: -500, kind: "disbursement" }, "Two");
      addLine(month, { date: "2026-06-20", amount: -500 });
    },
    without: (month) => {
      addEntry(month, { date: "2026-06-20", amount: -500, kind: "disbursement" });
      addEntry(month, { date: "2026-06-22", amount: -500, kind: "disbursement" }, "Two");
      addLine(month, { date: "2026-06-20", amount: -500 });
    },
  },
  {
    code: "INFERRED_BATCH",
    refs: ["B3", "L3", "L4"],
    amount: 700,
    with: (month) => {
      addEntry(month, { date: "2026-06-20", amount: 300, kind: "receipt" });
      addEntry(month, { date: "2026-06-20", amount: 400, kind: "receipt" });
      addLine(month, { date: "2026-06-22", amount: 700 });
    },
    without: (month) => {
      addEntry(month, { date: "2026-06-20", amount: 300, kind: "receipt", deposit_id: "D" });
      addEntry(month, { date: "2026-06-20", amount: 400, kind: "receipt", deposit_id: "D" });
      addLine(month, { date: "2026-06-22", amount: 700 });
    },
  },
  {
    code: "INTEREST_NOT_RECORDED",
    refs: ["B3"],
    amount: 42,
    with: (month) => {
      addLine(month, { date: "2026-06-30", amount: 42, type: "interest" });
      addLine(month, { date: "2026-06-30", amount: -42, type: "interest_remittance" });
    },
    without: (month) => {
      addLine(month, { date: "2026-06-30", amount: 42, type: "interest" });
      addEntry(month, { date: "2026-06-30", amount: 42, kind: "interest" });
    },
  },
  {
    code: "INTEREST_REMITTANCE_NOT_RECORDED",
    severity: "error",
    refs: ["B4"],
    amount: -41,
    // One cent of the interest was not passed on: no longer nobody's balance.
    with: (month) => {
      addLine(month, { date: "2026-06-30", amount: 42, type: "interest" });
      addLine(month, { date: "2026-06-30", amount: -41, type: "interest_remittance" });
    },
    without: (month) => {
      addLine(month, { date: "2026-06-30", amount: -41, type: "interest_remittance" });
      addEntry(month, { date: "2026-06-30", amount: -41, kind: "interest_remittance" });
    },
  },
  {
    code: "LEDGER_ENTRY_AFTER_CUTOFF",
    refs: ["L3"],
    amount: 100,
    with: (month) => addEntry(month, { date: "2026-07-01", amount: 100, kind: "receipt" }),
    without: (month) => addEntry(month, { date: "2026-06-30", amount: 100, kind: "receipt" }),
  },
];

function addTransfer(month: Month, extra: { authorised_by?: string }): void {
  month.ledger.entries.push({
    id: "L3",
    date: "2026-06-20",
    amount: 0,
    kind: "transfer",
    lines: [
      { client_id: "One", amount: -100 },
      { client_id: "Two", amount: 100 },
    ],
    ...extra,
  });
}

function exceptionsOf(month: Month): readonly Exception[] {
  const output = ioltaReconcile.run(month as JsonValue);
  return output["exceptions"] as unknown as readonly Exception[];
}

test("the month that the cases start from has no exception", () => {
  expect(ioltaReconcile.run(quietMonth() as JsonValue)).toMatchObject({
    status: "reconciled",
    exceptions: [],
    outstanding: { deposits: [], disbursements: [] },
    hints: [],
  });
});

test("every exception code has a case", () => {
  expect([...new Set(CASES.map(({ code }) => code))].sort()).toEqual(
    (Object.keys(EXCEPTION_KINDS) as (keyof typeof EXCEPTION_KINDS)[]).sort(),
  );
});

for (const { code, with: spoil, without, severity, ...facts } of CASES) {
  test(`${code} is found, with its severity, refs and amount`, () => {
    const found = exceptionsOf(quietMonthWith(spoil)).filter((one) => one.code === code);
    expect(found).toEqual([
      expect.objectContaining({
        code,
        severity: severity ?? EXCEPTION_KINDS[code].severity,
        ...facts,
      }),
    ]);
  });

  test(`${code} is not found one step away`, () => {
    const codes = exceptionsOf(quietMonthWith(without)).map((one) => one.code);
    expect(codes).not.toContain(code);
  });
}
