import { describe, expect, test } from "bun:test";
import {
  type CaseData,
  isHeldOut,
  isJudged,
  isMarked,
  parseCases,
  readCases,
} from "../../models/train/generator/case-data.ts";
import { asYesOrNo, otherNames } from "../../models/train/generator/case-labels.ts";
import { readGeneratorData } from "../../models/train/generator/data-files.ts";
import { labelPools } from "../../models/train/generator/label-pools.ts";
import { asWritten, resampled, type Written } from "../../models/train/generator/resample.ts";
import { Rng } from "../../models/train/generator/rng.ts";
import { strangers } from "../../models/train/generator/strangers.ts";
import { Values } from "../../models/train/generator/values.ts";

const written = (kind: Written["kind"], words: string, number: string | null = null): Written => ({
  kind,
  words,
  number,
});

describe("what somebody wrote is read as", () => {
  const amounts: [string, string][] = [
    ["£4,632.00", "4632.00"],
    ["NOK -4 275,00", "-4275.00"],
    ["1.240,00 zł", "1240.00"],
    ["1'240 CHF", "1240"],
    ["$1.2 million", "1200000"],
    ["490k", "490000"],
    ["-€12.35", "-12.35"],
    ["minus 5 dollars", "-5"],
    ["€ 615.000", "615000"],
    ["0.375", "0.375"],
    ["2,5", "2.5"],
    ["5,-", "5"],
    ["007", "7"],
    ["1 207.50", "1207.50"],
  ];
  test.each(amounts)("an amount: %s", (words, number) => {
    expect(asWritten(written("money", words)).number).toBe(number);
  });

  const dates: [string, string | null][] = [
    ["3 May 2025", "2025-05-03"],
    ["14JUN25", "2025-06-14"],
    ["8/27/2025", "2025-08-27"],
    ["22/05/2025", "2025-05-22"],
    ["March 3rd, 2026", "2026-03-03"],
    ["the 18th of october 2025", "2025-10-18"],
    ["31-12-24", "2024-12-31"],
    ["2025-08-14", "2025-08-14"],
    ["9 Feb '25", "2025-02-09"],
    // Nobody can tell which is the month, or there is no year.
    ["3/4/2025", null],
    ["02.06", null],
    ["June 2025", null],
    ["tomorrow", null],
  ];
  test.each(dates)("a date: %s", (words, day) => {
    expect(asWritten(written("date", words)).isoDate).toBe(day);
  });
});

test("another value looks like it, and is read as what it says", () => {
  const rng = new Rng(7);
  const values = new Values(rng, readGeneratorData().words);
  const draw = (one: Written) => resampled(rng, values, one);
  for (let i = 0; i < 300; i++) {
    const amount = draw(written("money", "NOK -4 275,00"));
    expect(amount.text).toMatch(/^NOK -\d{1,2}( \d{3})?,\d\d$|^NOK -\d{3},\d\d$/);
    expect(amount.number).toBe(amount.text.slice(4).replace(" ", "").replace(",", "."));
    const date = draw(written("date", "14.08.2024"));
    expect(asWritten(written("date", date.text)).isoDate ?? date.isoDate).toBe(date.isoDate);
    expect(draw(written("code", "RE-2024-0817")).text).toMatch(/^[A-Z]{2}-[1-9]\d{3}-0\d{3}$/);
    expect(draw(written("person", "AMARA NWOSU")).text).not.toMatch(/\p{Ll}/u);
    expect(draw(written("person", "Mrs Wróbel")).text).toMatch(/^Mrs \S/);
    expect(draw(written("number", "six", "6")).number).toMatch(/^\d+$/);
    expect(draw(written("words", "the front wheel")).text).toBe("the front wheel");
  }
});

const CASE = `
= Order [PO-1182](i order_number order_no), [2](n items1.qty count) x [lamp](w items1.product), [cups](w items2.product), by [Kim Lee](p buyer.name -- who pays)
~ items lines
? is_gift gift : false
! items.state : new, used | new, used, broken
- iban discount
`;

test("what is kept from training is a sixteenth of the cases, and never drawn", () => {
  const all = readCases().filter((one) => isMarked(one) || isJudged(one));
  const { markedCases, judgedCases } = readGeneratorData();
  const cases = new Set([...markedCases, ...judgedCases]);
  const kept = all.filter(isHeldOut);
  expect(cases.size + kept.length).toBe(all.length);
  expect(kept.length / all.length).toBeGreaterThan(0.04);
  expect(kept.length / all.length).toBeLessThan(0.09);
  const drawn = new Set([...cases].map(({ text }) => text));
  expect(kept.filter(({ text }) => drawn.has(text))).toEqual([]);
});

