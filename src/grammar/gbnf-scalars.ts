/** Strings and numbers as GBNF. */
import type { Dfa } from "../automaton/dfa.ts";
import { NUMBER_COLUMN } from "../automaton/number-columns.ts";
import { FACTOR_MAX, type GbnfRules, literal, range, repeat } from "./gbnf-rules.ts";
import type { NumberView, PlainNumbers } from "./number-view.ts";
import type { LengthRange, RangedStrings } from "./ranged-strings.ts";
import type { StringView } from "./string-view.ts";

/** States written out; larger automata are left open. */
const STATES_MAX = 300;

/** An alternative of a rule. @param name of the rules that it needs, if any. */
export function stringBody(view: StringView, rules: GbnfRules, name: string): string {
  if (view.kind === "list") {
    const texts = view.texts.texts.map((text) => Buffer.from(text).toString());
    return texts.map((text) => literal(`"${text}"`)).join(" | ");
  }
  const parts = view.parts.length > 0 ? view.parts : null;
  if (parts === null) {
    rules.widen("strings told apart by several schemas");
    return rules.shared("string");
  }
  return parts.map((part, i) => partBody(part, rules, `${name}-s${i}`)).join(" | ");
}

function partBody(part: RangedStrings, rules: GbnfRules, name: string): string {
  const { dfa } = part.automaton;
  const [only] = part.ranges;
  if (part.ranges.length !== 1 || !only) return anyString(rules, "ranges of lengths");
  const isFree = dfa.size === 1 && part.automaton.universal;
  if (isFree) return freeString(only, rules);
  if (dfa.size === 1) return loopBody(dfa, only, rules);
  if (dfa.size > STATES_MAX) return anyString(rules, "patterns with many states");
  if (only.lo > 0 || only.hi !== Number.POSITIVE_INFINITY) {
    if (!lengthsFollow(dfa, only)) rules.widen("lengths beside a pattern");
  }
  const states = stateRules(dfa, rules, name);
  return `"\\"" ${states} "\\""`;
}

/** A pattern that repeats one set of characters. */
function loopBody(dfa: Dfa, { lo, hi }: LengthRange, rules: GbnfRules): string {
  const [way] = waysOf(dfa, 0);
  if (!way) return '"\\"\\""';
  return `"\\"" ${repeatUpTo(way[1], lo, hi, rules)} "\\""`;
}

function repeatUpTo(item: string, lo: number, hi: number, rules: GbnfRules): string {
  const min = Math.min(lo, FACTOR_MAX);
  const max = hi > FACTOR_MAX ? Number.POSITIVE_INFINITY : hi;
  if (min !== lo || max !== hi) rules.widen(`lengths above ${FACTOR_MAX}`);
  return repeat(item, min, max);
}

function anyString(rules: GbnfRules, what: string): string {
  rules.widen(what);
  return rules.shared("string");
}

function freeString({ lo, hi }: LengthRange, rules: GbnfRules): string {
  if (lo === 0 && hi === Number.POSITIVE_INFINITY) return rules.shared("string");
  return `"\\"" ${repeatUpTo(rules.shared("char"), lo, hi, rules)} "\\""`;
}

/** Whether every string of the automaton has a length in the range. */
function lengthsFollow(dfa: Dfa, { lo, hi }: LengthRange): boolean {
  // Walked as sets of states by length: past the number of states, a length repeats itself.
  let states = new Set([0]);
  const { count } = dfa.classes;
  for (let length = 0; length <= dfa.size + Math.max(lo, Number.isFinite(hi) ? hi : 0); length++) {
    const ends = [...states].some((state) => dfa.accepts[state] !== 0);
    if (ends && (length < lo || length > hi)) return false;
    const next = new Set<number>();
    for (const state of states) {
      for (let c = 0; c < count; c++) {
        const target = dfa.table[state * count + c] as number;
        if (target >= 0) next.add(target);
      }
    }
    if (next.size === 0) return true;
    states = next;
    if (length > 10_000) return false;
  }
  return hi === Number.POSITIVE_INFINITY;
}

/** One rule per state: what may follow. @returns the name of the first. */
function stateRules(dfa: Dfa, rules: GbnfRules, name: string): string {
  for (let state = 0; state < dfa.size; state++) {
    const ways = waysOf(dfa, state).map(([target, chars]) => `${chars} ${name}-${target}`);
    if (dfa.accepts[state] !== 0) ways.push('""');
    rules.set(`${name}-${state}`, ways.join(" | "));
  }
  return `${name}-0`;
}

