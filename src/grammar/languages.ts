/**
 * Automata of strings and numbers that one schema after another uses: equal patterns, formats and
 * bounds are built once, and what is kept for them elsewhere (masks, for instance) serves all.
 */
import type { Dfa } from "../automaton/dfa.ts";
import { JsonStringAutomaton } from "../automaton/json-string.ts";
import { NumberAutomaton } from "../automaton/number-automaton.ts";
import type { NumberSet, NumberSpelling } from "../automaton/number-set.ts";
import { compilePattern, type PatternLanguage } from "../automaton/regex.ts";
import { LengthRange, RangedStrings } from "./ranged-strings.ts";

/** Conjunctions of patterns and formats kept at once; most automata take a few KB, some 1 MB. */
const KEPT_MAX = 500;

export class Languages {
  #patterns = new Map<string, PatternLanguage>();
  #conjunctions = new Map<string, Dfa>();
  #automata = new Map<Dfa, JsonStringAutomaton>();
  /** By automaton and lengths. */
  #readers = new Map<JsonStringAutomaton, Map<string, RangedStrings>>();
  #numbers = new Map<string, NumberAutomaton>();

  /** To be called between compilations: forgets what it has when that is too much. */
  trim(): void {
    const most = Math.max(this.#patterns.size, this.#conjunctions.size, this.#numbers.size);
    if (most <= KEPT_MAX) return;
    this.#patterns = new Map();
    this.#conjunctions = new Map();
    this.#automata = new Map();
    this.#readers = new Map();
    this.#numbers = new Map();
  }

  /** @throws PatternError, AutomatonTooLargeError as `compilePattern` does. */
  pattern(source: string): PatternLanguage {
    const known = this.#patterns.get(source) ?? compilePattern(source);
    this.#patterns.set(source, known);
    return known;
  }

  /** @param name says which languages are meant: equal names, equal automata. */
  conjunction(name: string, build: () => Dfa): Dfa {
    const known = this.#conjunctions.get(name) ?? build();
    this.#conjunctions.set(name, known);
    return known;
  }

  /** Strings of these lengths that the automaton accepts; null where there are none. */
  strings(dfa: Dfa, minLength: number, maxLength: number): RangedStrings | null {
    if (dfa.size === 0 || minLength > maxLength) return null;
    const automaton = this.#automata.get(dfa) ?? new JsonStringAutomaton(dfa);
    this.#automata.set(dfa, automaton);
    const readers = this.#readers.get(automaton) ?? new Map<string, RangedStrings>();
    this.#readers.set(automaton, readers);
    const name = `${minLength},${maxLength}`;
    const strings =
      readers.get(name) ??
      new RangedStrings(automaton, [new LengthRange(dfa, minLength, maxLength, dfa.accepts)]);
    readers.set(name, strings);
    return strings.isLive(0, 0) ? strings : null;
  }

  numbers(set: NumberSet, spelling: NumberSpelling): NumberAutomaton {
    const name = JSON.stringify([set, spelling], (_, value: unknown) =>
      typeof value === "bigint" ? `${value}n` : value,
    );
    const known = this.#numbers.get(name) ?? new NumberAutomaton(set, spelling);
    this.#numbers.set(name, known);
    return known;
  }
}