test("a label has another name only where the set stays clear, and in the set's style", () => {
  const rng = new Rng(3);
  const labels = new Map([
    ["refund", ["money back"]],
    ["bill", ["invoice"]],
    ["angry", ["furious"]],
    ["furious", ["angry"]],
  ]);
  const drawn = (...set: string[]) => {
    const all = Array.from({ length: 40 }, () => otherNames(rng, { labels }, set));
    return new Set(all.flatMap((names) => [...names].map((pair) => pair.join("="))));
  };
  expect(drawn("refund", "praise")).toEqual(new Set(["refund=money back"]));
  expect(drawn("refund", "late_delivery")).toEqual(new Set(["refund=money_back"]));
  expect(drawn("Refund", "Praise")).toEqual(new Set(["Refund=Money back"]));
  expect(drawn("REFUND", "PRAISE")).toEqual(new Set(["REFUND=MONEY BACK"]));
  // `invoice` is there, and one of the two would be the other.
  expect(drawn("bill", "invoice", "angry", "furious")).toEqual(new Set());
});

test("a label is asked for as a yes or no that is true of the right one alone", () => {
  const [{ judgements: [mood, code, hurry] = [] } = {}] = parseCases(
    "= text\n! mood tone : worried | worried, calm\n! level : P1 | P1, P2\n? hurry : true\n",
  ).cases;
  const rng = new Rng(3);
  for (let i = 0; i < 40 && mood && code && hurry; i++) {
    const { names, labels, values } = asYesOrNo(rng, mood);
    expect([labels, values, names[1]]).toEqual([
      null,
      [names[0] === "is_worried"],
      names[0]?.slice(3),
    ]);
    // No property is called `is_p1`, and what is a yes or no stays one.
    expect(asYesOrNo(rng, code)).toBe(code);
    expect(asYesOrNo(rng, hurry)).toBe(hurry);
  }
  expect.assertions(120);
});

test("labels of other sets are farther from the text than the right one, and unlike it", () => {
  const rng = new Rng(3);
  const pool = ["sushi", "seafood", "rice", "invoice", "tractor", "ramen_soup", "zxqv"];
  const draw = (right: string, text: string) =>
    new Set(Array.from({ length: 40 }, () => strangers(rng, pool, text, right, 3)).flat());
  const text = "Raw fish on cold rice with ginger, and the soup came after.";
  // Rice is said, seafood is as near as sushi; of a word without a vector nothing is known.
  expect(draw("sushi", text)).toEqual(new Set(["invoice", "tractor"]));
  expect(draw("zxqv", text)).toEqual(new Set());
  expect(draw("sushi", "zxqv 17")).toEqual(new Set());
  expect(strangers(rng, Array(9).fill("tractor"), text, "sushi", 3)).toEqual(["tractor"]);
});

test("sets of other texts are drawn from where labels are as many as sets", () => {
  const cases = ["heron", "egret", "stork", "crane", "ibis", "coot"].flatMap(
    (bird) =>
      parseCases(`= text\n! bird animal : ${bird} | ${bird}, ${bird}_chick\n! hurry : a | a, b\n`)
        .cases,
  );
  const pools = labelPools(cases);
  expect([...pools.keys()]).toEqual(["bird", "animal"]);
  expect(pools.get("animal")).toHaveLength(12);
  expect(labelPools(cases.slice(1)).size).toBe(0);
});

describe("a case", () => {
  const only = (text: string): CaseData | undefined => parseCases(text).cases[0];

  test("has marks, judgements, other names and what is absent", () => {
    const one = only(CASE);
    expect(one?.marks.map(({ kind, names }) => [kind, ...names])).toEqual([
      ["code", "order_number", "order_no"],
      ["number", "qty", "count"],
      ["words", "product"],
      ["words", "product"],
      ["person", "name"],
    ]);
    expect(one?.marks[3]?.place).toEqual({ name: "items", row: 2, member: "product" });
    expect(one?.marks[4]?.description).toBe("who pays");
    expect(one?.judgements.map(({ values }) => values)).toEqual([[false], ["new", "used"]]);
    expect(one?.synonyms.get("items")).toEqual(["lines"]);
    expect(one?.absent).toEqual(["iban", "discount"]);
  });

  const mistakes: [string, string][] = [
    ["= [x](q name)", 'no such kind of mark: "q"'],
    ["= [x](i Order)", "not a property's name: Order"],
    ["= [six](n count)", "no figures in [six]"],
    ["= [x](i a) [y](i a)", "twice: a"],
    ["= a [bracket", "a bracket that is no mark"],
    ["= nothing", "nothing to ask for"],
    ["= text\n? late : maybe", "neither true nor false: maybe"],
    ["= text\n! kind : c | a, b", "c is none of a, b"],
    ["= [x](w rows1.name)\n? rows.ok : true false", "2 values for 1 rows"],
    ["= [x](w a)\n~ rows lines", "no list or object rows"],
  ];
  test.each(mistakes)("with a mistake is named: %s", (text, mistake) => {
    const found = parseCases(text);
    expect(found.cases).toEqual([]);
    expect(found.mistakes.join()).toContain(mistake);
  });
});
