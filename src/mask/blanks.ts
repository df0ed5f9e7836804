/**
 * White space between tokens of JSON: one space, or a newline and some blanks; never before a colon
 * or around the whole, which the machine looks after.
 */
const SPACE = 0x20;
const NEWLINE = 0x0a;
const TAB = 0x09;
const BLANKS_MAX = 40;

/**
 * @param blanks white space just read: 0 none, 1 a space, 2 + n a newline and n blanks.
 * @returns the same after another byte, -1 where it may not come.
 */
export function afterBlank(blanks: number, byte: number): number {
  if (byte !== SPACE && byte !== NEWLINE && byte !== TAB) return -1;
  if (blanks === 0) {
    if (byte === TAB) return -1;
    return byte === SPACE ? 1 : 2;
  }
  if (blanks === 1 || byte === NEWLINE || blanks >= 2 + BLANKS_MAX) return -1;
  return blanks + 1;
}
