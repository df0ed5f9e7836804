/** The lock on GBNF texts allows what the grammar says, to two judges that share no code with it. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { type CfgGrammar, compileGbnf } from "../../src/grammar/gbnf-compile.ts";
import { GbnfError } from "../../src/grammar/gbnf-error.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import type { Vocabulary } from "../../src/mask/vocabulary.ts";
import { llamaGrammars } from "../grammar/llama-grammar.ts";
import { naiveGbnf } from "../grammar/naive-gbnf.ts";
import { mutation, randomGbnf, randomText } from "../grammar/random-gbnf.ts";
import { expectRightList, random, SMALL, sample, smallVocabulary, tokensOf } from "./kit.ts";

setDefaultTimeout(120_000);

const ROUNDS = process.env["SLOW"] ? 20_000 : 100;
const LETTERS = smallVocabulary(["ab", "ba", "aa", "abab", "éa", "日c", "é日", "cab", "bb", "  "]);

/** The grammar, or null where it is refused for a reason that random grammars may have. */
function compiled(text: string): CfgGrammar | null {
  try {
    return compileGbnf(text);
  } catch (error) {
    if (!(error instanceof GbnfError)) throw error;
    expect(["left_recursion", "unsatisfiable"]).toContain(error.code);
    return null;
  }
}

function isWhole(grammar: CfgGrammar, text: string): boolean {
  const matcher = new Matcher(grammar, LETTERS);
  return [...Buffer.from(text)].every((byte) => matcher.accept(byte)) && matcher.isComplete;
}

/** Texts of the grammar, drawn within a budget, and texts close to them. */
function* texts(grammar: CfgGrammar, draw: () => number): Generator<string> {
  const need = new Matcher(grammar, LETTERS).needTokens();
  for (let round = 0; round < 4; round++) {
    const budget = need + Math.floor(draw() * 12);
    const { text, tokens } = sample(grammar, LETTERS, draw, { budget, eagerness: 0.3 });
    expect(tokens.length).toBeLessThanOrEqual(budget);
    yield text;
    yield mutation(text, draw);
    yield mutation(mutation(text, draw), draw);
    yield randomText(draw);
  }
}

describe("random grammars", () => {
  test.each([true, false])("mean what their rules say (repeated empty texts: %p)", (isEmpty) => {
    let checked = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const draw = random(round + 1);
      const text = randomGbnf(draw, { emptyRepetitions: isEmpty });
      const grammar = compiled(text);
      if (grammar === null) continue;
      const judge = naiveGbnf(text);
      for (const answer of texts(grammar, draw)) {
        if (isWhole(grammar, answer) === judge(answer)) continue;
        throw new Error(`${JSON.stringify(answer)} is ${judge(answer)} for\n${text}`);
      }
      checked += 1;
    }
    expect(checked).toBeGreaterThan(ROUNDS / 4);
  });

  test("mean what llama.cpp takes them for", async () => {
    const parse = await llamaGrammars();
    for (let round = 0; round < ROUNDS / 2; round++) {
      const draw = random(round + 5000);
      const text = randomGbnf(draw, { emptyRepetitions: false });
      const grammar = compiled(text);
      if (grammar === null) continue;
      const judge = parse(text);
      for (const answer of texts(grammar, draw)) {
        // For llama.cpp an empty text is none at all.
        if (answer === "" || isWhole(grammar, answer) === judge._testText(answer)) continue;
        throw new Error(`${JSON.stringify(answer)} is ${judge._testText(answer)} for\n${text}`);
      }
    }
  });

  test("have the masks that asking for each token gives, and can be taken back", () => {
    for (let round = 0; round < ROUNDS / 5; round++) {
      const draw = random(round + 9000);
      const grammar = compiled(randomGbnf(draw, { emptyRepetitions: true }));
      if (grammar === null) continue;
      const matcher = new Matcher(grammar, LETTERS);
      for (let step = 0; step < 12; step++) {
        const mask = tokensOf(matcher.computeMask(), LETTERS.size);
        expect(mask).toEqual(naiveMask(matcher, LETTERS));
        expect(mask.length).toBeGreaterThan(0);
        const token = mask[Math.floor(draw() * mask.length)] as number;
        expect(matcher.accept(token)).toBe(true);
        if (LETTERS.isEndOfGeneration(token)) break;
      }
      matcher.reset();
      const naive = naiveMask(matcher, LETTERS);
      expect(tokensOf(matcher.computeMask(), LETTERS.size)).toEqual(naive);
      expectRightList(matcher, naive);
    }
  });
});

function naiveMask(matcher: Matcher, vocabulary: Vocabulary): number[] {
  return Array.from({ length: vocabulary.size }, (_, token) => token).filter((token) => {
    const may = matcher.accept(token);
    if (may) matcher.rollback(1);
    return may;
  });
}

