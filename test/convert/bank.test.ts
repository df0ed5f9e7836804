/** Bank files as reconciliation input. The OFX samples follow the forms of the OFX 1.6 and 2.2 specs. */
import { describe, expect, test } from "bun:test";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { bankLinesFromCsv, type CsvMapping } from "../../src/convert/bank-csv.ts";
import { bankStatementsFromOfx } from "../../src/convert/bank-ofx.ts";
import { ConvertError } from "../../src/convert/convert-error.ts";
import { ioltaReport } from "../../src/convert/iolta-report.ts";
import { parseMoney, printMoney } from "../../src/convert/money.ts";
import { runProcess } from "../../src/process/definition.ts";
import { ioltaReconcile } from "../../src/process/iolta/process.ts";
import month from "../vectors/iolta/v2-month.json";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ConvertError) return `${error.code} ${error.line}`;
    throw error;
  }
  return "accepted";
}

describe("amounts", () => {
  const cases: readonly (readonly [string, number | null, ("." | ",")?, number?])[] = [
    ["1,234.56", 123_456],
    ["-1234.5", -123_450],
    ["(1,234.56)", -123_456],
    ["1234.5-", -123_450],
    ["$5", 500],
    ["+0.07", 7],
    ["-0.00", 0],
    [".5", 50],
    ["1.234,56", 123_456, ","],
    ["1'234.56", 123_456],
    ["500", 500, ".", 0],
    ["0.125", 125, ".", 3],
    ["0.125", null],
    ["1,23", null],
    ["12,34.56", null],
    ["1.2.3", null],
    ["(-5)", null],
    ["", null],
    ["-", null],
    ["five", null],
    ["99999999999999.99", null],
    ["90071992547409.91", 9_007_199_254_740_991],
  ];
  for (const [text, amount, mark = ".", decimals = 2] of cases) {
    test(`${text} with ${decimals} decimals`, () => {
      expect(parseMoney(text, decimals, mark)).toBe(amount);
    });
  }

  test("are printed with groups", () => {
    expect([123_456_789, -5, 0].map((amount) => printMoney(amount, 2))).toEqual([
      "1,234,567.89",
      "-0.05",
      "0.00",
    ]);
    expect(printMoney(-1_234_567, 0)).toBe("-1,234,567");
  });
});

const CSV = [
  "Date,Description,Check #,Debit,Credit",
  '06/02/2026,"Deposit, batch",,,"7,500.00"',
  "06/03/2026,Check,1019,3250.00,",
  "06/30/2026,Interest,,,33.17",
  "",
].join("\n");

const MAPPING: CsvMapping = {
  date: "Date",
  dateFormat: "MM/DD/YYYY",
  credit: "Credit",
  debit: "Debit",
  description: "Description",
  checkNumber: "Check #",
};

