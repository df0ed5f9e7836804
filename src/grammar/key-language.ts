/**
 * The keys of an object that no schema names: all the patterns that keys are matched against, side
 * by side. A key's colour says which of them it matches; that decides what its value must be, and
 * whether it may be written at all.
 */
import type { Dfa } from "../automaton/dfa.ts";
import { product, UNIVERSAL } from "../automaton/dfa-algebra.ts";
import { JsonStringAutomaton } from "../automaton/json-string.ts";
import type { PatternLanguage } from "../automaton/regex.ts";
import { LengthRange } from "./ranged-strings.ts";
import { WritableKeys } from "./writable-keys.ts";

export class KeyLanguage {
  readonly automaton: JsonStringAutomaton;
  /** By colour: which languages accept a key of this colour. */
  readonly colours: readonly (readonly boolean[])[];
  readonly #dfa: Dfa;
  readonly #languages: readonly PatternLanguage[];
  /** Lengths at which some language changes its mind, ascending from 0. */
  readonly #starts: readonly number[];
  /** By range and colour of the DFA: the colour of the key. */
  readonly #colourOf: readonly (readonly number[])[];
  readonly #writable = new Map<string, WritableKeys>();

  constructor(languages: readonly PatternLanguage[]) {
    this.#languages = languages;
    const automata = languages.map(({ dfa }) => dfa);
    const matched: boolean[][] = [];
    const known = new Map<string, number>();
    this.#dfa =
      languages.length === 0
        ? UNIVERSAL
        : product(automata, (tuple) => {
            const accepted = automata.map((dfa, i) => (dfa.accepts[tuple[i] as number] ?? 0) !== 0);
            const key = accepted.join();
            const colour = known.get(key) ?? matched.push(accepted);
            known.set(key, colour);
            return colour;
          });
    if (languages.length === 0) matched.push([]);
    this.#starts = startsOf(languages);
    this.automaton = new JsonStringAutomaton(this.#dfa);
    const colours: boolean[][] = [];
    this.#colourOf = this.#starts.map((start) =>
      matched.map((accepted) => addColour(colours, this.#within(accepted, start))),
    );
    this.colours = colours;
  }

  /** Colour of a key of `length` code points that ends in a state of the DFA. */
  colourAt(dfaState: number, length: number): number {
    const range = this.#starts.findLastIndex((start) => start <= length);
    return this.#colourOf[range]?.[(this.#dfa.accepts[dfaState] as number) - 1] as number;
  }

  colourOf(key: string): number {
    let state = 0;
    for (const byte of Buffer.from(JSON.stringify(key).slice(1, -1))) {
      state = this.automaton.step(state, byte);
      if (state < 0) return -1;
    }
    return this.colourAt(this.automaton.between[state] as number, [...key].length);
  }

  /** @param colours those that may be written, ascending. */
  writable(colours: readonly number[]): WritableKeys {
    const key = colours.join();
    const known = this.#writable.get(key);
    if (known) return known;
    const allowed = new Set(colours);
    const ranges = this.#starts.map((lo, i) => {
      const hi = (this.#starts[i + 1] ?? Number.POSITIVE_INFINITY) - 1;
      const accepts = this.#dfa.accepts.map((_, state) =>
        allowed.has(this.colourAt(state, lo)) ? 1 : 0,
      );
      return new LengthRange(this.#dfa, lo, hi, accepts);
    });
    const proper = ranges.filter((range) => range.accepts.includes(1));
    const colourAt = (state: number, length: number): number => this.colourAt(state, length);
    const keys = new WritableKeys(this.automaton, proper, colourAt, allowed);
    this.#writable.set(key, keys);
    return keys;
  }

  #within(accepted: readonly boolean[], length: number): boolean[] {
    return accepted.map((yes, i) => {
      const { minLength, maxLength } = this.#languages[i] as PatternLanguage;
      return yes && length >= minLength && length <= maxLength;
    });
  }
}

function startsOf(languages: readonly PatternLanguage[]): number[] {
  const starts = new Set([0]);
  for (const { minLength, maxLength } of languages) {
    starts.add(minLength);
    if (Number.isFinite(maxLength)) starts.add(maxLength + 1);
  }
  return [...starts].sort((a, b) => a - b);
}

function addColour(colours: boolean[][], accepted: boolean[]): number {
  const key = accepted.join();
  const known = colours.findIndex((colour) => colour.join() === key);
  return known >= 0 ? known : colours.push(accepted) - 1;
}
