/**
 * Exceptions of the records themselves: arithmetic, cut-off, numbering, completeness, matching.
 */
import { ascii } from "../ascii.ts";
import { compareText, groupBy, sumOf } from "../order.ts";
import { type BankLine, type BookItem, type Books, dayOf, unallocatedOf } from "./books.ts";
import type { ClientBook } from "./clients.ts";
import { type Exception, exception, type Severity } from "./exceptions.ts";
import type { Analysis } from "./figures.ts";
import type { Matching } from "./match.ts";
import { CHECK_GAP_MAX, type Policy } from "./policy.ts";
import type { IoltaInput } from "./schema.ts";
import type { Unrecorded } from "./unrecorded.ts";

export function footingFindings(
  input: IoltaInput,
  analysis: Analysis,
  bookClosing: number,
): Exception[] {
  const { closing_balance: given } = input.ledger;
  return [
    ...(analysis.bankFooting === 0
      ? []
      : [exception("BANK_STATEMENT_OUT_OF_BALANCE", [], { amount: analysis.bankFooting })]),
    ...(analysis.rollForwardBreak === 0
      ? []
      : [exception("ROLL_FORWARD_BREAK", [], { amount: analysis.rollForwardBreak })]),
    ...(given === undefined || given === bookClosing
      ? []
      : [exception("LEDGER_FOOTING_ERROR", [], { amount: given - bookClosing })]),
  ];
}

export function bankFindings(
  books: Books,
  matching: Matching,
  unrecorded: readonly Unrecorded[],
  interestSeverity: Severity,
): Exception[] {
  const own = books.bankLines.filter(({ carried }) => !carried);
  const open = new Set(matching.unmatchedBank);
  return [
    ...own
      .filter(({ day }) => day < books.startDay || day > books.endDay)
      .map((line) => exception("BANK_LINE_OUTSIDE_PERIOD", [line.id], { amount: line.amount })),
    ...own
      .filter((line) => line.type === "overdraft_fee" && !open.has(line))
      .map((line) => exception("OVERDRAFT_FEE", [line.id], { amount: line.amount })),
    ...unrecorded
      .filter(({ adjustmentIds }) => adjustmentIds.length === 0)
      .map((one) => unrecordedFinding(one, interestSeverity)),
    ...[...groupBy(books.bankLines, sameBankLine).values()]
      .filter((lines) => lines.length > 1 && lines.some((line) => open.has(line)))
      .map((lines) => exception("DUPLICATE_BANK_LINE", idsOf(lines), amountOf(lines))),
  ];
}

function unrecordedFinding(
  { line, class: code, returned }: Unrecorded,
  interestSeverity: Severity,
): Exception {
  const refs = returned ? [line.id, ...idsOf([returned.line, ...returned.items])] : [line.id];
  const isInterest =
    code === "INTEREST_NOT_RECORDED" || code === "INTEREST_REMITTANCE_NOT_RECORDED";
  return exception(code, refs, {
    amount: line.amount,
    ...(isInterest ? { severity: interestSeverity } : {}),
  });
}

function sameBankLine({ date, amount, checkKey, source }: BankLine): string {
  return [date, amount, checkKey ?? "", source.reference ?? ""].join(" ");
}

/** Interest that was passed on, or is set aside to be, concerns nobody's balance. */
export function interestSeverityOf(unrecorded: readonly Unrecorded[], books: Books): Severity {
  const lines = unrecorded.filter(({ class: code }) => code.startsWith("INTEREST_"));
  const setAside = books.adjustments.filter(
    ({ side, kind }) => side === "bank" && kind === "interest_payable_to_foundation",
  );
  const net = sumOf(lines, ({ line }) => line.amount) + sumOf(setAside, ({ amount }) => amount);
  return net === 0 ? "info" : "error";
}

export function matchFindings(matching: Matching): Exception[] {
  return [
    ...matching.unequalForced.map(({ bankIds, ledgerIds, difference }) =>
      exception("FORCED_MATCH_UNEQUAL", [...bankIds, ...ledgerIds], { amount: difference }),
    ),
    ...matching.ambiguities.map(({ line, taken, others }) =>
      exception("AMBIGUOUS_MATCH", idsOf([line, taken, ...others]), { amount: line.amount }),
    ),
    ...matching.matches.flatMap(({ rule, bank, book, mismatch }) => {
      const refs = idsOf([...bank, ...book]);
      if (rule === "deposit_sum" || rule === "bank_split")
        return [exception("INFERRED_BATCH", refs, amountOf(bank.length > 1 ? book : bank))];
      if (mismatch === 0) return [];
      const detail = transposed(bank[0]?.amount ?? 0, book[0]?.amount ?? 0)
        ? { detail: "adjacent digits transposed" }
        : {};
      return [exception("CHECK_AMOUNT_MISMATCH", refs, { amount: mismatch, ...detail })];
    }),
  ];
}

/** Whether swapping two neighbouring digits of one amount gives the other. */
export function transposed(a: number, b: number): boolean {
  const [x, y] = [String(Math.abs(a)), String(Math.abs(b))];
  if (x.length !== y.length) return false;
  const at = [...x].findIndex((digit, index) => digit !== y[index]);
  if (at === -1) return false;
  const swapped = x.slice(0, at) + x.slice(at + 1, at + 2) + x.slice(at, at + 1) + x.slice(at + 2);
  return swapped === y;
}

