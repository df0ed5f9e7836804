/** The format "regex" against the engine that it is about. */
import { expect, test } from "bun:test";
import { compileSchema } from "../../src/grammar/compile.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { random, SMALL, sample, smallVocabulary } from "../mask/kit.ts";

const grammar = compileSchema({ type: "string", format: "regex" });
/** What regular expressions are made of, so that random texts are not all letters. */
const SYNTAX = smallVocabulary([
  "(?:",
  "(?=",
  "(?!",
  "[^",
  "a-z",
  "{2,",
  "\\\\",
  "\\\\d",
  "\\\\b",
  ")*",
  "|",
]);

function accepts(text: string): boolean {
  const matcher = new Matcher(grammar, SMALL);
  return [...Buffer.from(JSON.stringify(text))].every((byte) => matcher.accept(byte));
}

test("every text that the lock lets through is a regular expression, with the flag u and without", () => {
  for (let seed = 1; seed <= 150; seed++) {
    const { text } = sample(grammar, SYNTAX, random(seed), { budget: 40, eagerness: 0.1 });
    const source = JSON.parse(text) as string;
    expect(() => [new RegExp(source), new RegExp(source, "u")]).not.toThrow();
  }
});

test.each([
  "",
  "^[a-z]+$",
  "\\.jsx?$",
  "foo|bar.*|",
  "^(?!a)(?:b|c(d(e)f)*)+?$",
  "[\\w.-]+@[^@]{2,30}",
  "TOTAL\\s+(\\d{1,3})%",
  "^refs/(heads|tags)/v\\d+\\b",
])("%j gets through", (source) => {
  expect(accepts(source)).toBe(true);
});

test.each(["(", "a)", "a**", "^*", "[", "a{2,1}", "[z-a]", "\\", "(?<a>b)\\k<a>", "*"])(
  "%j does not",
  (source) => {
    expect(accepts(source)).toBe(false);
  },
);
