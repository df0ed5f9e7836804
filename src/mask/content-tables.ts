/**
 * What a vocabulary looks like from inside a JSON string, worked out once: which tokens are content
 * from end to end, which ones close the string, and what follows the quote in those.
 */
import { UNIVERSAL } from "../automaton/dfa-algebra.ts";
import { JsonStringAutomaton } from "../automaton/json-string.ts";
import { addToken, type TokenWords, tokenWords } from "./token-set.ts";
import { TokenTrie } from "./token-trie.ts";

const QUOTE = 0x22;

/**
 * A slice is a set of bytes that patterns often loop on; tokens made of them alone are kept as
 * bits.
 */
export const SLICES: readonly ((byte: number) => boolean)[] = [
  // Printable ASCII that needs no escape.
  (byte) => byte >= 0x20 && byte < 0x7f && byte !== QUOTE && byte !== 0x5c,
  // [A-Za-z0-9_-], the same without - and _, and smaller ones.
  (byte) => isLower(byte) || isUpper(byte) || isDigit(byte) || byte === 0x5f || byte === 0x2d,
  (byte) => isLower(byte) || isUpper(byte) || isDigit(byte),
  (byte) => isLower(byte) || isDigit(byte),
  isLower,
  isDigit,
];

function isLower(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a;
}

