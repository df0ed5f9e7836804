/** Which numbers, and how they may be spelled. */
import { compare, type Decimal, negate, ONE, ZERO } from "./decimal.ts";

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

/**
 * Most readers take numbers as doubles. Rounded, a number cannot cross a bound that it may be
 * itself, nor become a fraction; but it may meet an exclusive bound, a number that is left out, or
 * a step that it was not on.
 */
export function mustReadExactly({ min, max, step, notSteps, excluded }: NumberSet): boolean {
  const isEdge = (bound: NumberBound | null): boolean =>
    bound?.exclusive === true && compare(bound.value, ZERO) !== 0;
  if (isEdge(min) || isEdge(max) || excluded.length > 0 || notSteps.length > 0) return true;
  return step !== null && compare(step, ONE) !== 0;
}

/** The bound of the negated numbers. */
export function flip(bound: NumberBound | null): NumberBound | null {
  return bound && { value: negate(bound.value), exclusive: bound.exclusive };
}
