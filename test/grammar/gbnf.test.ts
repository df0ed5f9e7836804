/** The printed GBNF is taken by llama.cpp, and allows what the lock allows. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { compileSchema, type SchemaGrammar } from "../../src/grammar/compile.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { random, SMALL, sample } from "../mask/kit.ts";
import { SCHEMAS } from "../mask/schemas.ts";
import { llamaGrammars } from "./llama-grammar.ts";

setDefaultTimeout(60_000);

const parse = await llamaGrammars();

const ROUNDS = process.env["SLOW"] ? 6 : 4;
/** llama.cpp's own matcher looks at every alternative: long texts take it long. */
const TEXT_MAX = 400;

describe.each([
  ["closed", "compact"],
  ["closed", "flexible"],
  ["open", "compact"],
] as const)("%s objects, %s white space", (objects, whitespace) => {
  test.each(Object.entries(SCHEMAS))("%s", (_, schema) => {
    const compiled = compileSchema(schema, { objects, whitespace });
    const grammar = parse(compiled.gbnf);
    let checked = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const draw = random(round + 1);
      const budget = new Matcher(compiled, SMALL).needTokens() + round;
      const { text } = sample(compiled, SMALL, draw, { budget, eagerness: 0.7 });
      if (text.length > TEXT_MAX) continue;
      checked += 1;
      if (!grammar._testText(text)) throw new Error(`the GBNF refuses ${text}`);
      for (const other of mutations(text, draw)) check(compiled, grammar._testText(other), other);
    }
    expect(checked).toBeGreaterThan(0);
    expect(compiled.gbnf.startsWith("#")).toBe(!compiled.gbnfExact);
  });
});

test("what is exact is known", () => {
  const exact = Object.keys(SCHEMAS).filter((name) => compileSchema(SCHEMAS[name]).gbnfExact);
  expect(exact).toEqual([
    "anything",
    "scalars",
    "integers",
    "decimals",
    "lengths",
    "open",
    "tuple",
    "allOf",
    "recursive",
  ]);
});

function check(compiled: SchemaGrammar, inText: boolean, text: string): void {
  const inLock = isWhole(new Matcher(compiled, SMALL), text);
  if (inLock && !inText) throw new Error(`the GBNF refuses ${text}`);
  if (compiled.gbnfExact && inText !== inLock) throw new Error(`exact, but not on ${text}`);
}

function isWhole(matcher: Matcher, text: string): boolean {
  return [...Buffer.from(text)].every((byte) => matcher.accept(byte)) && matcher.isComplete;
}

/** One character left out, doubled or replaced. */
function* mutations(text: string, draw: () => number): Generator<string> {
  const chars = [...text];
  for (let i = 0; i < 8; i++) {
    const at = Math.floor(draw() * chars.length);
    const [before, after] = [chars.slice(0, at).join(""), chars.slice(at + 1).join("")];
    yield before + after;
    yield before + chars[at] + chars[at] + after;
    yield `${before}${'0a-,"} é'.charAt(Math.floor(draw() * 8))}${after}`;
  }
}
