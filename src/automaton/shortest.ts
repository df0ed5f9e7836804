/** Shortest strings of an automaton: how far each state is from an end, and one way there. */
import { type CharClasses, exampleOf } from "./char-classes.ts";
import type { Dfa } from "./dfa.ts";
import type { LengthTable } from "./lengths.ts";

export class ShortestStrings {
  readonly #dfa: Dfa;
  /** Code points from each state to the nearest accepting one. */
  readonly #distances: Int32Array;
  readonly #texts = new Map<number, string>();
  /** By class: a character of it, and the bytes that JSON takes for it. */
  #examples: readonly { readonly char: string; readonly bytes: number }[] | undefined;
  #pointBytes = 0;

  constructor(dfa: Dfa) {
    this.#dfa = dfa;
    this.#distances = new Int32Array(dfa.size).fill(-1);
    const { count } = dfa.classes;
    const sources: number[][] = Array.from({ length: dfa.size }, () => []);
    for (const [i, target] of dfa.table.entries()) {
      if (target >= 0) sources[target]?.push(Math.floor(i / count));
    }
    let frontier = [...dfa.accepts.keys()].filter((state) => dfa.accepts[state] !== 0);
    for (let distance = 0; frontier.length > 0; distance++) {
      const next: number[] = [];
      for (const state of frontier) this.#distances[state] = distance;
      for (const state of frontier) {
        for (const source of sources[state] as number[]) {
          if (this.#distances[source] !== -1) continue;
          this.#distances[source] = -2;
          next.push(source);
        }
      }
      frontier = next;
    }
  }

  /** Code points that a string from this state needs at least. */
  distance(state: number): number {
    return this.#distances[state] as number;
  }

  /** The greatest distance of any state. */
  get farthest(): number {
    return this.#distances.reduce((most, distance) => Math.max(most, distance), 0);
  }

  /** Bytes that JSON takes for any character of the strings given here, at most. */
  get pointBytes(): number {
    this.#examples ??= examplesFor(this.#dfa.classes);
    if (this.#pointBytes === 0) {
      this.#pointBytes = Math.max(1, ...this.#examples.map(({ bytes }) => bytes));
    }
    return this.#pointBytes;
  }

  /** A shortest string from a state. */
  text(state: number): string {
    const known = this.#texts.get(state) ?? this.#spell(state);
    this.#texts.set(state, known);
    return known;
  }

  #spell(state: number): string {
    let text = "";
    let at = state;
    for (let left = this.distance(state); left > 0; left--) {
      const [char, target] = this.#edge(at, (t) => this.distance(t) === left - 1);
      text += char;
      at = target;
    }
    return text;
  }

  /** A string of exactly `length` code points from a state, which must have one. */
  textOfLength(state: number, length: number, table: LengthTable): string {
    let text = "";
    let at = state;
    for (let left = length; left > 0; left--) {
      const [char, target] = this.#edge(at, (t) => table.has(t, left - 1));
      text += char;
      at = target;
    }
    return text;
  }

  #edge(state: number, leads: (target: number) => boolean): readonly [string, number] {
    const { table, classes } = this.#dfa;
    this.#examples ??= examplesFor(classes);
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let c = 0; c < classes.count; c++) {
      const target = table[state * classes.count + c] as number;
      const bytes = this.#examples[c]?.bytes ?? Number.POSITIVE_INFINITY;
      if (target < 0 || bytes >= least || !leads(target)) continue;
      best = c;
      least = bytes;
    }
    const example = this.#examples[best];
    if (!example) throw new Error("an automaton state without the way on that was promised");
    return [example.char, table[state * classes.count + best] as number];
  }
}

function examplesFor(classes: CharClasses): { readonly char: string; readonly bytes: number }[] {
  return Array.from({ length: classes.count }, (_, c) => {
    const char = String.fromCodePoint(exampleOf(classes, c));
    // Less the quotes.
    return { char, bytes: Buffer.byteLength(JSON.stringify(char)) - 2 };
  });
}
