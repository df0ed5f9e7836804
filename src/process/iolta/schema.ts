/** Input of `iolta-reconcile`, version 1. */
import Type, { type Static } from "typebox";
import { CURRENCY, closed, DATE, ID, MONEY, SHA256, TEXT } from "../schema-parts.ts";

/** More than the largest firm's month; the body limit of the API comes first for most inputs. */
const LIST_ITEMS_MAX = 20_000;

const DAYS = Type.Integer({ minimum: 0, maximum: 3660 });
const CHECK_NUMBER = Type.String({ pattern: "^[0-9]{1,12}$" });

const INSTRUMENT = Type.Enum([
  "check",
  "cashiers_check",
  "certified_check",
  "bank_check",
  "money_order",
  "government_check",
  "insurer_draft",
  "wire",
  "ach_credit",
  "ach_credit_final",
  "card",
  "cash",
  "other",
]);

const BANK_LINE_TYPE = Type.Enum([
  "deposit",
  "check",
  "wire_in",
  "wire_out",
  "ach_credit",
  "ach_debit",
  "transfer",
  "service_charge",
  "overdraft_fee",
  "interest",
  "interest_remittance",
  "returned_item",
  "correction",
  "other",
]);

const ENTRY_KIND = Type.Enum([
  "receipt",
  "disbursement",
  "transfer",
  "bank_fee",
  "interest",
  "interest_remittance",
  "returned_item",
  "void",
  "correction",
  // The firm's own money, paid in to make good a shortage of a client's ledger.
  "replenishment",
]);

const LINE = closed({ client_id: ID, matter_id: Type.Optional(ID), amount: MONEY });

const BANK_LINE = {
  id: ID,
  date: DATE,
  amount: MONEY,
  type: Type.Optional(BANK_LINE_TYPE),
  check_number: Type.Optional(CHECK_NUMBER),
  reference: Type.Optional(ID),
  description: Type.Optional(TEXT),
  related_id: Type.Optional(ID),
};

const ENTRY = closed({
  id: ID,
  date: DATE,
  amount: MONEY,
  kind: ENTRY_KIND,
  instrument: Type.Optional(INSTRUMENT),
  check_number: Type.Optional(CHECK_NUMBER),
  reference: Type.Optional(ID),
  deposit_id: Type.Optional(ID),
  payee: Type.Optional(TEXT),
  payor: Type.Optional(TEXT),
  purpose: Type.Optional(TEXT),
  available_on: Type.Optional(DATE),
  void_of: Type.Optional(ID),
  authorised_by: Type.Optional(TEXT),
  lines: Type.Optional(Type.Array(LINE, { maxItems: 500 })),
});

const CLIENT_LEDGER = closed({
  client_id: ID,
  matter_id: Type.Optional(ID),
  name: TEXT,
  class: Type.Enum(["client", "third_party", "firm", "interest", "unidentified"]),
  currency: Type.Optional(CURRENCY),
  opening_balance: MONEY,
  opening_cleared: Type.Optional(MONEY),
  opening_uncleared: Type.Optional(
    Type.Array(closed({ amount: MONEY, available_on: DATE }), { maxItems: 500 }),
  ),
  closing_balance: Type.Optional(MONEY),
  last_activity: Type.Optional(DATE),
  undisputed_on: Type.Optional(DATE),
});

const PRIOR = closed({
  reconciled_on: Type.Optional(DATE),
  output_hash: Type.Optional(SHA256),
  outstanding: Type.Array(
    closed({
      id: ID,
      date: DATE,
      amount: MONEY,
      check_number: Type.Optional(CHECK_NUMBER),
      reference: Type.Optional(ID),
      deposit_id: Type.Optional(ID),
      instrument: Type.Optional(INSTRUMENT),
      payee: Type.Optional(TEXT),
      available_on: Type.Optional(DATE),
      lines: Type.Optional(Type.Array(LINE, { maxItems: 500 })),
    }),
    { maxItems: LIST_ITEMS_MAX },
  ),
  unrecorded: Type.Optional(Type.Array(closed(BANK_LINE), { maxItems: LIST_ITEMS_MAX })),
});

