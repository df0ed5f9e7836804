/**
 * Trimming and minimisation (Hopcroft 1971). The result's states come in the order of a
 * breadth-first walk, so that equal languages over equal classes give equal tables.
 */
import type { Dfa } from "./dfa.ts";

/** @param dfa any automaton with start state 0; states that cannot accept may still be in it. */
export function minimize(dfa: Dfa): Dfa {
  const { size, table } = dfa;
  const k = dfa.classes.count;
  const inverse = inverseOf(table, size, k);
  const live = liveStates(dfa, inverse, k);
  return quotient(dfa, refine(dfa, live, inverse));
}

/** For each (class, target): its sources, as one packed list. */
interface Inverse {
  /**
   * Sources of (class c, target t) are `sources[start[c * size + t] .. start[c * size + t + 1])`.
   */
  readonly start: Int32Array;
  readonly sources: Int32Array;
}

function inverseOf(table: Int32Array, size: number, k: number): Inverse {
  const start = new Int32Array(k * size + 1);
  for (let i = 0; i < table.length; i++) {
    const target = table[i] as number;
    if (target >= 0)
      start[(i % k) * size + target + 1] = (start[(i % k) * size + target + 1] as number) + 1;
  }
  for (let i = 0; i < k * size; i++) start[i + 1] = (start[i + 1] as number) + (start[i] as number);
  const fill = start.slice();
  const sources = new Int32Array(start[k * size] as number);
  for (let i = 0; i < table.length; i++) {
    const target = table[i] as number;
    if (target < 0) continue;
    const slot = (i % k) * size + target;
    sources[fill[slot] as number] = Math.floor(i / k);
    fill[slot] = (fill[slot] as number) + 1;
  }
  return { start, sources };
}

function liveStates(dfa: Dfa, inverse: Inverse, k: number): Uint8Array {
  const live = Uint8Array.from(dfa.accepts);
  const queue = [...live.keys()].filter((state) => live[state] !== 0);
  for (let state = queue.pop(); state !== undefined; state = queue.pop()) {
    for (let c = 0; c < k; c++) {
      const slot = c * dfa.size + state;
      for (let i = inverse.start[slot] as number; i < (inverse.start[slot + 1] as number); i++) {
        const source = inverse.sources[i] as number;
        if (live[source] !== 0) continue;
        live[source] = 1;
        queue.push(source);
      }
    }
  }
  return live;
}

/** Hopcroft's partition: states of one block have one language. Dead states get block -1. */
function refine(dfa: Dfa, live: Uint8Array, inverse: Inverse): Int32Array {
  const partition = new Partition(dfa, live);
  const queue = Array.from({ length: partition.count }, (_, block) => block);
  const queued = new Set(queue);
  for (let splitter = queue.pop(); splitter !== undefined; splitter = queue.pop()) {
    queued.delete(splitter);
    const members = partition.members(splitter);
    for (let c = 0; c < dfa.classes.count; c++) {
      for (const target of members) markSources(partition, inverse, c * dfa.size + target);
      for (const [old, fresh] of partition.split()) {
        // The smaller half is enough, unless the whole block was waiting anyway.
        const next = queued.has(old) ? fresh : partition.smaller(old, fresh);
        if (!queued.has(next)) queue.push(next);
        queued.add(next);
      }
    }
  }
  return partition.blockOf;
}

function markSources(partition: Partition, inverse: Inverse, slot: number): void {
  const end = inverse.start[slot + 1] as number;
  for (let i = inverse.start[slot] as number; i < end; i++) {
    partition.mark(inverse.sources[i] as number);
  }
}

/** Blocks of states, stored as slices of one permutation, with marked members in front. */
class Partition {
  readonly blockOf: Int32Array;
  count = 0;
  readonly #order: Int32Array;
  readonly #place: Int32Array;
  readonly #first: number[] = [];
  readonly #end: number[] = [];
  readonly #marked: number[] = [];
  #touched: number[] = [];

  constructor(dfa: Dfa, live: Uint8Array) {
    const groups: number[][] = [];
    for (const [state, colour] of dfa.accepts.entries()) {
      if (live[state] === 0) continue;
      groups[colour] ??= [];
      groups[colour].push(state);
    }
    this.blockOf = new Int32Array(dfa.size).fill(-1);
    this.#order = Int32Array.from(groups.flat());
    this.#place = new Int32Array(dfa.size);
    let at = 0;
    for (const group of groups) {
      if (group === undefined) continue;
      this.#first.push(at);
      for (const state of group) {
        this.blockOf[state] = this.count;
        this.#place[state] = at;
        at += 1;
      }
      this.#end.push(at);
      this.#marked.push(0);
      this.count += 1;
    }
  }

  members(block: number): Int32Array {
    return this.#order.slice(this.#first[block], this.#end[block]);
  }

  smaller(a: number, b: number): number {
    const size = (block: number): number =>
      (this.#end[block] as number) - (this.#first[block] as number);
    return size(a) <= size(b) ? a : b;
  }

  mark(state: number): void {
    const block = this.blockOf[state] as number;
    if (block < 0) return;
    const border = (this.#first[block] as number) + (this.#marked[block] as number);
    const place = this.#place[state] as number;
    if (place < border) return;
    const other = this.#order[border] as number;
    this.#order[border] = state;
    this.#order[place] = other;
    this.#place[state] = border;
    this.#place[other] = place;
    if (this.#marked[block] === 0) this.#touched.push(block);
    this.#marked[block] = (this.#marked[block] as number) + 1;
  }

  /** Splits every block with marked members: [block, new block of the marked ones]. */
  split(): [number, number][] {
    const pairs: [number, number][] = [];
    for (const block of this.#touched) {
      const first = this.#first[block] as number;
      const border = first + (this.#marked[block] as number);
      this.#marked[block] = 0;
      if (border === this.#end[block]) continue;
      const fresh = this.count;
      this.count += 1;
      this.#first.push(first);
      this.#end.push(border);
      this.#marked.push(0);
      this.#first[block] = border;
      for (let i = first; i < border; i++) this.blockOf[this.#order[i] as number] = fresh;
      pairs.push([block, fresh]);
    }
    this.#touched = [];
    return pairs;
  }
}

function quotient(dfa: Dfa, blockOf: Int32Array): Dfa {
  const k = dfa.classes.count;
  const order: number[] = [];
  const idOf = new Map<number, number>();
  const visit = (state: number): number => {
    const block = state < 0 ? -1 : (blockOf[state] as number);
    if (block < 0) return -1;
    const known = idOf.get(block);
    if (known !== undefined) return known;
    idOf.set(block, order.length);
    order.push(state);
    return order.length - 1;
  };
  if (dfa.size > 0) visit(0);
  const rows: number[] = [];
  for (let i = 0; i < order.length; i++) {
    const state = order[i] as number;
    for (let c = 0; c < k; c++) rows.push(visit(dfa.table[state * k + c] as number));
  }
  return {
    size: order.length,
    classes: dfa.classes,
    table: Int32Array.from(rows),
    accepts: Uint8Array.from(order, (state) => dfa.accepts[state] as number),
  };
}
