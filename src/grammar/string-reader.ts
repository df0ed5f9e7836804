/** What a machine asks of the strings that may stand at a place. */
import type { JsonStringAutomaton } from "../automaton/json-string.ts";
import type { Verdict } from "./place.ts";

/** Code points that a string has at least and at most. */
export interface LengthBounds {
  readonly lo: number;
  readonly hi: number;
}

export interface StringReader {
  /** The automaton that `step` runs; null where there are several. */
  readonly automaton: JsonStringAutomaton | null;
  /** State after a byte of content, or -1, lengths apart. State 0 is the start. */
  step(state: number, byte: number): number;
  /** Between code points: the next byte of content begins one. */
  isBetween(state: number): boolean;
  /** With `count` code points begun, some end can still be reached. */
  isLive(state: number, count: number): boolean;
  /** The closing quote may come. */
  accepts(state: number, count: number): boolean;
  /** So many code points of any content may follow, at least; -1 where not any content may. */
  freedom(state: number, count: number): number;
  /**
   * So many code points of any content may follow and leave some end in reach, though not every
   * end: patterns that only search for something refuse nothing for long. -1 where that is unknown.
   */
  roomForAny(state: number, count: number): number;
  /**
   * What of the length matters for what can follow within `far` code points: equal numbers (of any
   * sign) only where the same can follow.
   */
  lengthKey(count: number, far: number): number;
  /**
   * From a state that loops, so many code points may be spent in the loop; 0 where that is unknown.
   */
  roomToLoop(state: number, count: number): number;
  /**
   * Set where a string may end from some length on, whatever came before, and be no longer than
   * another: then how much room each token needs does not depend on where it comes.
   */
  readonly bounds: LengthBounds | null;
  /** Code points to the nearest end, lengths apart; infinite for none. */
  slack(state: number): number;
  /** Bytes that `end` gives, or more: quick. */
  endBytesAtMost(state: number, count: number): number;
  /** More bytes than `end` gives from any state with `count` code points begun; may be infinite. */
  endBytesMax(count: number): number;
  verdict(state: number, count: number): Verdict;
  /** Bytes that end the string soonest, the closing quote included. */
  end(state: number, count: number): Uint8Array;
}

/** The verdict at places that nobody asks about. */
export const NO_VERDICT: Verdict = new Uint8Array(0);
