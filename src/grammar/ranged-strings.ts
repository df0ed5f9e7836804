/**
 * Strings by automaton and length, read byte by byte between the quotes. Lengths are a counter
 * beside the automaton, never states: the lengths fall into ranges, and within each the automaton
 * alone says
 * which strings are right. `maxLength: 10000` costs nothing.
 */
import type { Dfa } from "../automaton/dfa.ts";
import type { JsonStringAutomaton } from "../automaton/json-string.ts";
import { LengthTable } from "../automaton/lengths.ts";
import { ShortestStrings } from "../automaton/shortest.ts";
import type { Verdict } from "./place.ts";
import { type LengthBounds, NO_VERDICT, type StringReader } from "./string-reader.ts";

export class RangedStrings implements StringReader {
  readonly automaton: JsonStringAutomaton;
  /** Ascending, and only those in which some string is right. */
  readonly ranges: readonly LengthRange[];
  readonly #verdict: ((dfaState: number, length: number) => Verdict) | null;
  readonly #farthest: number;

  constructor(
    automaton: JsonStringAutomaton,
    ranges: readonly LengthRange[],
    verdict: ((dfaState: number, length: number) => Verdict) | null = null,
  ) {
    this.automaton = automaton;
    this.ranges = ranges;
    this.#verdict = verdict;
    this.#farthest = Math.max(0, ...ranges.map((range) => range.farthest));
  }

  step(state: number, byte: number): number {
    return this.automaton.step(state, byte);
  }

  isBetween(state: number): boolean {
    return (this.automaton.between[state] as number) >= 0;
  }

  isLive(state: number, count: number): boolean {
    const { ranges, automaton } = this;
    for (let i = 0; i < ranges.length; i++) {
      if ((ranges[i] as LengthRange).isLive(automaton, state, count)) return true;
    }
    return false;
  }

  accepts(state: number, count: number): boolean {
    const at = this.automaton.between[state] as number;
    if (at < 0) return false;
    const { ranges } = this;
    for (let i = 0; i < ranges.length; i++) {
      const range = ranges[i] as LengthRange;
      if (count >= range.lo && count <= range.hi && range.accepts[at] !== 0) return true;
    }
    return false;
  }

  freedom(state: number, count: number): number {
    if (!this.automaton.isFree(state)) return -1;
    const at = this.automaton.between[state] as number;
    const longest = this.ranges.findLast(({ accepts }) => accepts[at] !== 0);
    return longest ? longest.hi - count : -1;
  }

  roomForAny(state: number, count: number): number {
    const at = this.automaton.between[state] as number;
    const longest = this.ranges.at(-1);
    return at < 0 || !longest ? -1 : Math.max(-1, longest.roomForAny(at, count));
  }

  lengthKey(count: number, far: number): number {
    const near = far + this.#farthest;
    for (const [index, { lo, hi }] of this.ranges.entries()) {
      // In a wide range there is an end for strings of any length; in a narrow one it matters.
      const isWide = hi - lo >= this.automaton.dfa.size;
      if (count < lo) return isWide && lo - count > near ? -1 - 2 * index : count;
      if (count <= hi) return hi - count > near ? -2 - 2 * index : count;
    }
    return count;
  }

  roomToLoop(state: number, count: number): number {
    const at = this.automaton.between[state] as number;
    let most = 0;
    // A loop makes a string long enough for any range.
    for (const range of this.ranges) {
      const distance = at < 0 ? -1 : range.distance(at);
      if (distance >= 0) most = Math.max(most, range.hi - count - distance);
    }
    return most;
  }

  get bounds(): LengthBounds | null {
    const [only] = this.ranges;
    return this.ranges.length === 1 && only ? only : null;
  }

  slack(state: number): number {
    const slack = this.ranges[0]?.slack(this.automaton, state) ?? DISTANCE_MAX;
    return slack === DISTANCE_MAX ? Number.POSITIVE_INFINITY : slack;
  }

  endBytesAtMost(state: number, count: number): number {
    const { automaton } = this;
    const at = automaton.between[state] as number;
    if (at >= 0) return this.#bytesFrom(at, count) + 1;
    // Which way the code point being read will be finished is not looked at.
    let most = -1;
    for (const target of automaton.targetsOf(state)) {
      const bytes = this.#bytesFrom(target, count);
      if (bytes < Number.POSITIVE_INFINITY) most = Math.max(most, bytes);
    }
    return most < 0 ? Number.POSITIVE_INFINITY : ESCAPE_BYTES + most + 1;
  }

