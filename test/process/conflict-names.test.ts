/**
 * Names and their scores. The pairs come from the failures that the rules were made for: spelling
 * variants, initials, generations, legal forms, sibling funds.
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { editDistance } from "../../src/process/conflict/edit-distance.ts";
import { scoreNames } from "../../src/process/conflict/name-score.ts";
import { type NameForm, parseName } from "../../src/process/conflict/parse-name.ts";
import { splitNames } from "../../src/process/conflict/split-names.ts";
import { transliterate } from "../../src/process/conflict/transliterate.ts";
import { foldWords, unassignedIn } from "../../src/process/conflict/unicode-fold.ts";

type Case = readonly [a: string, b: string, score: number, reason?: string];

const PERSONS: readonly Case[] = [
  ["Jane Roe", "JANE ROE", 1000],
  ["Xiao Ming Wang", "Wang Xiaoming", 1000],
  ["de la Cruz, Maria", "Maria Delacruz", 980],
  ["Hans Friedrich", "Friedrich Hans", 970],
  ["Владимир Путин", "Vladimir Putin", 1000],
  ["Κυριάκος Μητσοτάκης", "Kyriakos Mitsotakis", 1000],
  ["Dr. José García, Ph.D.", "Jose Garcia", 1000],
  ["Hon. John Smith, Esq.", "john smith", 1000],
  ["Smith, John Q., Jr.", "John Q. Smith Jr.", 1000],
  ["Müller, Jürgen", "Juergen Mueller", 960],
  ["Bob Schmitt", "Robert Schmidt", 875],
  ["J. Smith", "John Smith", 800, "one_word_and_initial"],
  ["Bill Clinton", "William Jefferson Clinton", 800],
  ["John Smith Jr.", "John Smith, Sr.", 720, "suffix_conflict"],
  ["John Smith Jr.", "John Smith", 1000],
  ["John A. Smith", "John B. Smith", 720, "initials_differ"],
  ["Ig0r Sech1n", "Igor Sechin", 1000],
  ["Tse-tung Mao", "Zedong Mao", 760, "joined"],
  ["Bob Schmitt", "Roberta Smith", 0, "contradiction"],
  ["A. Jones", "B. Jones", 680, "lone_word"],
];

const ORGANIZATIONS: readonly Case[] = [
  ["Smith & Jones LLP", "Jones and Smith", 970],
  ["Müller Maschinenbau GmbH", "Mueller Maschinenbau Gesellschaft mit beschränkter Haftung", 980],
  ["The U.S.A. Freight Co.", "USA Freight Company", 1000],
  ["Globex Holdings, LLC", "Globex Corporation", 970, "designators_differ"],
  ["McDonald's Corp", "MacDonalds Corporation", 900],
  ["IBM", "International Business Machines", 800],
  ["IBN", "International Business Machines", 0],
  ["Acme Fund IV LP", "Acme Fund 4, L.P.", 1000],
  ["Acme Fund IV LP", "Acme Fund V LP", 720, "number_conflict"],
  ["First Intl. Bank", "1st International Bank", 1000],
  ["U.S. Department of State", "United States Department of State", 1000],
  ["Siemens AG", "SiemensAG", 777],
  ["Good Will Company", "Goodwill Co.", 980],
  ["Bank of America", "Bank of Armenia Corporation", 411, "contradiction"],
  ["BAE Systems, Inc.", "BAE Industries, Inc.", 333, "contradiction"],
];

function scored(form: NameForm, a: string, b: string) {
  return scoreNames(parseName(a, form), parseName(b, form));
}

for (const [form, cases] of [
  ["person", PERSONS],
  ["organization", ORGANIZATIONS],
] as const) {
  describe(form, () => {
    for (const [a, b, score, reason] of cases) {
      test(`${a} / ${b} scores ${score}`, () => {
        const result = scored(form, a, b);
        expect(result.score).toBe(score);
        if (reason !== undefined) expect(result.reasons).toContain(reason);
      });
    }
  });
}

test("a name that only leaves something out costs the record side less than the query side", () => {
  const short = scored("person", "John Smith", "John Adam Smith").score;
  const long = scored("person", "John Adam Smith", "John Smith").score;
  expect(short).toBeGreaterThan(long);
});

test("every point of a score is explained by a pair of words", () => {
  expect(scored("person", "Bob Schmitt", "Robert Schmidt").evidence).toEqual([
    { q: "bob", r: "robert", s: 900, how: "nickname" },
    { q: "schmitt", r: "schmidt", s: 857, how: "edit:1" },
  ]);
});

describe("splitting", () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["John Smith", ["legal:John Smith"]],
    ["John Smith a/k/a Jack Smyth", ["legal:John Smith", "alias:Jack Smyth"]],
    ["J. Smith, d/b/a Smyth Books", ["legal:J. Smith", "trade:Smyth Books"]],
    ["Mary Poe née Roe", ["legal:Mary Poe", "maiden:Roe"]],
    [
      "Acme Inc. f/k/a Apex Inc. n/k/a Zenith",
      ["legal:Acme Inc.", "former:Apex Inc.", "legal:Zenith"],
    ],
    ["Jane Roe as trustee of the Roe Trust", ["legal:Jane Roe", "trustee:the Roe Trust"]],
    ["Acme LLC as successor to Beta Corp", ["legal:Acme LLC", "former:Beta Corp"]],
    ["Acme LLC, successor in interest to Beta Corp", ["legal:Acme LLC", "former:Beta Corp"]],
    ["State ex rel. Roe", ["legal:State", "alias:Roe"]],
    ["Acme AKA: Apex", ["legal:Acme", "alias:Apex"]],
    ["Akamai Inc.", ["legal:Akamai Inc."]],
    ["Ann Formerlyn", ["legal:Ann Formerlyn"]],
    ["a/k/a Smith", ["legal:a/k/a Smith"]],
  ];
  for (const [text, names] of cases) {
    test(text, () => {
      expect(splitNames(text, "legal").map(({ text: name, type }) => `${type}:${name}`)).toEqual([
        ...names,
      ]);
    });
  }
});

describe("folding", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["STRASSE Straße", "strasse strasse"],
    ["Ærø Øre Łódź Đặng", "aero ore lodz dang"],
    ["O’Brien O'Brien O`Brien", "obrien obrien obrien"],
    ["Jean–Luc\u00a0Picard", "jean luc picard"],
    ["ﬁﬂ ① Ⅳ", "fifl 1 iv"],
    ["𝐀𝐁𝐂", "abc"],
    ["İstanbul ISPARTA ıĞDIR", "istanbul isparta igdir"],
    ["नरेन्द्र", "नरेन्द्र"],
    ["مُحَمَّد", "محمد"],
    ["AT&T", "at and t"],
    ["  (x)  ", "x"],
  ];
  for (const [text, folded] of cases) {
    test(text, () => {
      expect(foldWords(text, "")).toBe(folded);
    });
  }

  test("agrees with the platform on compatibility forms of every letter of Unicode 14", () => {
    let letters = 0;
    for (let point = 0x80; point < 0x20000; point += 1) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const text = String.fromCodePoint(point);
      // Signs are spaces here; й keeps its mark; Hangul is transliterated as whole syllables.
      if (!/\p{L}/u.test(text) || /[йЙ\p{Script=Hangul}]/u.test(text)) continue;
      if (unassignedIn(text).length > 0) continue;
      letters += 1;
      const folded = foldWords(text, "");
      if (foldWords(text.normalize("NFKD"), "") !== folded) expect(text).toBe(folded);
      if (foldWords(folded, "") !== folded) expect(`${text} folded twice`).toBe(folded);
    }
    expect(letters).toBeGreaterThan(50_000);
  });

  test("code points that came after Unicode 14 are named and left as they are", () => {
    // U+1C89 (Unicode 16) has a lower case on newer platforms only.
    expect(unassignedIn("A\u1c89")).toEqual([0x1c89]);
    expect(foldWords("\u1c89", "")).toBe("\u1c89");
    expect(unassignedIn("Aé漢")).toEqual([]);
  });
});

test("the distance of two words is that of the textbook's table, up to the limit", () => {
  const WORD = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
  fc.assert(
    fc.property(WORD, WORD, fc.nat(3), (a, b, limit) => {
      expect(editDistance(a, b, limit)).toBe(Math.min(tableDistance(a, b), limit + 1));
    }),
    { numRuns: 2000 },
  );
});

/** Optimal string alignment, every cell of the table. */
function tableDistance(a: string, b: string): number {
  const cost = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j;
    const change = Number(a[i - 1] !== b[j - 1]);
    const ways = [at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + change];
    const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
    return Math.min(...ways, isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY);
  };
  const known = new Map<string, number>();
  const at = (i: number, j: number): number => {
    const key = `${i},${j}`;
    const value = known.get(key) ?? cost(i, j);
    known.set(key, value);
    return value;
  };
  return at(a.length, b.length);
}

test("syllables of Hangul are spelled out", () => {
  expect(transliterate("김정은")).toBe("gimjeongeun");
});
