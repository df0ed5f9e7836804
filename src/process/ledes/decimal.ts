/** Decimal numbers of an invoice, exactly: whole numbers of ten-thousandths. */

const SCALE = 10_000n;

/** @returns null unless the text is a number of at most 12 digits before the point and 4 after. */
export function parseDecimal(text: string): bigint | null {
  const match = /^([+-]?)([0-9]{1,12})(?:\.([0-9]{1,4}))?$/.exec(text);
  if (!match) return null;
  const [, sign, whole = "", fraction = ""] = match;
  const value = BigInt(whole) * SCALE + BigInt(fraction.padEnd(4, "0"));
  return sign === "-" ? -value : value;
}

/** The product of two of them, rounded to cents, halves away from zero. */
export function productInCents(a: bigint, b: bigint): bigint {
  const product = a * b;
  const magnitude = product < 0n ? -product : product;
  const unit = SCALE * 100n;
  const cents = (magnitude + unit / 2n) / unit;
  return (product < 0n ? -cents : cents) * 100n;
}

/** As few decimals as the value needs, two at least. */
export function printDecimal(value: bigint): string {
  const magnitude = value < 0n ? -value : value;
  const fraction = String(magnitude % SCALE)
    .padStart(4, "0")
    .replace(/0{1,2}$/, "");
  return `${value < 0n ? "-" : ""}${magnitude / SCALE}.${fraction}`;
}
