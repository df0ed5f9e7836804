/**
 * Masks in arrays that keep their items apart: those of the same containers with any items, less
 * the few tokens that the items so far rule out. Only tokens that could be among them are tried:
 * what begins like a used string, and what reaches the end of an item or the next one.
 */
import type { Compilation } from "../grammar/compilation.ts";
import type { ArrayCell, Cell } from "./cell.ts";
import { CONSTANTS } from "./constants.ts";
import type { JsonMachine } from "./json-machine.ts";
import type { MaskCaches } from "./mask-caches.ts";
import { STRING, STRING_LIST, VALUE } from "./registers.ts";
import { rivalsOf } from "./string-registers.ts";
import { hasToken, removeToken, type TokenWords } from "./token-set.ts";
import type { Vocabulary } from "./vocabulary.ts";

const QUOTE = 0x22;
/** Places with fewer values than this may run out of them: then no comma may come. */
const MANY_VALUES = 10_000;

export class ApartMasks {
  readonly #machine: JsonMachine;
  readonly #vocabulary: Vocabulary;
  readonly #compilation: Compilation;
  readonly #caches: MaskCaches;

  constructor(
    machine: JsonMachine,
    vocabulary: Vocabulary,
    compilation: Compilation,
    caches: MaskCaches,
  ) {
    this.#machine = machine;
    this.#vocabulary = vocabulary;
    this.#compilation = compilation;
    this.#caches = caches;
  }

  /** Takes away what the machine refuses, where its twin would have allowed it. */
  filter(words: TokenWords): void {
    const { phase, lo, hi } = this.#machine;
    if (phase === VALUE) this.#beforeItem(words);
    else if ((phase === STRING || phase === STRING_LIST) && lo < hi) {
      this.#alongRivals(0, words);
    }
    const { outside, inText } = this.#caches.suspects;
    const isInText = this.#machine.isInText || phase === STRING_LIST;
    const suspects = isInText ? inText : outside;
    this.#tryAll(suspects.crossing, words);
    const { hasContainers, isScarce } = this.#around();
    if (hasContainers) this.#tryAll(suspects.closing, words);
    if (isScarce) this.#tryAll(suspects.commas, words);
  }

  /** What the arrays around the machine's place call for. */
  #around(): { readonly hasContainers: boolean; readonly isScarce: boolean } {
    let hasContainers = false;
    let isScarce = false;
    for (let cell: Cell = this.#machine.cell; cell.kind !== "root"; cell = cell.parent) {
      if (cell.kind !== "array" || cell.used === null) continue;
      hasContainers ||= cell.used.containers.size > 0;
      const { item } = cell.frame;
      isScarce ||= item !== null && this.#compilation.distinctValues(item) < MANY_VALUES;
    }
    return { hasContainers, isScarce };
  }

  /** White space, and then the beginning of a used string or constant. */
  #beforeItem(words: TokenWords): void {
    const machine = this.#machine;
    const { used } = machine.cell as ArrayCell;
    if (machine.cell.kind !== "array" || used === null || used.values.length === 0) return;
    const { trie } = this.#vocabulary;
    for (const node of this.#caches.suspects.blanks) {
      const quote = trie.child(node, QUOTE);
      if (quote >= 0 && used.strings.length > 0) {
        this.#try(trie.tokens[quote] as number, words);
        for (const text of used.strings) this.#along(quote, text, 0, words);
      }
      for (const { text } of CONSTANTS) {
        if (!used.constants.includes(text)) continue;
        const first = trie.child(node, text.charCodeAt(0));
        if (first >= 0) this.#remove(first, trie.ends[first] as number, words);
      }
    }
  }

  #alongRivals(node: number, words: TokenWords): void {
    const { texts, lo, hi, depth } = rivalsOf(this.#machine);
    for (let i = lo; i < hi; i++) this.#along(node, texts[i] as Uint8Array, depth, words);
  }

  /** Tokens on the way to the end of a used string, and all that would end it there. */
  #along(from: number, text: Uint8Array, depth: number, words: TokenWords): void {
    const { trie } = this.#vocabulary;
    let node = from;
    for (let at = depth; at < text.length; at++) {
      node = trie.child(node, text[at] as number);
      if (node < 0) return;
      this.#try(trie.tokens[node] as number, words);
    }
    const quote = trie.child(node, QUOTE);
    if (quote >= 0) this.#remove(quote, trie.ends[quote] as number, words);
  }

  #remove(from: number, end: number, words: TokenWords): void {
    const { tokens } = this.#vocabulary.trie;
    for (let node = from; node < end; node++) {
      if ((tokens[node] as number) >= 0) this.#take(tokens[node] as number, words);
    }
  }

  #tryAll(tokens: Int32Array, words: TokenWords): void {
    for (let i = 0; i < tokens.length; i++) this.#try(tokens[i] as number, words);
  }

  /** @param token -1 for none. */
  #try(token: number, words: TokenWords): void {
    if (token < 0 || !hasToken(words, token)) return;
    const machine = this.#machine;
    const here = machine.save();
    const isAllowed = this.#vocabulary.tokenBytes(token).every((byte) => machine.step(byte));
    machine.undo(here);
    if (!isAllowed) this.#take(token, words);
  }

  #take(token: number, words: TokenWords): void {
    removeToken(words, token);
    const twins = this.#vocabulary.trie.twins.get(token);
    if (twins) for (const twin of twins) removeToken(words, twin);
  }
}
