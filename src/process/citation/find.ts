/** Citations in a text: positions, parts, and the name of the case where one precedes. */
import { REPORTERS, type Reporter } from "./reporters.ts";

interface Span {
  /** UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export type Citation = Span &
  (
    | {
        readonly kind: "case";
        readonly volume: number;
        readonly reporter: Reporter;
        /** Null for a page that is still blank ("___"). */
        readonly page: number | null;
        readonly year: number | null;
        readonly court: string | null;
        readonly name: CaseName | null;
      }
    | {
        readonly kind: "short";
        readonly volume: number;
        readonly reporter: Reporter;
        readonly page: number;
      }
    | { readonly kind: "id" }
    | {
        readonly kind: "database";
        readonly year: number;
        readonly source: string;
        readonly number: string;
        readonly name: CaseName | null;
      }
    | {
        readonly kind: "statute" | "regulation";
        readonly title: number;
        readonly section: string;
      }
  );

export interface CaseName {
  readonly left: string;
  readonly right: string;
}

const escaped = (text: string): string =>
  text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", "[ \\t\\n]+");

const BY_SPELLING: ReadonlyMap<string, Reporter> = new Map(
  REPORTERS.flatMap((one) => one.spellings.map((spelling) => [spelling, one] as const)),
);

/** Longest first, so that "F.3d" is not read as "F." */
const REPORTER = [...BY_SPELLING.keys()]
  .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
  .map(escaped)
  .join("|");

const GAP = "[ \\t\\n]+";
const PIN = `(?:,${GAP}[0-9]{1,5}(?:[-–][0-9]{1,5})?(?:,${GAP}[0-9]{1,5})*)?`;
const DATE = `(?:${GAP}\\(([^()]{0,60}?)([0-9]{4})\\))?`;

const CASE = new RegExp(
  `(?<![0-9A-Za-z.])([0-9]{1,4})${GAP}(${REPORTER})${GAP}([0-9]{1,5}|_{2,5})(?![0-9])${PIN}${DATE}`,
  "g",
);
const SHORT = new RegExp(
  `(?<![0-9A-Za-z.])([0-9]{1,4})${GAP}(${REPORTER})(?:,)?${GAP}at${GAP}([0-9]{1,5})`,
  "g",
);
const DATABASE = new RegExp(
  `(?<![0-9A-Za-z])((?:19|20)[0-9]{2})${GAP}(WL|U\\.S\\. (?:Dist\\. |App\\. )?LEXIS)${GAP}` +
    "([0-9]{3,9})",
  "g",
);
const SECTION_SIGN = "(?:§§?|[Ss]ec(?:tion|\\.)|[Pp]art)?[ \\t\\n\\u00a0]*";
const SECTION = "([0-9]{1,5}[a-z]{0,2}(?:[-.][0-9]{1,5}[a-z]{0,2})*)";
const CODES = "(U\\.?S\\.?C\\.?|C\\.?F\\.?R\\.?)";
const CODE = new RegExp(
  `(?<![0-9A-Za-z.])([0-9]{1,2})${GAP}${CODES}${GAP}${SECTION_SIGN}${SECTION}`,
  "g",
);
const ID = /(?<![A-Za-z])[Ii]d\.(?= at [0-9]|[,;.]|\s|$)/g;

/** In order of position; what overlaps an earlier kind is left out. */
export function findCitations(text: string): Citation[] {
  const found: Citation[] = [];
  const take = (pattern: RegExp, read: (match: RegExpExecArray, span: Span) => Citation): void => {
    for (const match of text.matchAll(pattern)) {
      const span = { start: match.index, end: match.index + match[0].length, text: match[0] };
      if (!found.some(({ start, end }) => span.start < end && start < span.end))
        found.push(read(match, span));
    }
  };
  take(SHORT, ([, volume, spelling, page], span) => ({
    ...span,
    kind: "short",
    volume: Number(volume),
    reporter: reporterOf(spelling),
    page: Number(page),
  }));
  take(CASE, ([, volume, spelling, page = "", court, year], span) => ({
    ...span,
    kind: "case",
    volume: Number(volume),
    reporter: reporterOf(spelling),
    page: page.startsWith("_") ? null : Number(page),
    year: year === undefined ? null : Number(year),
    court: courtOf(court),
    name: nameBefore(text, span.start),
  }));
  take(DATABASE, ([, year, source = "", number = ""], span) => ({
    ...span,
    kind: "database",
    year: Number(year),
    source,
    number,
    name: nameBefore(text, span.start),
  }));
  take(CODE, ([, title, code = "", section = ""], span) => ({
    ...span,
    kind: code.startsWith("C") ? "regulation" : "statute",
    title: Number(title),
    section,
  }));
  take(ID, (_match, span) => ({ ...span, kind: "id" }));
  return found.sort((a, b) => a.start - b.start);
}

function reporterOf(spelling = ""): Reporter {
  const found = BY_SPELLING.get(spelling.replace(/[ \t\n]+/g, " "));
  // The pattern is made of these spellings.
  return found as Reporter;
}

/** "2d Cir." of "(2d Cir. 2019)"; dates of slip opinions are no part of the court. */
function courtOf(text: string | undefined): string | null {
  const court = (text ?? "")
    .replace(/(?:Jan|Feb|Mar|Apr|May|June|July|Aug|Sept|Oct|Nov|Dec)\.? [0-9]{1,2},?/g, "")
    .trim()
    .replace(/,$/, "");
  return court === "" ? null : court;
}

/** How far back a case's name may begin. */
const NAME_LENGTH_MAX = 250;

/** Words that stand before a case's name and are no part of it. */
const SIGNALS = new RegExp(
  "^(?:.*\\b(?:[Ss]ee also|[Ss]ee|[Cc]f\\.|[Aa]ccord|[Bb]ut see|[Cc]ompare|[Ii]n|" +
    "[Uu]nder|[Ww]ith|[Cc]iting|[Qq]uoting|e\\.g\\.),? )",
  "s",
);

function nameBefore(text: string, end: number): CaseName | null {
  const before = text.slice(Math.max(0, end - NAME_LENGTH_MAX), end).replace(/\s+/g, " ");
  const match = /([^;()"“”]{2,120}?) vs?\. ([^;()"“”]{2,120}?),?(?: No\. [\w:.-]+,)? $/.exec(
    before,
  );
  if (!match) return null;
  const [, left = "", right = ""] = match;
  // A sentence that ended before the name is not part of it.
  const sentence =
    left
      .replace(SIGNALS, "")
      .split(/(?<=[a-z]{3}[.:]) (?=[A-Z])/)
      .at(-1) ?? "";
  const words = sentence.split(" ");
  // The name begins at the first word of the last run of capitalised words.
  let start = words.length;
  while (start > 0 && isNameWord(words[start - 1] ?? "")) start -= 1;
  while (start < words.length && /^[a-z&]/.test(words[start] ?? "")) start += 1;
  const name = words.slice(start).join(" ").trim();
  return name === "" ? null : { left: name, right: right.trim().replace(/,$/, "") };
}

const isNameWord = (word: string): boolean =>
  /^[A-Z0-9'‘“&]/.test(word) || /^(?:of|the|and|ex|rel\.|de|la|van|von|for|on|a|in|re)$/.test(word);
