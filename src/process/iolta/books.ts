/**
 * The three records, in working order: the bank's lines, the book's items with voided pairs set
 * aside, and the clients' ledgers. Sorted here once, so nothing later can see the input's order.
 */
import { assert } from "../../bytes/assert.ts";
import { parseDate } from "../civil-date.ts";
import { ProcessInputError } from "../input-error.ts";
import { compareDated, compareText, groupBy, sorted, sumOf } from "../order.ts";
import type {
  AdjustmentInput,
  BankLineInput,
  ClientLedgerInput,
  EntryInput,
  IoltaInput,
  LineInput,
  PriorItemInput,
} from "./schema.ts";

export interface BankLine {
  readonly id: string;
  readonly date: string;
  readonly day: number;
  readonly amount: number;
  readonly type: string;
  /** Without leading zeros; null = no check number. */
  readonly checkKey: string | null;
  readonly source: BankLineInput;
  /** From an earlier statement: the book still has nothing for it. */
  readonly carried: boolean;
}

export interface BookItem {
  readonly id: string;
  readonly date: string;
  readonly day: number;
  readonly amount: number;
  /** Null for an item outstanding since an earlier period. */
  readonly kind: EntryInput["kind"] | null;
  readonly checkKey: string | null;
  readonly lines: readonly LineInput[];
  readonly source: Partial<EntryInput> & PriorItemInput;
}

export interface ClientLedger {
  readonly key: string;
  readonly source: ClientLedgerInput;
}

interface Void {
  readonly item: BookItem;
  readonly target: BookItem;
  /** False when the amounts are not exact opposites: then both stay open. */
  readonly cancels: boolean;
}

export interface Books {
  readonly startDay: number;
  readonly endDay: number;
  readonly bankLines: readonly BankLine[];
  /** Outstanding before the period. */
  readonly priorItems: readonly BookItem[];
  /** Entered up to the period's end. */
  readonly entries: readonly BookItem[];
  /** Dated after the period's end: listed, and otherwise left out. */
  readonly afterCutoff: readonly BookItem[];
  readonly voids: readonly Void[];
  /** What has to be matched: prior items and entries without cancelled pairs and transfers. */
  readonly open: readonly BookItem[];
  readonly ledgers: readonly ClientLedger[];
  readonly adjustments: readonly AdjustmentInput[];
  /** @returns the ledger that a line with this client and matter belongs to, or null. */
  findLedger(clientId: string, matterId: string | undefined): ClientLedger | null;
}

/**
 * @throws ProcessInputError for a void that cannot be one, or an adjustment of an unknown client.
 */
export function readBooks(input: IoltaInput): Books {
  const endDay = dayOf(input.period.end);
  const priorItems = sorted((input.prior?.outstanding ?? []).map(priorItem), compareDated);
  const all = sorted(input.ledger.entries.map(bookItem), compareDated);
  const entries = all.filter(({ day }) => day <= endDay);
  const voids = readVoids(input, [...priorItems, ...entries]);
  const cancelled = new Set(
    voids.filter(({ cancels }) => cancels).flatMap(({ item, target }) => [item, target]),
  );
  const ledgers = sorted(
    input.client_ledgers.map((source) => ({ key: ledgerKey(source), source })),
    (a, b) => compareText(a.key, b.key),
  );
  const findLedger = ledgerFinder(ledgers);
  const adjustments = sorted(input.adjustments ?? [], (a, b) => compareText(a.id, b.id));
  for (const { id, client_id: clientId, matter_id: matterId } of adjustments) {
    if (clientId !== undefined && !findLedger(clientId, matterId)) {
      const index = (input.adjustments ?? []).findIndex((given) => given.id === id);
      const pointer = `/adjustments/${index}/client_id`;
      throw new ProcessInputError("unknown_reference", pointer, `${clientId} does not exist`);
    }
  }
  return {
    startDay: dayOf(input.period.start),
    endDay,
    bankLines: sorted(
      [
        ...input.bank.transactions.map((line) => bankLine(line, false)),
        ...(input.prior?.unrecorded ?? []).map((line) => bankLine(line, true)),
      ],
      compareDated,
    ),
    priorItems,
    entries,
    afterCutoff: all.filter(({ day }) => day > endDay),
    voids,
    open: sorted(
      [...priorItems, ...entries].filter((item) => item.amount !== 0 && !cancelled.has(item)),
      compareDated,
    ),
    ledgers,
    adjustments,
    findLedger,
  };
}

