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
  readonly kernel: Int32Array;
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
  const classesIn = new Map(
    charSets(nfa, asserts).map((set) => [
      set,
      examples.flatMap((each, c) => (contains(set, each) ? [c] : [])),
    ]),
  );
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
  intern({ kernel: Int32Array.of(0), atStart: asserts, afterWord: false });
  // A state is asked about one class after another: what follows is worked out once.
  let asked = -1;
  let kernels: Partial<Record<Next, Int32Array[]>> = {};
  return explore({
    classes,
    next: (state, charClass) => {
      if (state !== asked) kernels = {};
      asked = state;
      const word = isWord[charClass] as boolean;
      const next = word ? "word" : "other";
      kernels[next] ??= kernelsOf(
        nfa,
        closureOf(nfa, states[state] as SubsetState, next),
        classesIn,
        classes.count,
      );
      const kernel = kernels[next][charClass] as Int32Array;
      return intern({ kernel, atStart: false, afterWord: word });
    },
    accepts: (state) =>
      closureOf(nfa, states[state] as SubsetState, "end").has(nfa.accept) ? 1 : 0,
  });
}

/** By class: the states that its code points lead to, ascending. */
function kernelsOf(
  nfa: Nfa,
  closed: ReadonlySet<number>,
  classesIn: ReadonlyMap<CharSet, readonly number[]>,
  count: number,
): Int32Array[] {
  const targets: number[][] = Array.from({ length: count }, () => []);
  for (const state of closed) {
    for (const { set, target } of nfa.states[state]?.chars ?? []) {
      for (const c of classesIn.get(set) ?? []) (targets[c] as number[]).push(target);
    }
  }
  return targets.map((list) => Int32Array.from(new Set(list)).sort());
}

function charSets(nfa: Nfa, asserts: boolean): CharSet[] {
  const sets = new Set<CharSet>();
  for (const state of nfa.states) for (const { set } of state.chars) sets.add(set);
  if (asserts) sets.add(WORD);
  return [...sets];
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