describe("CSV", () => {
  test("becomes bank lines", () => {
    const { transactions, sourceSha256 } = bankLinesFromCsv(bytes(CSV), "USD", MAPPING);
    expect(transactions).toEqual([
      { id: "B00001", date: "2026-06-02", amount: 750_000, description: "Deposit, batch" },
      {
        id: "B00002",
        date: "2026-06-03",
        amount: -325_000,
        check_number: "1019",
        description: "Check",
      },
      { id: "B00003", date: "2026-06-30", amount: 3317, description: "Interest" },
    ]);
    expect(sourceSha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test("of another bank and country", () => {
    const text = "\ufeffBuchung;Betrag;Ref\r\n31.12.2026;-1.234,50;X-1\r\n";
    const mapping: CsvMapping = {
      date: "Buchung",
      dateFormat: "DD.MM.YYYY",
      amount: "Betrag",
      reference: "Ref",
      decimalMark: ",",
    };
    expect(bankLinesFromCsv(bytes(text), "EUR", mapping).transactions).toEqual([
      { id: "B00001", date: "2026-12-31", amount: -123_450, reference: "X-1" },
    ]);
  });

  const cases: readonly (readonly [string, string, CsvMapping, string])[] = [
    [
      "a date of another form",
      CSV.replace("06/03/2026", "2026-06-03"),
      MAPPING,
      "date_unreadable 3",
    ],
    ["a day that is none", CSV.replace("06/03/2026", "02/30/2026"), MAPPING, "date_unreadable 3"],
    ["an amount that is none", CSV.replace("33.17", "33.175"), MAPPING, "amount_unreadable 4"],
    ["neither credit nor debit", CSV.replace("33.17", ""), MAPPING, "amount_unreadable 4"],
    ["a column that is not there", CSV, { ...MAPPING, debit: "Out" }, "column_missing 1"],
    [
      "no amount column",
      CSV,
      { date: "Date", dateFormat: "MM/DD/YYYY", credit: "Credit" },
      "column_missing null",
    ],
    ["a line with more cells", CSV.replace("33.17", "33.17,x"), MAPPING, "file_unreadable 4"],
    ["nothing wrong", CSV, MAPPING, "accepted"],
  ];
  for (const [name, text, mapping, expected] of cases) {
    test(name, () => {
      expect(refusal(() => bankLinesFromCsv(bytes(text), "USD", mapping))).toBe(expected);
    });
  }
});

const SGML = `OFXHEADER:100
DATA:OFXSGML
VERSION:102
SECURITY:NONE
ENCODING:USASCII
CHARSET:1252
COMPRESSION:NONE
OLDFILEUID:NONE
NEWFILEUID:NONE

<OFX>
<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS><DTSERVER>20260701<LANGUAGE>ENG</SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS>
<STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>1<ACCTID>000123456<ACCTTYPE>CHECKING</BANKACCTFROM>
<BANKTRANLIST><DTSTART>20260601<DTEND>20260630120000[-5:EST]
<STMTTRN><TRNTYPE>DEP<DTPOSTED>20260602120000<TRNAMT>7500.00<FITID>A1<NAME>DEPOSIT</STMTTRN>
<STMTTRN><TRNTYPE>CHECK<DTPOSTED>20260603<TRNAMT>-3250.000<FITID>A2<CHECKNUM>1019</STMTTRN>
<STMTTRN><TRNTYPE>SRVCHG<DTPOSTED>20260630<TRNAMT>-25<FITID>A3<MEMO>FEE &amp; TAX</STMTTRN>
</BANKTRANLIST>
<LEDGERBAL><BALAMT>17960.00<DTASOF>20260630</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1>
</OFX>`;

const XML = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?OFX OFXHEADER="200" VERSION="220" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR</CURDEF>
<BANKACCTFROM><ACCTID>DE1</ACCTID></BANKACCTFROM>
<BANKTRANLIST><DTSTART>20260601</DTSTART><DTEND>20260630</DTEND>
<STMTTRN><TRNTYPE>XFER</TRNTYPE><DTPOSTED>20260615</DTPOSTED><TRNAMT>-12,5</TRNAMT><FITID>1</FITID></STMTTRN>
</BANKTRANLIST><LEDGERBAL><BALAMT>100,00</BALAMT></LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>`;

describe("OFX", () => {
  test("of version 1 becomes the bank's side of a month", () => {
    expect(bankStatementsFromOfx(bytes(SGML))).toMatchObject([
      {
        currency: "USD",
        numberLast4: "3456",
        period: { start: "2026-06-01", end: "2026-06-30" },
        openingBalance: 1_373_500,
        closingBalance: 1_796_000,
        transactions: [
          { id: "B00001", date: "2026-06-02", amount: 750_000, type: "deposit" },
          { id: "B00002", amount: -325_000, type: "check", check_number: "1019" },
          { amount: -2500, type: "service_charge", description: "FEE & TAX" },
        ],
      },
    ]);
  });

  test("of version 2, with one line and a comma", () => {
    expect(bankStatementsFromOfx(bytes(XML))).toMatchObject([
      {
        currency: "EUR",
        numberLast4: null,
        closingBalance: 10_000,
        openingBalance: 11_250,
        transactions: [{ date: "2026-06-15", amount: -1250, type: "transfer" }],
      },
    ]);
  });

  const cases: readonly (readonly [string, string, string])[] = [
    ["no OFX at all", "Date,Amount\n1,2", "no_statement null"],
    ["a file that was cut off", SGML.slice(0, SGML.indexOf("</STMTTRN>")), "file_unreadable null"],
    ["no statement", "<OFX><SIGNONMSGSRSV1><X>1</X></SIGNONMSGSRSV1></OFX>", "no_statement null"],
    ["an amount that is none", SGML.replace("7500.00", "many"), "amount_unreadable null"],
    ["a date that is none", SGML.replace("20260602120000", "20260632"), "date_unreadable null"],
  ];
  for (const [name, text, expected] of cases) {
    test(name, () => {
      expect(refusal(() => bankStatementsFromOfx(bytes(text)))).toBe(expected);
    });
  }
});

describe("the report", () => {
  const { output, outputHash } = runProcess(ioltaReconcile, month.input as JsonValue);
  const page = ioltaReport(output, { requestId: "req_1", outputHash });

  test("has the figures, the hashes and the place to sign", () => {
    for (const part of [
      "30,861.00",
      "-1,435.00",
      "reconciled with warnings",
      "stale check",
      "Alvarez",
      outputHash,
      "req_1",
      "iolta-reconcile@1.0.0",
      "Reviewed and certified by a lawyer",
    ])
      expect(page).toContain(part);
    expect(page).not.toMatch(/<script|https?:|\bcompliant\b/);
  });

  test("never takes text of the input for markup", () => {
    const input = structuredClone(month.input);
    for (const ledger of input.client_ledgers) ledger.name = '<img src=x onerror="alert(1)">&';
    const hostile = runProcess(ioltaReconcile, input as JsonValue);
    const text = ioltaReport(hostile.output, { requestId: "<b>", outputHash });
    expect(text).not.toContain("<img");
    expect(text).toContain("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;");
    expect(text).toContain("Request &lt;b&gt;");
  });
});
