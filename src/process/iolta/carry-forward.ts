/**
 * What next month's reconciliation starts from, in the shape of its input. Everything that is
 * still open goes along: items that the bank has not seen, and bank lines that the book has not
 * seen.
 */
import { formatDate } from "../civil-date.ts";
import { sumOf } from "../order.ts";
import type { BookItem } from "./books.ts";
import type { ClientFigures } from "./clients.ts";
import type { Figures } from "./figures.ts";
import type { Matching } from "./match.ts";
import type { Match } from "./match-pool.ts";
import type { BankLineInput, ClientLedgerInput, IoltaInput, PriorItemInput } from "./schema.ts";
import type { Unrecorded } from "./unrecorded.ts";

/** As the input schema allows. */
const ID_LENGTH_MAX = 128;

export type CarryForward = {
  readonly bank_opening_balance: number;
  readonly ledger_opening_balance: number;
  readonly client_ledgers: readonly ClientLedgerInput[];
  readonly prior: {
    readonly reconciled_on: string;
    readonly outstanding: readonly PriorItemInput[];
    readonly unrecorded: readonly BankLineInput[];
  };
};

export function carryForward(
  input: IoltaInput,
  matching: Matching,
  clients: readonly ClientFigures[],
  unrecorded: readonly Unrecorded[],
  figures: Figures,
): CarryForward {
  return {
    bank_opening_balance: figures.statementClosing,
    ledger_opening_balance: figures.bookClosing,
    client_ledgers: clients.map(nextLedger),
    prior: {
      reconciled_on: input.period.end,
      outstanding: matching.unmatchedBook.map(nextItem),
      unrecorded: [...nextLines(unrecorded), ...matching.matches.flatMap(nextMismatch)].map(
        (line) => ({ ...line, id: carriedId(line.id, input.period.end) }),
      ),
    },
  };
}

function nextLedger({ ledger, closing, adjustments, lastActivityDay, uncleared }: ClientFigures) {
  const { source } = ledger;
  return {
    client_id: source.client_id,
    ...(source.matter_id === undefined ? {} : { matter_id: source.matter_id }),
    name: source.name,
    class: source.class,
    // An adjustment explains this month only; the entry that settles it belongs to the next.
    opening_balance: closing - adjustments,
    ...(uncleared.length === 0 ? {} : { opening_uncleared: [...uncleared] }),
    ...(lastActivityDay === null ? {} : { last_activity: formatDate(lastActivityDay) }),
    ...(source.undisputed_on === undefined ? {} : { undisputed_on: source.undisputed_on }),
  };
}

function nextItem({ source, amount, lines }: BookItem): PriorItemInput {
  const { id, date, check_number, reference, deposit_id, instrument, payee, available_on } = source;
  const collects = amount > 0;
  return {
    id,
    date,
    amount,
    ...(check_number === undefined ? {} : { check_number }),
    ...(reference === undefined ? {} : { reference }),
    ...(deposit_id === undefined ? {} : { deposit_id }),
    ...(payee === undefined ? {} : { payee }),
    // The rest is what the test of collected funds needs, and only deposits have something to
    // collect; of a disbursement, the instrument says whether it can go stale.
    ...(instrument === undefined ? {} : { instrument }),
    ...(collects && available_on !== undefined ? { available_on } : {}),
    ...(collects && lines.length > 0 ? { lines: [...lines] } : {}),
  };
}

/** Interest that was passed on in full needs no entry, ever. */
function nextLines(unrecorded: readonly Unrecorded[]): BankLineInput[] {
  const isInterest = ({ class: code }: Unrecorded): boolean => code.startsWith("INTEREST_");
  const net = sumOf(unrecorded.filter(isInterest), ({ line }) => line.amount);
  return unrecorded.filter((one) => net !== 0 || !isInterest(one)).map(({ line }) => line.source);
}

/** The book still owes the difference of a check that cleared at another amount. */
function nextMismatch({ bank, mismatch }: Match): BankLineInput[] {
  const [line] = bank;
  if (!line || mismatch === 0) return [];
  return [{ id: line.id, date: line.date, amount: mismatch, type: "correction" }];
}

/** Banks number their lines anew each month, so a carried line says which statement it is from. */
function carriedId(id: string, statementEnd: string): string {
  const suffix = `@${statementEnd}`;
  return id.includes("@") || id.length + suffix.length > ID_LENGTH_MAX ? id : id + suffix;
}
