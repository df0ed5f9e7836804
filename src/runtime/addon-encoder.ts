/** The addon's side of embeddings: one text a call, alone, so that nothing changes its bits. */
import { assert } from "../bytes/assert.ts";
import type { NativeContext, NativeModel } from "./bindings.ts";

export interface Encoder {
  /** How many numbers a vector has. */
  readonly dimensions: number;
  /** The vector of one text, as the model pools it; not normalised. */
  encode(tokens: readonly number[]): Promise<Float64Array>;
  dispose(): Promise<void>;
}

export class AddonEncoder implements Encoder {
  readonly dimensions: number;
  readonly #native: NativeContext;
  readonly #threadsOf: (tokens: number) => number;
  #encoding = false;

  /** @param threadsOf a call of so many tokens. */
  constructor(native: NativeContext, dimensions: number, threadsOf: (tokens: number) => number) {
    this.#native = native;
    this.dimensions = dimensions;
    this.#threadsOf = threadsOf;
  }

  async encode(tokens: readonly number[]): Promise<Float64Array> {
    assert(!this.#encoding, "one text is encoded at a time");
    this.#encoding = true;
    try {
      this.#native.disposeSequence(0);
      this.#native.setThreads(this.#threadsOf(tokens.length));
      this.#native.initBatch(tokens.length);
      // Every token counts where vectors are averaged.
      this.#native.addToBatch(0, 0, Uint32Array.from(tokens), Uint32Array.from(tokens.keys()));
      await this.#native.decodeBatch();
      return this.#native.getEmbedding(tokens.length);
    } finally {
      this.#encoding = false;
    }
  }

  async dispose(): Promise<void> {
    assert(!this.#encoding, "nothing changes while the addon works");
    await this.#native.dispose();
  }
}

/** As the addon numbers them. */
const [WORD_PIECE, UNIGRAM, RWKV] = [3, 4, 5];

/** What llama.cpp's own tokenizer puts around a text that stands alone (`llama-vocab.cpp`). */
export function wholeInput(
  model: Pick<
    NativeModel,
    | "getVocabularyType"
    | "shouldPrependBosToken"
    | "shouldAppendEosToken"
    | "tokenBos"
    | "tokenEos"
    | "sepToken"
  >,
  tokens: readonly number[],
): number[] {
  const type = model.getVocabularyType();
  if (type === RWKV) return [...tokens];
  const begins = type === WORD_PIECE || (type !== UNIGRAM && model.shouldPrependBosToken());
  const ends = type === WORD_PIECE || type === UNIGRAM || model.shouldAppendEosToken();
  const begin = begins ? model.tokenBos() : -1;
  const end = ends ? (type === WORD_PIECE ? model.sepToken() : model.tokenEos()) : -1;
  return [...(begin < 0 ? [] : [begin]), ...tokens, ...(end < 0 ? [] : [end])];
}
