/**
 * The texts of the numbers in a set such as "multiples of 0.01 from 0 to 99.5, but not 7": exact,
 * without a product of digit automata. A state is what the digits so far leave possible: how they
 * compare with the bounds, their remainder by the step, and how many there are. States are made
 * when they are first reached; digits themselves are kept only while they agree with a bound.
 */
import {
  compare,
  type Decimal,
  isMultipleOf,
  leastCommonMultiple,
  negate,
  ONE,
  scaled,
  ZERO,
} from "./decimal.ts";

/** A set of numbers: all of `min` to `max` that are multiples of `step`, less the exceptions. */
export interface NumberSet {
  readonly min: NumberBound | null;
  readonly max: NumberBound | null;
  readonly step: Decimal | null;
  readonly notSteps: readonly Decimal[];
  readonly excluded: readonly Decimal[];
}

export interface NumberBound {
  readonly value: Decimal;
  readonly exclusive: boolean;
}

/** How numbers may be spelled. Narrower than JSON, so that no answer runs on in digits. */
export interface NumberSpelling {
  readonly integerDigitsMax: number;
  readonly fractionDigitsMax: number;
  /**
   * Digits of an exponent, at most 3; 0 where there may be none. Never with steps or exceptions,
   * with bounds only where it cannot cross them. One of three digits is below 200, so that no
   * number is too large for a double, and none but zero is one.
   */
  readonly exponentDigitsMax: number;
  /** `1.0` for a whole number. */
  readonly zeroFraction: boolean;
}

/** Characters of a number, by column: the ten digits, then these. */
const MINUS = 10;
const POINT = 11;
const EXPONENT = 12;
const PLUS = 13;
const COLUMNS = 14;
const UNKNOWN = -2;

/** Column of each byte, -1 for a byte that no number holds. */
export const NUMBER_COLUMN: Int8Array = (() => {
  const columns = new Int8Array(256).fill(-1);
  for (let digit = 0; digit < 10; digit++) columns[0x30 + digit] = digit;
  columns[0x2d] = MINUS;
  columns[0x2e] = POINT;
  columns[0x45] = columns[0x65] = EXPONENT;
  columns[0x2b] = PLUS;
  return columns;
})();

type Phase =
  | "start"
  | "sign"
  | "whole"
  | "point"
  | "fraction"
  | "e"
  | "e-plus"
  | "e-minus"
  | "exponent";

interface NumberState {
  readonly phase: Phase;
  readonly negative: boolean;
  /** All digits so far, before and after the point, as one number (of one such text). */
  readonly digits: bigint;
  readonly wholeDigits: number;
  readonly fractionDigits: number;
}

/** Magnitudes from `low` to `high`, both scaled by the automaton's scale and inclusive. */
interface Magnitudes {
  readonly low: bigint;
  readonly high: bigint | null;
}

/** Some schemas state the largest double as a bound: 309 digits would be no help to anyone. */
const BOUNDED_DIGITS_MAX = 40;

/** First digit of three in an exponent: below 10^200, and 40 digits before, all is a double. */
const LARGE_EXPONENT_DIGIT_MAX = 1;

/** Exceptions are searched one multiple after another; more than these in a row do not occur. */
const MULTIPLES_TRIED_MAX = 1000;

export class NumberAutomaton {
  readonly #set: NumberSet;
  readonly #spelling: NumberSpelling;
  readonly #scale: number;
  /** Distance of two neighbours, scaled. */
  readonly #unit: bigint;
  /** Remainders by this number, scaled, decide about every step. */
  readonly #modulus: bigint;
  readonly #fractionMax: number;
  readonly #wholeMax: number;
  readonly #ranges: readonly [Magnitudes | null, Magnitudes | null];
  readonly #states: NumberState[] = [];
  readonly #ids = new Map<string, number>();
  #rows = new Int32Array(COLUMNS * 8).fill(UNKNOWN);
  #accepts: (boolean | undefined)[] = [];
  #rests: (number | undefined)[] = [];

