/** Which lengths the strings of an automaton can have: "is there an end in 3 to 17 code points?" */
import type { Dfa } from "./dfa.ts";

export class LengthTable {
  readonly #dfa: Dfa;
  /**
   * `#layers[k][state]` is 1 if an accepted string of exactly k code points starts at the state.
   */
  readonly #layers: Uint8Array[];
  /** Layers repeat from here on: layer k is layer `#loopStart + (k - #loopStart) % #period`. */
  #loopStart = -1;
  #period = 0;
  readonly #seen = new Map<string, number>();

  constructor(dfa: Dfa) {
    this.#dfa = dfa;
    this.#layers = [Uint8Array.from(dfa.accepts, (colour) => (colour === 0 ? 0 : 1))];
    this.#seen.set(this.#layers[0]?.join("") ?? "", 0);
  }

  /** The least length from `lo` to `hi` that an accepted string from this state can have, or -1. */
  least(state: number, lo: number, hi: number): number {
    for (let length = Math.max(lo, 0); length <= hi; length++) {
      if (this.#layer(length)[state] === 1) return length;
      if (this.#loopStart >= 0 && length >= Math.max(lo, this.#loopStart) + this.#period) return -1;
    }
    return -1;
  }

  /** A cheapest next class on the way to an end in exactly `length` code points. */
  has(state: number, length: number): boolean {
    return state >= 0 && this.#layer(length)[state] === 1;
  }

  #layer(length: number): Uint8Array {
    while (this.#layers.length <= length && this.#loopStart < 0) this.#extend();
    if (length < this.#layers.length) return this.#layers[length] as Uint8Array;
    const index = this.#loopStart + ((length - this.#loopStart) % this.#period);
    return this.#layers[index] as Uint8Array;
  }

  #extend(): void {
    const { size, table, classes } = this.#dfa;
    const last = this.#layers.at(-1) as Uint8Array;
    const next = new Uint8Array(size);
    for (let state = 0; state < size; state++) {
      for (let c = 0; c < classes.count; c++) {
        const target = table[state * classes.count + c] as number;
        if (target >= 0 && last[target] === 1) {
          next[state] = 1;
          break;
        }
      }
    }
    const key = next.join("");
    const known = this.#seen.get(key);
    if (known === undefined) {
      this.#seen.set(key, this.#layers.length);
      this.#layers.push(next);
      return;
    }
    this.#loopStart = known;
    this.#period = this.#layers.length - known;
  }
}
