/** Exceptions about whose money it is, and about items that stay open too long. */
import type { BookItem, Books } from "./books.ts";
import { dayOf } from "./books.ts";
import type { ClientBook, ClientFigures } from "./clients.ts";
import { type Exception, type ExceptionCode, exception } from "./exceptions.ts";
import type { Policy } from "./policy.ts";
import type { Projection } from "./unrecorded.ts";

export function clientFindings(
  books: Books,
  clients: ClientBook,
  projections: readonly Projection[],
  policy: Policy,
): Exception[] {
  const found = clients.figures.flatMap((figures) => [
    ...negativeBalance(figures),
    ...(clients.activityGiven ? unclearedFunds(figures) : []),
    ...figures.overReplenished.map(({ itemIds, excess }) =>
      about(figures, "SHORTAGE_REPLENISHED_OVER", itemIds, { amount: excess }),
    ),
    ...footing(figures),
    ...heldFunds(figures, books, policy),
  ]);
  return [
    ...found,
    ...feesOnClients(books),
    ...projections
      .filter(({ projected, figures }) => projected < 0 && figures.closing >= 0)
      .map(({ projected, figures, bankIds }) =>
        about(figures, "PROJECTED_CLIENT_NEGATIVE", bankIds, { amount: projected }),
      ),
  ];
}

/** The client comes first in `refs`; the ids of what caused it follow. */
function about(
  { ledger }: ClientFigures,
  code: ExceptionCode,
  refs: readonly string[],
  facts: { readonly amount?: number; readonly detail?: string },
): Exception {
  const { client_id: clientId, matter_id: matterId } = ledger.source;
  return exception(code, [clientId, ...refs], {
    ...facts,
    client_id: clientId,
    matter_id: matterId,
  });
}

function negativeBalance(figures: ClientFigures): Exception[] {
  const { closing, lowest } = figures;
  if (closing < 0) return [about(figures, "CLIENT_BALANCE_NEGATIVE", [], { amount: closing })];
  if (!lowest) return [];
  const refs = lowest.itemId === null ? [] : [lowest.itemId];
  return [about(figures, "CLIENT_BALANCE_NEGATIVE_INTRAPERIOD", refs, { amount: lowest.amount })];
}

function unclearedFunds(figures: ClientFigures): Exception[] {
  const { lowestCleared } = figures;
  if (!lowestCleared) return [];
  const refs = lowestCleared.itemId === null ? [] : [lowestCleared.itemId];
  return [
    about(figures, "DISBURSED_AGAINST_UNCLEARED_FUNDS", refs, { amount: lowestCleared.amount }),
  ];
}

function footing(figures: ClientFigures): Exception[] {
  const { closing_balance: given } = figures.ledger.source;
  const computed = figures.closing - figures.adjustments;
  if (given === undefined || given === computed) return [];
  return [about(figures, "CLIENT_LEDGER_FOOTING_ERROR", [], { amount: given - computed })];
}

function heldFunds(figures: ClientFigures, { endDay }: Books, policy: Policy): Exception[] {
  const { closing, lastActivityDay, ledger } = figures;
  const { class: kind, undisputed_on: undisputedOn } = ledger.source;
  const found: Exception[] = [];
  const idleDays = lastActivityDay === null ? 0 : endDay - lastActivityDay;
  const facts = { amount: closing };
  if (closing !== 0 && idleDays > policy.dormantDays)
    found.push(about(figures, "DORMANT_BALANCE", [], { ...facts, detail: `${idleDays} days` }));
  if (kind === "unidentified" && closing !== 0)
    found.push(about(figures, "UNIDENTIFIED_FUNDS_HELD", [], facts));
  const limit = policy.firmFundsLimit;
  if (kind === "firm" && limit !== null && closing > limit)
    found.push(about(figures, "FIRM_FUNDS_OVER_LIMIT", [], { amount: closing - limit }));
  const heldDays = undisputedOn === undefined ? 0 : endDay - dayOf(undisputedOn);
  if (closing > 0 && heldDays > policy.holdDays)
    found.push(about(figures, "HELD_OVER_45_DAYS", [], { ...facts, detail: `${heldDays} days` }));
  return found;
}

function feesOnClients(books: Books): Exception[] {
  const fees = books.entries.filter(({ kind }) => kind === "bank_fee");
  return fees.flatMap(({ id, lines }) =>
    lines.flatMap(({ client_id: clientId, matter_id: matterId, amount }) => {
      const ledger = books.findLedger(clientId, matterId);
      if (!ledger || ledger.source.class === "firm") return [];
      const facts = { amount, client_id: clientId, matter_id: ledger.source.matter_id };
      return [exception("BANK_FEE_CHARGED_TO_CLIENT", [clientId, id], facts)];
    }),
  );
}

/** Items that the bank should have seen by now. */
export function ageFindings(
  outstanding: readonly BookItem[],
  { endDay }: Books,
  policy: Policy,
): Exception[] {
  return outstanding.flatMap((item) => {
    const { id, amount, day } = item;
    const ageDays = endDay - day;
    const facts = { amount, detail: `${ageDays} days` };
    if (amount > 0)
      return ageDays > policy.agedDepositDays
        ? [exception("AGED_DEPOSIT_IN_TRANSIT", [id], facts)]
        : [];
    if (!mayBeCheck(item)) return [];
    if (ageDays > policy.staleCheckDays) return [exception("STALE_CHECK", [id], facts)];
    return ageDays > policy.agedCheckDays ? [exception("AGED_CHECK", [id], facts)] : [];
  });
}

/** A wire or transfer has a reference or says what it is; anything else may lie in a drawer. */
function mayBeCheck({ checkKey, source }: BookItem): boolean {
  if (checkKey !== null) return true;
  return source.reference === undefined && (source.instrument ?? "check") === "check";
}
