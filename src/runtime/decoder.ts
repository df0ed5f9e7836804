/**
 * A model with room for several sequences, as the scheduler sees it: `step` runs rows through the
 * network, `sample` picks from the logits of the last step, slot operations do the rest. The real
 * one is in `addon-decoder.ts`; tests have a fake.
 *
 * One caller at a time: a slot is never changed while a step or a sample runs. Samples of several
 * rows may run together.
 */

export interface ContextOptions {
  /** Sequences that can exist at the same time. */
  readonly slots: number;
  /** Tokens that fit one sequence; a multiple of 256. */
  readonly slotPositions: number;
  /** Tokens of one call, over all rows. */
  readonly batchTokensMax: number;
  readonly flashAttention: boolean;
  /** Of a call with many tokens. */
  readonly threads: number;
  /** Of a call that has no more tokens than there are sequences: others may run beside it. */
  readonly stepThreads: number;
  /** False for recurrent models: of what a slot holds nothing but all can be removed. */
  readonly canTruncate: boolean;
  /** Layers that see only the last tokens keep all of them, or a tail could not be removed. */
  readonly slidingWindow: boolean;
  readonly lora: { readonly path: string; readonly scale: number } | null;
}

/** Tokens that follow what the slot holds. */
export interface StepRow {
  readonly slot: number;
  readonly tokens: readonly number[];
  /** Whether the logits after the last of them are wanted. */
  readonly output: boolean;
}

export interface SampleOptions {
  /** 0 is argmax; ties go to the lower token. */
  readonly temperature: number;
  readonly topP: number;
  /** 0..2³²-2. The same seed does not restart a sequence of random numbers; another one does. */
  readonly seed: number;
  /** Added to logits. -Infinity forbids a token. */
  readonly biasTokens: Uint32Array;
  readonly biasValues: Float32Array;
}

/** What the model itself thinks, before any bias. */
export interface LogitProbe {
  readonly best: number;
  /** Of the tokens asked for and the top ones. */
  readonly logits: ReadonlyMap<number, number>;
  /** Sum over the vocabulary of exp(logit - best logit). */
  readonly weight: number;
}

export interface Decoder {
  readonly slots: number;
  readonly slotPositions: number;
  readonly batchTokensMax: number;
  /** Bytes of cells and buffers; the weights are not in it. */
  readonly memoryBytes: number;
  /** Whether `truncate` takes other lengths than 0 and what the slot has. */
  readonly canTruncate: boolean;
  /** Tokens the slot holds. */
  length(slot: number): number;
  /**
   * One call of the network.
   * @param rows ascending by slot.
   * @returns per row with `output`, in order, where its logits are until the next step.
   * @throws whatever the library says; the slots of the call are empty then.
   */
  step(rows: readonly StepRow[]): Promise<readonly number[]>;
  /** The slot's sampler, for its samples from now on; may be called during a step. */
  configure(slot: number, options: SampleOptions): void;
  /** @returns a token even where every token is forbidden: check it. */
  sample(slot: number, output: number): Promise<number>;
  /**
   * Some tokens by their logits, without any bias: the best first, of equal ones the lower token.
   * No token that is left out is as good as one of them.
   */
  ranked(slot: number, output: number): Promise<readonly number[]>;
  probe(slot: number, output: number, tokens: readonly number[], top: number): Promise<LogitProbe>;
  /** Shortens a slot to `length` tokens. */
  truncate(slot: number, length: number): void;
  /** Replaces what `to` holds by what `from` holds. */
  copy(from: number, to: number): Promise<void>;
  dispose(): Promise<void>;
}
