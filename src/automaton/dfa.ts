/**
 * Deterministic automata over Unicode code points.
 *
 * A `Dfa` is trimmed and minimal: every state can still accept, a missing transition is -1, and no
 * transition reads a surrogate. State 0 is the start, unless the language is empty (`size` 0).
 */
import { type CharClasses, classOf } from "./char-classes.ts";

export interface Dfa {
  readonly size: number;
  readonly classes: CharClasses;
  /** `table[state * classes.count + class]` is the next state, or -1. */
  readonly table: Int32Array;
  /** 0 where a state does not accept; elsewhere a colour, 1 unless several are told apart. */
  readonly accepts: Uint8Array;
}

export function accepts(dfa: Dfa, text: string): boolean {
  if (dfa.size === 0) return false;
  let state = 0;
  for (const char of text) {
    const charClass = classOf(dfa.classes, char.codePointAt(0) as number);
    if (charClass < 0) return false;
    state = dfa.table[state * dfa.classes.count + charClass] as number;
    if (state < 0) return false;
  }
  return dfa.accepts[state] !== 0;
}
