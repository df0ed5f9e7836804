/** What is taken as GBNF, and what people are told about what is not. */
import { describe, expect, test } from "bun:test";
import { compileGbnf } from "../../src/grammar/gbnf-compile.ts";
import { GbnfError } from "../../src/grammar/gbnf-error.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { SMALL } from "../mask/kit.ts";
import { llamaGrammars } from "./llama-grammar.ts";

const parse = await llamaGrammars();

function accepts(grammar: string, text: string): boolean {
  const matcher = new Matcher(compileGbnf(grammar), SMALL);
  return [...Buffer.from(text)].every((byte) => matcher.accept(byte)) && matcher.isComplete;
}

const TAKEN: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['root ::= "a"', ["a"], ["b", "aa"]],
  ['# comment\n\nroot ::= "a" # comment\n# comment', ["a"], ["# comment"]],
  ['root::="a"|"b"', ["a", "b"], ["ab"]],
  ['root ::=\n  "a" |\n  "b"\n', ["a", "b"], ["ab"]],
  ['root ::= (\n  "a"\n  | "b" # or\n)*\r\n', ["a", "abba"], ["c"]],
  ['root ::= "a" one-2\r\none-2 ::= "b"', ["ab"], ["a"]],
  ['root ::= "\\"\\\\\\n\\r\\t\\x41\\u00e9\\U0001F600[]-"', ['"\\\n\r\tAé😀[]-'], ['"']],
  ['root ::= "\\[\\]\\-"', ["[]-"], ["\\[\\]\\-"]],
  ["root ::= [a-c\\]\\-\\\\x]+", ["abc]-\\x"], ["d", "["]],
  ["root ::= [a-]+ [-z]+", ["a-z-"], ["b"]],
  ["root ::= [^a-cé]", ["d", "日", "😀", "\n"], ["a", "é", "dd"]],
  ["root ::= [é-ü日]", ["é", "ê", "日"], ["e", "ý", "本"]],
  ["root ::= .", ["a", "é", "日", "😀"], ["ab"]],
  ['root ::= "ab"{2}', ["abab"], ["ab", "aab", "ababab"]],
  ['root ::= "a"{2,}', ["aa", "aaaaa"], ["a"]],
  ['root ::= "a"{ 1 , 3 }', ["a", "aaa"], ["aaaa"]],
  ['root ::= "a"{0,0} "b"', ["b"], ["ab"]],
  ['root ::= "a"? "b"+', ["b", "abb"], ["a"]],
  ['root ::= ("a" "b")+ "c"*', ["ab", "ababcc"], ["aab", "c"]],
  ['root ::= "a"*?"b"', ["b", "aab"], ["a"]],
  ['root ::= "" "a" | "b" ""', ["a", "b"], ["ab"]],
  ['root ::= "a" | "ab" | "abc" | "b"', ["a", "ab", "abc", "b"], ["abcb", "c"]],
  ['root ::= "(" root ")" | "x"', ["x", "((x))"], ["(x", "x)"]],
  ['root ::= ab "c"\nab ::= "a" ab | "b"', ["bc", "aabc"], ["ac"]],
];

describe.each(TAKEN)("%s", (grammar, accepted, rejected) => {
  const judge = parse(grammar);
  test("means what llama.cpp takes it for", () => {
    for (const text of accepted) {
      expect([text, accepts(grammar, text), judge._testText(text)]).toEqual([text, true, true]);
    }
    for (const text of rejected) {
      expect([text, accepts(grammar, text), judge._testText(text)]).toEqual([text, false, false]);
    }
  });
});