/** Ids hold no spaces, so the pair cannot collide with another one. */
export function ledgerKey(of: {
  readonly client_id: string;
  readonly matter_id?: string | undefined;
}): string {
  return `${of.client_id} ${of.matter_id ?? ""}`;
}

/** Amount of the entry that its lines do not give to any client. */
export function unallocatedOf(item: BookItem): number {
  return item.amount - sumOf(item.lines, ({ amount }) => amount);
}

/** @param text a date that `checkInput` has let through. */
export function dayOf(text: string): number {
  const day = parseDate(text);
  assert(day !== null, "dates were checked before");
  return day;
}

function bankLine(source: BankLineInput, carried: boolean): BankLine {
  return {
    id: source.id,
    date: source.date,
    day: dayOf(source.date),
    amount: source.amount,
    type: source.type ?? "other",
    checkKey: checkKeyOf(source.check_number),
    source,
    carried,
  };
}

function bookItem(source: EntryInput): BookItem {
  return { ...itemOf(source), kind: source.kind, source };
}

function priorItem(source: PriorItemInput): BookItem {
  return { ...itemOf(source), kind: null, source };
}

function itemOf(source: PriorItemInput): Omit<BookItem, "kind" | "source"> {
  return {
    id: source.id,
    date: source.date,
    day: dayOf(source.date),
    amount: source.amount,
    checkKey: checkKeyOf(source.check_number),
    lines: source.lines ?? [],
  };
}

function checkKeyOf(checkNumber: string | undefined): string | null {
  return checkNumber === undefined ? null : checkNumber.replace(/^0+(?=[0-9])/, "");
}

/**
 * A line that names its matter belongs to that matter's ledger, or to the client's only ledger if
 * that one names no matter; a line without a matter belongs to the client's only ledger.
 */
function ledgerFinder(ledgers: readonly ClientLedger[]): Books["findLedger"] {
  const byKey = new Map(ledgers.map((ledger) => [ledger.key, ledger]));
  const byClient = groupBy(ledgers, ({ source }) => source.client_id);
  return (clientId, matterId) => {
    const exact = byKey.get(ledgerKey({ client_id: clientId, matter_id: matterId }));
    if (exact) return exact;
    const [only, other] = byClient.get(clientId) ?? [];
    if (!only || other) return null;
    return matterId === undefined || only.source.matter_id === undefined ? only : null;
  };
}

function readVoids(input: IoltaInput, items: readonly BookItem[]): Void[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const targets = new Set<string>();
  const voids: Void[] = [];
  for (const [index, source] of input.ledger.entries.entries()) {
    const pointer = `/ledger/entries/${index}/void_of`;
    const targetId = source.void_of;
    if (targetId === undefined) {
      if (source.kind === "void")
        refuse("conflicting_input", pointer, "a void names what it voids");
      continue;
    }
    const item = byId.get(source.id);
    if (!item) continue;
    const target = byId.get(targetId);
    if (!target || target === item)
      refuse("unknown_reference", pointer, `${targetId} is nothing that this entry could void`);
    if (targets.has(targetId)) refuse("duplicate_id", pointer, `${targetId} is voided twice`);
    targets.add(targetId);
    voids.push({ item, target, cancels: item.amount === -target.amount });
  }
  return sorted(voids, (a, b) => compareDated(a.item, b.item));
}

function refuse(
  code: "conflicting_input" | "unknown_reference" | "duplicate_id",
  pointer: string,
  message: string,
): never {
  throw new ProcessInputError(code, pointer, message);
}
