/**
 * All the ways in which a text so far can be read, as one value: a set of stacks, each a list of
 * places in rules that go on once what is above them has been read. Stacks share their ends, equal
 * sets are one object, and what a set becomes after a byte is kept on it. So an ambiguous grammar
 * costs no more than the places it can be at, and a plain one runs like a table.
 */
import type { Least } from "./cfg-least.ts";
import {
  type Block,
  END,
  type Item,
  type RepetitionItem,
  type Rules,
  type TerminalItem,
} from "./cfg-rules.ts";
import { byteClasses, DONE, REFUSED } from "./cfg-terminals.ts";
import { MASKS_KEPT_MAX, STACK_DEPTH_MAX, STACKS_KEPT_MAX, STEP_WORK_MAX } from "./gbnf-limits.ts";

/** Each stack by its top: no two tops are equal, what is below them is a set again. */
export class StackSet {
  readonly id: number;
  /** Items on top: in a text, terminals; below, where to go on. */
  readonly items: readonly number[];
  /** State of the terminal, or how often a repetition has been read. */
  readonly counts: readonly number[];
  readonly below: readonly StackSet[];
  /** Among the stacks is the empty one: the text is whole. */
  readonly hasEmpty: boolean;
  /** Bytes of the shortest way to the empty stack. */
  readonly need: number;
  /** Which stack has it, unless the empty one is among them. */
  readonly shortest: number;
  /** Entries of the deepest stack. */
  readonly depth: number;
  /** By class of byte. */
  edges: (Edge | undefined)[] = [];
  /** What others have found out about the set, by whom. */
  readonly memo = new Map<object, object>();

  constructor(
    id: number,
    entries: readonly Entry[],
    hasEmpty: boolean,
    needOf: (entry: Entry) => number,
  ) {
    this.id = id;
    this.items = entries.map(({ item }) => item);
    this.counts = entries.map(({ count }) => count);
    this.below = entries.map(({ below }) => below);
    this.hasEmpty = hasEmpty;
    const needs = entries.map(needOf);
    const least = needs.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    this.need = hasEmpty ? 0 : least;
    this.shortest = needs.indexOf(least);
    this.depth = entries.reduce((most, { below }) => Math.max(most, below.depth + 1), 0);
  }
}

export interface Entry {
  readonly item: number;
  readonly count: number;
  readonly below: StackSet;
}

/** What a byte does. */
export interface Edge {
  /** Null where the byte may not come. */
  readonly to: StackSet | null;
  /** What it took to find out. */
  readonly work: number;
  /** The last walk that came by. */
  walk: number;
}

/** Keeps item and count in one number. */
const COUNT_RANGE = 2 ** 20;

export class Stacks {
  readonly rules: Rules;
  readonly sizes: Least;
  /** Before the first byte. */
  readonly start: StackSet;
  /** There are more ways to begin than can be looked at. */
  readonly isTooWide: boolean;
  readonly #depths: Least;
  readonly #isNullable: Uint8Array;
  readonly #starts: readonly (readonly number[])[];
  readonly #classOf: Uint8Array;
  readonly #known = new Map<string, StackSet>();
  readonly #remembered: { readonly set: StackSet; readonly by: object }[] = [];
  #ids = 0;
  #walks = 0;
  // Of the step being made.
  #tops = new Map<number, StackSet>();
  #hasEmpty = false;
  #work = 0;
  readonly #entered = new Map<StackSet, Set<Block>>();
  readonly #popped = new Set<StackSet>();
  readonly #unions = new Map<StackSet, Map<StackSet, StackSet>>();

