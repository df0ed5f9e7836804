/** Characters of a number, by column: the ten digits, then these. */
export const MINUS = 10;
export const POINT = 11;
export const EXPONENT = 12;
export const PLUS = 13;
export const NUMBER_COLUMNS = 14;

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
