/**
 * What the lock asks of a back end: a machine that reads the answer byte by byte, and what is known
 * about the ways on from where it stands. There is one for schemas and one for grammar texts.
 */
import type { TokenWords } from "./token-set.ts";

/** @typeParam Mark the machine's state at one moment. */
export interface Machine<Mark extends object> {
  /** The text so far is a whole value. */
  readonly canEnd: boolean;
  /** @returns false, with nothing changed, for a byte that may not come. */
  step(byte: number): boolean;
  /** @param mark may be filled in and returned. */
  save(mark?: Mark): Mark;
  undo(mark: Mark): void;
}

/** The bytes that must come, and the ones of which one must come next; null for any of many. */
export interface ForcedBytes {
  readonly bytes: Uint8Array;
  readonly next: readonly number[] | null;
}

export interface ForcedKey {
  readonly at: object;
  readonly state: number;
}

export interface Recogniser<Mark extends object> {
  readonly machine: Machine<Mark>;
  /**
   * Bytes after which the text is whole, quickly told: never fewer than the shortest way out takes.
   * NaN where only that way itself can tell.
   */
  readonly room: number;
  /** The tokens that may come next. Valid until the next call; not to be changed. */
  computeMask(): TokenWords;
  /** Any text may come for a while: tokens are many, and none is forced. */
  readonly isFree: boolean;
  /** The same as a list, each once, where they are few and that is soon told; else null. */
  fewTokens(): Uint32Array | null;
  /**
   * Tokens of the mask after which a whole value may not fit into what is left.
   * @param left tokens, the end of generation included.
   * @returns null for any token.
   */
  suspects(left: number): Iterable<number> | null;
  /**
   * Tokens to choose from when the budget is nearly spent: all that may come where they are few,
   * else those that can end what is being read. Null where `suspects` are soon told.
   */
  closers(): Iterable<number> | null;
  /** Bytes that may come next, each once, up to `most`; null where they are too many to list. */
  nextBytes(most: number): readonly number[] | null;
  /**
   * A name of the state, where what is forced from here on depends on nothing else: equal for the
   * same object and number. Null where it depends on more.
   */
  readonly forcedKey: ForcedKey | null;
  /** Fewest tokens of the shortest known way out; null where there is none for this vocabulary. */
  tokensOut(): readonly number[] | null;
}
