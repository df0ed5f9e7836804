/**
 * What the JSON Schema cannot say about the input: real dates, ids that are unique and exist, one
 * currency, and sums that stay exact.
 */
import { parseDate } from "../civil-date.ts";
import { ProcessInputError } from "../input-error.ts";
import { ledgerKey } from "./books.ts";
import type { IoltaInput } from "./schema.ts";

/**
 * No sum in the engine counts one amount more than 8 times, so sums stay within ±(2^53 - 1) as
 * long as all amounts together stay within an eighth of it: 11 trillion in cents.
 */
const AMOUNTS_SUM_MAX = 1_125_899_906_842_623;

/** @throws ProcessInputError */
export function checkInput(input: IoltaInput): void {
  checkPeriod(input);
  checkDates(input);
  checkCurrency(input);
  checkIds(input);
  checkReferences(input);
  checkAmounts(input);
}

function checkPeriod({ period }: IoltaInput): void {
  requireDate(period.start, "/period/start");
  requireDate(period.end, "/period/end");
  if (period.start > period.end)
    throw new ProcessInputError("conflicting_input", "/period/end", "is before the period's start");
}

function checkDates(input: IoltaInput): void {
  const { prepared = {}, prior } = input;
  requireDate(prepared.prepared_on, "/prepared/prepared_on");
  requireDate(prepared.reviewed_on, "/prepared/reviewed_on");
  requireDate(prior?.reconciled_on, "/prior/reconciled_on");
  for (const [pointer, record] of datedRecords(input)) {
    requireDate(record.date, `${pointer}/date`);
    requireDate(record.available_on, `${pointer}/available_on`);
    requireDate(record.last_activity, `${pointer}/last_activity`);
    requireDate(record.undisputed_on, `${pointer}/undisputed_on`);
  }
}

interface Dated {
  readonly date?: string;
  readonly available_on?: string;
  readonly last_activity?: string;
  readonly undisputed_on?: string;
}

function* datedRecords(input: IoltaInput): Generator<readonly [string, Dated]> {
  yield* pointed("/bank/transactions", input.bank.transactions);
  yield* pointed("/ledger/entries", input.ledger.entries);
  yield* pointed("/prior/outstanding", input.prior?.outstanding ?? []);
  yield* pointed("/prior/unrecorded", input.prior?.unrecorded ?? []);
  yield* pointed("/adjustments", input.adjustments ?? []);
  for (const [pointer, ledger] of pointed("/client_ledgers", input.client_ledgers)) {
    yield [pointer, ledger];
    yield* pointed(`${pointer}/opening_uncleared`, ledger.opening_uncleared ?? []);
  }
}

/** Each item with its pointer. */
function pointed<T>(pointer: string, items: readonly T[]): (readonly [string, T])[] {
  return items.map((item, index) => [`${pointer}/${index}`, item] as const);
}

function requireDate(text: string | undefined, pointer: string): void {
  if (text !== undefined && parseDate(text) === null)
    throw new ProcessInputError("invalid_date", pointer, `${text} is not a day of the calendar`);
}

function checkCurrency({ account, bank, ledger, client_ledgers: ledgers }: IoltaInput): void {
  const given: (readonly [string, { readonly currency?: string }])[] = [
    ["/bank", bank],
    ["/ledger", ledger],
    ...pointed("/client_ledgers", ledgers),
  ];
  for (const [pointer, { currency }] of given) {
    if (currency === undefined || currency === account.currency) continue;
    const message = `is ${currency}, but the account is in ${account.currency}`;
    throw new ProcessInputError("currency_mismatch", `${pointer}/currency`, message);
  }
}

function checkIds(input: IoltaInput): void {
  requireUnique([
    ...idsOf("/bank/transactions", input.bank.transactions),
    ...idsOf("/prior/unrecorded", input.prior?.unrecorded ?? []),
  ]);
  requireUnique([
    ...idsOf("/ledger/entries", input.ledger.entries),
    ...idsOf("/prior/outstanding", input.prior?.outstanding ?? []),
  ]);
  requireUnique(idsOf("/adjustments", input.adjustments ?? []));
  requireUnique(
    [...pointed("/client_ledgers", input.client_ledgers)].map(
      ([pointer, ledger]) => [`${pointer}/client_id`, ledgerKey(ledger)] as const,
    ),
  );
}

