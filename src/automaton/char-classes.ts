/** Partitions of the code points: automata read classes, not code points. */
import { type CharSet, CODE_POINT_MAX, pairs } from "./char-set.ts";

/** Partition of the code points into classes that an automaton cannot tell apart. */
export interface CharClasses {
  /** First code point of each segment, ascending, starting with 0. */
  readonly starts: Int32Array;
  /** Class of each segment; -1 for the surrogates. */
  readonly classes: Int32Array;
  readonly count: number;
  /** Class of each code point below 128. */
  readonly ascii: Int32Array;
}

/** The coarsest partition of the code points that tells the members of every set apart. */
export function classesOf(sets: Iterable<CharSet>): CharClasses {
  const marks = new Map<number, number[]>([
    [0, []],
    [0xd800, []],
    [0xe000, []],
  ]);
  let id = 0;
  const toggle = (at: number, set: number): void => {
    if (at > CODE_POINT_MAX) return;
    const list = marks.get(at);
    if (list) list.push(set);
    else marks.set(at, [set]);
  };
  for (const set of sets) {
    for (const [lo, hi] of pairs(set)) {
      toggle(lo, id);
      toggle(hi + 1, id);
    }
    id += 1;
  }
  return classesFromMarks(marks);
}

function classesFromMarks(marks: ReadonlyMap<number, readonly number[]>): CharClasses {
  const points = [...marks.keys()].sort((a, b) => a - b);
  const starts = Int32Array.from(points);
  const classes = new Int32Array(points.length);
  const active = new Set<number>();
  const byKey = new Map<string, number>();
  for (const [index, point] of points.entries()) {
    for (const set of marks.get(point) ?? []) {
      if (!active.delete(set)) active.add(set);
    }
    if (point >= 0xd800 && point < 0xe000) {
      classes[index] = -1;
      continue;
    }
    const key = [...active].sort((a, b) => a - b).join();
    const known = byKey.get(key) ?? byKey.size;
    byKey.set(key, known);
    classes[index] = known;
  }
  return charClasses(starts, classes, byKey.size);
}

export function charClasses(starts: Int32Array, classes: Int32Array, count: number): CharClasses {
  const ascii = new Int32Array(128);
  for (let c = 0, segment = 0; c < 128; c++) {
    while (segment + 1 < starts.length && (starts[segment + 1] as number) <= c) segment += 1;
    ascii[c] = classes[segment] as number;
  }
  return { starts, classes, count, ascii };
}

export function classOf(classes: CharClasses, codePoint: number): number {
  if (codePoint < 128) return classes.ascii[codePoint] as number;
  return classes.classes[segmentOf(classes, codePoint)] as number;
}

/** Index of the segment that holds the code point. */
export function segmentOf(classes: CharClasses, codePoint: number): number {
  let low = 0;
  let high = classes.starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((classes.starts[middle] as number) <= codePoint) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** How many code points each class has. */
export function classSizes(classes: CharClasses): Float64Array {
  const sizes = new Float64Array(classes.count);
  for (const [segment, charClass] of classes.classes.entries()) {
    const start = classes.starts[segment] as number;
    const end = classes.starts[segment + 1] ?? CODE_POINT_MAX + 1;
    if (charClass >= 0) sizes[charClass] = (sizes[charClass] as number) + end - start;
  }
  return sizes;
}

/** A code point of the class, the most readable one: a letter, a digit, ASCII, else the first. */
export function exampleOf(classes: CharClasses, charClass: number): number {
  return examplesOf(classes, charClass)[0] as number;
}

/** Code points of the class: its ASCII ones, the most readable first, or else its first one. */
export function examplesOf(classes: CharClasses, charClass: number): number[] {
  const readable = READABLE.filter((c) => classes.ascii[c] === charClass);
  if (readable.length > 0) return readable;
  return [classes.starts[classes.classes.indexOf(charClass)] as number];
}

const READABLE: readonly number[] = [
  ...Array.from({ length: 26 }, (_, i) => 0x61 + i),
  ...Array.from({ length: 10 }, (_, i) => 0x30 + i),
  ...Array.from({ length: 26 }, (_, i) => 0x41 + i),
  ...Array.from({ length: 0x5f }, (_, i) => 0x20 + i).filter((c) => c !== 0x22 && c !== 0x5c),
];
