/**
 * GBNF text → rules, as llama.cpp reads it: comments, literals, classes, `.`, groups, repetition,
 * rules that go on over lines inside of parentheses and after `|`.
 */
import { ANY, type CharSet, charSet, complement } from "../automaton/char-set.ts";
import { GbnfError, type GbnfErrorCode } from "./gbnf-error.ts";
import { GROUP_DEPTH_MAX, REPETITIONS_MAX, RULES_MAX, TEXT_LENGTH_MAX } from "./gbnf-limits.ts";

export type Expression =
  | { readonly kind: "literal"; readonly bytes: Uint8Array }
  | { readonly kind: "class"; readonly set: CharSet }
  | { readonly kind: "reference"; readonly name: string; readonly at: number }
  | { readonly kind: "sequence"; readonly parts: readonly Expression[] }
  | { readonly kind: "choice"; readonly options: readonly Expression[] }
  | {
      readonly kind: "repetition";
      readonly body: Expression;
      readonly min: number;
      /** Infinite for any number. */
      readonly max: number;
    };

export interface Rule {
  readonly name: string;
  /** Offset in the text. */
  readonly at: number;
  readonly body: Expression;
}

/** @throws GbnfError, also for two rules of one name: llama.cpp takes the last in silence. */
export function parseGbnf(text: string): ReadonlyMap<string, Rule> {
  return new GbnfParser(text).parse();
}

/** @param at offset in the text. */
export function gbnfError(text: string, at: number, code: GbnfErrorCode, message: string): Error {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf("\n") + 1;
  return new GbnfError(message, {
    code,
    line: before.split("\n").length,
    column: [...before.slice(lineStart)].length + 1,
  });
}

