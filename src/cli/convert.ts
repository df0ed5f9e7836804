/** `svc convert`: a bank's file as the bank side of `iolta-reconcile`. */
import { Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { CsvMapping } from "../convert/bank-csv.ts";
import type { OfxStatement } from "../convert/bank-ofx.ts";
import { ConvertError } from "../convert/convert-error.ts";
import { decodeText } from "../convert/decode.ts";
import { decimalsOf, parseMoney } from "../convert/money.ts";
import type { BankLineInput } from "../process/iolta/schema.ts";
import { CliError, EXIT_USAGE } from "./cli-error.ts";
import { readBytes, readJson } from "./files.ts";
import { type CliIo, print, printJson } from "./io.ts";
import { examples } from "./settings.ts";

/** What a bank's file says, as far as it says it. */
interface BankSide {
  readonly format: "csv" | "ofx";
  readonly source_sha256: string;
  readonly currency: string;
  readonly number_last4?: string;
  readonly period?: { readonly start: string; readonly end: string };
  readonly bank: {
    readonly opening_balance?: number;
    readonly closing_balance?: number;
    readonly transactions: readonly BankLineInput[];
  };
}

interface Options extends Omit<Partial<CsvMapping>, "dateFormat"> {
  readonly into?: string;
  readonly account?: string;
  readonly currency: string;
  readonly opening?: string;
  readonly closing?: string;
  readonly dateFormat: CsvMapping["dateFormat"];
  readonly decimalMark: NonNullable<CsvMapping["decimalMark"]>;
  readonly json?: true;
}

export function convertCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("convert")
    .description("turn a bank's CSV, OFX or QFX file into bank lines of iolta-reconcile")
    .argument("<FILE>", "the bank's file, or - for standard input; OFX is told by its content")
    .option(
      "--into <MONTH.json>",
      "print this input of iolta-reconcile with its bank side replaced",
    )
    .option("--account <LAST4>", "OFX: which account, where the file holds several")
    .option("--currency <CODE>", "CSV: the currency of the amounts", "USD")
    .option("--opening <AMOUNT>", "CSV: the statement's opening balance")
    .option("--closing <AMOUNT>", "CSV: the statement's closing balance")
    .option("--date <COLUMN>", "CSV: the column of the date")
    .addOption(
      new Option("--date-format <FORM>", "CSV: how dates are written")
        .choices(["YYYY-MM-DD", "MM/DD/YYYY", "DD/MM/YYYY", "YYYYMMDD", "DD.MM.YYYY"] as const)
        .default("YYYY-MM-DD" as const),
    )
    .option("--amount <COLUMN>", "CSV: one signed column, or")
    .option("--credit <COLUMN>", "CSV: what came in, and")
    .option("--debit <COLUMN>", "CSV: what went out")
    .option("--description <COLUMN>", "CSV")
    .option("--check-number <COLUMN>", "CSV")
    .option("--reference <COLUMN>", "CSV: wire or ACH trace")
    .addOption(
      new Option("--decimal-mark <MARK>", "CSV").choices([".", ","] as const).default("." as const),
    )
    .option("--json", "print one line instead of indented JSON");
  command.addHelpText(
    "after",
    `${examples(
      "svc convert june.qfx",
      "svc convert june.qfx --into books.json > june.json",
      "svc convert june.csv --date Posted --date-format MM/DD/YYYY --amount Amount \\",
      "  --opening 13,735.00 --closing 31,496.00 --into books.json > june.json",
      "svc process iolta-reconcile june.json",
    )}\n\nNothing is rounded or skipped: a line that cannot be read is named, and ends it.`,
  );
  command.action(async (path, options) => {
    const bytes = await readBytes(io, path);
    const side = await (isOfx(bytes) ? ofxSide : csvSide)(bytes, options);
    const result = options.into === undefined ? side : await inserted(io, side, options.into);
    if (options.json) printJson(io, result);
    else print(io, JSON.stringify(result, null, 2));
  });
  return command;
}

/** The header of OFX 1.x, or the root element of 2.x. */
function isOfx(bytes: Uint8Array): boolean {
  return /^\s*OFXHEADER\s*:|<OFX>/i.test(decodeText(bytes.subarray(0, 4096)));
}

async function ofxSide(bytes: Uint8Array, { account }: Options): Promise<BankSide> {
  // Read only by those who convert.
  const { bankStatementsFromOfx } = await import("../convert/bank-ofx.ts");
  const statement = chosen(bankStatementsFromOfx(bytes), account);
  const { currency, numberLast4, period, sourceSha256, transactions } = statement;
  return {
    format: "ofx",
    source_sha256: sourceSha256,
    currency,
    ...(numberLast4 === null ? {} : { number_last4: numberLast4 }),
    period,
    bank: {
      opening_balance: statement.openingBalance,
      closing_balance: statement.closingBalance,
      transactions,
    },
  };
}

function chosen(statements: readonly OfxStatement[], account: string | undefined): OfxStatement {
  const fits = statements.filter(
    ({ numberLast4 }) => account === undefined || numberLast4 === account,
  );
  const [statement] = fits;
  if (statement !== undefined && fits.length === 1) return statement;
  const accounts = statements.map(({ numberLast4 }) => numberLast4 ?? "without a number");
  throw usage(
    `the file holds ${statements.length} accounts: ${accounts.join(", ")}`,
    "choose one with --account",
  );
}

async function csvSide(bytes: Uint8Array, options: Options): Promise<BankSide> {
  const { bankLinesFromCsv } = await import("../convert/bank-csv.ts");
  const { date, currency, opening, closing } = options;
  if (date === undefined)
    throw usage("a CSV file needs --date, and --amount or --credit and --debit", "see --help");
  const { transactions, sourceSha256 } = bankLinesFromCsv(bytes, currency, { ...options, date });
  return {
    format: "csv",
    source_sha256: sourceSha256,
    currency,
    bank: {
      ...(opening === undefined ? {} : { opening_balance: amountFrom(opening, options) }),
      ...(closing === undefined ? {} : { closing_balance: amountFrom(closing, options) }),
      transactions,
    },
  };
}

function amountFrom(text: string, { currency, decimalMark }: Options): number {
  const amount = parseMoney(text, decimalsOf(currency), decimalMark);
  if (amount !== null) return amount;
  throw new ConvertError("amount_unreadable", null, `"${text}" is no amount in ${currency}`);
}

/** The month with the bank's word for what happened at the bank. */
async function inserted(io: CliIo, side: BankSide, path: string): Promise<object> {
  const month = await readJson(io, path);
  if (typeof month !== "object" || month === null || Array.isArray(month))
    throw usage(`${path} is no input of iolta-reconcile`, "it must be a JSON object");
  const { opening_balance: opening, closing_balance: closing } = side.bank;
  if (opening === undefined || closing === undefined)
    throw usage("a CSV file does not say its balances", "give --opening and --closing");
  const { account } = month as { readonly account?: { readonly currency?: unknown } };
  if (account?.currency !== undefined && account.currency !== side.currency)
    throw usage(
      `the bank's file is in ${side.currency}, ${path} in ${String(account.currency)}`,
      "one account and one currency in each reconciliation",
    );
  return { ...month, bank: side.bank };
}

function usage(message: string, hint: string): CliError {
  return new CliError(message, { code: "usage", hint, exitCode: EXIT_USAGE });
}