function idsOf(
  pointer: string,
  items: readonly { readonly id: string }[],
): (readonly [string, string])[] {
  return items.map(({ id }, index) => [`${pointer}/${index}/id`, id] as const);
}

function requireUnique(ids: readonly (readonly [string, string])[]): void {
  const seen = new Set<string>();
  for (const [pointer, id] of ids) {
    if (seen.has(id))
      throw new ProcessInputError("duplicate_id", pointer, `${id.trim()} is used twice`);
    seen.add(id);
  }
}

function checkReferences(input: IoltaInput): void {
  const bank = new Set(
    [...input.bank.transactions, ...(input.prior?.unrecorded ?? [])].map(({ id }) => id),
  );
  const book = new Set(
    [...input.ledger.entries, ...(input.prior?.outstanding ?? [])].map(({ id }) => id),
  );
  const matched = new Set<string>();
  for (const [pointer, match] of pointed("/matches", input.matches ?? [])) {
    for (const [at, id] of pointed(`${pointer}/bank_ids`, match.bank_ids))
      requireMatchable(bank, matched, `bank ${id}`, id, at);
    for (const [at, id] of pointed(`${pointer}/ledger_ids`, match.ledger_ids))
      requireMatchable(book, matched, `ledger ${id}`, id, at);
  }
  for (const [pointer, adjustment] of pointed("/adjustments", input.adjustments ?? [])) {
    for (const [at, id] of pointed(`${pointer}/bank_ids`, adjustment.bank_ids ?? []))
      requireKnown(bank, id, at);
  }
}

function requireMatchable(
  known: ReadonlySet<string>,
  matched: Set<string>,
  key: string,
  id: string,
  pointer: string,
): void {
  requireKnown(known, id, pointer);
  if (matched.has(key))
    throw new ProcessInputError("duplicate_id", pointer, `${id} is matched twice`);
  matched.add(key);
}

function requireKnown(known: ReadonlySet<string>, id: string, pointer: string): void {
  if (!known.has(id))
    throw new ProcessInputError("unknown_reference", pointer, `${id.trim()} does not exist`);
}

function checkAmounts(input: IoltaInput): void {
  let sum = 0;
  for (const [pointer, amount] of amountsOf(input)) {
    sum += Math.abs(amount);
    // Each step adds at most 2^53 - 1 to at most an eighth of it: no step itself is inexact enough
    // to come back under the bound.
    if (sum > AMOUNTS_SUM_MAX) {
      const message = `with this one, the amounts add up past ±${AMOUNTS_SUM_MAX}`;
      throw new ProcessInputError("amount_too_large", pointer, message);
    }
  }
}

function* amountsOf(input: IoltaInput): Generator<readonly [string, number]> {
  const { bank, ledger, prior } = input;
  yield ["/bank/opening_balance", bank.opening_balance];
  yield ["/bank/closing_balance", bank.closing_balance];
  yield ["/ledger/opening_balance", ledger.opening_balance];
  if (ledger.closing_balance !== undefined)
    yield ["/ledger/closing_balance", ledger.closing_balance];
  yield* amountsIn("/bank/transactions", bank.transactions);
  yield* amountsIn("/prior/unrecorded", prior?.unrecorded ?? []);
  yield* amountsIn("/adjustments", input.adjustments ?? []);
  for (const [pointer, entry] of [
    ...pointed("/ledger/entries", ledger.entries),
    ...pointed("/prior/outstanding", prior?.outstanding ?? []),
  ]) {
    yield [`${pointer}/amount`, entry.amount];
    yield* amountsIn(`${pointer}/lines`, entry.lines ?? []);
  }
  for (const [pointer, client] of pointed("/client_ledgers", input.client_ledgers)) {
    yield [`${pointer}/opening_balance`, client.opening_balance];
    yield [`${pointer}/opening_cleared`, client.opening_cleared ?? 0];
    yield [`${pointer}/closing_balance`, client.closing_balance ?? 0];
    yield* amountsIn(`${pointer}/opening_uncleared`, client.opening_uncleared ?? []);
  }
}

function* amountsIn(
  pointer: string,
  items: readonly { readonly amount: number }[],
): Generator<readonly [string, number]> {
  for (const [at, { amount }] of pointed(pointer, items)) yield [`${at}/amount`, amount];
}
