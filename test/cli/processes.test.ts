/** From a bank's file to a page to sign, on the command line; figures of `v2-month.json`. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../trust-kit.ts";
import month from "../vectors/iolta/v2-month.json";
import { jsonOf, run } from "./kit.ts";

const CSV = month.input.bank.transactions
  .map(({ date, amount, check_number: number, reference }) => {
    const cents = String(Math.abs(amount)).padStart(3, "0");
    const text = `${amount < 0 ? "-" : ""}${cents.slice(0, -2)}.${cents.slice(-2)}`;
    return [date, text, number ?? "", reference ?? ""].join(",");
  })
  .join("\n");

/** OFX 1.0.2, as section 11.4 of its specification has it, with one account or two. */
function ofx(...accounts: readonly string[]): string {
  const statement = (account: string): string =>
    `<STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS><STMTRS><CURDEF>USD` +
    `<BANKACCTFROM><BANKID>1<ACCTID>${account}<ACCTTYPE>CHECKING</BANKACCTFROM>` +
    `<BANKTRANLIST><DTSTART>20260601<DTEND>20260630` +
    `<STMTTRN><TRNTYPE>CHECK<DTPOSTED>20260609<TRNAMT>-12.50<FITID>1<CHECKNUM>77</STMTTRN>` +
    `</BANKTRANLIST><LEDGERBAL><BALAMT>87.50<DTASOF>20260630</LEDGERBAL></STMTRS></STMTTRNRS>`;
  return (
    "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nSECURITY:NONE\nENCODING:USASCII\nCHARSET:1252\n" +
    "COMPRESSION:NONE\nOLDFILEUID:NONE\nNEWFILEUID:NONE\n\n" +
    `<OFX><BANKMSGSRSV1>${accounts.map(statement).join("")}</BANKMSGSRSV1></OFX>\n`
  );
}

