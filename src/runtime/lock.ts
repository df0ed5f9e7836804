/**
 * What the engine needs of a schema lock and of a vocabulary. `src/mask` has both; tests have small
 * ones of their own.
 */

/** The lock of one answer. Its state is the text accepted so far. */
export interface TokenLock {
  /** Bit (t & 31) of word t >> 5: token t is allowed. The view is valid until the next call. */
  computeMask(): Uint32Array;
  /**
   * The tokens of that mask, each once, where they are few and the lock can tell soon; else null.
   * Valid until the next call; not to be changed.
   */
  fewTokens(): Uint32Array | null;
  /**
   * Some tokens of the mask after which the budget still suffices, never none: to be asked where it
   * has refused what was sampled.
   */
  closingMask(): Uint32Array;
  /** False: refused, and nothing changed. */
  accept(tokenId: number): boolean;
  /** Tokens that the grammar leaves no choice about. */
  forcedTokens(): readonly number[];
  /** The text so far is a whole value: end of generation is allowed. */
  readonly isComplete: boolean;
  /** From now on only tokens after which a whole value still fits. */
  setBudget(tokensLeft: number | null): void;
  /** Tokens of the shortest completion from here, the end of generation included. */
  needTokens(): number;
  /** The budget has refused something that the grammar allowed. */
  readonly budgetLimited: boolean;
}

export interface TokenTable {
  readonly size: number;
  /** Empty for control tokens. */
  tokenBytes(tokenId: number): Uint8Array;
  isEndOfGeneration(tokenId: number): boolean;
  isControl(tokenId: number): boolean;
}