  constructor(set: NumberSet, spelling: NumberSpelling) {
    const step = set.step;
    const stepScale = step?.scale ?? spelling.fractionDigitsMax;
    this.#set = set;
    this.#spelling = spelling;
    this.#fractionMax = step
      ? Math.max(stepScale, spelling.zeroFraction ? 1 : 0)
      : spelling.fractionDigitsMax;
    const bounds = [set.min, set.max].map((bound) => bound?.value.scale ?? 0);
    this.#scale = Math.max(stepScale, this.#fractionMax, ...bounds);
    this.#unit = step ? scaled(step, this.#scale) : 10n ** BigInt(this.#scale - this.#fractionMax);
    this.#ranges = [this.#range(set.min, set.max), this.#range(flip(set.max), flip(set.min))];
    const all = set.notSteps.reduce(leastCommonMultiple, step ?? ONE);
    const stepped = step !== null || set.notSteps.length > 0;
    this.#modulus = stepped ? scaled(all, Math.max(this.#scale, all.scale)) : 1n;
    this.#wholeMax = this.#wholeDigitsMax();
    const start: NumberState = {
      phase: "start",
      negative: false,
      digits: 0n,
      wholeDigits: 0,
      fractionDigits: 0,
    };
    this.#intern(start);
  }

  get isEmpty(): boolean {
    return !this.#canFinish(this.#states[0] as NumberState);
  }

  /** State after a character, by column, or -1. State 0 is the start. */
  step(state: number, column: number): number {
    const known = this.#rows[state * COLUMNS + column] as number;
    if (known !== UNKNOWN) return known;
    const after = this.#after(this.#states[state] as NumberState, column);
    const next = after && this.#canFinish(after) ? this.#intern(after) : -1;
    this.#rows[state * COLUMNS + column] = next;
    return next;
  }

  accepts(state: number): boolean {
    const known = this.#accepts[state];
    if (known !== undefined) return known;
    const verdict = this.#isMember(this.#states[state] as NumberState);
    this.#accepts[state] = verdict;
    return verdict;
  }

  /** Characters that the shortest number from here still needs. */
  rest(state: number): number {
    const known = this.#rests[state];
    if (known !== undefined) return known;
    let frontier = [state];
    const seen = new Set(frontier);
    for (let length = 0; frontier.length > 0; length++) {
      if (frontier.some((s) => this.accepts(s))) {
        this.#rests[state] = length;
        return length;
      }
      const next: number[] = [];
      for (const s of frontier) {
        for (let column = 0; column < COLUMNS; column++) {
          const target = this.step(s, column);
          if (target >= 0 && !seen.has(target)) {
            seen.add(target);
            next.push(target);
          }
        }
      }
      frontier = next;
    }
    throw new Error("a number state without an end");
  }

  #range(min: NumberBound | null, max: NumberBound | null): Magnitudes | null {
    const lower = min && compare(min.value, ZERO) >= 0 ? min : { value: ZERO, exclusive: false };
    const low = scaled(lower.value, this.#scale) + (lower.exclusive ? 1n : 0n);
    if (max === null) return { low, high: null };
    const high = scaled(max.value, this.#scale) - (max.exclusive ? 1n : 0n);
    return low <= high ? { low, high } : null;
  }

  #after(state: NumberState, column: number): NumberState | null {
    if (column < 10) return this.#afterDigit(state, column);
    const { phase } = state;
    if (column === MINUS && phase === "start") return { ...state, phase: "sign", negative: true };
    if (column === POINT && phase === "whole") {
      return this.#fractionMax > 0 ? { ...state, phase: "point" } : null;
    }
    if (column === EXPONENT && (phase === "whole" || phase === "fraction")) {
      return this.#afterE(state);
    }
    if (phase !== "e") return null;
    if (column === MINUS) return { ...state, phase: "e-minus" };
    return column === PLUS && this.#mayGrow(state) ? { ...state, phase: "e-plus" } : null;
  }

