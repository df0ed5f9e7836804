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
  ONE,
  scaled,
  ZERO,
} from "./decimal.ts";
import { EXPONENT, MINUS, NUMBER_COLUMNS, PLUS, POINT } from "./number-columns.ts";
import {
  flip,
  mustReadExactly,
  type NumberBound,
  type NumberSet,
  type NumberSpelling,
} from "./number-set.ts";

const UNKNOWN = -2;

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

/** Of decimals with this many digits no two are the same double: a reader sees what was written. */
const DOUBLE_DIGITS = 15;

/** Exceptions are searched one multiple after another; more than these in a row do not occur. */
const MULTIPLES_TRIED_MAX = 1000;

export class NumberAutomaton {
  readonly #set: NumberSet;
  readonly #spelling: NumberSpelling;
  readonly #scale: number;
  /** By count of whole digits: the distance of two neighbours, scaled. */
  readonly #units: bigint[] = [];
  /** Remainders by this number, scaled, decide about every step. */
  readonly #modulus: bigint;
  readonly #fractionMax: number;
  readonly #wholeMax: number;
  /** Before and after the point together. */
  readonly #digitsMax: number;
  readonly #ranges: readonly [Magnitudes | null, Magnitudes | null];
  readonly #states: NumberState[] = [];
  readonly #ids = new Map<string, number>();
  #rows = new Int32Array(NUMBER_COLUMNS * 8).fill(UNKNOWN);
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
    this.#ranges = [this.#range(set.min, set.max), this.#range(flip(set.max), flip(set.min))];
    const all = set.notSteps.reduce(leastCommonMultiple, step ?? ONE);
    const stepped = step !== null || set.notSteps.length > 0;
    this.#modulus = stepped ? scaled(all, Math.max(this.#scale, all.scale)) : 1n;
    const least = Math.max(DOUBLE_DIGITS, ...bounds.map((scale) => scale + 1), this.#leastWhole());
    this.#digitsMax = mustReadExactly(set) ? Math.max(least, (step?.scale ?? 0) + 1) : Infinity;
    this.#wholeMax = Math.min(this.#wholeDigitsMax(), this.#digitsMax);
    const nothing = { negative: false, digits: 0n, wholeDigits: 0, fractionDigits: 0 };
    this.#intern({ phase: "start", ...nothing });
  }

  get isEmpty(): boolean {
    return !this.#canFinish(this.#states[0] as NumberState);
  }

  /** State after a character, by column, or -1. State 0 is the start. */
  step(state: number, column: number): number {
    const known = this.#rows[state * NUMBER_COLUMNS + column] as number;
    if (known !== UNKNOWN) return known;
    const after = this.#after(this.#states[state] as NumberState, column);
    const next = after && this.#canFinish(after) ? this.#intern(after) : -1;
    this.#rows[state * NUMBER_COLUMNS + column] = next;
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
        for (let column = 0; column < NUMBER_COLUMNS; column++) {
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
      return this.#fractionMaxOf(state.wholeDigits) > 0 ? { ...state, phase: "point" } : null;
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
    const lacksZero =
      compare(min?.value ?? ZERO, ZERO) > 0 || compare(max?.value ?? ZERO, ZERO) < 0;
    if (lacksZero) return null;
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
        if (state.fractionDigits >= this.#fractionMaxOf(state.wholeDigits)) return null;
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

  /** Digits before the point of the smallest magnitudes. */
  #leastWhole(): number {
    return Math.max(...this.#ranges.map((range) => this.#wholeLength(range?.low ?? 0n)));
  }

  #wholeLength(magnitude: bigint): number {
    return String(magnitude / 10n ** BigInt(this.#scale)).length;
  }

  #fractionMaxOf(wholeDigits: number): number {
    return Math.min(this.#fractionMax, this.#digitsMax - wholeDigits);
  }

  #unitOf(wholeDigits: number): bigint {
    const known = this.#units[wholeDigits];
    if (known !== undefined) return known;
    const grain = 10n ** BigInt(this.#scale - this.#fractionMaxOf(wholeDigits));
    const { step } = this.#set;
    const whole = (digits: bigint): Decimal => ({ digits, scale: 0 });
    const unit =
      step === null
        ? grain
        : scaled(leastCommonMultiple(whole(scaled(step, this.#scale)), whole(grain)), 0);
    this.#units[wholeDigits] = unit;
    return unit;
  }

  /** Digits before the point: as many as the bounds need, the usual number where there is none. */
  #wholeDigitsMax(): number {
    const { integerDigitsMax } = this.#spelling;
    const needed = this.#ranges.map((range) => {
      if (!range) return 0;
      if (range.high !== null) return Math.min(this.#wholeLength(range.high), BOUNDED_DIGITS_MAX);
      return Math.max(integerDigitsMax, this.#wholeLength(range.low));
    });
    return Math.max(...needed);
  }

  #isMember(state: NumberState): boolean {
    const { phase } = state;
    if (phase === "exponent") return true;
    if (phase !== "whole" && phase !== "fraction") return false;
    const shift = 10n ** BigInt(this.#scale - state.fractionDigits);
    const value = state.digits * shift;
    return this.#hasMember(state, value, value);
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
    for (let wholeDigits = 1; wholeDigits <= this.#wholeMax; wholeDigits++) {
      const from = wholeDigits === 1 ? 0n : 10n ** BigInt(wholeDigits - 1 + this.#scale);
      const to = 10n ** BigInt(wholeDigits + this.#scale) - 1n;
      if (this.#hasMember({ negative, wholeDigits }, from, to)) return true;
    }
    return false;
  }

  #wholeCanFinish(state: NumberState): boolean {
    const longest = state.digits === 0n ? 0 : this.#wholeMax - state.wholeDigits;
    for (let more = 0; more <= longest; more++) {
      const shift = 10n ** BigInt(this.#scale + more);
      const from = state.digits * shift;
      const { negative, wholeDigits } = state;
      const grown = { negative, wholeDigits: wholeDigits + more };
      if (this.#hasMember(grown, from, from + shift - 1n)) return true;
    }
    return false;
  }

  /** A member whose scaled magnitude is from `from` to `to`. */
  #hasMember(
    state: Pick<NumberState, "negative" | "wholeDigits">,
    from: bigint,
    to: bigint,
  ): boolean {
    const range = this.#ranges[state.negative ? 1 : 0];
    if (!range) return false;
    const low = from > range.low ? from : range.low;
    const high = range.high !== null && range.high < to ? range.high : to;
    const unit = this.#unitOf(state.wholeDigits);
    let at = ((low + unit - 1n) / unit) * unit;
    for (let tried = 0; at <= high && tried < MULTIPLES_TRIED_MAX; tried++) {
      if (!this.#isException(state.negative ? -at : at)) return true;
      at += unit;
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
    if (this.#rows.length < (id + 1) * NUMBER_COLUMNS) {
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