function isUpper(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Flags of trie nodes. */
export const QUOTE_BELOW = 1;
/** By slice: every token at or below the node consists of the slice's bytes from the root on. */
export const IN_SLICE: readonly number[] = SLICES.map((_, slice) => 2 << slice);

/** A quote in the trie that closes a string. */
export interface Closer {
  readonly node: number;
  /** Code points of content before it, for a string that allows any. */
  readonly count: number;
  /** Tokens that go through the quote, and which tail each has. */
  readonly tokens: Int32Array;
  readonly tails: Int32Array;
}

/** Tokens under a node that are content from there on, the ones with few code points first. */
export interface ContentList {
  readonly tokens: Int32Array;
  readonly counts: Int32Array;
}

export class ContentTables {
  readonly #trie: TokenTrie;
  readonly #size: number;
  readonly #free = new JsonStringAutomaton(UNIVERSAL);
  /** Per node of the trie: `QUOTE_BELOW` and `IN_SLICE`. */
  readonly flags: Uint8Array;
  /** The texts after a closing quote: the "tokens" of this trie are tail ids. Tail 0 is empty. */
  readonly tails: TokenTrie;
  readonly tailCount: number;
  /** Code points that a token may have: inside an escape, those with a quote are content too. */
  readonly countMax: number;
  /** Every place where a token closes a string that allows any content. */
  readonly closers: readonly Closer[];
  readonly #lists = new Map<number, ContentList>();
  readonly #words = new Map<number, TokenWords>();
  readonly #slices = new Map<number, TokenWords>();
  readonly #sliceLists: (ContentList | undefined)[] = [];
  #quoted: Int32Array | undefined;
  readonly #closerAt: ReadonlyMap<number, Closer>;

  constructor(trie: TokenTrie, size: number) {
    this.#trie = trie;
    this.#size = size;
    this.flags = flagsOf(trie);
    const tails = new Tails();
    this.#closerAt = this.#quotes(tails);
    this.closers = this.closersUnder(0);
    this.tails = new TokenTrie(tails.texts);
    this.tailCount = tails.texts.length;
    this.countMax = trie.depthMax;
  }

  /** The closer of a node whose byte is a quote. */
  closerAt(node: number): Closer {
    return this.#closerAt.get(node) as Closer;
  }

  /** Tokens with a quote in them. */
  get quoted(): Int32Array {
    this.#quoted ??= Int32Array.from(
      new Set([...this.#closerAt.values()].flatMap(({ tokens }) => [...tokens])),
    );
    return this.#quoted;
  }

  /** Tokens that are content of at most `count` code points. Not to be changed. */
  words(count: number): TokenWords {
    const capped = Math.min(count, this.countMax);
    const known = this.#words.get(capped);
    if (known) return known;
    const words = tokenWords(this.#size);
    const { tokens, counts } = this.under(0);
    for (let i = 0; i < tokens.length && (counts[i] as number) <= capped; i++) {
      addToken(words, tokens[i] as number);
    }
    this.#words.set(capped, words);
    return words;
  }

  /** Tokens in a node's subtree that go on from the node with content alone. */
  under(node: number): ContentList {
    const known = this.#lists.get(node);
    if (known) return known;
    const byCount: number[][] = [];
    const start = this.#trie.depths[node] as number;
    this.#walk(node, (at, state, counts) => {
      if (state < 0) return false;
      const count = counts[(this.#trie.depths[at] as number) - start] as number;
      byCount[count] ??= [];
      const list = byCount[count] as number[];
      for (const token of this.#trie.tokensAt(at)) list.push(token);
      return true;
    });
    const list = listOf(byCount);
    this.#lists.set(node, list);
    return list;
  }

  /** Walks a subtree from inside a string at `node`; `visit` says whether to go below. */
  #walk(
    node: number,
    visit: (at: number, state: number, counts: readonly number[]) => boolean,
  ): void {
    const { bytes, depths, ends } = this.#trie;
    const free = this.#free;
    const start = depths[node] as number;
    const states: number[] = [0];
    const counts: number[] = [0];
    for (let at = node + 1; at < (ends[node] as number); ) {
      const depth = (depths[at] as number) - start;
      const from = states[depth - 1] as number;
      const byte = bytes[at] as number;
      const begins = (free.between[from] as number) >= 0;
      states[depth] = byte === QUOTE && begins ? -1 : free.step(from, byte);
      counts[depth] = (counts[depth - 1] as number) + (begins ? 1 : 0);
      const quote = byte === QUOTE && begins;
      at =
        (states[depth] as number) >= 0 || quote
          ? this.#next(at, visit, states, counts, depth)
          : (ends[at] as number);
    }
  }

  #next(
    at: number,
    visit: (at: number, state: number, counts: readonly number[]) => boolean,
    states: readonly number[],
    counts: readonly number[],
    depth: number,
  ): number {
    return visit(at, states[depth] as number, counts) ? at + 1 : (this.#trie.ends[at] as number);
  }

  /** Every quote of the trie: from inside an escape, one may also close behind another. */
  #quotes(tails: Tails): Map<number, Closer> {
    const closers = new Map<number, Closer>();
    for (let node = 1; node < this.#trie.size; node++) {
      if (this.#trie.bytes[node] !== QUOTE) continue;
      const found = [...this.#textsBelow(node)];
      closers.set(node, {
        node,
        count: 0,
        tokens: Int32Array.from(found, ([token]) => token),
        tails: Int32Array.from(found, ([, tail]) => tails.idOf(tail)),
      });
    }
    return closers;
  }

  /** The quotes below a node that close a string of any content, begun at the node. */
  closersUnder(node: number): Closer[] {
    const closers: Closer[] = [];
    const start = this.#trie.depths[node] as number;
    this.#walk(node, (at, state, counts) => {
      if (state >= 0) return true;
      // The quote itself was counted as if it began a code point.
      const count = (counts[(this.#trie.depths[at] as number) - start] as number) - 1;
      closers.push({ ...this.closerAt(at), count });
      return false;
    });
    return closers;
  }

  /** The tokens of a subtree, each with its text below the node. */
  *#textsBelow(node: number): Generator<readonly [number, Uint8Array]> {
    const { bytes, depths, ends } = this.#trie;
    const start = depths[node] as number;
    const path: number[] = [];
    for (let at = node; at < (ends[node] as number); at++) {
      path.length = (depths[at] as number) - start;
      if (at > node) path[path.length - 1] = bytes[at] as number;
      for (const token of this.#trie.tokensAt(at)) yield [token, Uint8Array.from(path)];
    }
  }

  /** Tokens of a slice that have at most `count` code points. Not to be changed. */
  sliceWords(slice: number, count: number): TokenWords {
    const { tokens, counts } = this.#sliceList(slice);
    const capped = Math.min(count, counts.at(-1) ?? 0);
    const key = slice * 256 + capped;
    const known = this.#slices.get(key);
    if (known) return known;
    const words = tokenWords(this.#size);
    for (let i = 0; i < tokens.length && (counts[i] as number) <= capped; i++) {
      addToken(words, tokens[i] as number);
    }
    this.#slices.set(key, words);
    return words;
  }

  /** Tokens of a slice, the short ones first; in ASCII, bytes are code points. */
  #sliceList(slice: number): ContentList {
    const known = this.#sliceLists[slice];
    if (known) return known;
    const { size, ends, depths } = this.#trie;
    const byDepth: number[][] = [];
    for (let node = 1; node < size; ) {
      const isIn = ((this.flags[node] as number) & (IN_SLICE[slice] as number)) !== 0;
      const end = isIn ? (ends[node] as number) : node + 1;
      for (; node < end; node++) {
        if (!isIn) continue;
        const depth = depths[node] as number;
        byDepth[depth] ??= [];
        const list = byDepth[depth] as number[];
        for (const token of this.#trie.tokensAt(node)) list.push(token);
      }
    }
    const list = listOf(byDepth);
    this.#sliceLists[slice] = list;
    return list;
  }
}

function listOf(byCount: readonly (readonly number[] | undefined)[]): ContentList {
  return {
    tokens: Int32Array.from(byCount.flatMap((tokens) => tokens ?? [])),
    counts: Int32Array.from(byCount.flatMap((tokens, count) => (tokens ?? []).map(() => count))),
  };
}

/** The distinct texts after a closing quote. */
class Tails {
  readonly texts: Uint8Array[] = [new Uint8Array(0)];
  readonly #ids = new Map<string, number>([["", 0]]);

  idOf(text: Uint8Array): number {
    const key = Buffer.from(text).toString("latin1");
    const id = this.#ids.get(key) ?? this.texts.push(text) - 1;
    this.#ids.set(key, id);
    return id;
  }
}

function flagsOf(trie: TokenTrie): Uint8Array {
  const flags = new Uint8Array(trie.size);
  // Children come after their parents: going backwards, each node tells its parent.
  const parents = parentsOf(trie);
  const all = IN_SLICE.reduce((bits, bit) => bits | bit, 0);
  flags.fill(all);
  for (let node = trie.size - 1; node > 0; node--) {
    const byte = trie.bytes[node] as number;
    flags[node] = (flags[node] as number) & (slicesOf(byte) | QUOTE_BELOW);
    const parent = parents[node] as number;
    const own = flags[node] as number;
    const quote = byte === QUOTE ? QUOTE_BELOW : own & QUOTE_BELOW;
    flags[parent] = ((flags[parent] as number) & (own | ~all)) | quote;
  }
  // What lies above a node must be in the slice as well.
  const above = new Uint8Array(trie.size).fill(all);
  for (let node = 1; node < trie.size; node++) {
    above[node] = (above[parents[node] as number] as number) & slicesOf(trie.bytes[node] as number);
    flags[node] = (flags[node] as number) & ((above[node] as number) | QUOTE_BELOW);
  }
  return flags;
}

/** By byte: the slices that contain it. */
const SLICES_OF = Uint8Array.from({ length: 256 }, (_, byte) =>
  SLICES.reduce(
    (bits, contains, slice) => bits | (contains(byte) ? (IN_SLICE[slice] as number) : 0),
    0,
  ),
);

function slicesOf(byte: number): number {
  return SLICES_OF[byte] as number;
}

function parentsOf(trie: TokenTrie): Int32Array {
  const parents = new Int32Array(trie.size);
  const path: number[] = [0];
  for (let node = 1; node < trie.size; node++) {
    const depth = trie.depths[node] as number;
    parents[node] = path[depth - 1] as number;
    path[depth] = node;
  }
  return parents;
}
