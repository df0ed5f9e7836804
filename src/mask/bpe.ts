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
  #ranks: Map<number, number> | undefined;

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
    this.#tokenOf = tokenOf;
    this.#sizeOf = sizeOf;
    this.#byteTokens = Int32Array.from({ length: 256 }, (_, byte) => tokenOf(Uint8Array.of(byte)));
  }

  /** @returns the tokens of each piece; null where some byte is no token. */
  encode(text: string): readonly (readonly number[])[] | null {
    const encoded = pieces(text, this.#pretokenizer).map((piece) => this.#piece(piece));
    return encoded.every((tokens) => tokens.length > 0) ? encoded : null;
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

  #piece(piece: string): readonly number[] {
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
    this.#ranks ??= ranksOf(this.#merges);
    return this.#ranks.get(left * 2 ** 24 + right) ?? Number.POSITIVE_INFINITY;
  }
}

function ranksOf({ lefts, rights, results }: Merges): Map<number, number> {
  const ranks = new Map<number, number>();
  for (let rank = 0; rank < lefts.length; rank++) {
    if ((results[rank] as number) < 0) continue;
    const key = (lefts[rank] as number) * 2 ** 24 + (rights[rank] as number);
    if (!ranks.has(key)) ranks.set(key, rank);
  }
  return ranks;
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
