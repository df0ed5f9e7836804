/**
 * Rules as the machine runs them: blocks of alternatives, each a chain of items. A group without a
 * name is a block too; a repetition is one item that is counted, never written out.
 */
import { charClass, FixedText, type Terminal } from "./cfg-terminals.ts";
import { ITEMS_MAX, RANGES_MAX } from "./gbnf-limits.ts";
import type { Expression, Rule } from "./gbnf-parse.ts";

/** Behind the last item of an alternative. */
export const END = -1;

export type Item = TerminalItem | CallItem | RepetitionItem;

export interface TerminalItem {
  readonly kind: "terminal";
  readonly terminal: Terminal;
  readonly next: number;
}

interface CallItem {
  readonly kind: "call";
  readonly block: Block;
  readonly next: number;
}

export interface RepetitionItem {
  readonly kind: "repetition";
  readonly block: Block;
  readonly min: number;
  /** At least 1; infinite for any number. */
  readonly max: number;
  readonly next: number;
}

export interface Block {
  readonly id: number;
  /** Null for a group. */
  readonly name: string | null;
  /** First items of the alternatives. */
  readonly starts: readonly number[];
}

export interface Rules {
  readonly items: readonly Item[];
  readonly blocks: readonly Block[];
  readonly root: Block;
  readonly terminals: readonly Terminal[];
}

export type Refuse = (code: "undefined_rule" | "too_complex", at: number, message: string) => Error;

/** @throws what `refuse` makes, for a name without a rule and where there is too much. */
export function rulesOf(parsed: ReadonlyMap<string, Rule>, refuse: Refuse): Rules {
  return new Lowering(parsed, refuse).run();
}

const NOTHING = new Uint8Array(0);

interface OpenBlock extends Block {
  starts: readonly number[];
}

class Lowering {
  readonly #parsed: ReadonlyMap<string, Rule>;
  readonly #refuse: Refuse;
  readonly #items: Item[] = [];
  readonly #blocks: OpenBlock[] = [];
  readonly #named = new Map<string, OpenBlock>();
  readonly #terminals = new Map<string, Terminal>();
  /** Blocks of which literals may begin alike. */
  readonly #unfactored: OpenBlock[] = [];
  #ranges = 0;
  /** Offset of the rule being lowered. */
  #at = 0;

  constructor(parsed: ReadonlyMap<string, Rule>, refuse: Refuse) {
    this.#parsed = parsed;
    this.#refuse = refuse;
  }

  run(): Rules {
    for (const name of this.#parsed.keys()) this.#named.set(name, this.#open(name));
    this.#unfactored.length = 0;
    for (const { name, at, body } of this.#parsed.values()) {
      this.#at = at;
      const block = this.#named.get(name) as OpenBlock;
      block.starts = this.#alternatives(body);
      this.#unfactored.push(block);
      for (let next = this.#unfactored.pop(); next; next = this.#unfactored.pop()) {
        next.starts = this.#factored(next.starts);
      }
    }
    const root = this.#named.get("root");
    if (root === undefined) {
      const message = 'there is no rule "root": name the rule that whole answers follow "root"';
      throw this.#refuse("undefined_rule", 0, message);
    }
    return {
      items: this.#items,
      blocks: this.#blocks,
      root,
      terminals: [...this.#terminals.values()],
    };
  }

  #open(name: string | null): OpenBlock {
    const block = { id: this.#blocks.length, name, starts: [] };
    this.#blocks.push(block);
    this.#unfactored.push(block);
    return block;
  }

  #alternatives(body: Expression): number[] {
    const options = body.kind === "choice" ? body.options : [body];
    return options.map((option) => this.#chain(option, END));
  }

  /** @returns the first item of an expression that `next` follows. */
  #chain(expression: Expression, next: number): number {
    switch (expression.kind) {
      case "literal":
        if (expression.bytes.length === 0) return next;
        return this.#fixed(expression.bytes, next);
      case "class":
        return this.#terminal(`[${expression.set.join()}`, next, () => {
          this.#ranges += expression.set.length / 2;
          if (this.#ranges > RANGES_MAX) throw this.#tooMany(`${RANGES_MAX} ranges in classes`);
          return charClass(expression.set);
        });
      case "sequence":
        return expression.parts.reduceRight((after, part) => this.#chain(part, after), next);
      case "repetition": {
        const { body, min, max } = expression;
        if (max === 0) return next;
        if (min === 1 && max === 1) return this.#chain(body, next);
        return this.#add({ kind: "repetition", block: this.#blockOf(body), min, max, next });
      }
      default:
        return this.#add({ kind: "call", block: this.#blockOf(expression), next });
    }
  }

  /**
   * Alternatives that begin with literals which begin alike share that beginning, so that a list of
   * thousands of words is read along a tree and not word by word.
   */
  #factored(starts: readonly number[]): number[] {
    const out = new Set<number>();
    const groups = new Map<number, number[]>();
    for (const start of starts) {
      const text = this.#fixedAt(start);
      if (text === null) out.add(start);
      else groups.set(text[0] as number, append(groups.get(text[0] as number), start));
    }
    for (const group of groups.values()) {
      if (group.length === 1) out.add(group[0] as number);
      else out.add(this.#shared(group));
    }
    return [...out];
  }

  #shared(group: readonly number[]): number {
    const texts = group.map((start) => this.#fixedAt(start) as Uint8Array);
    const [first = NOTHING] = texts;
    const size = texts.reduce((least, text) => {
      let length = 0;
      while (length < least && text[length] === first[length]) length += 1;
      return length;
    }, first.length);
    const rest = this.#open(null);
    rest.starts = group.map((start, i) => {
      const { next } = this.#items[start] as Item;
      const text = texts[i] as Uint8Array;
      return text.length === size ? next : this.#fixed(text.slice(size), next);
    });
    return this.#fixed(first.slice(0, size), this.#add({ kind: "call", block: rest, next: END }));
  }

  #fixedAt(start: number): Uint8Array | null {
    const item = start === END ? null : (this.#items[start] as Item);
    const isFixed = item?.kind === "terminal" && item.terminal instanceof FixedText;
    return isFixed ? item.terminal.bytes : null;
  }

  #fixed(bytes: Uint8Array, next: number): number {
    const key = Buffer.from(bytes).toString("latin1");
    return this.#terminal(`"${key}`, next, () => new FixedText(bytes));
  }

  #terminal(key: string, next: number, make: () => Terminal): number {
    const terminal = this.#terminals.get(key) ?? make();
    this.#terminals.set(key, terminal);
    return this.#add({ kind: "terminal", terminal, next });
  }

  #blockOf(expression: Expression): Block {
    if (expression.kind === "reference") {
      const { name, at } = expression;
      const block = this.#named.get(name);
      if (block) return block;
      const message = `there is no rule "${name}": write one, as ${name} ::= "…"`;
      throw this.#refuse("undefined_rule", at, message);
    }
    const block = this.#open(null);
    block.starts = this.#alternatives(expression);
    return block;
  }

  #add(item: Item): number {
    if (this.#items.length >= ITEMS_MAX) throw this.#tooMany(`${ITEMS_MAX} parts of rules`);
    this.#items.push(item);
    return this.#items.length - 1;
  }

  #tooMany(what: string): Error {
    const message = `a grammar can have ${what} at most; this rule is one too many`;
    return this.#refuse("too_complex", this.#at, message);
  }
}

function append(list: number[] | undefined, value: number): number[] {
  if (list === undefined) return [value];
  list.push(value);
  return list;
}
