/** A small month in which everything agrees, for tests that then break one thing. */
import type { IoltaInput } from "../../src/process/iolta/schema.ts";

export type Mutable<T> = T extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Mutable<T[Key]> }
    : T;

export type Month = Mutable<IoltaInput>;

type Transaction = Month["bank"]["transactions"][number];
type Entry = Month["ledger"]["entries"][number];

/**
 * June: bank 1,000.00 = book 1,000.00 = client One 700.00 + client Two 250.00 + firm 50.00; One
 * pays in 300.00 by check, and check 101 over 200.00 is written and paid from One's money.
 */
export function quietMonth(): Month {
  return {
    account: { id: "iolta-1", currency: "USD" },
    period: { start: "2026-06-01", end: "2026-06-30" },
    bank: {
      opening_balance: 100_000,
      closing_balance: 110_000,
      transactions: [
        { id: "B1", date: "2026-06-03", amount: 30_000, type: "deposit" },
        { id: "B2", date: "2026-06-15", amount: -20_000, type: "check", check_number: "101" },
      ],
    },
    ledger: {
      opening_balance: 100_000,
      entries: [
        {
          id: "L1",
          date: "2026-06-02",
          amount: 30_000,
          kind: "receipt",
          instrument: "check",
          payor: "One",
          purpose: "retainer",
          lines: [{ client_id: "One", amount: 30_000 }],
        },
        {
          id: "L2",
          date: "2026-06-12",
          amount: -20_000,
          kind: "disbursement",
          instrument: "check",
          check_number: "101",
          payee: "Court Clerk",
          purpose: "filing fee",
          lines: [{ client_id: "One", amount: -20_000 }],
        },
      ],
    },
    client_ledgers: [
      { client_id: "One", name: "Client One", class: "client", opening_balance: 70_000 },
      { client_id: "Two", name: "Client Two", class: "client", opening_balance: 25_000 },
      { client_id: "Firm", name: "Firm funds", class: "firm", opening_balance: 5000 },
    ],
  };
}

/** Adds a bank line and keeps the statement's own arithmetic right. */
export function addLine(month: Month, line: Omit<Transaction, "id"> & { id?: string }): Month {
  month.bank.transactions.push({ id: `B${month.bank.transactions.length + 1}`, ...line });
  month.bank.closing_balance += line.amount;
  return month;
}

/** Adds an entry of one client. */
export function addEntry(
  month: Month,
  entry: Partial<Entry> & Pick<Entry, "date" | "amount" | "kind">,
  clientId = "One",
): Month {
  month.ledger.entries.push({
    id: `L${month.ledger.entries.length + 1}`,
    lines: [{ client_id: clientId, amount: entry.amount }],
    ...entry,
  });
  return month;
}

export function quietMonthWith(change: (month: Month) => unknown): Month {
  const month = quietMonth();
  change(month);
  return month;
}