const ADJUSTMENT = closed({
  id: ID,
  side: Type.Enum(["bank", "ledger"]),
  kind: Type.Enum([
    "bank_error",
    "book_error",
    "interest_payable_to_foundation",
    "service_charge",
    "returned_item",
    "timing",
    "other",
  ]),
  amount: MONEY,
  date: DATE,
  explanation: Type.String({ minLength: 3, maxLength: 500 }),
  bank_ids: Type.Optional(Type.Array(ID, { maxItems: 500 })),
  client_id: Type.Optional(ID),
  matter_id: Type.Optional(ID),
});

const POLICY = closed({
  firm_funds_limit: Type.Optional(MONEY),
  stale_check_days: Type.Optional(DAYS),
  aged_check_days: Type.Optional(DAYS),
  aged_deposit_days: Type.Optional(DAYS),
  dormant_days: Type.Optional(DAYS),
  hold_days: Type.Optional(DAYS),
  clearing_days: Type.Optional(DAYS),
  date_window_deposit_days: Type.Optional(DAYS),
  date_window_other_days: Type.Optional(DAYS),
  early_days: Type.Optional(DAYS),
  preparation_deadline_days: Type.Optional(DAYS),
  batch_max_items: Type.Optional(Type.Integer({ minimum: 2, maximum: 12 })),
  good_funds_instruments: Type.Optional(Type.Array(INSTRUMENT, { maxItems: 20 })),
  required_entry_fields: Type.Optional(
    Type.Array(Type.Enum(["check_number", "matter_id", "payee", "payor", "purpose"]), {
      maxItems: 5,
    }),
  ),
});

const ID_LIST = Type.Array(ID, { minItems: 1, maxItems: 500 });

export const IOLTA_INPUT = closed({
  schema: Type.Optional(Type.Literal("iolta-reconcile/1")),
  account: closed({
    id: ID,
    name: Type.Optional(TEXT),
    institution: Type.Optional(TEXT),
    number_last4: Type.Optional(Type.String({ pattern: "^[0-9]{4}$" })),
    type: Type.Optional(
      Type.Enum(["iolta", "pooled_trust", "client_specific", "escrow", "fiduciary"]),
    ),
    currency: CURRENCY,
  }),
  jurisdiction: Type.Optional(Type.String({ pattern: "^[A-Z]{2}(-[A-Z0-9]{1,3})?$" })),
  period: closed({ start: DATE, end: DATE }),
  prepared: Type.Optional(
    closed({
      prepared_by: Type.Optional(TEXT),
      prepared_on: Type.Optional(DATE),
      reviewed_by: Type.Optional(TEXT),
      reviewed_on: Type.Optional(DATE),
      preparer_has_signing_authority: Type.Optional(Type.Boolean()),
    }),
  ),
  bank: closed({
    currency: Type.Optional(CURRENCY),
    opening_balance: MONEY,
    closing_balance: MONEY,
    transactions: Type.Array(closed(BANK_LINE), { maxItems: LIST_ITEMS_MAX }),
  }),
  ledger: closed({
    currency: Type.Optional(CURRENCY),
    opening_balance: MONEY,
    closing_balance: Type.Optional(MONEY),
    entries: Type.Array(ENTRY, { maxItems: LIST_ITEMS_MAX }),
  }),
  client_ledgers: Type.Array(CLIENT_LEDGER, { maxItems: LIST_ITEMS_MAX }),
  prior: Type.Optional(PRIOR),
  adjustments: Type.Optional(Type.Array(ADJUSTMENT, { maxItems: 500 })),
  matches: Type.Optional(
    Type.Array(closed({ bank_ids: ID_LIST, ledger_ids: ID_LIST }), { maxItems: 2000 }),
  ),
  policy: Type.Optional(POLICY),
});

export type IoltaInput = Static<typeof IOLTA_INPUT>;
export type BankLineInput = IoltaInput["bank"]["transactions"][number];
export type EntryInput = IoltaInput["ledger"]["entries"][number];
export type ClientLedgerInput = IoltaInput["client_ledgers"][number];
export type LineInput = Static<typeof LINE>;
export type PriorItemInput = Static<typeof PRIOR>["outstanding"][number];
export type AdjustmentInput = Static<typeof ADJUSTMENT>;