  constructor(rules: Rules, sizes: Least, depths: Least) {
    this.rules = rules;
    this.sizes = sizes;
    this.#depths = depths;
    this.#isNullable = Uint8Array.from(sizes.blocks, (size) => (size === 0 ? 1 : 0));
    this.#starts = rules.blocks.map(({ starts }) =>
      starts.filter((start) => Number.isFinite(this.#after(start))),
    );
    this.#classOf = byteClasses(rules.terminals).of;
    const empty = this.#intern([], true);
    this.#hasEmpty = this.#isNullable[rules.root.id] === 1;
    this.#enter(rules.root, empty);
    this.start = this.#finish() as StackSet;
    this.isTooWide = this.#work > STEP_WORK_MAX;
  }

  /** What a set becomes after a byte. */
  edge(set: StackSet, byte: number): Edge {
    const at = this.#classOf[byte] as number;
    const known = set.edges[at];
    if (known) return known;
    const edge = { to: this.#step(set, byte), work: this.#work, walk: 0 };
    set.edges[at] = edge;
    return edge;
  }

  /** A number for a walk over edges, to mark those that it has come by. */
  nextWalk(): number {
    this.#walks += 1;
    return this.#walks;
  }

  /** Keeps what was found out about a set, for as long as there is room. */
  remember(set: StackSet, by: object, what: object): void {
    set.memo.set(by, what);
    this.#remembered.push({ set, by });
    if (this.#remembered.length <= MASKS_KEPT_MAX) return;
    const oldest = this.#remembered.shift();
    oldest?.set.memo.delete(oldest.by);
  }

  /** Drops what earlier answers have left, once it is much. Answers under way go on unchanged. */
  trim(): void {
    if (this.#known.size < STACKS_KEPT_MAX) return;
    for (const set of this.#known.values()) {
      set.edges = [];
      set.memo.clear();
    }
    this.#known.clear();
    this.#remembered.length = 0;
  }

  #step(set: StackSet, byte: number): StackSet | null {
    this.#work = 0;
    const to = this.#readings(set, byte);
    if (this.#work <= STEP_WORK_MAX || set.hasEmpty) return to;
    // Of too many readings, the one with the shortest way out must be among those that are kept.
    const item = this.rules.items[set.items[set.shortest] as number] as TerminalItem;
    const [next] = item.terminal.rest(set.counts[set.shortest] as number);
    const work = this.#work;
    this.#work = 0;
    const kept = next === byte ? this.#readings(this.#shortestOf(set), byte) : to;
    this.#work = work;
    return kept;
  }

  #readings(set: StackSet, byte: number): StackSet | null {
    for (let i = 0; i < set.items.length; i++) {
      const item = set.items[i] as number;
      const { terminal, next } = this.rules.items[item] as TerminalItem;
      const state = terminal.step(set.counts[i] as number, byte);
      if (state === REFUSED) continue;
      this.#work += 1;
      const below = set.below[i] as StackSet;
      if (state === DONE) this.#goOn(next, 0, below, false);
      else this.#addTop(item, state, below);
    }
    return this.#finish();
  }

  /** Of all stacks the one with the shortest way out. */
  #shortestOf(set: StackSet): StackSet {
    if (set.hasEmpty) return this.#intern([], true);
    const { shortest } = set;
    const below = this.#shortestOf(set.below[shortest] as StackSet);
    const [item, count] = [set.items[shortest] as number, set.counts[shortest] as number];
    return this.#intern([{ item, count, below }], false);
  }

  /** The set of the tops gathered; null for none. */
  #finish(): StackSet | null {
    const keys = [...this.#tops.keys()].sort((a, b) => a - b);
    const entries = keys.map((key) => entryOf(key, this.#tops.get(key) as StackSet));
    const set = keys.length > 0 || this.#hasEmpty ? this.#intern(entries, this.#hasEmpty) : null;
    this.#tops = new Map();
    this.#hasEmpty = false;
    this.#entered.clear();
    this.#popped.clear();
    this.#unions.clear();
    return set;
  }

  /** Any reading may be dropped once there is one: each of them can be read to an end. */
  get #isSpent(): boolean {
    return this.#work > STEP_WORK_MAX && (this.#tops.size > 0 || this.#hasEmpty);
  }

  /**
   * On with an item, and with what follows it where it can be empty.
   * @param isFresh nothing has been read since its block was entered. Texts that are empty are
   *   passed over from outside, so a block that was entered reads something.
   */
  #goOn(first: number, counted: number, below: StackSet, isFresh: boolean): void {
    let count = counted;
    for (let at = first; !this.#isSpent; count = 0) {
      this.#work += 1;
      if (at === END) {
        if (!isFresh) this.#pop(below);
        return;
      }
      const item = this.rules.items[at] as Item;
      if (item.kind === "terminal") {
        this.#addTop(at, 0, below);
        return;
      }
      if (item.kind === "call") this.#enter(item.block, this.#push(item.next, 0, below));
      else this.#repeat(at, item, count, below);
      const min = item.kind === "call" ? 1 : item.min;
      if (count < min && this.#isNullable[item.block.id] === 0) return;
      at = item.next;
    }
  }

  /** Once more, if it may be; the count of an endless repetition stops where all is allowed. */
  #repeat(
    at: number,
    { block, min, max, next }: RepetitionItem,
    count: number,
    below: StackSet,
  ): void {
    if (count >= max) return;
    const least = this.#isNullable[block.id] === 1 ? 0 : min;
    const read = max === Number.POSITIVE_INFINITY ? Math.min(count + 1, least) : count + 1;
    const isLast = read === max;
    this.#enter(block, isLast ? this.#push(next, 0, below) : this.#push(at, read, below));
  }

  #enter(block: Block, below: StackSet): void {
    const entered = this.#entered.get(below) ?? new Set();
    if (entered.has(block)) return;
    entered.add(block);
    this.#entered.set(below, entered);
    for (const start of this.#starts[block.id] as readonly number[]) {
      const depth = start === END ? 0 : (this.#depths.items[start] as number);
      if (below.depth + depth <= STACK_DEPTH_MAX) this.#goOn(start, 0, below, true);
    }
  }

  #pop(set: StackSet): void {
    if (this.#popped.has(set)) return;
    this.#popped.add(set);
    if (set.hasEmpty) this.#hasEmpty = true;
    for (let i = 0; i < set.items.length; i++) {
      const below = set.below[i] as StackSet;
      this.#goOn(set.items[i] as number, set.counts[i] as number, below, false);
    }
  }

  #addTop(item: number, count: number, below: StackSet): void {
    const key = item * COUNT_RANGE + count;
    const known = this.#tops.get(key);
    this.#tops.set(key, known ? this.#union(known, below) : below);
  }

  /** What ends with its last item leaves nothing to come back to. */
  #push(item: number, count: number, below: StackSet): StackSet {
    return item === END ? below : this.#intern([{ item, count, below }], false);
  }

