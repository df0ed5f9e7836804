/**
 * The least value that some text of each block has, where an alternative's value grows with those
 * of the blocks in it: sizes and depths of shortest texts. Blocks are settled in the order of their
 * values (Knuth's generalisation of Dijkstra's algorithm), so recursion needs no care.
 */
import { END, type Item, type Rules } from "./cfg-rules.ts";

export interface Measure {
  /** Whether the item cannot do without its block. */
  needs(item: Item): boolean;
  /**
   * Value of an item that is a terminal or needs its block, and what follows it.
   * @param block least value of the item's block; 0 for a terminal.
   */
  add(item: Item, block: number, rest: number): number;
}

export interface Least {
  /** By block; infinite where no text is. */
  readonly blocks: Float64Array;
  /** By item: of the item and what follows it; infinite likewise. */
  readonly items: Float64Array;
}

export function leastValues(rules: Rules, measure: Measure): Least {
  const settled = new Float64Array(rules.blocks.length).fill(Number.POSITIVE_INFINITY);
  const values = new Float64Array(rules.items.length).fill(Number.POSITIVE_INFINITY);
  const waiting: Alternative[][] = rules.blocks.map(() => []);
  const heap = new Heap();
  const offer = ({ block, start }: Alternative): void => {
    heap.push(block, chainValue(start, { items: rules.items, settled, values }, measure));
  };
  for (const alternative of alternativesOf(rules, measure, waiting)) {
    if (alternative.missing === 0) offer(alternative);
  }
  for (let next = heap.pop(); next !== null; next = heap.pop()) {
    if (next.value >= (settled[next.block] as number)) continue;
    settled[next.block] = next.value;
    for (const alternative of waiting[next.block] ?? []) {
      alternative.missing -= 1;
      if (alternative.missing === 0) offer(alternative);
    }
    waiting[next.block] = [];
  }
  return { blocks: settled, items: values };
}

/** @param waiting by block, gets the alternatives that need it, as often as they do. */
function alternativesOf(
  { items, blocks }: Rules,
  measure: Measure,
  waiting: readonly Alternative[][],
): Alternative[] {
  const alternatives = blocks.flatMap(({ id, starts }) =>
    starts.map((start) => ({ block: id, start, missing: 0 })),
  );
  for (const alternative of alternatives) {
    for (let at = alternative.start; at !== END; at = (items[at] as Item).next) {
      const item = items[at] as Item;
      if (item.kind === "terminal" || !measure.needs(item)) continue;
      alternative.missing += 1;
      waiting[item.block.id]?.push(alternative);
    }
  }
  return alternatives;
}

interface Alternative {
  readonly block: number;
  readonly start: number;
  /** Blocks in it that are not settled. */
  missing: number;
}

/** Fills in the values of an alternative's items, from the last to the first. */
function chainValue(
  start: number,
  known: {
    readonly items: readonly Item[];
    readonly settled: Float64Array;
    readonly values: Float64Array;
  },
  measure: Measure,
): number {
  const chain: number[] = [];
  for (let at = start; at !== END; at = (known.items[at] as Item).next) chain.push(at);
  let value = 0;
  for (const at of chain.reverse()) {
    const item = known.items[at] as Item;
    const isTerminal = item.kind === "terminal";
    if (isTerminal || measure.needs(item)) {
      const block = isTerminal ? 0 : (known.settled[item.block.id] as number);
      value = measure.add(item, block, value);
    }
    known.values[at] = value;
  }
  return value;
}

interface Entry {
  readonly block: number;
  readonly value: number;
}

/** A binary heap, least value first. */
class Heap {
  readonly #entries: Entry[] = [];

  push(block: number, value: number): void {
    const entries = this.#entries;
    if (!Number.isFinite(value)) return;
    let at = entries.length;
    entries.push({ block, value });
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((entries[parent] as Entry).value <= value) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): Entry | null {
    const entries = this.#entries;
    if (entries.length === 0) return null;
    this.#swap(0, entries.length - 1);
    const least = entries.pop() as Entry;
    for (let at = 0; ; ) {
      const child = this.#lesser(2 * at + 1, 2 * at + 2);
      if (child < 0 || (entries[at] as Entry).value <= (entries[child] as Entry).value) break;
      this.#swap(at, child);
      at = child;
    }
    return least;
  }

  #lesser(left: number, right: number): number {
    const entries = this.#entries;
    if (left >= entries.length) return -1;
    if (right >= entries.length) return left;
    return (entries[left] as Entry).value <= (entries[right] as Entry).value ? left : right;
  }

  #swap(a: number, b: number): void {
    const entries = this.#entries;
    const entry = entries[a] as Entry;
    entries[a] = entries[b] as Entry;
    entries[b] = entry;
  }
}
