/**
 * Sets of Unicode code points as sorted, disjoint, inclusive ranges `[lo, hi, lo, hi, ...]`.
 * Surrogates are members like any other here; automata leave them out, because a JSON text in UTF-8
 * cannot hold them.
 */

export type CharSet = readonly number[];

export const CODE_POINT_MAX = 0x10ffff;
export const ANY: CharSet = [0, CODE_POINT_MAX];

export const DIGIT: CharSet = [0x30, 0x39];
export const WORD: CharSet = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
/** WhiteSpace and LineTerminator (ECMA-262 sections 12.2 and 12.3). */
export const SPACE: CharSet = [
  0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f,
  0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff,
];
export const LINE_TERMINATOR: CharSet = [0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029];

/** A set from ranges in any order, overlapping or not. */
export function charSet(ranges: Iterable<readonly [number, number]>): CharSet {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  const out: number[] = [];
  for (const [lo, hi] of sorted) {
    const last = out.length - 1;
    if (last > 0 && lo <= (out[last] as number) + 1) {
      if (hi > (out[last] as number)) out[last] = hi;
    } else out.push(lo, hi);
  }
  return out;
}

export function union(...sets: readonly CharSet[]): CharSet {
  return charSet(sets.flatMap((set) => [...pairs(set)]));
}

export function complement(set: CharSet): CharSet {
  const out: number[] = [];
  let next = 0;
  for (const [lo, hi] of pairs(set)) {
    if (lo > next) out.push(next, lo - 1);
    next = hi + 1;
  }
  if (next <= CODE_POINT_MAX) out.push(next, CODE_POINT_MAX);
  return out;
}

export function* pairs(set: CharSet): Generator<readonly [number, number]> {
  for (let i = 0; i < set.length; i += 2) yield [set[i] as number, set[i + 1] as number];
}

export function contains(set: CharSet, codePoint: number): boolean {
  let low = 0;
  let high = set.length >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((set[2 * middle + 1] as number) < codePoint) low = middle + 1;
    else high = middle;
  }
  return low < set.length >> 1 && (set[2 * low] as number) <= codePoint;
}
