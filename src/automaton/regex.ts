/**
 * ECMAScript regular expressions, as JSON Schema's `pattern` uses them (a search, Unicode mode), to
 * deterministic automata. Nothing here backtracks and no user pattern ever becomes a `RegExp`.
 *
 * Lookahead is taken where it stands right after a leading `^`: `^(?!X)Y` is "not X… and Y". Other
 * lookaround and backreferences have no automaton of this kind and are refused.
 */
import { type AST, RegExpParser } from "@eslint-community/regexpp";
import {
  ANY,
  type CharSet,
  charSet,
  complement,
  DIGIT,
  LINE_TERMINATOR,
  SPACE,
  union,
  WORD,
} from "./char-set.ts";
import { determinize } from "./determinize.ts";
import type { Dfa } from "./dfa.ts";
import { combine, intersect } from "./dfa-algebra.ts";
import { Nfa } from "./nfa.ts";

export class PatternError extends Error {
  override readonly name = "PatternError";
  readonly code: "invalid_pattern" | "unsupported_pattern";
  constructor(
    message: string,
    options: { readonly code: PatternError["code"]; readonly cause?: unknown },
  ) {
    super(message, options);
    this.code = options.code;
  }
}

function unsupported(what: string): PatternError {
  return new PatternError(what, { code: "unsupported_pattern" });
}

/**
 * The strings that a pattern matches: those of `dfa` with `minLength` to `maxLength` code points.
 */
export interface PatternLanguage {
  readonly dfa: Dfa;
  readonly minLength: number;
  readonly maxLength: number;
}

/** Longer patterns are refused; the longest of 11,306 published schemas has 3,200 characters. */
const PATTERN_LENGTH_MAX = 10_000;

/**
 * @throws PatternError for a pattern that is not ECMAScript or has no automaton.
 * @throws AutomatonTooLargeError for one whose automaton would be too large.
 */
export function compilePattern(source: string): PatternLanguage {
  if (source.length > PATTERN_LENGTH_MAX) {
    throw unsupported(`longer than ${PATTERN_LENGTH_MAX} characters`);
  }
  const pattern = parsePattern(source);
  const lengths = asLengths(pattern);
  if (lengths) return lengths;
  const { alternatives } = pattern;
  if (alternatives.length === 1 && alternatives[0]) {
    const guarded = withLeadingLookaheads(alternatives[0].elements);
    if (guarded) return { dfa: guarded, minLength: 0, maxLength: Number.POSITIVE_INFINITY };
  }
  return {
    dfa: searchDfa((nfa, from) => addAlternatives(nfa, alternatives, from)),
    minLength: 0,
    maxLength: Number.POSITIVE_INFINITY,
  };
}

