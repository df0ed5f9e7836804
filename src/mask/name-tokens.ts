/**
 * How a vocabulary spells the names of an object: which tokens are the beginning of a name, and
 * which close one. Worked out once for a list of names, a state of it and a node of the trie;
 * which of the names may be written changes from position to position.
 */
import type { TextList } from "../automaton/text-list.ts";
import type { Closer, ContentTables } from "./content-tables.ts";
import type { TokenTrie } from "./token-trie.ts";

export interface NameTokens {
  /** Three numbers each: a token, and the names that go on from it, `first` to before `end`. */
  readonly prefixes: Int32Array;
  readonly closings: readonly NameClosing[];
}

/** Tokens that close one name. */
export interface NameClosing {
  /** Index into the texts. */
  readonly index: number;
  readonly closer: Closer;
}

const QUOTE = 0x22;

export class NameTokenTables {
  readonly #trie: TokenTrie;
  readonly #content: ContentTables;
  readonly #known = new WeakMap<TextList, Map<number, NameTokens>>();

  constructor(trie: TokenTrie, content: ContentTables) {
    this.#trie = trie;
    this.#content = content;
  }

  /**
   * @param state of `names`, after what was read of the key.
   * @param node 0, or a node at an opening quote: only tokens through it count.
   */
  of(names: TextList, state: number, node: number): NameTokens {
    const tables = this.#known.get(names) ?? new Map<number, NameTokens>();
    this.#known.set(names, tables);
    const key = state * this.#trie.size + node;
    const known = tables.get(key);
    if (known) return known;
    const prefixes: number[] = [];
    const closings: NameClosing[] = [];
    this.#follow(names, state, node, prefixes, closings);
    const tokens = { prefixes: Int32Array.from(prefixes), closings };
    tables.set(key, tokens);
    return tokens;
  }

  #follow(
    names: TextList,
    state: number,
    node: number,
    prefixes: number[],
    closings: NameClosing[],
  ): void {
    const index = names.endOf(state);
    const quote = index < 0 ? -1 : this.#child(node, QUOTE);
    if (quote >= 0) closings.push({ index, closer: this.#content.closerAt(quote) });
    for (const byte of names.nextBytes(state)) {
      const child = this.#child(node, byte);
      if (child < 0) continue;
      const next = names.step(state, byte);
      for (const token of this.#trie.tokensAt(child)) {
        prefixes.push(token, names.first(next), names.end(next));
      }
      this.#follow(names, next, child, prefixes, closings);
    }
  }

  #child(node: number, byte: number): number {
    return node === 0 ? (this.#trie.roots[byte] as number) : this.#trie.child(node, byte);
  }
}
