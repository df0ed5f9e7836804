/** Boolean operations on automata, and small automata made directly. */

import { type CharClasses, charClasses, classesOf, classOf } from "./char-classes.ts";
import { ANY } from "./char-set.ts";
import type { Dfa } from "./dfa.ts";
import { explore } from "./explore.ts";

/** All strings. */
export const UNIVERSAL: Dfa = (() => {
  const classes = classesOf([ANY]);
  return { size: 1, classes, table: Int32Array.of(0), accepts: Uint8Array.of(1) };
})();

/** No string at all. */
export const NOTHING: Dfa = {
  ...UNIVERSAL,
  size: 0,
  table: new Int32Array(0),
  accepts: new Uint8Array(0),
};

export function isUniversal(dfa: Dfa): boolean {
  // Minimal and trimmed: the language of all strings has exactly one state without a dead end.
  return dfa.size === 1 && dfa.accepts[0] !== 0 && dfa.table.every((target) => target === 0);
}

export interface ProductOptions {
  readonly statesMax?: number;
  /** Nothing is accepted once one operand is dead. */
  readonly needsAll?: boolean;
  /** Also counts code points, up to this number: the last member of a tuple. */
  readonly countedMax?: number;
}

/**
 * All operands side by side. `colourOf` sees the operands' states (-1: dead) and gives 0, or the
 * colour that the product accepts with.
 * @throws AutomatonTooLargeError
 */
export function product(
  operands: readonly Dfa[],
  colourOf: (tuple: readonly number[]) => number,
  options: ProductOptions = {},
): Dfa {
  const shared = commonClasses(operands.map((dfa) => dfa.classes));
  const { countedMax = 0 } = options;
  const ids = new Map<string, number>();
  const tuples: number[][] = [];
  const intern = (tuple: number[]): number => {
    if (options.needsAll && tuple.includes(-1)) return -1;
    const key = tuple.join();
    const known = ids.get(key);
    if (known !== undefined) return known;
    ids.set(key, tuples.length);
    tuples.push(tuple);
    return tuples.length - 1;
  };
  const start = operands.map((dfa) => (dfa.size === 0 ? -1 : 0));
  if (intern([...start, 0]) < 0) return NOTHING;
  return explore(
    {
      classes: shared.classes,
      next: (state, charClass) => {
        const tuple = tuples[state] as number[];
        const next = operands.map((dfa, i) => {
          const from = tuple[i] as number;
          if (from < 0) return -1;
          const own = shared.maps[i]?.[charClass] as number;
          return dfa.table[from * dfa.classes.count + own] as number;
        });
        next.push(Math.min((tuple.at(-1) as number) + 1, countedMax));
        return intern(next);
      },
      accepts: (state) => colourOf(tuples[state] as number[]),
    },
    options.statesMax,
  );
}

/** The strings for which `verdict`, given which operands accept, says yes. */
export function combine(
  operands: readonly Dfa[],
  verdict: (accepted: readonly boolean[]) => boolean,
  options: ProductOptions = {},
): Dfa {
  const colourOf = (tuple: readonly number[]): number =>
    verdict(operands.map((dfa, i) => (dfa.accepts[tuple[i] as number] ?? 0) !== 0)) ? 1 : 0;
  return product(operands, colourOf, options);
}

export function intersect(operands: readonly Dfa[]): Dfa {
  const proper = operands.filter((dfa) => !isUniversal(dfa));
  if (proper.length === 0) return UNIVERSAL;
  if (proper.length === 1) return proper[0] as Dfa;
  return combine(proper, (accepted) => accepted.every(Boolean), { needsAll: true });
}

/** The automaton of a finite set of strings. */
export function ofStrings(strings: readonly string[]): Dfa {
  const chars = new Set<number>();
  const nodes: { next: Map<number, number>; end: boolean }[] = [{ next: new Map(), end: false }];
  for (const text of strings) {
    if (!text.isWellFormed()) continue;
    let at = 0;
    for (const char of text) {
      const c = char.codePointAt(0) as number;
      chars.add(c);
      const node = nodes[at] as { next: Map<number, number>; end: boolean };
      const known = node.next.get(c);
      if (known === undefined) {
        node.next.set(c, nodes.length);
        at = nodes.length;
        nodes.push({ next: new Map(), end: false });
      } else at = known;
    }
    (nodes[at] as { end: boolean }).end = true;
  }
  const classes = classesOf([...chars].map((c) => [c, c]));
  const example = new Map([...chars].map((c) => [classOf(classes, c), c] as const));
  return explore({
    classes,
    next: (state, charClass) => nodes[state]?.next.get(example.get(charClass) ?? -1) ?? -1,
    accepts: (state) => (nodes[state]?.end ? 1 : 0),
  });
}

interface CommonClasses {
  readonly classes: CharClasses;
  /** For each operand: its own class for each common class. */
  readonly maps: readonly Int32Array[];
}

function commonClasses(all: readonly CharClasses[]): CommonClasses {
  const [only] = all;
  if (!only) return { classes: UNIVERSAL.classes, maps: [] };
  if (all.length === 1) {
    return { classes: only, maps: [Int32Array.from({ length: only.count }, (_, c) => c)] };
  }
  const points = [...new Set(all.flatMap((classes) => [...classes.starts]))].sort((a, b) => a - b);
  const cursor = all.map(() => 0);
  const ids = new Map<string, number>();
  const maps: number[][] = all.map(() => []);
  const segmentClasses = points.map((point) => {
    if (point >= 0xd800 && point < 0xe000) return -1;
    const own = all.map((classes, i) => {
      let at = cursor[i] as number;
      while (at + 1 < classes.starts.length && (classes.starts[at + 1] as number) <= point) at += 1;
      cursor[i] = at;
      return classes.classes[at] as number;
    });
    const key = own.join();
    const known = ids.get(key);
    if (known !== undefined) return known;
    for (const [i, c] of own.entries()) maps[i]?.push(c);
    ids.set(key, ids.size);
    return ids.size - 1;
  });
  const classes = charClasses(Int32Array.from(points), Int32Array.from(segmentClasses), ids.size);
  return { classes, maps: maps.map((map) => Int32Array.from(map)) };
}
