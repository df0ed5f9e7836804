/** svc-tiny's tokenizer: byte-level BPE with GPT-2's word pattern, as llama.cpp runs it. */

/** Control tokens, after the 256 bytes and the merges. */
export const CONTROL = [
  "<|endoftext|>",
  "<|system|>",
  "<|user|>",
  "<|assistant|>",
  "<|end|>",
] as const;
type Control = (typeof CONTROL)[number];

const WORD = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** GPT-2's printable stand-ins for bytes. */
export const BYTE_TEXTS: readonly string[] = (() => {
  const texts: string[] = [];
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    texts.push(String.fromCodePoint(isPrintable ? byte : next++));
  }
  return texts;
})();

export const SPACE = BYTE_TEXTS[32] ?? "";

/** A word or token without the space in front of it; a space alone is none in front of anything. */
export function splitSpace(text: string): { readonly isSpaced: boolean; readonly bare: string } {
  const isSpaced = text.length > 1 && text.startsWith(SPACE);
  return { isSpaced, bare: isSpaced ? text.slice(1) : text };
}

/** Words whose tokens are remembered: bounds the memory of a long run. */
const WORDS_KEPT = 200_000;

export type Merge = readonly [string, string];

/** A merge as files write it: `left right`. */
export function mergeOf(line: string): Merge {
  const [left = "", right = ""] = line.split(" ");
  return [left, right];
}

export const toBytes = (text: string): string[] =>
  [...new TextEncoder().encode(text)].map((byte) => BYTE_TEXTS[byte] ?? "");

/** Tokens never reach over the border of two words. */
export const splitWords = (text: string): string[] => text.match(WORD) ?? [];

export class Tokenizer {
  /** Token texts in byte stand-ins, control tokens as they are. */
  readonly tokens: readonly string[];
  readonly #ids: ReadonlyMap<string, number>;
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #words = new Map<string, readonly number[]>();

  constructor(merges: readonly Merge[]) {
    // Bytes in their own order: id 65 is the byte 65.
    this.tokens = [...BYTE_TEXTS, ...merges.map(([a, b]) => a + b), ...CONTROL];
    this.#ids = new Map(this.tokens.map((text, id) => [text, id]));
    this.#ranks = new Map(merges.map(([a, b], rank) => [`${a} ${b}`, rank]));
  }

  control(text: Control): number {
    return this.#ids.get(text) ?? -1;
  }

  /** Undefined where no token has that text. */
  find(token: string): number | undefined {
    return this.#ids.get(token);
  }

  /** Bytes that a token adds to a text. */
  byteLength(id: number): number {
    return [...(this.tokens[id] ?? "")].length;
  }

  encode(text: string): number[] {
    return splitWords(text).flatMap((word) => this.#encodeWord(word));
  }

  #encodeWord(word: string): readonly number[] {
    const known = this.#words.get(word);
    if (known !== undefined) return known;
    const ids = this.encodeBytes(toBytes(word));
    if (this.#words.size < WORDS_KEPT) this.#words.set(word, ids);
    return ids;
  }

  /** Tokens of one word in byte stand-ins, as a token's own text is written. */
  encodeBytes(bytes: readonly string[]): number[] {
    let parts = [...bytes];
    for (;;) {
      const best = this.#bestPair(parts);
      if (best === null) break;
      parts = mergePairs(parts, best);
    }
    return parts.map((part) => this.#ids.get(part) ?? 0);
  }

  /** The neighbours that were merged first when the tokenizer was trained. */
  #bestPair(parts: readonly string[]): Merge | null {
    let best: Merge | null = null;
    let bestRank = Number.POSITIVE_INFINITY;
    for (const [i, left] of parts.slice(0, -1).entries()) {
      const right = parts[i + 1] ?? "";
      const rank = this.#ranks.get(`${left} ${right}`);
      if (rank === undefined || rank >= bestRank) continue;
      best = [left, right];
      bestRank = rank;
    }
    return best;
  }
}

/** The parts with every occurrence of the pair joined, from left to right. */
export function mergePairs(parts: readonly string[], [left, right]: Merge): string[] {
  const merged: string[] = [];
  for (let i = 0; i < parts.length; i++) {
    const isPair = parts[i] === left && parts[i + 1] === right;
    merged.push(isPair ? left + right : (parts[i] ?? ""));
    if (isPair) i += 1;
  }
  return merged;
}
