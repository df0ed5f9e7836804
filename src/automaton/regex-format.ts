/**
 * The format "regex" as a pattern of its own: those of ECMA-262's regular expressions that are
 * right with and without the flag u, and mean the same to other engines. Groups are nested three
 * deep at most; there are no back references, named groups or lookbehind.
 */

const SYNTAX = "\\^$\\\\.*+?()\\[\\]{}|";
const ESCAPE = `\\\\(?:[dDwWsSfnrtv/${SYNTAX}]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})`;

/** The bounds of a range, or of a number of times, must not come the wrong way round. */
function upTo(chars: string): string {
  const last = chars.at(-1) as string;
  return [...chars].map((first) => `${first}-[${first}-${last}]`).join("|");
}
const RANGE = ["0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"]
  .map(upTo)
  .join("|");
const CLASS = `\\[\\^?(?:[^\\\\\\]\\[^-]|${ESCAPE}|${RANGE})+-?\\]`;

const TIMES = [
  "\\d{1,3},?",
  "0,\\d{1,3}",
  ...[..."123456789"].map((least) => `${least},(?:[${least}-9]|[1-9]\\d{1,2})`),
  "[1-9]\\d,[1-9]\\d\\d",
].join("|");
const QUANTIFIER = `(?:[*+?]|\\{(?:${TIMES})\\})\\??`;

const ATOM = `[^${SYNTAX}]|\\.|${ESCAPE}|${CLASS}`;
const ASSERTION = "\\^|\\$|\\\\[bB]";

function disjunction(depth: number): string {
  const inner = depth > 0 ? disjunction(depth - 1) : null;
  const group = inner === null ? "" : `|\\((?:\\?:)?${inner}\\)`;
  const lookahead = inner === null || depth < DEPTH_MAX ? "" : `|\\(\\?[=!]${inner}\\)`;
  return `(?:(?:${ATOM}${group})(?:${QUANTIFIER})?|${ASSERTION}${lookahead}|\\|)*`;
}

const DEPTH_MAX = 3;
export const REGEX = disjunction(DEPTH_MAX);