describe("a text", () => {
  const grammar = compileGbnf(`
    root ::= "{" pair ("," pair){0,3} "}"
    pair ::= "\\"" [a-zé日]+ "\\":" ("true" | "false" | [0-9]{1,3} | root)
  `);
  const answer = '{"name":12,"日é":{"foo":true}}';

  test("means the same in whatever tokens it comes", () => {
    for (let round = 0; round < 60; round++) {
      const draw = random(round);
      const matcher = new Matcher(grammar, SMALL);
      const bytes = Buffer.from(answer);
      for (let at = 0; at < bytes.length; ) {
        const tokens = Array.from({ length: SMALL.size }, (_, token) => token).filter((token) => {
          const text = SMALL.tokenBytes(token);
          return text.length > 0 && bytes.subarray(at, at + text.length).equals(text);
        });
        const token = tokens[Math.floor(draw() * tokens.length)] as number;
        expect(matcher.accept(token)).toBe(true);
        at += SMALL.tokenBytes(token).length;
      }
      expect(matcher.isComplete).toBe(true);
    }
  });

  test("is steered to its end as the budget runs out", () => {
    const matcher = new Matcher(grammar, SMALL);
    // `{`, `"a":`, a digit, `}` and the end.
    expect(matcher.needTokens()).toBe(5);
    matcher.setBudget(5);
    const open = tokensOf(matcher.computeMask(), SMALL.size);
    expect(open.every((token) => SMALL.tokenBytes(token)[0] === 0x7b)).toBe(true);
    for (let round = 0; round < 50; round++) {
      const budget = 5 + (round % 20);
      const { tokens, text } = sample(grammar, SMALL, random(round), { budget, eagerness: 0 });
      expect(tokens.length).toBeLessThanOrEqual(budget);
      expect(isWhole(grammar, text)).toBe(true);
    }
  });
});

describe("hostile grammars", () => {
  const deep = (open: string, close: string, depth: number): string =>
    `${open.repeat(depth)}"a"${close.repeat(depth)}`;
  const chain = (length: number): string =>
    Array.from({ length }, (_, i) => `r${i} ::= "a" r${i + 1} "b"\n`).join("");
  const HOSTILE: Readonly<Record<string, string>> = {
    "ambiguous loop": 'root ::= ("a" | "a")*',
    "loop of loops of loops": 'root ::= ((("a"*)* | "a"?)* "b"?)*',
    "exponentially many stacks": 'root ::= "a" root "x" | "a" root "y" | "b"',
    "all ways to nest": 'root ::= "a" root root | "a"',
    "counts in counts": "root ::= ((.{1,1000}){0,1000}){0,1000}",
    "counts of what may be empty": 'root ::= (("a"?){1000} "b"?){1000}',
    palindromes: "root ::= [a-z] root [a-z] | [a-z]",
    "palindromes by letter": `root ::= ${[..."abcdefghijklmnopqrstuvwxyz"]
      .map((c) => `"${c}" root "${c}" | "${c}"`)
      .join(" | ")}`,
    "long chain of rules": `root ::= r0\n${chain(300)}r300 ::= "c"\n`,
    "huge repetition": 'root ::= "ab"{100000}',
    "many alternatives": `root ::= (${Array.from({ length: 5000 }, (_, i) => `"k${i}"`).join(
      " | ",
    )})+`,
    "deep groups": `root ::= ${deep("(", ")", 100)}`,
  };
  test.each(Object.entries(HOSTILE))("%s: masks and texts in time", (_, text) => {
    const start = process.cpuUsage();
    const grammar = compileGbnf(text);
    const matcher = new Matcher(grammar, SMALL);
    const draw = random(3);
    for (let step = 0; step < 30; step++) {
      const mask = tokensOf(matcher.computeMask(), SMALL.size);
      expect(mask.length).toBeGreaterThan(0);
      const token = mask[Math.floor(draw() * mask.length)] as number;
      expect(matcher.accept(token)).toBe(true);
      if (SMALL.isEndOfGeneration(token)) break;
    }
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(1000);
  });

  const REFUSED: Readonly<Record<string, string>> = {
    "groups too deep": `root ::= ${deep("(", ")", 60_000)}`,
    "chain of rules too deep": `root ::= r0\n${chain(5000)}r5000 ::= "c"\n`,
    "first rules too deep": `root ::= r0\n${Array.from({ length: 5000 }, (_, i) => {
      return `r${i} ::= r${i + 1}\n`;
    }).join("")}r5000 ::= "c"\n`,
    "repetitions of repetitions": `root ::= "a"${"*".repeat(10_000)}`,
    "a shortest text too long": 'root ::= (("a"{1000}){1000}){1000}',
    "too many rules": Array.from({ length: 20_000 }, (_, i) => `r${i} ::= "a"\n`).join(""),
    "too long": `root ::= "${"a".repeat(2 ** 20)}"`,
  };
  test.each(Object.entries(REFUSED))("%s: refused in time", (_, text) => {
    const start = process.cpuUsage();
    expect(() => compileGbnf(text)).toThrow(expect.objectContaining({ code: "too_complex" }));
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(1000);
  });
});
