/**
 * Masks in arrays that keep their items apart: those of the same containers with any items, less
 * the few tokens that the items so far rule out. Only tokens that could be among them are tried:
 * what begins like a used string, and what reaches the end of an item or the next one.
 */
import type { Compilation } from "../grammar/compilation.ts";
import type { ArrayCell, Cell } from "./cell.ts";
import { CONSTANTS } from "./constants.ts";
import type { JsonMachine } from "./json-machine.ts";
import { STRING, STRING_LIST, VALUE } from "./registers.ts";
import { rivalsOf } from "./string-registers.ts";
import { hasToken, removeToken, type TokenWords } from "./token-set.ts";
import type { TokenTrie } from "./token-trie.ts";
import type { Vocabulary } from "./vocabulary.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const CLOSING: readonly number[] = [0x5d, 0x7d];
const BLANKS: readonly number[] = [0x20, 0x09, 0x0a];
/** Places with fewer values than this may run out of them: then no comma may come. */
const MANY_VALUES = 10_000;

/** Tokens by what they hold of JSON's structure. */
interface Suspects {
  /** A bracket or brace that closes something. */
  readonly closing: Int32Array;
  /** A comma and something of what comes after it. */
  readonly crossing: Int32Array;
  readonly commas: Int32Array;
}

export class ApartMasks {
  readonly #machine: JsonMachine;
  readonly #vocabulary: Vocabulary;
  readonly #compilation: Compilation;

  constructor(machine: JsonMachine, vocabulary: Vocabulary, compilation: Compilation) {
    this.#machine = machine;
    this.#vocabulary = vocabulary;
    this.#compilation = compilation;
  }

  /** Takes away what the machine refuses, where its twin would have allowed it. */
  filter(words: TokenWords): void {
    const { phase, lo, hi } = this.#machine;
    if (phase === VALUE) this.#beforeItem(words);
    else if ((phase === STRING || phase === STRING_LIST) && lo < hi) {
      this.#alongRivals(0, words);
    }
    const { outside, inText } = SuspectTables.of(this.#vocabulary);
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
    for (const node of SuspectTables.of(this.#vocabulary).blanks) {
      const quote = childOf(trie, node, QUOTE);
      if (quote >= 0 && used.strings.length > 0) {
        this.#try(trie.tokens[quote] as number, words);
        for (const text of used.strings) this.#along(quote, text, 0, words);
      }
      for (const { text } of CONSTANTS) {
        if (!used.constants.includes(text)) continue;
        const first = childOf(trie, node, text.charCodeAt(0));
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
      node = childOf(trie, node, text[at] as number);
      if (node < 0) return;
      this.#try(trie.tokens[node] as number, words);
    }
    const quote = childOf(trie, node, QUOTE);
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

/** Worked out once for a vocabulary. */
class SuspectTables {
  /** Nodes of the trie that white space leads to, the root first. */
  readonly blanks: readonly number[];
  readonly outside: Suspects;
  /** Inside a string, where only what comes behind a quote can be structure. */
  readonly inText: Suspects;

  private constructor(vocabulary: Vocabulary) {
    const { trie } = vocabulary;
    this.blanks = blankNodes(trie);
    const outside = new SuspectLists();
    const inText = new SuspectLists();
    for (const token of trie.tokens) {
      if (token < 0) continue;
      const bytes = vocabulary.tokenBytes(token);
      outside.add(token, bytes, 0);
      const quote = bytes.indexOf(QUOTE);
      if (quote >= 0) inText.add(token, bytes, quote + 1);
    }
    this.outside = outside.packed;
    this.inText = inText.packed;
  }

  static of(vocabulary: Vocabulary): SuspectTables {
    const known = vocabulary.memo.get(SuspectTables);
    if (known) return known as SuspectTables;
    const tables = new SuspectTables(vocabulary);
    vocabulary.memo.set(SuspectTables, tables);
    return tables;
  }
}

function blankNodes(trie: TokenTrie): number[] {
  const nodes = [0];
  for (const node of nodes) {
    for (const blank of BLANKS) {
      const child = childOf(trie, node, blank);
      if (child >= 0) nodes.push(child);
    }
  }
  return nodes;
}

class SuspectLists {
  readonly #closing: number[] = [];
  readonly #crossing: number[] = [];
  readonly #commas: number[] = [];

  /** @param from where structure begins. */
  add(token: number, bytes: Uint8Array, from: number): void {
    if (CLOSING.some((byte) => bytes.indexOf(byte, from) >= 0)) this.#closing.push(token);
    const comma = bytes.indexOf(COMMA, from);
    if (comma < 0) return;
    this.#commas.push(token);
    if (crosses(bytes, comma)) this.#crossing.push(token);
  }

  get packed(): Suspects {
    return {
      closing: Int32Array.from(this.#closing),
      crossing: Int32Array.from(this.#crossing),
      commas: Int32Array.from(this.#commas),
    };
  }
}

/** Behind some comma and white space comes more than a quote. */
function crosses(text: Uint8Array, comma: number): boolean {
  for (let at = comma; at >= 0; at = text.indexOf(COMMA, at + 1)) {
    let next = at + 1;
    while (BLANKS.includes(text[next] ?? -1)) next += 1;
    if (text[next] === QUOTE) next += 1;
    if (next < text.length) return true;
  }
  return false;
}

function childOf(trie: TokenTrie, node: number, byte: number): number {
  return node === 0 ? (trie.roots[byte] as number) : trie.child(node, byte);
}
