/**
 * What a grammar reads byte by byte: fixed texts, and classes of characters as automata over UTF-8.
 * Only well-formed UTF-8 is read: no surrogates, nothing overlong.
 */
import { type CharSet, pairs } from "../automaton/char-set.ts";

/** Results of a step that are no states. */
export const REFUSED = -1;
export const DONE = -2;

export type Terminal = FixedText | CharClass;

export class FixedText {
  readonly bytes: Uint8Array;

  /** @param bytes at least one. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** @param state bytes read. */
  step(state: number, byte: number): number {
    if (this.bytes[state] !== byte) return REFUSED;
    return state + 1 === this.bytes.length ? DONE : state + 1;
  }

  /** The shortest way to the end. */
  rest(state: number): Uint8Array {
    return this.bytes.subarray(state);
  }

  nextBytes(state: number): readonly number[] {
    return [this.bytes[state] as number];
  }
}

const ROW = 256;

export class CharClass {
  /** `table[state * 256 + byte]`: the next state, `DONE` or `REFUSED`. */
  readonly table: Int16Array;
  readonly #rests = new Map<number, Uint8Array>();

  constructor(table: Int16Array) {
    this.table = table;
  }

  get isEmpty(): boolean {
    return this.table.every((next) => next === REFUSED);
  }

  step(state: number, byte: number): number {
    return this.table[state * ROW + byte] as number;
  }

  rest(state: number): Uint8Array {
    const known = this.#rests.get(state) ?? this.#shortest(state);
    this.#rests.set(state, known);
    return known;
  }

  nextBytes(state: number): readonly number[] {
    return ALL_BYTES.filter((byte) => this.step(state, byte) !== REFUSED);
  }

  #shortest(state: number): Uint8Array {
    let best: Uint8Array = NOTHING;
    for (const byte of PREFERRED) {
      const next = this.step(state, byte);
      if (next === REFUSED) continue;
      const rest = next === DONE ? NOTHING : this.rest(next);
      if (best !== NOTHING && rest.length + 1 >= best.length) continue;
      best = Uint8Array.of(byte, ...rest);
    }
    return best;
  }
}

const NOTHING = new Uint8Array(0);
const ALL_BYTES: readonly number[] = Array.from({ length: 256 }, (_, byte) => byte);

/** Where any character would do: a letter or digit, then what can be seen. */
const PREFERRED: readonly number[] = (() => {
  const words = ALL_BYTES.filter((byte) => /[0-9A-Za-z]/.test(String.fromCharCode(byte)));
  const visible = ALL_BYTES.filter((byte) => byte >= 0x20 && byte < 0x7f);
  return [...new Set([...words, ...visible, ...ALL_BYTES])];
})();

/** First bytes of UTF-8 sequences: how many follow, and the code points that they spell. */
const LEADS: readonly (readonly [number, number, number, number, number])[] = [
  // first, last, bytes that follow, least and largest code point
  [0x00, 0x7f, 0, 0, 0x7f],
  [0xc2, 0xdf, 1, 0x80, 0x7ff],
  [0xe0, 0xef, 2, 0x800, 0xffff],
  [0xf0, 0xf4, 3, 0x10000, 0x10ffff],
];

type Ranges = readonly (readonly [number, number])[];

export function charClass(set: CharSet): CharClass {
  const rows: Int16Array[] = [new Int16Array(ROW).fill(REFUSED)];
  const ids = new Map<string, number>();

  /** @param ranges what the bytes that follow spell, as numbers of 6 bits each. */
  const stateOf = (following: number, ranges: Ranges): number => {
    if (following === 0) return ranges.length > 0 ? DONE : REFUSED;
    if (ranges.length === 0) return REFUSED;
    const key = `${following}:${ranges.join(";")}`;
    const known = ids.get(key);
    if (known !== undefined) return known;
    const id = rows.length;
    const row = new Int16Array(ROW).fill(REFUSED);
    rows.push(row);
    ids.set(key, id);
    const size = 64 ** (following - 1);
    for (let byte = 0x80; byte <= 0xbf; byte++) {
      row[byte] = stateOf(following - 1, within(ranges, (byte - 0x80) * size, size));
    }
    return id;
  };

  const start = rows[0] as Int16Array;
  const scalars = withoutSurrogates(set);
  for (const [first, last, following, least, largest] of LEADS) {
    const size = 64 ** following;
    // The bits of a first byte count from here.
    const origin = [0, 0xc0, 0xe0, 0xf0][following] as number;
    const own = within(scalars, least, largest - least + 1).map(
      ([lo, hi]) => [lo + least, hi + least] as const,
    );
    for (let byte = first; byte <= last; byte++) {
      start[byte] = stateOf(following, within(own, (byte - origin) * size, size));
    }
  }
  const table = new Int16Array(rows.length * ROW);
  for (const [state, row] of rows.entries()) table.set(row, state * ROW);
  return new CharClass(table);
}

function withoutSurrogates(set: CharSet): Ranges {
  const out: (readonly [number, number])[] = [];
  for (const [lo, hi] of pairs(set)) {
    if (lo < 0xd800) out.push([lo, Math.min(hi, 0xd7ff)]);
    if (hi > 0xdfff) out.push([Math.max(lo, 0xe000), hi]);
  }
  return out;
}

/** The part of the ranges in `size` numbers from `from` on, counted from there. */
function within(ranges: Ranges, from: number, size: number): Ranges {
  const out: (readonly [number, number])[] = [];
  for (const [lo, hi] of ranges) {
    if (hi < from || lo >= from + size) continue;
    out.push([Math.max(lo, from) - from, Math.min(hi, from + size - 1) - from]);
  }
  return out;
}

/** By byte: a number that bytes share which no terminal tells apart. */
export function byteClasses(terminals: readonly Terminal[]): {
  readonly of: Uint8Array;
  readonly count: number;
} {
  let of = new Uint8Array(ROW);
  let count = 1;
  const refine = (row: ArrayLike<number>): void => {
    const ids = new Map<number, number>();
    of = of.map((old, byte) => {
      const key = old * 0x10000 + ((row[byte] as number) & 0xffff);
      const id = ids.get(key) ?? ids.size;
      ids.set(key, id);
      return id;
    });
    count = ids.size;
  };
  const alone = new Int16Array(ROW).fill(REFUSED);
  for (const terminal of terminals) {
    if (terminal instanceof FixedText) {
      for (const byte of terminal.bytes) alone[byte] = byte;
      continue;
    }
    const { table } = terminal;
    for (let at = 0; at < table.length && count < ROW; at += ROW) {
      refine(table.subarray(at, at + ROW));
    }
  }
  refine(alone);
  return { of, count };
}