export function ledgerFindings(
  input: IoltaInput,
  books: Books,
  clients: ClientBook,
  policy: Policy,
): Exception[] {
  return [
    ...books.afterCutoff.map(({ id, amount }) =>
      exception("LEDGER_ENTRY_AFTER_CUTOFF", [id], { amount }),
    ),
    ...books.voids
      .filter(({ cancels }) => !cancels)
      .map(({ item, target }) =>
        exception("VOID_AMOUNT_MISMATCH", idsOf([item, target]), {
          amount: item.amount + target.amount,
        }),
      ),
    ...(clients.activityGiven ? allocationFindings(books, clients) : []),
    ...books.entries.flatMap((item) => entryFindings(item, policy)),
    ...duplicateChecks(books),
    ...checkGaps(books),
    ...latePreparation(input, books, policy),
  ];
}

function allocationFindings(books: Books, { unknownLines }: ClientBook): Exception[] {
  return [
    ...books.entries
      .filter((item) => unallocatedOf(item) !== 0)
      .map((item) =>
        exception("LEDGER_ENTRY_UNALLOCATED", [item.id], { amount: unallocatedOf(item) }),
      ),
    ...unknownLines.map(({ item, line }) =>
      exception("LINE_TO_UNKNOWN_CLIENT_LEDGER", [item.id, line.client_id], {
        amount: line.amount,
        client_id: line.client_id,
        matter_id: line.matter_id,
      }),
    ),
  ];
}

/** Payees that make a check payable to whoever holds it. */
const NOBODY: ReadonlySet<string> = new Set(["bearer", "cash", "petty cash"]);

function entryFindings(item: BookItem, policy: Policy): Exception[] {
  const { kind, amount, source } = item;
  const found: Exception[] = [];
  const payee = ascii.trim(ascii.lower(source.payee ?? ""));
  if (kind === "disbursement" && (source.instrument === "cash" || NOBODY.has(payee)))
    found.push(exception("CASH_OR_BEARER_DISBURSEMENT", [item.id], { amount }));
  if (kind === "transfer" && ascii.trim(source.authorised_by ?? "") === "")
    found.push(exception("TRANSFER_WITHOUT_AUTHORITY", [item.id], { amount }));
  const missing = policy.requiredEntryFields.filter((field) => lacks(item, field));
  if (missing.length > 0)
    found.push(exception("ENTRY_INCOMPLETE", [item.id], { detail: missing.join(",") }));
  return found;
}

function lacks({ kind, source, lines }: BookItem, field: string): boolean {
  const blank = (text: string | undefined): boolean => ascii.trim(text ?? "") === "";
  if (field === "purpose") return blank(source.purpose);
  if (field === "payee") return kind === "disbursement" && blank(source.payee);
  if (field === "payor") return kind === "receipt" && blank(source.payor);
  if (field === "matter_id") return lines.some(({ matter_id: matterId }) => blank(matterId));
  // Only a disbursement by check has a number to give.
  return kind === "disbursement" && source.instrument === "check" && blank(source.check_number);
}

function duplicateChecks(books: Books): Exception[] {
  const written = books.open.filter(isCheck);
  const paid = books.bankLines.filter(isCheck);
  // The same line twice is a repeated line, not a check paid twice.
  const distinctPaid = [...groupBy(paid, sameBankLine).values()].flatMap(([first]) => first ?? []);
  return [written, distinctPaid].flatMap((items) =>
    [...groupBy<BankLine | BookItem, string>(items, ({ checkKey }) => checkKey ?? "")]
      .filter(([, group]) => group.length > 1)
      .map(([checkKey, group]) =>
        exception("DUPLICATE_CHECK_NUMBER", idsOf(group), { detail: checkKey }),
      ),
  );
}

function isCheck({ checkKey, amount }: BankLine | BookItem): boolean {
  return checkKey !== null && amount < 0;
}

/** Numbers between two checks of the period that neither book nor bank has ever shown. */
function checkGaps(books: Books): Exception[] {
  const numberOf = ({ checkKey }: { readonly checkKey: string | null }): number => Number(checkKey);
  const written = books.entries
    .filter((item) => isCheck(item))
    .sort((a, b) => numberOf(a) - numberOf(b) || compareText(a.id, b.id));
  const known = new Set([...books.priorItems, ...books.bankLines].filter(isCheck).map(numberOf));
  return written.flatMap((item, index) => {
    const previous = written[index - 1];
    if (!previous || numberOf(item) - numberOf(previous) > CHECK_GAP_MAX) return [];
    let missing = 0;
    for (let n = numberOf(previous) + 1; n < numberOf(item); n += 1)
      if (!known.has(n)) missing += 1;
    if (missing === 0) return [];
    const detail = `${missing} between ${previous.checkKey} and ${item.checkKey}`;
    return [exception("CHECK_SEQUENCE_GAP", idsOf([previous, item]), { detail })];
  });
}

function latePreparation(input: IoltaInput, books: Books, policy: Policy): Exception[] {
  const deadline = policy.preparationDeadlineDays;
  const preparedOn = input.prepared?.prepared_on;
  if (deadline === null || preparedOn === undefined) return [];
  const days = dayOf(preparedOn) - books.endDay;
  return days > deadline ? [exception("LATE_PREPARATION", [], { detail: `${days} days` })] : [];
}

function idsOf(items: readonly { readonly id: string }[]): string[] {
  return items.map(({ id }) => id);
}

function amountOf(items: readonly { readonly amount: number }[]): { amount: number } {
  return { amount: items[0]?.amount ?? 0 };
}