  /** Bytes of the shortest string from a state of the DFA, at most; infinite for none. */
  #bytesFrom(dfaState: number, count: number): number {
    const { ranges } = this;
    for (let i = 0; i < ranges.length; i++) {
      const range = ranges[i] as LengthRange;
      const points = range.pointsFrom(dfaState, count);
      if (points < Number.POSITIVE_INFINITY) return points * range.pointBytes;
    }
    return Number.POSITIVE_INFINITY;
  }

  endBytesMax(count: number): number {
    const [only] = this.ranges;
    if (this.ranges.length !== 1 || !only || count < only.lo) return Number.POSITIVE_INFINITY;
    // One escape may have to be finished first.
    return ESCAPE_BYTES + this.#farthest * only.pointBytes + 1;
  }

  verdict(state: number, count: number): Verdict {
    if (this.#verdict === null) return NO_VERDICT;
    return this.#verdict(this.automaton.between[state] as number, count);
  }

  end(state: number, count: number): Uint8Array {
    const { bytes, dfaState } = this.automaton.leave(
      state,
      (at) => this.#endFrom(at, count) !== null,
    );
    return Buffer.concat([bytes, Buffer.from(this.#endFrom(dfaState, count) ?? "")]);
  }

  #endFrom(dfaState: number, count: number): string | null {
    for (const range of this.ranges) {
      const text = range.textFrom(dfaState, count);
      if (text !== null) return `${JSON.stringify(text).slice(1, -1)}"`;
    }
    return null;
  }
}

/** Lengths from `lo` to `hi`, and the states of the automaton in which a string of them may end. */
export class LengthRange {
  readonly lo: number;
  readonly hi: number;
  /** By state of the DFA: not 0 where a string may end. */
  readonly accepts: Uint8Array;
  /** Code points from any state to its nearest end, at most. */
  readonly farthest: number;
  readonly #ends: Dfa;
  readonly #shortest: ShortestStrings;
  #table: LengthTable | undefined;
  #freedoms: Float64Array | undefined;
  /** By state of the automaton: code points to the nearest end, plus one; 0 for not known yet. */
  #slacks = new Int32Array(64);

  constructor(dfa: Dfa, lo: number, hi: number, accepts: Uint8Array) {
    this.lo = lo;
    this.hi = hi;
    this.accepts = accepts;
    this.#ends = { ...dfa, accepts };
    this.#shortest = new ShortestStrings(this.#ends);
    this.farthest = this.#shortest.farthest;
  }

  /** Code points to the nearest end, -1 for none. */
  distance(dfaState: number): number {
    return this.#shortest.distance(dfaState);
  }

  /** Some string of the range goes on from here. */
  isLive(automaton: JsonStringAutomaton, state: number, count: number): boolean {
    if (count > this.hi) return false;
    const slack = this.slack(automaton, state);
    if (slack === DISTANCE_MAX || count + slack > this.hi) return false;
    // From the lower bound on, the nearest end is good enough.
    if (count + slack >= this.lo || (slack === 0 && automaton.isFree(state))) return true;
    return automaton
      .targetsOf(state)
      .some((at) => this.#lengths.least(at, this.lo - count, this.hi - count) >= 0);
  }

  /** So many code points of any content leave some end in reach; below 0 where that is unknown. */
  roomForAny(dfaState: number, count: number): number {
    this.#freedoms ??= freedomsOf(this.#ends, (state) => this.distance(state));
    const { lo, hi } = this;
    const freedom = this.#freedoms[dfaState] as number;
    // What may go on for ever can be made long enough.
    if (freedom === Number.POSITIVE_INFINITY ? hi - lo < this.farthest : count < lo) return -1;
    return Math.min(freedom, hi - this.farthest - count);
  }

  /** Bytes of any code point of `textFrom`, at most. */
  get pointBytes(): number {
    return this.#shortest.pointBytes;
  }

  /** Code points of `textFrom`; infinite for none. */
  pointsFrom(dfaState: number, count: number): number {
    const distance = this.distance(dfaState);
    if (distance < 0 || count + distance > this.hi) return Number.POSITIVE_INFINITY;
    if (count + distance >= this.lo) return distance;
    const length = this.#lengths.least(dfaState, this.lo - count, this.hi - count);
    return length < 0 ? Number.POSITIVE_INFINITY : length;
  }

  /** Code points to the nearest end from a state of the automaton; `DISTANCE_MAX` for none. */
  slack(automaton: JsonStringAutomaton, state: number): number {
    const known = this.#slacks[state];
    if (known) return known - 1;
    const distances = automaton
      .targetsOf(state)
      .map((at) => this.distance(at))
      .filter((distance) => distance >= 0);
    const slack = distances.length > 0 ? Math.min(...distances) : DISTANCE_MAX;
    if (state >= this.#slacks.length) {
      const slacks = new Int32Array(2 * state);
      slacks.set(this.#slacks);
      this.#slacks = slacks;
    }
    this.#slacks[state] = slack + 1;
    return slack;
  }

  /** A shortest string of the range from here, less what was read; null for none. */
  textFrom(dfaState: number, count: number): string | null {
    const distance = this.distance(dfaState);
    if (distance < 0 || count + distance > this.hi) return null;
    if (count + distance >= this.lo) return this.#shortest.text(dfaState);
    const length = this.#lengths.least(dfaState, this.lo - count, this.hi - count);
    return length < 0 ? null : this.#shortest.textOfLength(dfaState, length, this.#lengths);
  }

  get #lengths(): LengthTable {
    this.#table ??= new LengthTable(this.#ends);
    return this.#table;
  }
}

/**
 * By state: so many code points of any content may follow, and still some end is in reach, lengths
 * apart; -1 in a state without an end.
 */
function freedomsOf(dfa: Dfa, distance: (state: number) => number): Float64Array {
  const { size, table, classes } = dfa;
  const freedoms = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
  const before: number[][] = Array.from({ length: size }, () => []);
  // Breadth first, from the states that the wrong code point leads out of.
  const queue: number[] = [];
  for (let state = 0; state < size; state++) {
    if (distance(state) < 0) freedoms[state] = -1;
    for (let at = state * classes.count; at < (state + 1) * classes.count; at++) {
      const target = table[at] as number;
      if (target >= 0 && distance(target) >= 0) (before[target] as number[]).push(state);
      else freedoms[state] = Math.min(freedoms[state] as number, 0);
    }
    if (freedoms[state] === 0) queue.push(state);
  }
  for (const state of queue) {
    for (const from of before[state] as number[]) {
      if (freedoms[from] !== Number.POSITIVE_INFINITY) continue;
      freedoms[from] = (freedoms[state] as number) + 1;
      queue.push(from);
    }
  }
  return freedoms;
}

/** The longest way to write a code point: \u001f. */
const ESCAPE_BYTES = 6;

/** Farther than any end, and far from the end of 32 bits. */
const DISTANCE_MAX = 2 ** 30;
