/** The index finds every strong match that the exhaustive search finds, and scores far fewer pairs. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { scoreNames } from "../../src/process/conflict/name-score.ts";
import { type NameForm, parseName } from "../../src/process/conflict/parse-name.ts";
import { indexNames } from "../../src/process/conflict/record-index.ts";
import { NAME, SPELLINGS } from "./conflict-arbitrary.ts";

const STRONG = 850;
const FORMS: readonly NameForm[] = ["person", "organization"];

test("no strong hit is lost", () => {
  let strong = 0;
  let compared = 0;
  let pairs = 0;
  fc.assert(
    fc.property(SPELLINGS, fc.array(NAME, { minLength: 20, maxLength: 30 }), (own, others) => {
      const [query = "", ...spellings] = own;
      const names = [...spellings, ...others];
      const index = indexNames(names.map((text) => ({ text })));
      for (const form of FORMS) {
        const parsed = parseName(query, form);
        const found = new Set(index.candidates(parsed, query));
        const lost = names.filter((name, position) => {
          const isStrong = scoreNames(parsed, parseName(name, form)).score >= STRONG;
          strong += Number(isStrong);
          return isStrong && !found.has(position);
        });
        expect({ query, form, lost }).toEqual({ query, form, lost: [] });
        compared += found.size;
        pairs += names.length;
      }
    }),
    { numRuns: process.env["SLOW"] ? 5000 : 120 },
  );
  expect(strong).toBeGreaterThan(100);
  expect(compared).toBeLessThan(pairs / 2);
});

test("names of short words are found however they are spaced", () => {
  const names = ["We Li", "WeLi", "Li, We", "A B", "AB", "Al Tareq Bo", "AlTareqBo", "Xi Jo"];
  const index = indexNames(names.map((text) => ({ text })));
  for (const form of FORMS) {
    for (const [position, name] of names.entries()) {
      const parsed = parseName(name, form);
      const found = index.candidates(parsed, name).map((at) => names[at]);
      const strong = names.filter(
        (other) => scoreNames(parsed, parseName(other, form)).score >= STRONG,
      );
      expect(found).toEqual(expect.arrayContaining(strong));
      expect(strong).toContain(names[position] ?? "");
    }
  }
  const lookup = (name: string) => index.candidates(parseName(name, "person"), name);
  expect(lookup("WeLi")).not.toContain(names.indexOf("Xi Jo"));
});

test("names with nothing in common are not compared", () => {
  const index = indexNames([{ text: "Alpha Works" }, { text: "Omega Group" }, { text: "IBM" }]);
  const lookup = (name: string, form: NameForm) => index.candidates(parseName(name, form), name);
  expect(lookup("Zenith", "organization")).toEqual([]);
  expect(lookup("Alfa Works", "organization")).toEqual([0]);
  expect(lookup("International Business Machines", "organization")).toEqual([2]);
  expect(lookup("AlphaWorks", "organization")).toEqual([0]);
});
