/** Strings of any of several languages, read side by side. */
import type { Verdict } from "./place.ts";
import type { RangedStrings } from "./ranged-strings.ts";
import { NO_VERDICT, type StringReader } from "./string-reader.ts";

export class StringUnion implements StringReader {
  readonly automaton = null;
  readonly bounds = null;
  readonly #parts: readonly RangedStrings[];
  /** By state: the parts' states, -1 for a dead one. */
  readonly #tuples: number[][] = [];
  /** By state: the parts that go on, each with its own. */
  readonly #living: (readonly (readonly [RangedStrings, number])[])[] = [];
  readonly #ids = new Map<string, number>();
  readonly #next: Map<number, number>[] = [];
  readonly #lengthKeys = new Map<string, number>();

  constructor(parts: readonly RangedStrings[]) {
    this.#parts = parts;
    this.#intern(parts.map(() => 0));
  }

  step(state: number, byte: number): number {
    const row = this.#next[state] as Map<number, number>;
    const known = row.get(byte);
    if (known !== undefined) return known;
    const tuple = this.#tuples[state] as number[];
    const next = this.#parts.map((part, i) => {
      const from = tuple[i] as number;
      return from < 0 ? -1 : part.step(from, byte);
    });
    const id = next.every((s) => s < 0) ? -1 : this.#intern(next);
    row.set(byte, id);
    return id;
  }

  isBetween(state: number): boolean {
    return this.#alive(state).some(([part, at]) => part.isBetween(at));
  }

  isLive(state: number, count: number): boolean {
    return this.#alive(state).some(([part, at]) => part.isLive(at, count));
  }

  accepts(state: number, count: number): boolean {
    return this.#alive(state).some(([part, at]) => part.accepts(at, count));
  }

  freedom(state: number, count: number): number {
    let most = -1;
    for (const [part, at] of this.#alive(state)) most = Math.max(most, part.freedom(at, count));
    return most;
  }

  roomForAny(state: number, count: number): number {
    let most = -1;
    for (const [part, at] of this.#alive(state)) most = Math.max(most, part.roomForAny(at, count));
    return most;
  }

  lengthKey(count: number, far: number): number {
    const keys = this.#parts.map((part) => part.lengthKey(count, far));
    if (keys.some((key) => key >= 0)) return count;
    const name = keys.join();
    const known = this.#lengthKeys.get(name) ?? -1 - this.#lengthKeys.size;
    this.#lengthKeys.set(name, known);
    return known;
  }

  roomToLoop(state: number, count: number): number {
    let most = 0;
    for (const [part, at] of this.#alive(state)) most = Math.max(most, part.roomToLoop(at, count));
    return most;
  }

  slack(): number {
    return Number.POSITIVE_INFINITY;
  }

  endBytesAtMost(state: number, count: number): number {
    const sizes = this.#alive(state).map(([part, at]) => part.endBytesAtMost(at, count));
    return Math.min(...sizes, Number.POSITIVE_INFINITY);
  }

  endBytesMax(count: number): number {
    return Math.max(...this.#parts.map((part) => part.endBytesMax(count)));
  }

  verdict(): Verdict {
    return NO_VERDICT;
  }

  end(state: number, count: number): Uint8Array {
    const ends = this.#alive(state)
      .filter(([part, at]) => part.isLive(at, count))
      .map(([part, at]) => part.end(at, count));
    return ends.reduce((best, other) => (other.byteLength < best.byteLength ? other : best));
  }

  #alive(state: number): readonly (readonly [RangedStrings, number])[] {
    return this.#living[state] as readonly (readonly [RangedStrings, number])[];
  }

  #intern(tuple: number[]): number {
    const key = tuple.join();
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    this.#ids.set(key, this.#tuples.length);
    this.#tuples.push(tuple);
    const states = this.#parts.map((part, i) => [part, tuple[i] as number] as const);
    this.#living.push(states.filter(([, at]) => at >= 0));
    this.#next.push(new Map());
    return this.#tuples.length - 1;
  }
}
