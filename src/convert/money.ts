/** Amounts as banks print them, as whole minor units. Nothing is rounded. */

/** Currencies (ISO 4217) whose minor unit is not a hundredth. */
const DECIMALS: Readonly<Record<string, number>> = {
  BHD: 3,
  CLP: 0,
  ISK: 0,
  JOD: 3,
  JPY: 0,
  KRW: 0,
  KWD: 3,
  OMR: 3,
  PYG: 0,
  TND: 3,
  UGX: 0,
  VND: 0,
};

export function decimalsOf(currency: string): number {
  return DECIMALS[currency] ?? 2;
}

/**
 * Reads "1,234.56", "-1234.5", "(1,234.56)", "1234.56-", "$5", with either mark for decimals.
 * @returns null for anything else, for more decimals than the currency has, and past 2^53.
 */
export function parseMoney(text: string, decimals: number, mark: "." | "," = "."): number | null {
  let digits = text.replace(/[\s\u00a0$€£¥]/g, "");
  const isBracketed = /^\(.*\)$/.test(digits);
  if (isBracketed) digits = digits.slice(1, -1);
  const isTrailing = !isBracketed && digits.endsWith("-");
  if (isTrailing) digits = digits.slice(0, -1);
  const grouping = mark === "." ? "," : ".";
  const match = /^([+-]?)([0-9.,']+)$/.exec(digits);
  if (!match) return null;
  const [, sign = "", body = ""] = match;
  const [whole = "", fraction = "", ...more] = body.split(mark);
  if (more.length > 0 || fraction.length > decimals || !/^[0-9]*$/.test(fraction)) return null;
  const plain = ungrouped(whole, grouping);
  if (plain === null || (plain === "" && fraction === "")) return null;
  if (sign !== "" && (isBracketed || isTrailing)) return null;
  const amount = Number(`${plain}${fraction.padEnd(decimals, "0")}`);
  if (!Number.isSafeInteger(amount)) return null;
  const isNegative = sign === "-" || isBracketed || isTrailing;
  return isNegative && amount !== 0 ? -amount : amount;
}

/** Groups of three, or none. */
function ungrouped(whole: string, grouping: string): string | null {
  if (/^[0-9]*$/.test(whole)) return whole;
  const groups = whole.split(whole.includes("'") ? "'" : grouping);
  const [first = "", ...rest] = groups;
  const isGrouped = /^[0-9]{1,3}$/.test(first) && rest.every((group) => /^[0-9]{3}$/.test(group));
  return isGrouped ? groups.join("") : null;
}

/** "-1,234.56": for reports, the same everywhere. */
export function printMoney(amount: number, decimals: number): string {
  const digits = String(Math.abs(amount)).padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
  const fraction = decimals === 0 ? "" : `.${digits.slice(-decimals)}`;
  return `${amount < 0 ? "-" : ""}${whole}${fraction}`;
}
