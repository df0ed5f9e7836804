/**
 * Exact decimal numbers: `digits / 10^scale`. JSON Schema compares numbers by value, not as
 * doubles.
 */

export interface Decimal {
  readonly digits: bigint;
  /** Not negative, and as small as it can be. */
  readonly scale: number;
}

export const ZERO: Decimal = { digits: 0n, scale: 0 };
export const ONE: Decimal = { digits: 1n, scale: 0 };

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** @returns null unless `text` is a JSON number whose exponent keeps it below 10^1000 or so. */
export function parseDecimal(text: string): Decimal | null {
  const match = NUMBER.exec(text);
  if (!match) return null;
  const [, sign, whole, fraction = "", exponent = "0"] = match;
  const shift = Number(exponent);
  if (Math.abs(shift) > 2000) return null;
  const digits = BigInt(`${sign}${whole}${fraction}`);
  const scale = fraction.length - shift;
  return scale >= 0 ? reduce(digits, scale) : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** The decimal that JavaScript prints for a double: what the author of a schema wrote. */
export function decimalOf(value: number): Decimal {
  return parseDecimal(String(value)) ?? ZERO;
}

function reduce(digits: bigint, scale: number): Decimal {
  let d = digits;
  let s = scale;
  while (s > 0 && d % 10n === 0n) {
    d /= 10n;
    s -= 1;
  }
  return { digits: d, scale: s };
}

export function compare(a: Decimal, b: Decimal): -1 | 0 | 1 {
  const scale = Math.max(a.scale, b.scale);
  const difference = scaled(a, scale) - scaled(b, scale);
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

/** `value * 10^scale`, for a scale at least the value's own. */
export function scaled(value: Decimal, scale: number): bigint {
  return value.digits * 10n ** BigInt(scale - value.scale);
}

export function isInteger(value: Decimal): boolean {
  return value.scale === 0;
}

export function isMultipleOf(value: Decimal, step: Decimal): boolean {
  const scale = Math.max(value.scale, step.scale);
  const divisor = scaled(step, scale);
  return divisor !== 0n && scaled(value, scale) % divisor === 0n;
}

export function negate(value: Decimal): Decimal {
  return { digits: -value.digits, scale: value.scale };
}

/** The smallest positive number that both steps divide. */
export function leastCommonMultiple(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  const x = scaled(a, scale);
  const y = scaled(b, scale);
  return reduce((x / gcd(x, y)) * y, scale);
}

function gcd(a: bigint, b: bigint): bigint {
  let x = a;
  let y = b;
  while (y !== 0n) [x, y] = [y, x % y];
  return x < 0n ? -x : x;
}

/** The shortest plain spelling, without exponent: `-12.5`, `0`, `300`. */
export function printDecimal(value: Decimal): string {
  const negative = value.digits < 0n;
  const digits = String(negative ? -value.digits : value.digits).padStart(value.scale + 1, "0");
  const whole = digits.slice(0, digits.length - value.scale);
  const fraction = digits.slice(digits.length - value.scale);
  return `${negative ? "-" : ""}${whole}${value.scale > 0 ? `.${fraction}` : ""}`;
}
