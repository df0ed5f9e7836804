/**
 * Masks of strings whose longest length is near: how much room each token needs is the same at any
 * distance from the end, and is worked out once for a state of the string.
 */
import type { StringReader } from "../grammar/string-reader.ts";
import type { Closer, ContentTables } from "./content-tables.ts";
import { addToken, type TokenWords, tokenWords } from "./token-set.ts";
import type { TokenTrie } from "./token-trie.ts";

const QUOTE = 0x22;

/** A place where a token closes the string: the state there, and code points since the start. */
interface RoomClosing {
  readonly closer: Closer;
  readonly state: number;
  readonly points: number;
}

export interface RoomTable {
  /** By need: tokens with which so many code points at least must fit, ends included. */
  readonly byNeed: readonly (Int32Array | undefined)[];
  readonly closings: readonly RoomClosing[];
}

/** Tables kept at once: up to half a megabyte each. */
const KEPT_MAX = 64;

export class RoomMasks {
  readonly #trie: TokenTrie;
  readonly #content: ContentTables;
  readonly #size: number;
  #kept = new Map<StringReader, Map<number, RoomTable>>();
  #keptCount = 0;
  readonly #states: Int32Array;
  readonly #points: Int32Array;

  /** @param size tokens of the vocabulary. */
  constructor(trie: TokenTrie, content: ContentTables, size: number) {
    this.#trie = trie;
    this.#content = content;
    this.#size = size;
    this.#states = new Int32Array(trie.depthMax + 1);
    this.#points = new Int32Array(trie.depthMax + 1);
  }

  table(reader: StringReader, state: number): RoomTable {
    const known = this.#kept.get(reader)?.get(state);
    if (known) return known;
    if (this.#keptCount >= KEPT_MAX) {
      this.#kept = new Map();
      this.#keptCount = 0;
    }
    const table = this.#compute(reader, state);
    const tables = this.#kept.get(reader) ?? new Map<number, RoomTable>();
    this.#kept.set(reader, tables.set(state, table));
    this.#keptCount += 1;
    return table;
  }

  /** Tokens for which there is room. */
  words({ byNeed }: RoomTable, room: number): TokenWords {
    const words = tokenWords(this.#size);
    for (let need = 0; need <= room && need < byNeed.length; need++) {
      for (const token of byNeed[need] ?? []) addToken(words, token);
    }
    return words;
  }

  #compute(reader: StringReader, state: number): RoomTable {
    const { bytes, depths, ends } = this.#trie;
    const byNeed: number[][] = [];
    const closings: RoomClosing[] = [];
    this.#states[0] = state;
    this.#points[0] = 0;
    for (let at = 1; at < this.#trie.size; ) {
      const depth = depths[at] as number;
      const from = this.#states[depth - 1] as number;
      const before = this.#points[depth - 1] as number;
      const byte = bytes[at] as number;
      const begins = reader.isBetween(from);
      const closes = byte === QUOTE && begins;
      if (closes)
        closings.push({ closer: this.#content.closerAt(at), state: from, points: before });
      const next = closes ? -1 : reader.step(from, byte);
      const points = before + (begins ? 1 : 0);
      const need = next < 0 ? Number.POSITIVE_INFINITY : points + reader.slack(next);
      if (need === Number.POSITIVE_INFINITY) {
        at = ends[at] as number;
        continue;
      }
      for (const token of this.#trie.tokensAt(at)) {
        byNeed[need] ??= [];
        (byNeed[need] as number[]).push(token);
      }
      this.#states[depth] = next;
      this.#points[depth] = points;
      at += 1;
    }
    return { byNeed: Array.from(byNeed, (tokens) => tokens && Int32Array.from(tokens)), closings };
  }
}