function parsePattern(source: string): AST.Pattern {
  const parser = new RegExpParser();
  const parse = (unicode: boolean): AST.Pattern =>
    parser.parsePattern(source, 0, source.length, { unicode });
  try {
    return parse(true);
  } catch (cause) {
    // Many published patterns escape what Unicode mode forbids to escape ("\_"): read those without
    // it, unless they hold something that means another thing then.
    const message = cause instanceof Error ? cause.message : String(cause);
    const other = /[\u{10000}-\u{10ffff}]|\\[pPu]\{|\\u[dD][89a-fA-F]/u.test(source);
    if (other) throw new PatternError(message, { code: "invalid_pattern", cause });
  }
  try {
    return parse(false);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new PatternError(message, { code: "invalid_pattern", cause });
  }
}

type Build = (nfa: Nfa, from: number) => number;

/** Strings in which the built expression matches somewhere. */
function searchDfa(build: Build): Dfa {
  const nfa = new Nfa();
  const start = nfa.addState();
  nfa.addChars(start, ANY, start);
  const end = build(nfa, start);
  nfa.accept = nfa.addState();
  nfa.addEpsilon(end, nfa.accept);
  nfa.addChars(nfa.accept, ANY, nfa.accept);
  return determinize(nfa);
}

/**
 * `^C{a,b}$` for one character class: the automaton of `C*` and two lengths, however large b is.
 */
function asLengths(pattern: AST.Pattern): PatternLanguage | null {
  const elements =
    pattern.alternatives.length === 1 ? pattern.alternatives[0]?.elements : undefined;
  const [first, body, last] = elements ?? [];
  if (elements?.length !== 3 || first?.type !== "Assertion" || first.kind !== "start") return null;
  if (last?.type !== "Assertion" || last.kind !== "end" || body?.type !== "Quantifier") return null;
  const set = charSetOf(body.element);
  if (set === null) return null;
  const nfa = new Nfa();
  nfa.accept = nfa.addState();
  nfa.addChars(nfa.accept, set, nfa.accept);
  return { dfa: determinize(nfa), minLength: body.min, maxLength: body.max };
}

function withLeadingLookaheads(elements: readonly AST.Element[]): Dfa | null {
  const [first, ...others] = elements;
  if (first?.type !== "Assertion" || first.kind !== "start") return null;
  const guards: AST.LookaheadAssertion[] = [];
  for (const element of others) {
    if (element.type !== "Assertion" || element.kind !== "lookahead") break;
    guards.push(element);
  }
  if (guards.length === 0) return null;
  const prefixDfa = (build: Build): Dfa =>
    searchDfa((nfa, from) => {
      const start = nfa.addState();
      nfa.addAssertion(from, "start", start);
      return build(nfa, start);
    });
  const rest = others.slice(guards.length);
  const parts = guards.map((guard) => {
    const dfa = prefixDfa((nfa, from) => addAlternatives(nfa, guard.alternatives, from));
    return guard.negate ? combine([dfa], ([accepted]) => !accepted) : dfa;
  });
  return intersect([...parts, prefixDfa((nfa, from) => addElements(nfa, rest, from))]);
}

function addAlternatives(nfa: Nfa, alternatives: readonly AST.Alternative[], from: number): number {
  const [only] = alternatives;
  if (only && alternatives.length === 1) return addElements(nfa, only.elements, from);
  const end = nfa.addState();
  for (const alternative of alternatives) {
    const start = nfa.addState();
    nfa.addEpsilon(from, start);
    nfa.addEpsilon(addElements(nfa, alternative.elements, start), end);
  }
  return end;
}

function addElements(nfa: Nfa, elements: readonly AST.Element[], from: number): number {
  return elements.reduce((at, element) => addElement(nfa, element, at), from);
}

function addElement(nfa: Nfa, element: AST.Element, from: number): number {
  switch (element.type) {
    case "Assertion":
      return addAssertion(nfa, element, from);
    case "Quantifier":
      return addQuantifier(nfa, element, from);
    case "Group":
    case "CapturingGroup":
      if (element.type === "Group" && element.modifiers) {
        throw unsupported("modifiers in a group (?i:…)");
      }
      return addAlternatives(nfa, element.alternatives, from);
    case "Backreference":
      throw unsupported(`the backreference ${element.raw}`);
    default: {
      const set = charSetOf(element);
      if (set === null) throw unsupported(`the part ${element.raw}`);
      const end = nfa.addState();
      nfa.addChars(from, set, end);
      return end;
    }
  }
}

function addAssertion(nfa: Nfa, assertion: AST.Assertion, from: number): number {
  if (assertion.kind === "lookahead" || assertion.kind === "lookbehind") {
    const way = "only lookahead right after a leading ^ can be enforced";
    throw unsupported(`the ${assertion.kind} ${assertion.raw} (${way})`);
  }
  const end = nfa.addState();
  if (assertion.kind !== "word") nfa.addAssertion(from, assertion.kind, end);
  else nfa.addAssertion(from, assertion.negate ? "not_boundary" : "boundary", end);
  return end;
}

function addQuantifier(nfa: Nfa, quantifier: AST.Quantifier, from: number): number {
  const { min, max, element } = quantifier;
  let at = from;
  for (let i = 0; i < min; i++) at = addElement(nfa, element, at);
  const end = nfa.addState();
  if (max === Number.POSITIVE_INFINITY) {
    // A state of its own to loop on, so that the loop cannot re-enter what stands before it.
    const loop = nfa.addState();
    nfa.addEpsilon(at, loop);
    nfa.addEpsilon(addElement(nfa, element, loop), loop);
    nfa.addEpsilon(loop, end);
    return end;
  }
  nfa.addEpsilon(at, end);
  for (let i = min; i < max; i++) {
    at = addElement(nfa, element, at);
    nfa.addEpsilon(at, end);
  }
  return end;
}

/** The set that an element reads exactly one code point of; null for any other element. */
function charSetOf(element: AST.Element): CharSet | null {
  switch (element.type) {
    case "Character":
      return [element.value, element.value];
    case "CharacterSet":
      return characterSet(element);
    case "CharacterClass": {
      const set = union(...element.elements.map(classElement));
      return element.negate ? complement(set) : set;
    }
    case "Group":
    case "CapturingGroup": {
      const [only] = element.alternatives;
      const [inner] = only?.elements ?? [];
      const single = element.alternatives.length === 1 && only?.elements.length === 1;
      return single && inner && inner.type !== "Quantifier" ? charSetOf(inner) : null;
    }
    default:
      return null;
  }
}

function classElement(element: AST.CharacterClassElement): CharSet {
  switch (element.type) {
    case "Character":
      return [element.value, element.value];
    case "CharacterClassRange":
      return [element.min.value, element.max.value];
    case "CharacterSet":
      return characterSet(element);
    default:
      throw unsupported(`the class part ${element.raw}`);
  }
}

function characterSet(element: AST.CharacterSet | AST.EscapeCharacterSet): CharSet {
  switch (element.kind) {
    case "any":
      return complement(LINE_TERMINATOR);
    case "digit":
      return element.negate ? complement(DIGIT) : DIGIT;
    case "space":
      return element.negate ? complement(SPACE) : SPACE;
    case "word":
      return element.negate ? complement(WORD) : WORD;
    case "property": {
      const set = propertySet(element.raw.replace(/^\\P/, "\\p"));
      return element.negate ? complement(set) : set;
    }
  }
}

/** The code points of a Unicode property escape that the parser has already checked. */
function propertySet(property: string): CharSet {
  const matcher = new RegExp(`^${property}$`, "u");
  const ranges: [number, number][] = [];
  for (let c = 0, from = -1; c <= 0x110000; c++) {
    const member =
      c < 0x110000 && !(c >= 0xd800 && c < 0xe000) && matcher.test(String.fromCodePoint(c));
    if (member && from < 0) from = c;
    if (!member && from >= 0) {
      ranges.push([from, c - 1]);
      from = -1;
    }
  }
  return charSet(ranges);
}
