/**
 * Subset construction with zero-width assertions. A state of the result is a set of NFA states plus
 * what an assertion may ask about the past: whether any code point was read, and whether the last
 * one was a word character. What it may ask about the future (a word character, another one, the
 * end) is known when the next code point is read, so each set has three closures.
 */

import { classesOf, exampleOf } from "./char-classes.ts";
import { type CharSet, contains, WORD } from "./char-set.ts";
import type { Dfa } from "./dfa.ts";
import { explore } from "./explore.ts";
import type { Assertion, Nfa } from "./nfa.ts";

interface SubsetState {
  /** NFA states before any closure, ascending. */
  readonly kernel: readonly number[];
  readonly atStart: boolean;
  readonly afterWord: boolean;
}

type Next = "word" | "other" | "end";

/** @throws AutomatonTooLargeError */
export function determinize(nfa: Nfa): Dfa {
  const asserts = nfa.hasAssertions;
  const classes = classesOf(charSets(nfa, asserts));
  const examples = Array.from({ length: classes.count }, (_, c) => exampleOf(classes, c));
  const isWord = examples.map((example) => asserts && contains(WORD, example));
  const ids = new Map<string, number>();
  const states: SubsetState[] = [];
  const intern = (state: SubsetState): number => {
    if (state.kernel.length === 0) return -1;
    const key = `${state.kernel.join()}${state.atStart ? "^" : ""}${state.afterWord ? "w" : ""}`;
    const known = ids.get(key);
    if (known !== undefined) return known;
    ids.set(key, states.length);
    states.push(state);
    return states.length - 1;
  };
  intern({ kernel: [0], atStart: asserts, afterWord: false });
  return explore({
    classes,
    next: (state, charClass) => {
      const from = states[state] as SubsetState;
      const word = isWord[charClass] as boolean;
      const closed = closureOf(nfa, from, word ? "word" : "other");
      const kernel = step(nfa, closed, examples[charClass] as number);
      return intern({ kernel, atStart: false, afterWord: word });
    },
    accepts: (state) =>
      closureOf(nfa, states[state] as SubsetState, "end").has(nfa.accept) ? 1 : 0,
  });
}

function charSets(nfa: Nfa, asserts: boolean): CharSet[] {
  const sets = new Set<CharSet>();
  for (const state of nfa.states) for (const { set } of state.chars) sets.add(set);
  if (asserts) sets.add(WORD);
  return [...sets];
}

function step(nfa: Nfa, closed: ReadonlySet<number>, codePoint: number): number[] {
  const targets = new Set<number>();
  for (const state of closed) {
    for (const edge of nfa.states[state]?.chars ?? []) {
      if (contains(edge.set, codePoint)) targets.add(edge.target);
    }
  }
  return [...targets].sort((a, b) => a - b);
}

function closureOf(nfa: Nfa, from: SubsetState, next: Next): Set<number> {
  const closed = new Set(from.kernel);
  const queue = [...from.kernel];
  const visit = (state: number): void => {
    if (closed.has(state)) return;
    closed.add(state);
    queue.push(state);
  };
  for (let state = queue.pop(); state !== undefined; state = queue.pop()) {
    for (const target of nfa.states[state]?.epsilon ?? []) visit(target);
    for (const edge of nfa.states[state]?.assertions ?? []) {
      if (holds(edge.kind, from, next)) visit(edge.target);
    }
  }
  return closed;
}

function holds(kind: Assertion, from: SubsetState, next: Next): boolean {
  switch (kind) {
    case "start":
      return from.atStart;
    case "end":
      return next === "end";
    case "boundary":
      return from.afterWord !== (next === "word");
    case "not_boundary":
      return from.afterWord === (next === "word");
  }
}
