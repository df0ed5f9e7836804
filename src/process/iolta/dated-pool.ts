/**
 * Items by day, to take the one nearest to a day: by the gap in days, then the earlier day, then
 * the id. Taking is what keeps each pass near linear in its items.
 */
import { compareText, sorted } from "../order.ts";

export interface Dated {
  readonly id: string;
  readonly day: number;
}

export class DatedPool<T extends Dated> {
  /** Days that still hold items, ascending, and their items by id. */
  readonly #days: number[];
  readonly #items: T[][];

  constructor(items: Iterable<T>) {
    const ordered = sorted([...items], (a, b) => a.day - b.day || compareText(a.id, b.id));
    this.#days = [];
    this.#items = [];
    for (const item of ordered) {
      if (this.#days.at(-1) === item.day) this.#items.at(-1)?.push(item);
      else {
        this.#days.push(item.day);
        this.#items.push([item]);
      }
    }
  }

  /** Up to `count` items within [earliest, latest], nearest to `day` first. Nothing is taken. */
  nearest(
    day: number,
    earliest: number,
    latest: number,
    count: number,
    accepts: (item: T) => boolean = () => true,
  ): T[] {
    const found: T[] = [];
    for (const items of this.#daysOutward(day, earliest, latest)) {
      for (const item of items) {
        if (found.length === count) return found;
        if (accepts(item)) found.push(item);
      }
    }
    return found;
  }

  /** The items of each day, by distance from `day`; of two days as far, the earlier first. */
  *#daysOutward(day: number, earliest: number, latest: number): Generator<readonly T[]> {
    let right = this.#firstAtOrAfter(day);
    let left = right - 1;
    for (;;) {
      const before = this.#days[left] ?? -Infinity;
      const after = this.#days[right] ?? Infinity;
      const leftGap = before >= earliest ? day - before : Infinity;
      const rightGap = after <= latest ? after - day : Infinity;
      if (leftGap === Infinity && rightGap === Infinity) return;
      if (leftGap <= rightGap) yield this.#items[left--] ?? [];
      else yield this.#items[right++] ?? [];
    }
  }

  remove(item: T): void {
    const at = this.#firstAtOrAfter(item.day);
    const items = this.#items[at] ?? [];
    const index = items.indexOf(item);
    if (index === -1) return;
    items.splice(index, 1);
    if (items.length > 0) return;
    this.#items.splice(at, 1);
    this.#days.splice(at, 1);
  }

  #firstAtOrAfter(day: number): number {
    let low = 0;
    let high = this.#days.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#days[middle] ?? 0) < day) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
