/**
 * The unnamed keys that may be written at some position of an object, read like the strings of a
 * place; the verdict of a key is its colour.
 */
import { classSizes, examplesOf } from "../automaton/char-classes.ts";
import type { Dfa } from "../automaton/dfa.ts";
import type { JsonStringAutomaton } from "../automaton/json-string.ts";
import type { Verdict } from "./place.ts";
import { type LengthRange, RangedStrings } from "./ranged-strings.ts";

/** More distinct keys than any text could use up. */
const MANY = 1_000_000;
/** Code points of any content that make as many keys. */
export const MANY_POINTS = 3;
/** Longer keys are not needed to find many. */
const COUNTED_LENGTH_MAX = 300;
/** Characters of one class that are tried when keys are made up. */
const EXAMPLES_MAX = 40;
const KEYS_TRIED_MAX = 5000;
const COUNTS_KEPT_MAX = 10_000;

export class WritableKeys extends RangedStrings {
  /** Colours of the keys that may be written. */
  readonly colours: ReadonlySet<number>;
  readonly #dfa: Dfa;
  /** By state and length. */
  readonly #counts = new Map<number, { readonly count: number; readonly enough: number }>();

  /**
   * @param colourAt colour of a key of some length that ends in a state of the DFA.
   * @param colours those that may be written.
   */
  constructor(
    automaton: JsonStringAutomaton,
    ranges: readonly LengthRange[],
    colourAt: (dfaState: number, length: number) => number,
    colours: ReadonlySet<number>,
  ) {
    const verdicts: Verdict[] = [];
    super(automaton, ranges, (dfaState, length) => {
      const colour = colourAt(dfaState, length);
      verdicts[colour] ??= Uint8Array.of(colour);
      return verdicts[colour];
    });
    this.colours = colours;
    this.#dfa = automaton.dfa;
  }

  /** Keys of this colour may be written. */
  has(colour: number): boolean {
    return this.colours.has(colour);
  }

  /** How many keys go on from a state, at least, counting no further than `enough`. */
  countFrom(state: number, length: number, enough = MANY): number {
    if (this.roomForAny(state, length) >= MANY_POINTS) return MANY;
    const key = state * 2 ** 24 + Math.min(length, 2 ** 24 - 1);
    const known = this.#counts.get(key);
    if (known && (known.count < known.enough || known.enough >= enough)) return known.count;
    const targets = this.automaton.targetsOf(state);
    const count = targets.reduce((most, at) => Math.max(most, this.#count(at, length, enough)), 0);
    if (this.#counts.size >= COUNTS_KEPT_MAX) this.#counts.clear();
    this.#counts.set(key, { count, enough });
    return count;
  }

  #count(dfaState: number, length: number, enough: number): number {
    const sizes = classSizes(this.#dfa.classes);
    let ways = new Float64Array(this.#dfa.size);
    ways[dfaState] = 1;
    let total = 0;
    for (let at = length; at <= length + COUNTED_LENGTH_MAX && total < enough; at++) {
      for (const range of this.ranges) {
        if (at < range.lo || at > range.hi) continue;
        for (const [state, count] of ways.entries()) {
          if (range.accepts[state] !== 0) total += count;
        }
      }
      ways = this.#extend(ways, sizes);
    }
    return Math.min(total, MANY);
  }

  #extend(ways: Float64Array, sizes: Float64Array): Float64Array<ArrayBuffer> {
    const { table, classes, size } = this.#dfa;
    const next = new Float64Array(size);
    for (const [state, count] of ways.entries()) {
      if (count === 0) continue;
      for (let c = 0; c < classes.count; c++) {
        const target = table[state * classes.count + c] as number;
        if (target < 0) continue;
        next[target] = Math.min(MANY, (next[target] as number) + count * (sizes[c] as number));
      }
    }
    return next;
  }

  /** Keys that may be written, up to `count` of them, the short ones first. */
  shortest(count: number, isTaken: (key: string) => boolean): string[] {
    const found: string[] = [];
    const open = new Buckets();
    const offer = (state: number, text: string): void => {
      const length = [...text].length;
      const needed = Math.min(...this.ranges.map((range) => endLength(range, state, length)));
      if (Number.isFinite(needed)) open.add({ state, text }, needed);
    };
    offer(0, "");
    for (let left = KEYS_TRIED_MAX; left > 0 && found.length < count; left--) {
      const next = open.take();
      if (next === undefined) return found;
      const { state, text } = next;
      const length = [...text].length;
      const isEnd = this.ranges.some((range) => endLength(range, state, length) === length);
      if (isEnd && !isTaken(text)) found.push(text);
      for (const [char, target] of this.#edges(state)) offer(target, text + char);
    }
    return found;
  }

  /** A few characters of each class, the readable ones first. */
  *#edges(state: number): Generator<readonly [string, number]> {
    const { classes, table } = this.#dfa;
    for (let c = 0; c < classes.count; c++) {
      const target = table[state * classes.count + c] as number;
      if (target < 0) continue;
      for (const point of examplesOf(classes, c).slice(0, EXAMPLES_MAX)) {
        yield [String.fromCodePoint(point), target];
      }
    }
  }
}

/** Length of the shortest string of a range from here, or a bound below it. */
function endLength(range: LengthRange, dfaState: number, length: number): number {
  const distance = range.distance(dfaState);
  if (distance < 0 || length + distance > range.hi) return Number.POSITIVE_INFINITY;
  return Math.max(length + distance, range.lo);
}

/** Words by the length that they will have at least. */
class Buckets {
  readonly #buckets: { readonly state: number; readonly text: string }[][] = [];

  add(word: { readonly state: number; readonly text: string }, length: number): void {
    this.#buckets[length] ??= [];
    this.#buckets[length].push(word);
  }

  take(): { readonly state: number; readonly text: string } | undefined {
    return this.#buckets.find((bucket) => bucket !== undefined && bucket.length > 0)?.pop();
  }
}
