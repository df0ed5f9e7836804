/**
 * The size of the shortest value at each place, and so whether there is one at all: a least fixed
 * point over the places that values must contain. A place that recursion alone would satisfy has no
 * value. What can be left out of a value is never looked at.
 */

import { WITNESS_FUEL } from "../schema/limits.ts";
import type { Place } from "./place.ts";

/** Values nested deeper than this in every instance are taken for impossible. */
const DEPTH_MAX = 500;

export class Costs {
  readonly #compute: (place: Place) => number;
  readonly #final = new Map<Place, number>();
  #round: Round | null = null;
  #fuel = 0;
  /** A search was given up: what it found impossible may not be. */
  isExhausted = false;

  /** @param compute the least size of a place's values, asking `of` for the places inside them. */
  constructor(compute: (place: Place) => number) {
    this.#compute = compute;
  }

  /** Bytes of the shortest value; infinite where there is none. */
  of(place: Place): number {
    const known = this.#final.get(place);
    if (known !== undefined) return known;
    if (this.#round) return this.#provisional(place, this.#round);
    return this.#settle(place);
  }

  /** No search is going on: what is known is final. */
  get isSettled(): boolean {
    return this.#round === null;
  }

  #settle(place: Place): number {
    const round: Round = { values: new Map(), active: new Set(), isCyclic: false };
    this.#round = round;
    this.#fuel = WITNESS_FUEL;
    try {
      this.#provisional(place, round);
      // Places on a cycle were first seen without each other's values.
      for (let changed = round.isCyclic; changed; ) {
        changed = false;
        for (const [other, value] of round.values) {
          const next = this.#spend(other);
          if (next >= value) continue;
          round.values.set(other, next);
          changed = true;
        }
      }
    } finally {
      this.#round = null;
    }
    for (const [other, value] of round.values) this.#final.set(other, value);
    return this.#final.get(place) as number;
  }

  #provisional(place: Place, round: Round): number {
    const known = round.values.get(place);
    if (known !== undefined) {
      if (round.active.has(place)) round.isCyclic = true;
      return known;
    }
    round.values.set(place, Number.POSITIVE_INFINITY);
    if (round.active.size >= DEPTH_MAX) {
      this.isExhausted = true;
      return Number.POSITIVE_INFINITY;
    }
    round.active.add(place);
    const value = this.#spend(place);
    round.active.delete(place);
    round.values.set(place, value);
    return value;
  }

  #spend(place: Place): number {
    this.#fuel -= 1;
    if (this.#fuel > 0) return this.#compute(place);
    this.isExhausted = true;
    return Number.POSITIVE_INFINITY;
  }
}

interface Round {
  readonly values: Map<Place, number>;
  readonly active: Set<Place>;
  isCyclic: boolean;
}
