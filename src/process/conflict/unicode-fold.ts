/**
 * Case and compatibility folding by a frozen table (Unicode 14.0, `unicode.json`), so that a newer
 * platform gives the same bytes. The table holds NFKD, full case folding, NFKD again, without
 * U+0300-036F, Arabic and Hebrew vowel points and format characters; letters that Unicode does not
 * take apart (æ, ø, ł, …) are spelled in ASCII. Code points that Unicode 14.0 does not know pass
 * through as they are. Hangul syllables are not in the table: see `transliterate.ts`.
 */
import table from "./unicode.json";

/** What is hashed into `tables_hash`. */
export const UNICODE_TABLES = table;

/** Folded text by code point; "" for what is dropped. */
const FOLDED: ReadonlyMap<number, string> = readFolded(table.fold);

/** Sorted, without overlap: first and last code point of each range, alternating. */
const WORD_RANGES: readonly number[] = readRanges(table.words);
const ASSIGNED_RANGES: readonly number[] = readRanges(table.assigned);

/** Quotes, accents and full stops inside words: they come and go in the same person's name. */
const DELETED: ReadonlySet<number> = new Set([
  0x27, 0x60, 0xb4, 0x2018, 0x2019, 0x201b, 0x2032, 0x2bb, 0x2bc, 0x2bd, 0x2be, 0x2bf, 0xff07,
]);

const FULL_STOP = 0x2e;
const SPACE = " ";

/**
 * @param fullStop what a full stop becomes: nothing in the names of organisations (U.S.A.), a
 *   space in those of people (J.R. Smith).
 * @returns folded words, separated by single spaces.
 */
export function foldWords(text: string, fullStop: "" | " "): string {
  if (isAscii(text)) return foldAsciiText(text, fullStop);
  let folded = "";
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      folded += foldAscii(unit, fullStop);
      continue;
    }
    const point = text.codePointAt(index) ?? unit;
    if (point > 0xffff) index += 1;
    folded += foldPoint(point, text.charCodeAt(index + 1));
  }
  return squeezed(folded);
}

/** The code points that the frozen table does not know, in order of appearance. */
export function unassignedIn(text: string): number[] {
  if (isAscii(text)) return [];
  return [...text]
    .map((character) => character.codePointAt(0) ?? 0)
    .filter((point) => !inRanges(ASSIGNED_RANGES, point));
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

const ASCII: readonly string[] = Array.from({ length: 0x80 }, (_, unit) => {
  if (unit >= 0x41 && unit <= 0x5a) return String.fromCharCode(unit + 32);
  if ((unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39))
    return String.fromCharCode(unit);
  if (unit === 0x26) return " and ";
  return DELETED.has(unit) ? "" : SPACE;
});

function foldAscii(unit: number, fullStop: "" | " "): string {
  return unit === FULL_STOP ? fullStop : (ASCII[unit] ?? SPACE);
}

/** The same as letter by letter, several times as fast: most names are ASCII. */
function foldAsciiText(text: string, fullStop: "" | " "): string {
  // Of ASCII text alone, every platform makes the same lower case.
  let lower = text.toLowerCase();
  if (PLAIN_WORDS.test(lower)) return lower;
  if (QUOTE_OR_AND.test(lower)) lower = lower.replaceAll("&", " and ").replace(/['`]/g, "");
  if (fullStop === "") lower = lower.replaceAll(".", "");
  return lower.replace(/[^a-z0-9]+/g, SPACE).trim();
}

const PLAIN_WORDS = /^[a-z0-9]+(?: [a-z0-9]+)*$/;
const QUOTE_OR_AND = /['`&]/;

const BREVE = 0x306;

function foldPoint(point: number, next: number): string {
  if (DELETED.has(point)) return "";
  // The one letter whose mark is kept: without it, й would read as и.
  if ((point === 0x438 || point === 0x418) && next === BREVE) return "й";
  const folded = FOLDED.get(point);
  if (folded !== undefined) return wordsOnly(folded);
  return inRanges(WORD_RANGES, point) || !inRanges(ASSIGNED_RANGES, point)
    ? String.fromCodePoint(point)
    : SPACE;
}

/** What folding makes of one code point may hold signs of its own: "1/2", "l·". */
function wordsOnly(folded: string): string {
  let words = "";
  for (const character of folded) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) words += foldAscii(point, "");
    else if (!DELETED.has(point)) words += inRanges(WORD_RANGES, point) ? character : SPACE;
  }
  return words;
}

/** Single spaces between words, none around them. */
function squeezed(text: string): string {
  return text.split(SPACE).filter(Boolean).join(SPACE);
}

function inRanges(ranges: readonly number[], point: number): boolean {
  let low = 0;
  let high = ranges.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (point < (ranges[2 * middle] ?? 0)) high = middle - 1;
    else if (point > (ranges[2 * middle + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}

/** Differences in base 36, each to the number before it. */
function readRanges(text: string): number[] {
  let position = 0;
  return text.split(" ").map((difference) => {
    position += Number.parseInt(difference, 36);
    return position;
  });
}

/** A line for each folded text: the text, a tab, its code points as differences. */
function readFolded(source: string): Map<number, string> {
  const folded = new Map<number, string>();
  for (const line of source.split("\n")) {
    const [to = "", points = ""] = line.split("\t");
    for (const point of readRanges(points)) folded.set(point, to);
  }
  return folded;
}