const REFUSED: readonly (readonly [string, string, number, number, string])[] = [
  ["", "undefined_rule", 1, 1, 'there is no rule "root"'],
  ['start ::= "a"', "undefined_rule", 1, 1, 'name the rule that whole answers follow "root"'],
  ['root ::= "a" item', "undefined_rule", 1, 14, 'there is no rule "item"'],
  ['root ::= "a"\n\nroot ::= "b"', "duplicate_rule", 3, 1, "on line 1 already"],
  ["root ::= é", "invalid_syntax", 1, 10, 'not "é"'],
  ['root = "a"', "invalid_syntax", 1, 6, "expected ::="],
  ['my_rule ::= "a"', "invalid_syntax", 1, 3, "expected ::="],
  ['::= "a"', "invalid_syntax", 1, 1, "letters, digits and hyphens"],
  ['root ::= "a"\n  | "b"', "invalid_syntax", 2, 3, "at the end of the line before"],
  ['root ::= "a', "invalid_syntax", 1, 10, "this literal is never closed"],
  ["root ::= [a", "invalid_syntax", 1, 10, "this class is never closed"],
  ["root ::= []", "invalid_syntax", 1, 10, "a class needs a character"],
  ["root ::= [z-a]", "invalid_syntax", 1, 11, "runs backwards"],
  ['root ::= ("a"', "invalid_syntax", 1, 10, 'this "(" is never closed'],
  ['root ::= "a")', "invalid_syntax", 1, 13, 'no "(" is open here'],
  ["root ::= * ", "invalid_syntax", 1, 10, "nothing before"],
  ['root ::= "a"{x}', "invalid_syntax", 1, 14, "expected a number"],
  ['root ::= "a"{1', "invalid_syntax", 1, 15, 'expected "}"'],
  ['root ::= "a"{3,2}', "invalid_syntax", 1, 13, "{2,3}"],
  ['root ::= "a"{100001}', "too_complex", 1, 14, "100000 repetitions"],
  ['root ::= "\\d"', "invalid_syntax", 1, 11, "no escape \\d"],
  ['root ::= "\\x4"', "invalid_syntax", 1, 11, "2 hexadecimal digits"],
  ['root ::= "\\ud83d"', "invalid_syntax", 1, 11, "surrogate"],
  ['root ::= "\\U00110000"', "invalid_syntax", 1, 11, "beyond"],
  ['root ::= "\ud83d"', "invalid_syntax", 1, 11, "surrogate"],
  ["root ::= <think>", "unsupported_syntax", 1, 10, "write the text itself"],
  ["root ::= !<[12]>", "unsupported_syntax", 1, 10, "write the text itself"],
  ['root ::= root "a" | "b"', "left_recursion", 1, 1, "root → root"],
  ['root ::= "x" | a\na ::= b\nb ::= "c"? a', "left_recursion", 2, 1, "a → b → a"],
  ['root ::= e root "a" | "b"\ne ::= "x"*', "left_recursion", 1, 1, "root → root"],
  ['root ::= ("a"? root)* "b"', "left_recursion", 1, 1, "root → root"],
  ['root ::= "a" root', "unsatisfiable", 1, 1, "root → root"],
  ['root ::= "a" x\nx ::= "b" y\ny ::= "c" x', "unsatisfiable", 1, 1, "root → x → y → x"],
  ["root ::= [^\\x00-\\U0010FFFF]", "unsatisfiable", 1, 1, "no character"],
];

test.each(REFUSED)("%j is refused as %s", (grammar, code, line, column, message) => {
  try {
    compileGbnf(grammar);
  } catch (error) {
    if (!(error instanceof GbnfError)) throw error;
    const { message: said } = error;
    expect({ code: error.code, line: error.line, column: error.column, said }).toEqual({
      ...{ code: code as GbnfError["code"], line, column },
      said: expect.stringContaining(message),
    });
    return;
  }
  throw new Error("it was taken");
});

test("what can never finish is left out: the mask does not lead there", () => {
  const grammar = 'root ::= "a" ("b" loop | "c" | "d" loop{0,3})\nloop ::= "x" loop';
  const matcher = new Matcher(compileGbnf(grammar), SMALL);
  expect(matcher.accept(0x61)).toBe(true);
  expect(matcher.accept(0x62)).toBe(false);
  expect(matcher.accept(0x64)).toBe(true);
  expect(matcher.isComplete).toBe(true);
  expect(matcher.accept(0x78)).toBe(false);
});