const NAME = /[A-Za-z0-9-]+/y;
const NUMBER = /[0-9]+/y;
const BLANKS = /(?:[ \t]|#[^\r\n]*)*/y;
const BLANKS_AND_LINES = /(?:[ \t\r\n]|#[^\r\n]*)*/y;
const NEWLINE = /\r\n?|\n/y;

const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };
const ESCAPES: Readonly<Record<string, string>> = {
  t: "\t",
  r: "\r",
  n: "\n",
  ...Object.fromEntries([...'\\"[]-'].map((char) => [char, char])),
};

const UNBOUNDED = Number.POSITIVE_INFINITY;
const SIMPLE_REPETITIONS: Readonly<Record<string, readonly [number, number]>> = {
  "*": [0, UNBOUNDED],
  "+": [1, UNBOUNDED],
  "?": [0, 1],
};

class GbnfParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Map<string, Rule> {
    this.#checkText();
    const rules = new Map<string, Rule>();
    this.#take(BLANKS_AND_LINES);
    while (this.#at < this.#text.length) {
      const rule = this.#rule();
      const known = rules.get(rule.name);
      if (known) {
        const line = this.#text.slice(0, known.at).split("\n").length;
        const message = `there is a rule "${rule.name}" on line ${line} already; rename one`;
        throw gbnfError(this.#text, rule.at, "duplicate_rule", message);
      }
      rules.set(rule.name, rule);
      if (rules.size > RULES_MAX) throw this.#tooComplex(`at most ${RULES_MAX} rules can be taken`);
    }
    return rules;
  }

  #checkText(): void {
    if (this.#text.length > TEXT_LENGTH_MAX) {
      throw this.#tooComplex(`a grammar can have ${TEXT_LENGTH_MAX} characters at most`);
    }
    if (this.#text.isWellFormed()) return;
    this.#at = this.#text.search(/\p{Surrogate}/u);
    throw this.#wrong("half of a surrogate pair is no character; leave it out");
  }

  #rule(): Rule {
    const at = this.#at;
    const name = this.#take(NAME);
    if (name === "") {
      throw this.#wrong(
        this.#peek() === "|"
          ? 'a rule ends with its line: put this "|" at the end of the line before'
          : "expected the name of a rule: letters, digits and hyphens",
      );
    }
    this.#take(BLANKS);
    if (!this.#skip("::=")) throw this.#wrong(`expected ::= after the name "${name}"`);
    this.#take(BLANKS_AND_LINES);
    const body = this.#choice(0);
    if (this.#at < this.#text.length && this.#take(NEWLINE) === "") {
      throw this.#wrong(this.#peek() === ")" ? 'no "(" is open here' : this.#unexpected());
    }
    this.#take(BLANKS_AND_LINES);
    return { name, at, body };
  }

  #unexpected(): string {
    const found = JSON.stringify(this.#peek());
    return `expected a literal, a class, a rule's name, "(" or the end of the line, not ${found}`;
  }

  #choice(depth: number): Expression {
    const options = [this.#sequence(depth)];
    while (this.#skip("|")) {
      this.#take(BLANKS_AND_LINES);
      options.push(this.#sequence(depth));
    }
    return options.length === 1 ? (options[0] as Expression) : { kind: "choice", options };
  }

  #sequence(depth: number): Expression {
    const blanks = depth > 0 ? BLANKS_AND_LINES : BLANKS;
    const parts: Expression[] = [];
    for (let part = this.#part(depth); part !== null; part = this.#part(depth)) {
      this.#take(blanks);
      parts.push(this.#repeated(part, blanks));
    }
    return parts.length === 1 ? (parts[0] as Expression) : { kind: "sequence", parts };
  }

  #part(depth: number): Expression | null {
    switch (this.#peek()) {
      case '"':
        return this.#literal();
      case "[":
        return this.#class();
      case "(":
        return this.#group(depth);
      case ".":
        this.#at += 1;
        return { kind: "class", set: ANY };
      case "<":
      case "!":
        throw this.#error(
          "unsupported_syntax",
          'tokens by name or number are not taken: write the text itself, as in "<tag>"',
        );
      case "*":
      case "+":
      case "?":
      case "{":
        throw this.#wrong(`there is nothing before this "${this.#peek()}" to repeat`);
      default: {
        const at = this.#at;
        const name = this.#take(NAME);
        return name === "" ? null : { kind: "reference", name, at };
      }
    }
  }

  #group(depth: number): Expression {
    const open = this.#at;
    if (depth >= GROUP_DEPTH_MAX) {
      throw this.#tooComplex(
        `groups can be ${GROUP_DEPTH_MAX} deep at most; name the inner ones as rules`,
      );
    }
    this.#at += 1;
    this.#take(BLANKS_AND_LINES);
    const body = this.#choice(depth + 1);
    if (this.#skip(")")) return body;
    if (this.#at < this.#text.length) throw this.#wrong(this.#unexpected());
    this.#at = open;
    throw this.#wrong('this "(" is never closed');
  }

  #repeated(part: Expression, blanks: RegExp): Expression {
    let body = part;
    for (let count = 0; ; count++) {
      const at = this.#at;
      const bounds = this.#bounds(blanks);
      if (bounds === null) return body;
      if (count >= GROUP_DEPTH_MAX) throw this.#tooComplex("too many repetitions of repetitions");
      this.#take(blanks);
      const [min, max] = bounds;
      if (min > max) {
        this.#at = at;
        throw this.#wrong(`${min} is more than ${max}: write {${max},${min}}`);
      }
      body = { kind: "repetition", body, min, max };
    }
  }

  #bounds(blanks: RegExp): readonly [number, number] | null {
    const simple = SIMPLE_REPETITIONS[this.#peek()];
    if (simple) {
      this.#at += 1;
      return simple;
    }
    if (!this.#skip("{")) return null;
    this.#take(blanks);
    const min = this.#number();
    this.#take(blanks);
    let max = min;
    if (this.#skip(",")) {
      this.#take(blanks);
      max = /[0-9]/.test(this.#peek()) ? this.#number() : UNBOUNDED;
      this.#take(blanks);
    }
    if (!this.#skip("}")) throw this.#wrong('expected "}", as in {3}, {3,} or {3,5}');
    return [min, max];
  }

  #number(): number {
    const at = this.#at;
    const digits = this.#take(NUMBER);
    if (digits === "") throw this.#wrong("expected a number, as in {3}, {3,} or {3,5}");
    if (Number(digits) <= REPETITIONS_MAX) return Number(digits);
    this.#at = at;
    throw this.#tooComplex(`at most ${REPETITIONS_MAX} repetitions can be counted`);
  }

  #literal(): Expression {
    const open = this.#at;
    this.#at += 1;
    const points: number[] = [];
    while (!this.#skip('"')) points.push(this.#point(open, "literal"));
    return { kind: "literal", bytes: Buffer.from(points.map(charOf).join("")) };
  }

  #class(): Expression {
    const open = this.#at;
    this.#at += 1;
    const isNegated = this.#skip("^");
    const ranges: [number, number][] = [];
    while (!this.#skip("]")) {
      const at = this.#at;
      const first = this.#point(open, "class");
      let last = first;
      if (this.#peek() === "-" && this.#text[this.#at + 1] !== "]") {
        this.#at += 1;
        last = this.#point(open, "class");
      }
      if (last < first) {
        this.#at = at;
        throw this.#wrong("this range runs backwards: its first character comes after its last");
      }
      ranges.push([first, last]);
    }
    if (ranges.length === 0) {
      this.#at = open;
      throw this.#wrong("a class needs a character: write . for any, \\] for a bracket");
    }
    const set = charSet(ranges);
    return { kind: "class", set: isNegated ? complement(set) : set };
  }

  /** A character, plain or as an escape. */
  #point(open: number, what: string): number {
    if (this.#at >= this.#text.length) {
      this.#at = open;
      throw this.#wrong(`this ${what} is never closed`);
    }
    const point = this.#text.codePointAt(this.#at) as number;
    if (point !== 0x5c) {
      this.#at += point > 0xffff ? 2 : 1;
      return point;
    }
    const letter = this.#text[this.#at + 1] ?? "";
    const digits = HEX_DIGITS[letter];
    if (digits !== undefined) return this.#hexPoint(letter, digits);
    const char = ESCAPES[letter];
    if (char === undefined) {
      const known = '\\t \\r \\n \\\\ \\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH';
      throw this.#wrong(`there is no escape \\${letter}; there are ${known}`);
    }
    this.#at += 2;
    return char.codePointAt(0) as number;
  }

  #hexPoint(letter: string, digits: number): number {
    const hex = this.#text.slice(this.#at + 2, this.#at + 2 + digits);
    if (hex.length < digits || !/^[0-9A-Fa-f]+$/.test(hex)) {
      throw this.#wrong(`\\${letter} takes ${digits} hexadecimal digits`);
    }
    const point = Number.parseInt(hex, 16);
    if (point > 0x10ffff) throw this.#wrong("there is no character beyond \\U0010FFFF");
    if (point >= 0xd800 && point <= 0xdfff) {
      throw this.#wrong("half of a surrogate pair is no character: write \\U and eight digits");
    }
    this.#at += 2 + digits;
    return point;
  }

  /** The character here; empty at the end. */
  #peek(): string {
    return String.fromCodePoint(...[this.#text.codePointAt(this.#at) ?? []].flat());
  }

  #skip(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken = ""] = pattern.exec(this.#text) ?? [];
    this.#at += taken.length;
    return taken;
  }

  #wrong(message: string): Error {
    return this.#error("invalid_syntax", message);
  }

  #tooComplex(message: string): Error {
    return this.#error("too_complex", message);
  }

  #error(code: GbnfErrorCode, message: string): Error {
    return gbnfError(this.#text, this.#at, code, message);
  }
}

function charOf(point: number): string {
  return String.fromCodePoint(point);
}
