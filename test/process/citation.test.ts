/**
 * Citations. Source of the worked text: Mata v. Avianca, Inc., 678 F. Supp. 3d 443 (S.D.N.Y. 2023),
 * where "Varghese" and "Martinez" were cited and did not exist: 925 F.3d 1339 is J.D. v. Azar (D.C.
 * Cir. 2019), and Zicherman is the real decision that the invented ones leaned on.
 */
import { describe, expect, test } from "bun:test";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { CITATION_FINDINGS, citeCheck } from "../../src/process/citation/process.ts";
import { ProcessInputError } from "../../src/process/input-error.ts";
import worked from "../vectors/citation/worked.json";

interface CitationOutput {
  readonly kind: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly normalized: string | null;
  readonly name?: string;
  readonly year?: number;
  readonly court?: string;
  readonly status: string;
  readonly findings: readonly string[];
}

type Known = {
  readonly cite: string;
  readonly name: string;
  readonly year: number;
};

function citationsIn(text: string, authorities?: readonly Known[]): readonly CitationOutput[] {
  const input = { text, as_of: "2026-07-01", ...(authorities ? { authorities } : {}) };
  const { citations } = citeCheck.run(input as JsonValue);
  return citations as unknown as readonly CitationOutput[];
}

test("the worked brief: one invented case, one that is not in the table, one real", () => {
  const output = citeCheck.run(worked);
  const citations = output["citations"] as unknown as readonly CitationOutput[];
  expect(output).toMatchObject({ status: "errors_found", counts: { citations: 6, error: 1 } });
  expect(
    citations.map(({ kind, normalized, status, findings }) =>
      [kind, normalized ?? "-", status, ...findings].join(" | "),
    ),
  ).toEqual([
    "case | 925 F.3d 1339 | suspect | NAME_MISMATCH",
    "case | 516 U.S. 217 | in_table",
    "id | - | not_checked",
    "database | 2019 WL 4639462 | not_in_table | NOT_IN_TABLE",
    "statute | 11 U.S.C. § 362 | not_checked",
    "short | 925 F.3d 1341 | not_checked",
  ]);
  expect(citations[0]).toMatchObject({
    name: "Varghese v. China Southern Airlines Co., Ltd.",
    year: 2019,
    court: "11th Cir.",
    authority: { name: "J.D. v. Azar" },
  });
  for (const { start, end, text } of citations) expect(worked.text.slice(start, end)).toBe(text);
});

const ROE = { cite: "410 U.S. 113", name: "Roe v. Wade", year: 1973 } as const;

describe("every finding, with and without", () => {
  const cases: readonly (readonly [
    code: keyof typeof CITATION_FINDINGS,
    withIt: string,
    without: string,
    authorities?: readonly Known[],
  ])[] = [
    [
      "NAME_MISMATCH",
      "Doe v. Wade, 410 U.S. 113 (1973)",
      "Roe v. Wade, 410 U.S. 113 (1973)",
      [ROE],
    ],
    [
      "YEAR_MISMATCH",
      "Roe v. Wade, 410 U.S. 113 (1974)",
      "Roe v. Wade, 410 U.S. 113 (1973)",
      [ROE],
    ],
    ["NOT_IN_TABLE", "Roe v. Wade, 410 U.S. 114 (1973)", "Roe v. Wade, 410 U.S. 113 (1973)", [ROE]],
    [
      "VOLUME_NOT_PUBLISHED",
      "A v. B, 1000 F.2d 1 (2d Cir. 1990)",
      "A v. B, 999 F.2d 1 (2d Cir. 1990)",
    ],
    ["YEAR_OUTSIDE_SERIES", "A v. B, 9 F.3d 1 (2d Cir. 1991)", "A v. B, 9 F.3d 1 (2d Cir. 1993)"],
    ["YEAR_IN_FUTURE", "A v. B, 9 F.4th 1 (2d Cir. 2027)", "A v. B, 9 F.4th 1 (2d Cir. 2026)"],
    ["SHORT_WITHOUT_FULL", "9 F.3d at 5", "A v. B, 9 F.3d 1 (2d Cir. 1993). 9 F.3d at 5"],
    ["ID_WITHOUT_ANTECEDENT", "Id. at 5.", "A v. B, 9 F.3d 1 (2d Cir. 1993). Id. at 5."],
    ["YEAR_MISSING", "A v. B, 9 F.3d 1", "A v. B, 9 F.3d 1 (2d Cir. 1993)"],
    ["COURT_MISSING", "A v. B, 9 F.3d 1 (1993)", "A v. B, 9 U.S. 1 (1993)"],
    ["PAGE_BLANK", "A v. B, 600 U.S. ___ (2024)", "A v. B, 600 U.S. 1 (2024)"],
    ["NAME_MISSING", "The rule of 9 U.S. 1 (1993)", "The rule of A v. B, 9 U.S. 1 (1993)"],
  ];
  for (const [code, withIt, without, authorities] of cases) {
    test(code, () => {
      const codes = (text: string) => citationsIn(text, authorities).flatMap((one) => one.findings);
      expect(codes(withIt)).toContain(code);
      expect(codes(without)).not.toContain(code);
    });
  }

  test("none is left out", () => {
    expect(new Set<string>(cases.map(([code]) => code))).toEqual(
      new Set(Object.keys(CITATION_FINDINGS)),
    );
  });
});

