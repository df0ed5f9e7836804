/**
 * How byte-level BPE tokenizers cut a text into pieces before they merge anything. The patterns
 * are those of llama.cpp (`llama-vocab.cpp`, by `tokenizer.ggml.pre`) in ECMAScript's spelling.
 */

export interface Pretokenizer {
  /** Sticky: matches one piece at `lastIndex`. */
  readonly pattern: RegExp;
  /** A piece that is a token as it stands is not put together from merges. */
  readonly ignoresMerges: boolean;
}

const LLAMA3 = [
  "'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])",
  "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+",
  "\\p{N}{1,3}",
  " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*",
  "\\s*[\\r\\n]+",
  "\\s+(?!\\S)",
  "\\s+",
].join("|");

const QWEN2 = LLAMA3.replace("\\p{N}{1,3}", "\\p{N}");

const GPT2 = [
  "'(?:s|t|re|ve|m|ll|d)",
  " ?\\p{L}+",
  " ?\\p{N}+",
  " ?[^\\s\\p{L}\\p{N}]+",
  "\\s+(?!\\S)",
  "\\s+",
].join("|");

const PATTERNS: Readonly<Record<string, readonly [pattern: string, ignoresMerges: boolean]>> = {
  "llama-bpe": [LLAMA3, true],
  llama3: [LLAMA3, true],
  "llama-v3": [LLAMA3, true],
  "smaug-bpe": [LLAMA3, false],
  dbrx: [LLAMA3, false],
  qwen2: [QWEN2, false],
  "deepseek-r1-qwen": [QWEN2, false],
  "gpt-2": [GPT2, false],
  "phi-2": [GPT2, false],
};

/** @returns null for a tokenizer whose pieces we do not know. */
export function pretokenizerOf(name: unknown): Pretokenizer | null {
  const known = PATTERNS[String(name)];
  return known ? { pattern: new RegExp(known[0], "uy"), ignoresMerges: known[1] } : null;
}

/** Pieces of a text, in order. */
export function* pieces(text: string, { pattern }: Pretokenizer): Generator<string, void> {
  for (let at = 0; at < text.length; ) {
    pattern.lastIndex = at;
    const piece = pattern.exec(text)?.[0] || text.slice(at);
    yield piece;
    at += piece.length;
  }
}

/** Texts that could follow a character and still change what the piece before it is. */
const SUFFIXES = ["", "l", "e", "a", "0", " ", "x\n", '"', "\n"];

/**
 * Whether the last piece of a text stays the same whatever comes next.
 * @param next the characters that may come next.
 */
export function isSettled(piece: string, next: readonly string[], by: Pretokenizer): boolean {
  return next.every((char) =>
    SUFFIXES.every((suffix) => pieces(piece + char + suffix, by).next().value === piece),
  );
}
