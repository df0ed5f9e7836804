/**
 * Tokens that begin a key: white space, then a quote, then content of the key. Worked out once for
 * a vocabulary, for keys of any content and for what an object's own names make of it.
 */
import { walkBlanks } from "./blank-walk.ts";
import type { Closer, ContentTables } from "./content-tables.ts";
import { addToken, type TokenWords, tokenWords } from "./token-set.ts";
import type { TokenTrie } from "./token-trie.ts";

export interface KeyOpening {
  /** Tokens of white space alone, or that end with the opening quote. */
  readonly tokens: Int32Array;
  /** Nodes at an opening quote. */
  readonly quotes: readonly number[];
  /** The tokens, and all that go on with any content. */
  readonly free: TokenWords;
  /** Where a key of any content ends within its first token. */
  readonly closers: readonly Closer[];
}

const QUOTE = 0x22;

export class KeyOpenings {
  readonly #trie: TokenTrie;
  readonly #content: ContentTables;
  readonly #size: number;
  readonly #known = new Map<number, KeyOpening>();

  /** @param size tokens of the vocabulary. */
  constructor(trie: TokenTrie, content: ContentTables, size: number) {
    this.#trie = trie;
    this.#content = content;
    this.#size = size;
  }

  /** @param blanks white space just read, as `afterBlank` counts it, or `NO_BLANKS`. */
  of(blanks: number): KeyOpening {
    const known = this.#known.get(blanks);
    if (known) return known;
    const walk = walkBlanks(this.#trie, 0, blanks);
    const quotes = walk.nodes.get(QUOTE) ?? [];
    const tokens = [...walk.tokens, ...quotes.flatMap((quote) => this.#trie.tokensAt(quote))];
    const free = tokenWords(this.#size);
    for (const token of tokens) addToken(free, token);
    for (const quote of quotes) {
      for (const token of this.#content.under(quote).tokens) addToken(free, token);
    }
    const closers = quotes.flatMap((quote) => this.#content.closersUnder(quote));
    const opening = { tokens: Int32Array.from(tokens), quotes, free, closers };
    this.#known.set(blanks, opening);
    return opening;
  }
}
