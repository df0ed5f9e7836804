/** Byte-level BPE: a text as the tokens that the model's own tokenizer would give. */
import { isSettled, type Pretokenizer, pieces } from "./pretokenizer.ts";

/** Merges by rank: the tokens that join, and the token that they make. */
export interface Merges {
  readonly lefts: Int32Array;
  readonly rights: Int32Array;
  readonly results: Int32Array;
}

/** Pieces kept with their tokens. */
const KEPT_MAX = 4096;

export class BpeEncoder {
  readonly #pretokenizer: Pretokenizer;
  readonly #merges: Merges;
  readonly #byteTokens: Int32Array;
  readonly #sizeOf: (token: number) => number;
  readonly #tokenOf: (bytes: Uint8Array) => number;
  readonly #kept = new Map<string, readonly number[]>();
  readonly #settled = new Map<string, boolean>();
  readonly #ranks: RankTable;

  /**
   * @param tokenOf the token that spells exactly these bytes, or -1.
   * @param sizeOf bytes of a token.
   */
  constructor(
    pretokenizer: Pretokenizer,
    merges: Merges,
    tokenOf: (bytes: Uint8Array) => number,
    sizeOf: (token: number) => number,
  ) {
    this.#pretokenizer = pretokenizer;
    this.#merges = merges;
    // Now: an answer would have to wait for it.
    this.#ranks = new RankTable(merges);
    this.#tokenOf = tokenOf;
    this.#sizeOf = sizeOf;
    this.#byteTokens = Int32Array.from({ length: 256 }, (_, byte) => tokenOf(Uint8Array.of(byte)));
  }

  /** @returns the tokens of a text; null where some byte is no token. */
  encode(text: string): number[] | null {
    const tokens: number[] = [];
    for (const piece of pieces(text, this.#pretokenizer)) {
      const own = this.encodePiece(piece);
      if (own.length === 0) return null;
      tokens.push(...own);
    }
    return tokens;
  }

  /** The pieces of a text, in order. */
  piecesOf(text: string): Iterable<string> {
    return pieces(text, this.#pretokenizer);
  }

  /**
   * Whether the last piece of a text stays the same whatever comes next.
   * @param next the characters that may come next.
   */
  isSettled(piece: string, next: string): boolean {
    const key = `${next}\n${piece}`;
    const known = this.#settled.get(key);
    if (known !== undefined) return known;
    const settled = isSettled(piece, [...next], this.#pretokenizer);
    if (this.#settled.size >= KEPT_MAX) this.#settled.clear();
    this.#settled.set(key, settled);
    return settled;
  }

  sizeOf(token: number): number {
    return this.#sizeOf(token);
  }

  /** The tokens of one piece; none where some byte is no token. */
  encodePiece(piece: string): readonly number[] {
    const known = this.#kept.get(piece);
    if (known) return known;
    const bytes = Buffer.from(piece);
    const whole = this.#pretokenizer.ignoresMerges ? this.#tokenOf(bytes) : -1;
    const tokens = whole >= 0 ? [whole] : this.#merge(bytes);
    if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
    this.#kept.set(piece, tokens);
    return tokens;
  }

  #merge(bytes: Uint8Array): number[] {
    const tokens = Array.from(bytes, (byte) => this.#byteTokens[byte] as number);
    if (tokens.includes(-1)) return [];
    for (;;) {
      let best = Number.POSITIVE_INFINITY;
      let at = -1;
      for (let i = 0; i + 1 < tokens.length; i++) {
        const rank = this.#rank(tokens[i] as number, tokens[i + 1] as number);
        if (rank < best) {
          best = rank;
          at = i;
        }
      }
      if (at < 0) return tokens;
      tokens.splice(at, 2, this.#merges.results[best] as number);
    }
  }

  #rank(left: number, right: number): number {
    return this.#ranks.of(left, right);
  }
}

/**
 * The rank of each pair that merges, as a hash table with open addressing: a `Map` of so many pairs
 * takes 45 ms to make instead of 6 to 15, and 22 MiB instead of 4 (measured).
 */
class RankTable {
  readonly #merges: Merges;
  /** Ranks plus one, by hash; 0 where there is none. */
  readonly #slots: Int32Array;
  readonly #mask: number;

  constructor(merges: Merges) {
    const count = merges.lefts.length;
    this.#merges = merges;
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 2)));
    this.#mask = this.#slots.length - 1;
    for (let rank = 0; rank < count; rank++) {
      if ((merges.results[rank] as number) < 0) continue;
      const slot = this.#find(merges.lefts[rank] as number, merges.rights[rank] as number);
      // Of the same pair twice the first counts.
      if (this.#slots[slot] === 0) this.#slots[slot] = rank + 1;
    }
  }

  /** @returns infinity for a pair that does not merge. */
  of(left: number, right: number): number {
    const rank = (this.#slots[this.#find(left, right)] as number) - 1;
    return rank < 0 ? Number.POSITIVE_INFINITY : rank;
  }

  /** The pair's slot, or the free one where it belongs. */
  #find(left: number, right: number): number {
    const { lefts, rights } = this.#merges;
    let slot = (Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca77)) >>> 0;
    for (slot = (slot ^ (slot >>> 15)) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const rank = (this.#slots[slot] as number) - 1;
      if (rank < 0 || (lefts[rank] === left && rights[rank] === right)) return slot;
    }
  }
}

/** @param idOf the token of a text as the vocabulary writes it. */
export function mergesOf(lines: readonly string[], idOf: ReadonlyMap<string, number>): Merges {
  const lefts = new Int32Array(lines.length);
  const rights = new Int32Array(lines.length);
  const results = new Int32Array(lines.length);
  for (const [rank, line] of lines.entries()) {
    // A token may hold no space: the first one after a first character parts the two.
    const space = line.indexOf(" ", 1);
    const left = line.slice(0, space);
    const right = line.slice(space + 1);
    lefts[rank] = idOf.get(left) ?? -1;
    rights[rank] = idOf.get(right) ?? -1;
    results[rank] = idOf.get(left + right) ?? -1;
  }
  return { lefts, rights, results };
}
