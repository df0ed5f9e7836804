/**
 * Bytes of tokens to text: whole code points only, and nothing that might turn out to belong to a
 * stop string. What the tokens spell is the text; no detokenizer tidies it up.
 */
import type { TokenLogprob } from "./request.ts";

export interface TextPiece {
  readonly text: string;
  readonly tokens: readonly TokenLogprob[];
}

export class TextStream {
  readonly #stops: readonly string[];
  /** Whether stop strings count, given the whole text so far. */
  readonly #stopsCount: (text: string) => boolean;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Decoded, not yet given out. */
  #held = "";
  #heldTokens: TokenLogprob[] = [];
  #given = "";
  #stopped = false;

  constructor(stops: readonly string[], stopsCount: (text: string) => boolean) {
    this.#stops = stops.filter((stop) => stop !== "");
    this.#stopsCount = stopsCount;
  }

  /** A stop string was found; the text ends before it. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** @returns what can be given out now, or null. */
  push(bytes: Uint8Array, token: TokenLogprob | null): TextPiece | null {
    const text = this.#decoder.decode(bytes, STREAM);
    if (token !== null) this.#heldTokens.push(token);
    if (this.#stops.length === 0) return this.#pieceOf(text);
    this.#held += text;
    return this.#release();
  }

  /** The rest. Bytes that never became a code point read as U+FFFD. */
  end(): TextPiece | null {
    if (this.#stopped) return null;
    const text = this.#decoder.decode();
    if (this.#stops.length === 0) return this.#pieceOf(text);
    this.#held += text;
    return this.#release() ?? this.#give(this.#held.length);
  }

  #pieceOf(text: string): TextPiece | null {
    if (text === "") return null;
    if (this.#heldTokens.length === 0) return { text, tokens: NO_TOKENS };
    const tokens = this.#heldTokens;
    this.#heldTokens = [];
    return { text, tokens };
  }

  #release(): TextPiece | null {
    if (!this.#stopsCount(this.#given + this.#held)) return this.#give(this.#held.length);
    const found = this.#stops
      .map((stop) => this.#held.indexOf(stop))
      .filter((index) => index >= 0)
      .sort((a, b) => a - b)[0];
    if (found !== undefined) {
      this.#stopped = true;
      return this.#give(found);
    }
    return this.#give(this.#held.length - this.#possibleStopLength());
  }

  /** The longest end of the held text that begins a stop string. */
  #possibleStopLength(): number {
    let longest = 0;
    for (const stop of this.#stops) {
      for (let length = Math.min(stop.length - 1, this.#held.length); length > longest; length--) {
        if (stop.startsWith(this.#held.slice(this.#held.length - length))) longest = length;
      }
    }
    return longest;
  }

  #give(length: number): TextPiece | null {
    // Half of a surrogate pair is no text.
    const end = isHighSurrogate(this.#held.charCodeAt(length - 1)) ? length - 1 : length;
    const text = this.#held.slice(0, end);
    this.#held = this.#stopped ? "" : this.#held.slice(end);
    if (text === "") return null;
    this.#given += text;
    const tokens = this.#stopped ? this.#tokensWithin(text) : this.#heldTokens;
    this.#heldTokens = [];
    return { text, tokens };
  }

  /** Held tokens that end inside `text`: what spells a stop string is not part of the answer. */
  #tokensWithin(text: string): TokenLogprob[] {
    let left = Buffer.byteLength(text);
    return this.#heldTokens.filter((token) => {
      left -= token.bytes.length;
      return left >= 0;
    });
  }
}

const STREAM = { stream: true };
const NO_TOKENS: readonly TokenLogprob[] = [];

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
