/** From an automaton given by functions to a trimmed, minimal table. */
import type { CharClasses } from "./char-classes.ts";
import type { Dfa } from "./dfa.ts";
import { minimize } from "./minimize.ts";
import { AutomatonTooLargeError } from "./nfa.ts";

/** Above this, an automaton is refused: it would cost megabytes and milliseconds per schema. */
const DFA_STATES_MAX = 4096;

/** What a lazily explored automaton looks like: state 0 is the start, -1 is "no way on". */
export interface Explorable {
  readonly classes: CharClasses;
  next(state: number, charClass: number): number;
  /** 0, or a colour: states of two colours are never merged. */
  accepts(state: number): number;
}

/**
 * Explores all states and makes the trimmed, minimal automaton.
 * @throws AutomatonTooLargeError past `statesMax` states.
 */
export function explore(source: Explorable, statesMax = DFA_STATES_MAX): Dfa {
  const k = source.classes.count;
  const rows: number[] = [];
  let size = 1;
  for (let state = 0; state < size; state++) {
    if (size > statesMax) throw new AutomatonTooLargeError(`more than ${statesMax} states`);
    for (let c = 0; c < k; c++) {
      const target = source.next(state, c);
      rows.push(target);
      if (target >= size) size = target + 1;
    }
  }
  const accepting = Uint8Array.from({ length: size }, (_, s) => source.accepts(s));
  return minimize({
    classes: source.classes,
    table: Int32Array.from(rows),
    accepts: accepting,
    size,
  });
}