  /** Where 0 is between the bounds, a number may be made smaller; without bounds, larger too. */
  #afterE(state: NumberState): NumberState | null {
    const { min, max, step, notSteps, excluded } = this.#set;
    if (step !== null || notSteps.length > 0 || excluded.length > 0) return null;
    if (min !== null && compare(min.value, ZERO) > 0) return null;
    if (max !== null && compare(max.value, ZERO) < 0) return null;
    if (this.#spelling.exponentDigitsMax === 0 || !this.#isMember(state)) return null;
    const { negative } = state;
    return { phase: "e", negative, digits: 0n, wholeDigits: 0, fractionDigits: 0 };
  }

  #mayGrow({ negative }: NumberState): boolean {
    return this.#ranges[negative ? 1 : 0]?.high === null;
  }

  #afterDigit(state: NumberState, digit: number): NumberState | null {
    const digits = state.digits * 10n + BigInt(digit);
    switch (state.phase) {
      case "start":
      case "sign":
        return { ...state, phase: "whole", digits, wholeDigits: 1 };
      case "whole":
        if (state.digits === 0n || state.wholeDigits >= this.#wholeMax) return null;
        return { ...state, digits, wholeDigits: state.wholeDigits + 1 };
      case "point":
      case "fraction":
        if (state.fractionDigits >= this.#fractionMax) return null;
        return { ...state, phase: "fraction", digits, fractionDigits: state.fractionDigits + 1 };
      case "e":
        return this.#mayGrow(state) ? this.#afterExponentDigit(state, digit) : null;
      default:
        return this.#afterExponentDigit(state, digit);
    }
  }

  /** In an exponent only the digits that may still come matter: they are kept in `wholeDigits`. */
  #afterExponentDigit(state: NumberState, digit: number): NumberState | null {
    if (state.phase === "exponent") {
      return state.wholeDigits > 0 ? { ...state, wholeDigits: state.wholeDigits - 1 } : null;
    }
    const more = this.#spelling.exponentDigitsMax - 1;
    // Too small for a double is zero, which any free number may be.
    const mayBeZero = state.phase === "e-minus" && this.#isFree;
    const isLarge = !mayBeZero && digit > LARGE_EXPONENT_DIGIT_MAX;
    return { ...state, phase: "exponent", wholeDigits: isLarge ? Math.min(more, 1) : more };
  }

  /** Of those that may have an exponent: any number will do. */
  get #isFree(): boolean {
    return this.#set.min === null && this.#set.max === null;
  }

  /** Digits before the point: as many as the bounds need, the usual number where there is none. */
  #wholeDigitsMax(): number {
    const { integerDigitsMax } = this.#spelling;
    const length = (magnitude: bigint): number =>
      String(magnitude / 10n ** BigInt(this.#scale)).length;
    const needed = this.#ranges.map((range) => {
      if (!range) return 0;
      if (range.high !== null) return Math.min(length(range.high), BOUNDED_DIGITS_MAX);
      return Math.max(integerDigitsMax, length(range.low));
    });
    return Math.max(...needed);
  }

  #isMember(state: NumberState): boolean {
    const { phase } = state;
    if (phase === "exponent") return true;
    if (phase !== "whole" && phase !== "fraction") return false;
    const shift = 10n ** BigInt(this.#scale - state.fractionDigits);
    return this.#hasMember(state, state.digits * shift, state.digits * shift);
  }

  /** Some continuation of these digits is a member. */
  #canFinish(state: NumberState): boolean {
    switch (state.phase) {
      case "start":
        return this.#hasAny(false) || this.#hasAny(true);
      case "sign":
        return this.#hasAny(true);
      case "e":
      case "e-plus":
      case "e-minus":
      case "exponent":
        return true;
      case "whole":
        return this.#wholeCanFinish(state);
      case "point":
      case "fraction": {
        const shift = 10n ** BigInt(this.#scale - state.fractionDigits);
        const from = state.digits * shift;
        return this.#hasMember(state, from, from + shift - 1n);
      }
    }
  }

  #hasAny(negative: boolean): boolean {
    const high = 10n ** BigInt(this.#wholeMax + this.#scale) - 1n;
    return this.#hasMember({ negative }, 0n, high);
  }

  #wholeCanFinish(state: NumberState): boolean {
    const longest = state.digits === 0n ? 0 : this.#wholeMax - state.wholeDigits;
    for (let more = 0; more <= longest; more++) {
      const shift = 10n ** BigInt(this.#scale + more);
      const from = state.digits * shift;
      if (this.#hasMember(state, from, from + shift - 1n)) return true;
    }
    return false;
  }

  /** A member whose scaled magnitude is from `from` to `to`. */
  #hasMember(state: { readonly negative: boolean }, from: bigint, to: bigint): boolean {
    const range = this.#ranges[state.negative ? 1 : 0];
    if (!range) return false;
    const low = from > range.low ? from : range.low;
    const high = range.high !== null && range.high < to ? range.high : to;
    let at = ((low + this.#unit - 1n) / this.#unit) * this.#unit;
    for (let tried = 0; at <= high && tried < MULTIPLES_TRIED_MAX; tried++) {
      if (!this.#isException(state.negative ? -at : at)) return true;
      at += this.#unit;
    }
    return false;
  }

  #isException(scaledValue: bigint): boolean {
    const { excluded, notSteps } = this.#set;
    if (excluded.length === 0 && notSteps.length === 0) return false;
    const value = { digits: scaledValue, scale: this.#scale };
    return (
      excluded.some((other) => compare(value, other) === 0) ||
      notSteps.some((step) => isMultipleOf(value, step))
    );
  }

  #intern(state: NumberState): number {
    const key = this.#keyOf(state);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#states.length;
    this.#ids.set(key, id);
    this.#states.push(state);
    if (this.#rows.length < (id + 1) * COLUMNS) {
      const rows = new Int32Array(this.#rows.length * 2).fill(UNKNOWN, this.#rows.length);
      rows.set(this.#rows);
      this.#rows = rows;
    }
    return id;
  }

  /** Equal keys have equal continuations. */
  #keyOf(state: NumberState): string {
    const { phase, negative, digits, wholeDigits, fractionDigits } = state;
    const shape = `${phase}${negative ? "-" : ""}${wholeDigits},${fractionDigits}`;
    if (phase.startsWith("e")) return shape;
    const zero = digits === 0n ? "z" : "";
    const place = 10n ** BigInt(this.#scale - fractionDigits);
    const remainder = this.#modulus === 1n ? 0n : (digits * place) % this.#modulus;
    return `${shape}${zero},${remainder},${this.#agreements(state)}`;
  }

  /** How the digits compare with those of each bound and exception, as far as they reach. */
  #agreements({ negative, digits, wholeDigits, fractionDigits }: NumberState): string {
    const range = this.#ranges[negative ? 1 : 0];
    const marks = [range?.low ?? 0n, range?.high ?? 0n];
    for (const value of this.#set.excluded) {
      const own = negative ? -value.digits : value.digits;
      if (own >= 0n && value.scale <= this.#scale) {
        marks.push(own * 10n ** BigInt(this.#scale - value.scale));
      }
    }
    return marks
      .map((mark) => {
        const text = String(mark).padStart(this.#scale + 1, "0");
        const wholeLength = text.length - this.#scale;
        if (fractionDigits > 0 && wholeDigits !== wholeLength) return "";
        const prefix = BigInt(text.slice(0, wholeDigits + fractionDigits));
        if (wholeDigits > wholeLength) return "";
        return digits === prefix ? "=" : digits < prefix ? "<" : ">";
      })
      .join("");
  }
}

function flip(bound: NumberBound | null): NumberBound | null {
  return bound && { value: negate(bound.value), exclusive: bound.exclusive };
}
