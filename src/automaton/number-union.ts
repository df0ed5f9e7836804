/** Numbers of any of several sets: their automata side by side, with the same face as one. */

import type { NumberAutomaton } from "./number-automaton.ts";
import { NUMBER_COLUMNS } from "./number-columns.ts";

const UNKNOWN = -2;

export class NumberUnion {
  readonly #parts: readonly NumberAutomaton[];
  /** Per state: the parts' states, -1 for a dead one. */
  readonly #tuples: number[][] = [];
  readonly #ids = new Map<string, number>();
  readonly #rows: number[] = [];

  constructor(parts: readonly NumberAutomaton[]) {
    this.#parts = parts;
    this.#intern(parts.map(() => 0));
  }

  /** State after a character, by column of `NUMBER_COLUMN`, or -1. State 0 is the start. */
  step(state: number, column: number): number {
    const known = this.#rows[state * NUMBER_COLUMNS + column] as number;
    if (known !== UNKNOWN) return known;
    const tuple = this.#tuples[state] as number[];
    const next = this.#parts.map((part, i) => {
      const from = tuple[i] as number;
      return from < 0 ? -1 : part.step(from, column);
    });
    const id = next.every((s) => s < 0) ? -1 : this.#intern(next);
    this.#rows[state * NUMBER_COLUMNS + column] = id;
    return id;
  }

  accepts(state: number): boolean {
    const tuple = this.#tuples[state] as number[];
    return tuple.some((s, i) => s >= 0 && this.#parts[i]?.accepts(s));
  }

  /** Characters that the shortest number from here still needs. */
  rest(state: number): number {
    const tuple = this.#tuples[state] as number[];
    const rests = tuple.map((s, i) =>
      s < 0 ? Number.POSITIVE_INFINITY : (this.#parts[i]?.rest(s) ?? Number.POSITIVE_INFINITY),
    );
    return Math.min(...rests);
  }

  #intern(tuple: number[]): number {
    const key = tuple.join();
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#tuples.length;
    this.#ids.set(key, id);
    this.#tuples.push(tuple);
    for (let column = 0; column < NUMBER_COLUMNS; column++) this.#rows.push(UNKNOWN);
    return id;
  }
}
