/**
 * Nondeterministic automata over code points with zero-width assertions: what a regular expression
 * is first turned into. State 0 is the start; `accept` is the only accepting state.
 */
import type { CharSet } from "./char-set.ts";

/** `^`, `$`, `\b`, `\B` without flags. */
export type Assertion = "start" | "end" | "boundary" | "not_boundary";

interface NfaState {
  readonly epsilon: number[];
  readonly chars: { readonly set: CharSet; readonly target: number }[];
  readonly assertions: { readonly kind: Assertion; readonly target: number }[];
}

export class AutomatonTooLargeError extends Error {
  override readonly name = "AutomatonTooLargeError";
}

/** More states than this would only make an automaton that is refused later anyway. */
const NFA_STATES_MAX = 50_000;

export class Nfa {
  readonly states: NfaState[] = [];
  accept = 0;

  addState(): number {
    if (this.states.length >= NFA_STATES_MAX) {
      throw new AutomatonTooLargeError(`more than ${NFA_STATES_MAX} automaton states`);
    }
    this.states.push({ epsilon: [], chars: [], assertions: [] });
    return this.states.length - 1;
  }

  addEpsilon(from: number, target: number): void {
    this.states[from]?.epsilon.push(target);
  }

  addChars(from: number, set: CharSet, target: number): void {
    if (set.length > 0) this.states[from]?.chars.push({ set, target });
  }

  addAssertion(from: number, kind: Assertion, target: number): void {
    this.states[from]?.assertions.push({ kind, target });
  }

  get hasAssertions(): boolean {
    return this.states.some((state) => state.assertions.length > 0);
  }
}