/** By target state: the characters that lead there, as JSON writes them. */
function waysOf(dfa: Dfa, state: number): [number, string][] {
  const { classes, table } = dfa;
  const byTarget = new Map<number, [number, number][]>();
  for (const [segment, charClass] of classes.classes.entries()) {
    if (charClass < 0) continue;
    const target = table[state * classes.count + charClass] as number;
    if (target < 0) continue;
    const first = classes.starts[segment] as number;
    const last = (classes.starts[segment + 1] ?? 0x110000) - 1;
    const ranges = byTarget.get(target) ?? [];
    const before = ranges.at(-1);
    if (before && before[1] === first - 1) before[1] = last;
    else ranges.push([first, last]);
    byTarget.set(target, ranges);
  }
  return [...byTarget].map(([target, ranges]) => [target, charsOf(ranges)]);
}

function charsOf(ranges: readonly (readonly [number, number])[]): string {
  const plain: string[] = [];
  const escaped: string[] = [];
  for (const [first, last] of ranges) {
    for (const [from, to] of withoutEscapes(first, last)) plain.push(range(from, to));
    for (const code of ESCAPED) {
      if (code < first || code > last) continue;
      escaped.push(literal(JSON.stringify(String.fromCharCode(code)).slice(1, -1)));
    }
  }
  const sets = plain.length > 0 ? [`[${plain.join("")}]`] : [];
  const all = [...sets, ...escaped];
  return all.length === 1 ? (all[0] as string) : `(${all.join(" | ")})`;
}

/** Code points that JSON writes as an escape. */
const ESCAPED: readonly number[] = [...Array.from({ length: 0x20 }, (_, c) => c), 0x22, 0x5c];

/** The parts of a range that are written as they are; surrogates have no UTF-8. */
function withoutEscapes(first: number, last: number): [number, number][] {
  const spans: [number, number][] = [
    [0x20, 0x21],
    [0x23, 0x5b],
    [0x5d, 0xd7ff],
    [0xe000, 0x10ffff],
  ];
  return spans
    .map(([lo, hi]): [number, number] => [Math.max(lo, first), Math.min(hi, last)])
    .filter(([lo, hi]) => lo <= hi);
}

export function numberBody(view: NumberView, rules: GbnfRules, name: string): string {
  if (view.kind === "list") {
    return view.texts.texts.map((text) => literal(Buffer.from(text).toString())).join(" | ");
  }
  if (view.plain) return plainNumber(view.plain, rules);
  const states = statesOf(view.automaton);
  if (states === null) {
    rules.widen("bounds and steps of some numbers");
    return rules.shared("number");
  }
  for (const [state, ways] of states) {
    const bodies = [...ways].map(([target, bytes]) => {
      const chars = bytes.map((byte) => range(byte, byte)).join("");
      return `[${chars}] ${name}-n${target}`;
    });
    if (view.automaton.accepts(state)) bodies.push('""');
    rules.set(`${name}-n${state}`, bodies.join(" | "));
  }
  return `${name}-n0`;
}

/** Numbers without bounds, steps or exclusions. */
function plainNumber({ spelling, isInteger }: PlainNumbers, rules: GbnfRules): string {
  const { integerDigitsMax, fractionDigitsMax, exponentDigitsMax } = spelling;
  const whole = `"-"? ("0" | [1-9] [0-9]{0,${integerDigitsMax - 1}})`;
  if (isInteger) return rules.set("integer", whole);
  const fraction = `("." [0-9]{1,${fractionDigitsMax}})?`;
  return rules.set("number", `${whole} ${fraction} ([eE] ${exponent(exponentDigitsMax)})?`);
}

const NUMBER_BYTES = [...Buffer.from("0123456789-.eE+")];

/** The automaton's states, and by target the bytes that lead there; null where there are many. */
function statesOf(automaton: {
  step(state: number, column: number): number;
}): Map<number, Map<number, number[]>> | null {
  const states = new Map<number, Map<number, number[]>>();
  const open = [0];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (states.has(state)) continue;
    if (states.size >= STATES_MAX) return null;
    const ways = new Map<number, number[]>();
    for (const byte of NUMBER_BYTES) {
      const target = automaton.step(state, NUMBER_COLUMN[byte] as number);
      if (target < 0) continue;
      ways.set(target, [...(ways.get(target) ?? []), byte]);
      open.push(target);
    }
    states.set(state, ways);
  }
  return states;
}

function exponent(digitsMax: number): string {
  if (digitsMax < 3) return `[-+]? [0-9]{1,${digitsMax}}`;
  return `("-" [0-9]{1,${digitsMax}} | "+"? [01]? [0-9]{1,2})`;
}
