/**
 * Strings at a place where schemas must fail, or where their truth is asked for: all automata that
 * the formulas speak of, side by side, and all lengths at which some atom changes its mind.
 */
import type { Dfa } from "../automaton/dfa.ts";
import { ofStrings, product } from "../automaton/dfa-algebra.ts";
import { JsonStringAutomaton } from "../automaton/json-string.ts";
import { type Atom, atomsOf } from "../schema/formula.ts";
import { STRING } from "../schema/json-type.ts";
import type { Place, Verdict } from "./place.ts";
import { LengthRange, RangedStrings } from "./ranged-strings.ts";

/**
 * @returns null where no string may stand.
 * @throws AutomatonTooLargeError
 */
export function stringProduct(place: Place): RangedStrings | null {
  const parts = new StringParts(place);
  const satisfies = (accepted: readonly boolean[], length: number): boolean =>
    place.isSatisfiedBy(parts.verdict(accepted, length));
  const { dfa, colours } = parts.product((accepted) =>
    parts.rangeStarts.some((start) => satisfies(accepted, start)),
  );
  if (dfa.size === 0) return null;
  const acceptedIn = (state: number): readonly boolean[] =>
    colours[(dfa.accepts[state] as number) - 1] ?? [];
  const ranges = parts.ranges(dfa, (state, length) => satisfies(acceptedIn(state), length));
  const verdicts = new Map<number, Verdict>();
  const verdict = (state: number, length: number): Verdict => {
    const start = parts.startOf(length);
    const key = start * dfa.size + state;
    const known = verdicts.get(key) ?? parts.verdict(acceptedIn(state), start);
    verdicts.set(key, known);
    return known;
  };
  const reader = new RangedStrings(new JsonStringAutomaton(dfa), ranges, verdict);
  return reader.isLive(0, 0) ? reader : null;
}

/** The automata that a place's formulas mention, and how atoms follow from them. */
class StringParts {
  /** Lengths at which some atom changes its mind, ascending from 0. */
  readonly rangeStarts: readonly number[];
  readonly #place: Place;
  readonly #dfas: Dfa[] = [];
  readonly #indexes = new Map<Dfa, number>();
  readonly #ofAtom = new Map<number, readonly number[]>();

  constructor(place: Place) {
    this.#place = place;
    const starts = new Set([0]);
    for (const atom of atomsOf([...place.schemaFormulas(STRING), ...place.wantFormulas(STRING)])) {
      if (atom.kind === "strings") this.#ofAtom.set(atom.id, [this.#add(ofStrings(atom.values))]);
      if (atom.kind !== "string") continue;
      const { languages } = atom.rules;
      const indexes = languages.map(({ language }) => this.#add(language.dfa));
      this.#ofAtom.set(atom.id, indexes);
      for (const { minLength, maxLength } of boundsOf(atom)) {
        starts.add(minLength);
        if (Number.isFinite(maxLength)) starts.add(maxLength + 1);
      }
    }
    this.rangeStarts = [...starts].sort((a, b) => a - b);
  }

  /** The automata side by side; a colour for every set of them that accepts and is wanted. */
  product(isWanted: (accepted: readonly boolean[]) => boolean): {
    readonly dfa: Dfa;
    readonly colours: readonly (readonly boolean[])[];
  } {
    const colours: (readonly boolean[])[] = [];
    const known = new Map<string, number>();
    const dfa = product(this.#dfas, (tuple) => {
      const accepted = this.#dfas.map((own, i) => (own.accepts[tuple[i] as number] ?? 0) !== 0);
      if (!isWanted(accepted)) return 0;
      const key = accepted.join();
      const colour = known.get(key) ?? colours.push(accepted);
      known.set(key, colour);
      return colour;
    });
    return { dfa, colours };
  }

  /** The ranges of length, and in each the states where a string may end. */
  ranges(dfa: Dfa, mayEnd: (state: number, length: number) => boolean): LengthRange[] {
    return this.rangeStarts
      .map((lo, i) => {
        const hi = (this.rangeStarts[i + 1] ?? Number.POSITIVE_INFINITY) - 1;
        // A state without a colour is wanted at no length.
        const accepts = dfa.accepts.map((colour, state) =>
          colour !== 0 && mayEnd(state, lo) ? 1 : 0,
        );
        return new LengthRange(dfa, lo, hi, accepts);
      })
      .filter((range) => range.accepts.includes(1));
  }

  /** The first length of the range that a length is in. */
  startOf(length: number): number {
    return this.rangeStarts.findLast((start) => start <= length) ?? 0;
  }

  verdict(accepted: readonly boolean[], length: number): Verdict {
    return this.#place.verdictOf(STRING, (atom) => {
      if (!(this.#ofAtom.get(atom.id) ?? []).every((index) => accepted[index])) return false;
      return boundsOf(atom).every(
        (bound) => length >= bound.minLength && length <= bound.maxLength,
      );
    });
  }

  #add(dfa: Dfa): number {
    const known = this.#indexes.get(dfa);
    if (known !== undefined) return known;
    this.#indexes.set(dfa, this.#dfas.length);
    this.#dfas.push(dfa);
    return this.#dfas.length - 1;
  }
}

interface LengthBounds {
  readonly minLength: number;
  readonly maxLength: number;
}

function boundsOf(atom: Atom): readonly LengthBounds[] {
  if (atom.kind !== "string") return [];
  return [atom.rules, ...atom.rules.languages.map(({ language }) => language)];
}