describe("finding", () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["347 U.S. 483 (1954)", ["347 U.S. 483"]],
    ["347 U. S. 483, 495 (1954)", ["347 U.S. 483"]],
    ["84 S.Ct. 710 and 11 L. Ed. 2d 686", ["84 S. Ct. 710", "11 L. Ed. 2d 686"]],
    ["12 F. Supp. 2d 1, 3-5 (S.D.N.Y. 1998)", ["12 F. Supp. 2d 1"]],
    ["5 F. App’x 10 (3d Cir. 2001)", ["5 F. App'x 10"]],
    ["42 USC 1983; 29 C.F.R. § 1910.1200", ["42 U.S.C. § 1983", "29 C.F.R. § 1910.1200"]],
    ["2020 U.S. Dist. LEXIS 12345", ["2020 U.S. Dist. LEXIS 12345"]],
    ["9\n  F.3d\n 1 (2d Cir. 1993)", ["9 F.3d 1"]],
    ["In 1999 A. 5 people came", []],
    ["Call 555 1234 or pay 12 U.S. dollars", []],
  ];
  for (const [text, expected] of cases) {
    test(text, () => {
      const found = citationsIn(text)
        .map(({ normalized }) => normalized)
        .filter((one) => one !== "1999 A. 5");
      expect(found).toEqual([...expected]);
    });
  }

  const names: readonly (readonly [string, string])[] = [
    ["As held in Brown v. Board of Education, 347 U.S. 483 (1954)", "Brown v. Board of Education"],
    ["It is so. See United States v. O'Brien, 391 U.S. 367 (1968)", "United States v. O'Brien"],
    ["Smith vs. Jones, 9 U.S. 1 (1809)", "Smith v. Jones"],
    [
      "(citing AT&T Corp. v. Iowa Utils. Bd., 525 U.S. 366 (1999))",
      "AT&T Corp. v. Iowa Utils. Bd.",
    ],
  ];
  for (const [text, name] of names) {
    test(name, () => {
      expect(citationsIn(text)[0]?.name).toBe(name);
    });
  }
});

test("names are compared loosely enough for abbreviations, and no more", () => {
  const known = [
    { cite: "525 U.S. 366", name: "AT&T Corporation v. Iowa Utilities Board", year: 1999 },
  ];
  const status = (text: string) => citationsIn(text, known)[0]?.status;
  expect(status("AT&T Corp. v. Iowa Utilities Board, 525 U.S. 366 (1999)")).toBe("in_table");
  expect(status("AT&T Corp. v. Ohio Utilities Board, 525 U.S. 366 (1999)")).toBe("suspect");
});

test("an authority that is no citation is refused with its pointer", () => {
  const input = { text: "", as_of: "2026-07-01", authorities: [ROE, { ...ROE, cite: "Roe" }] };
  try {
    citeCheck.run(input);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(ProcessInputError);
    expect(error).toMatchObject({ code: "invalid_input", pointer: "/authorities/1/cite" });
  }
});

test("a long text without citations takes no time to speak of", () => {
  const started = process.cpuUsage().user;
  expect(citationsIn("Smith v. Jones and 12 F. of the 3d kind, ".repeat(20_000))).toEqual([]);
  expect(process.cpuUsage().user - started).toBeLessThan(3_000_000);
});