  #union(a: StackSet, b: StackSet): StackSet {
    if (a === b || this.#isSpent) return a;
    const known = this.#unions.get(a)?.get(b);
    if (known) return known;
    const merged = new Map<number, StackSet>();
    for (const set of [a, b]) {
      this.#work += set.items.length;
      for (let i = 0; i < set.items.length; i++) {
        const key = (set.items[i] as number) * COUNT_RANGE + (set.counts[i] as number);
        const below = set.below[i] as StackSet;
        const other = merged.get(key);
        merged.set(key, other ? this.#union(other, below) : below);
      }
    }
    const keys = [...merged.keys()].sort((x, y) => x - y);
    const entries = keys.map((key) => entryOf(key, merged.get(key) as StackSet));
    const union = this.#intern(entries, a.hasEmpty || b.hasEmpty);
    const ofA = this.#unions.get(a) ?? new Map<StackSet, StackSet>();
    this.#unions.set(a, ofA.set(b, union));
    return union;
  }

  #intern(entries: readonly Entry[], hasEmpty: boolean): StackSet {
    let key = hasEmpty ? "e" : "";
    for (const { item, count, below } of entries) key += `${item},${count},${below.id};`;
    const known = this.#known.get(key);
    if (known) return known;
    const set = new StackSet(this.#ids, entries, hasEmpty, (entry) => this.#needOf(entry));
    this.#ids += 1;
    this.#known.set(key, set);
    return set;
  }

  #needOf({ item, count, below }: Entry): number {
    return this.restOf(item, count) + below.need;
  }

  /** Bytes of the shortest text from within an item to the end of its block. */
  restOf(at: number, count: number): number {
    const item = this.rules.items[at] as Item;
    if (item.kind === "terminal") {
      return item.terminal.rest(count).length + this.#after(item.next);
    }
    if (item.kind === "call") return this.#after(at);
    const size = this.sizes.blocks[item.block.id] as number;
    const missing = Math.max(0, item.min - count);
    return (missing > 0 ? missing * size : 0) + this.#after(item.next);
  }

  /** The alternative of a block with the shortest text. */
  shortestStart(block: Block): number {
    const starts = this.#starts[block.id] as readonly number[];
    return starts.reduce((best, start) => (this.#after(start) < this.#after(best) ? start : best));
  }

  #after(item: number): number {
    return item === END ? 0 : (this.sizes.items[item] as number);
  }
}

function entryOf(key: number, below: StackSet): Entry {
  return { item: Math.floor(key / COUNT_RANGE), count: key % COUNT_RANGE, below };
}