function world(): { readonly directory: string } {
  const directory = temporaryDirectory();
  const files = {
    "june.csv": `Date,Amount,Check,Trace\n${CSV}\n`,
    "one.qfx": ofx("0001234"),
    "two.ofx": ofx("0001234", "0009999"),
    "month.json": JSON.stringify({ ...month.input, bank: null }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return { directory };
}

const COLUMNS = "--date Date --amount Amount --check-number Check --reference Trace".split(" ");
const BALANCES = "--opening 13,735.00 --closing 31496".split(" ");

test("a CSV file becomes a month that reconciles, and a page with its hash", async () => {
  const { directory } = world();
  const save = (name: string, text: string): void => writeFileSync(join(directory, name), text);
  const into = [...COLUMNS, ...BALANCES, "--into", "month.json"];
  const converted = await run({ directory }, "convert", "june.csv", ...into);
  expect([converted.code, converted.err]).toEqual([0, ""]);
  save("june.json", converted.out);
  const answer = await run({ directory }, "process", "iolta-reconcile", "june.json", "--json");
  const { output, output_hash: outputHash } = jsonOf(answer);
  expect(output).toMatchObject({
    three_way: { bank: { adjusted: 3_086_100 }, equal: true },
  });
  save("answer.json", answer.out);
  const printed = await run({ directory }, "report", "answer.json");
  expect(printed.out).toContain(String(outputHash));
  expect(printed.out).toContain('<td class="number">30,861.00</td>');
  const saved = await run({ directory }, "report", "answer.json", "--out", "p.html", "--json");
  expect(jsonOf(saved)["output_hash"]).toBe(String(outputHash));
  expect(readFileSync(join(directory, "p.html"), "utf8")).toBe(printed.out);
  save("answer.json", answer.out.replaceAll("3086100", "3086101"));
  const forged = await run({ directory }, "report", "answer.json", "--json");
  expect([forged.code, jsonOf(forged)]).toEqual([
    1,
    { ok: false, error: expect.objectContaining({ code: "hash_mismatch" }) },
  ]);
});

test("an OFX file says its balances; of several accounts one is chosen", async () => {
  const { directory } = world();
  const side = jsonOf(await run({ directory }, "convert", "one.qfx", "--json"));
  expect(side).toEqual({
    format: "ofx",
    source_sha256: createHash("sha256").update(ofx("0001234")).digest("hex"),
    currency: "USD",
    number_last4: "1234",
    period: { start: "2026-06-01", end: "2026-06-30" },
    bank: {
      opening_balance: 10_000,
      closing_balance: 8750,
      transactions: [
        { id: "B00001", date: "2026-06-09", amount: -1250, type: "check", check_number: "77" },
      ],
    },
  });
  const both = await run({ directory }, "convert", "two.ofx");
  expect([both.code, both.err]).toEqual([2, expect.stringContaining("1234, 9999")]);
  const second = await run({ directory }, "convert", "two.ofx", "--account", "9999", "--json");
  expect(jsonOf(second)["number_last4"]).toBe("9999");
});

test.each([
  ["a column that is not there", ["june.csv", "--date", "Day", "--amount", "Amount"], 1, '"Day"'],
  ["no columns", ["june.csv"], 2, "--date"],
  ["no balances", ["june.csv", ...COLUMNS, "--into", "month.json"], 2, "--opening"],
  ["another currency", ["one.qfx", "--into", "euro.json"], 2, "USD"],
  ["no month", ["one.qfx", "--into", "list.json"], 2, "JSON object"],
  ["an amount that is none", ["june.csv", ...COLUMNS, "--opening", "1.234"], 1, '"1.234"'],
  ["a file that is not there", ["july.csv"], 2, "july.csv"],
])("%s is refused, and said", async (_name, args, code, message) => {
  const { directory } = world();
  writeFileSync(join(directory, "euro.json"), '{"account":{"currency":"EUR"}}');
  writeFileSync(join(directory, "list.json"), "[]");
  const refused = await run({ directory }, "convert", ...args);
  expect([refused.code, refused.out]).toEqual([code, ""]);
  expect(refused.err).toContain(message);
});

test("process lists the catalogue, prints an input's schema, and names what does not fit", async () => {
  const { directory } = world();
  const list = await run({ directory }, "process");
  expect(list.out).toMatch(/^deadline-compute@1\.\d\.\d +Last day of a period under Fed\. R\./m);
  const schema = await run({ directory }, "process", "ledes-validate");
  expect(JSON.parse(schema.out)).toMatchObject({ type: "object" });
  const unknown = await run({ directory }, "process", "nope");
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("svc-conflict-check")]);
  const bad = await run({ directory }, "process", "iolta-reconcile", "month.json", "--json");
  expect([bad.code, jsonOf(bad)]).toEqual([
    1,
    { ok: false, error: expect.objectContaining({ code: "invalid_input" }) },
  ]);
  expect(bad.err).toBe("error: /bank: must be object\n");
});

test("a page is printed of a workflow's step, and of nothing that is no reconciliation", async () => {
  const { directory } = world();
  const step = { process: "iolta-reconcile", input: month.input };
  const body = JSON.stringify({ steps: [{ ...step, id: "a" }, step] });
  const answer = await run({ directory, stdin: body }, "compose", "-");
  const stdin = answer.out;
  const which = await run({ directory, stdin }, "report", "-");
  expect([which.code, which.err]).toEqual([2, expect.stringContaining("a, s1")]);
  const page = await run({ directory, stdin }, "report", "-", "--step", "a");
  expect([page.code, page.out]).toEqual([0, expect.stringContaining("<!doctype html>")]);
  const forged = stdin.replaceAll("3086100", "3086101");
  const refused = await run({ directory, stdin: forged }, "report", "-", "--step", "a");
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("output_hash")]);
  const none = await run({ directory, stdin: "{}" }, "report", "-");
  expect(none.code).toBe(2);
  const lost = await run({ directory, stdin }, "report", "-", "--step", "b");
  expect([lost.code, lost.err]).toEqual([2, expect.stringContaining("no step b; it has a, s1")]);
});

test("records of the state are not guessed offline", async () => {
  const { directory } = world();
  const input = { records: { from: "state" } };
  const alone = { directory, stdin: JSON.stringify(input) };
  const step = { process: "svc-conflict-check", input };
  const workflow = { directory, stdin: JSON.stringify({ steps: [step] }) };
  for (const { code, err } of [
    await run(alone, "process", "svc-conflict-check", "-"),
    await run(workflow, "compose", "-"),
  ])
    expect([code, err]).toEqual([2, expect.stringContaining("send the request to the server")]);
});
