/** `cite-check`: the US citations of a text, their form, and whether they are what they say. */
import { parseDate } from "../civil-date.ts";
import { scoreNames } from "../conflict/name-score.ts";
import { parseName } from "../conflict/parse-name.ts";
import { defineProcess, type JsonObject } from "../definition.ts";
import { ProcessInputError } from "../input-error.ts";
import { type CaseName, type Citation, findCitations } from "./find.ts";
import golden from "./golden.json";
import { CHECKED_YEAR, REPORTERS } from "./reporters.ts";
import { CITATION_INPUT, type CitationInput } from "./schema.ts";

const VERSION = "1.0.0";

/** Name scores from here on are the same party; case names are abbreviated in many ways. */
const SAME_NAME_MIN = 600;

/** Volumes that a running series may grow by in a year. */
const VOLUMES_A_YEAR = 40;

export const CITATION_FINDINGS = {
  /** The table has another case at this place. */
  NAME_MISMATCH: "error",
  YEAR_MISMATCH: "error",
  /** The series never had, or cannot yet have, such a volume. */
  VOLUME_NOT_PUBLISHED: "error",
  YEAR_OUTSIDE_SERIES: "error",
  YEAR_IN_FUTURE: "error",
  NOT_IN_TABLE: "warning",
  SHORT_WITHOUT_FULL: "warning",
  ID_WITHOUT_ANTECEDENT: "warning",
  YEAR_MISSING: "warning",
  COURT_MISSING: "warning",
  PAGE_BLANK: "warning",
  NAME_MISSING: "info",
} as const;

type FindingCode = keyof typeof CITATION_FINDINGS;

export const citeCheck = defineProcess({
  slug: "cite-check",
  version: VERSION,
  description:
    "Finds US case, statute and database citations in a text, checks form and plausibility, and " +
    "compares them with a table of authorities that the caller supplies. A citation that is not " +
    "in the table is not proven wrong; one that is plausible is not proven real.",
  inputSchema: CITATION_INPUT,
  tables: {
    reporters: REPORTERS.map((reporter) => ({ ...reporter })),
    checked_year: CHECKED_YEAR,
    findings: CITATION_FINDINGS,
    same_name_min: SAME_NAME_MIN,
    volumes_a_year: VOLUMES_A_YEAR,
  },
  goldens: golden,
  compute: checkCitations,
});

type Authority = NonNullable<CitationInput["authorities"]>[number];
type Authorities = ReadonlyMap<string, readonly Authority[]>;

function checkCitations(input: CitationInput): JsonObject {
  if (parseDate(input.as_of) === null)
    throw new ProcessInputError("invalid_date", "/as_of", `${input.as_of} is no day`);
  const asOfYear = Number(input.as_of.slice(0, 4));
  const authorities = input.authorities ? tableOf(input.authorities) : null;
  const seen = new Set<string>();
  let hasAntecedent = false;
  const citations = findCitations(input.text).map((citation) => {
    const context = { authorities, asOfYear, seen, hasAntecedent };
    const output = citationOutput(citation, context);
    if (citation.kind === "case") seen.add(seriesKey(citation));
    hasAntecedent = true;
    return output;
  });
  const codes = citations.flatMap(({ findings }) => findings);
  const count = (severity: string): number =>
    codes.filter((code) => CITATION_FINDINGS[code] === severity).length;
  return {
    engine: `cite-check@${VERSION}`,
    as_of: input.as_of,
    status: count("error") > 0 ? "errors_found" : count("warning") > 0 ? "review" : "no_findings",
    counts: {
      citations: citations.length,
      error: count("error"),
      warning: count("warning"),
      info: count("info"),
    },
    authorities_supplied: input.authorities?.length ?? 0,
    citations,
  };
}

interface Context {
  readonly authorities: Authorities | null;
  readonly asOfYear: number;
  /** Series and volume of the full citations so far. */
  readonly seen: ReadonlySet<string>;
  readonly hasAntecedent: boolean;
}

function citationOutput(citation: Citation, context: Context) {
  const { start, end, text, kind } = citation;
  const { findings, authority } = findingsOf(citation, context);
  return {
    kind,
    start,
    end,
    text,
    normalized: normalizedOf(citation),
    ...("name" in citation && citation.name ? { name: nameText(citation.name) } : {}),
    ...("year" in citation && citation.year !== null ? { year: citation.year } : {}),
    ...("court" in citation && citation.court !== null ? { court: citation.court } : {}),
    status: statusOf(citation, findings, authority, context),
    findings,
    ...(authority ? { authority: { ...authority } } : {}),
  };
}

const nameText = ({ left, right }: CaseName): string => `${left} v. ${right}`;

function normalizedOf(citation: Citation): string | null {
  switch (citation.kind) {
    case "case":
      return citation.page === null
        ? null
        : caseKey(citation.volume, citation.reporter.name, citation.page);
    case "short":
      return caseKey(citation.volume, citation.reporter.name, citation.page);
    case "database":
      return `${citation.year} ${citation.source} ${citation.number}`;
    case "statute":
      return `${citation.title} U.S.C. § ${citation.section}`;
    case "regulation":
      return `${citation.title} C.F.R. § ${citation.section}`;
    case "id":
      return null;
  }
}

function findingsOf(
  citation: Citation,
  context: Context,
): { readonly findings: FindingCode[]; readonly authority: Authority | null } {
  const none = { findings: [], authority: null };
  switch (citation.kind) {
    case "id":
      return context.hasAntecedent
        ? none
        : { findings: ["ID_WITHOUT_ANTECEDENT"], authority: null };
    case "short":
      return context.seen.has(seriesKey(citation))
        ? none
        : { findings: ["SHORT_WITHOUT_FULL"], authority: null };
    case "case":
      return caseFindings(citation, context);
    case "database":
      return databaseFindings(citation, context);
    default:
      return none;
  }
}

function caseFindings(citation: Extract<Citation, { kind: "case" }>, context: Context) {
  const { reporter, volume, year, page, name, court } = citation;
  const findings: FindingCode[] = [];
  const growth = reporter.lastYear === null ? context.asOfYear - CHECKED_YEAR : 0;
  if (volume < 1 || volume > reporter.volumeMax + Math.max(0, growth) * VOLUMES_A_YEAR)
    findings.push("VOLUME_NOT_PUBLISHED");
  if (year === null) findings.push("YEAR_MISSING");
  else if (year > context.asOfYear) findings.push("YEAR_IN_FUTURE");
  // A volume may hold decisions of the year before or after its series changes.
  else if (
    year < reporter.firstYear - 1 ||
    (reporter.lastYear !== null && year > reporter.lastYear + 1)
  )
    findings.push("YEAR_OUTSIDE_SERIES");
  if (page === null) findings.push("PAGE_BLANK");
  if (reporter.courtNeeded && year !== null && court === null) findings.push("COURT_MISSING");
  if (name === null) findings.push("NAME_MISSING");
  const key = page === null ? null : caseKey(volume, reporter.name, page);
  const compared = compareWithTable(key, name, year, context.authorities);
  return { findings: [...findings, ...compared.findings], authority: compared.authority };
}

function databaseFindings(citation: Extract<Citation, { kind: "database" }>, context: Context) {
  const { year, source, number, name } = citation;
  const future: FindingCode[] = year > context.asOfYear ? ["YEAR_IN_FUTURE"] : [];
  const key = `${year} ${source} ${number}`;
  const compared = compareWithTable(key, name, year, context.authorities);
  return { findings: [...future, ...compared.findings], authority: compared.authority };
}

function compareWithTable(
  key: string | null,
  name: CaseName | null,
  year: number | null,
  authorities: Authorities | null,
): { readonly findings: FindingCode[]; readonly authority: Authority | null } {
  if (authorities === null || key === null) return { findings: [], authority: null };
  const listed = authorities.get(key);
  const [first] = listed ?? [];
  if (!listed || !first) return { findings: ["NOT_IN_TABLE"], authority: null };
  // Several short decisions may begin on one page.
  const authority = listed.find((one) => name === null || isSameCase(name, one.name)) ?? first;
  const findings: FindingCode[] = [];
  if (name !== null && !isSameCase(name, authority.name)) findings.push("NAME_MISMATCH");
  if (year !== null && year !== authority.year) findings.push("YEAR_MISMATCH");
  return { findings, authority };
}

function isSameCase({ left, right }: CaseName, known: string): boolean {
  const [knownLeft = "", knownRight] = known.split(/ vs?\. /);
  if (knownRight === undefined) return isSameParty(`${left} ${right}`, known);
  return isSameParty(left, knownLeft) && isSameParty(right, knownRight);
}

function isSameParty(a: string, b: string): boolean {
  const [one, other] = [parseName(a, "organization"), parseName(b, "organization")];
  const score = Math.max(scoreNames(one, other).score, scoreNames(other, one).score);
  return score >= SAME_NAME_MIN;
}

function statusOf(
  { kind }: Citation,
  findings: readonly FindingCode[],
  authority: Authority | null,
  { authorities }: Context,
): string {
  if (findings.some((code) => CITATION_FINDINGS[code] === "error")) return "suspect";
  if (authority) return "in_table";
  const isListable = kind === "case" || kind === "database";
  return authorities !== null && isListable ? "not_in_table" : "not_checked";
}

function tableOf(list: readonly Authority[]): Authorities {
  const table = new Map<string, Authority[]>();
  for (const [index, authority] of list.entries()) {
    const [citation] = findCitations(authority.cite);
    const key = citation && citation.kind !== "short" ? normalizedOf(citation) : null;
    if (key === null) {
      const message = `${authority.cite} is no citation that can be looked up`;
      throw new ProcessInputError("invalid_input", `/authorities/${index}/cite`, message);
    }
    table.set(key, [...(table.get(key) ?? []), authority]);
  }
  for (const same of table.values())
    same.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.year - b.year));
  return table;
}

const caseKey = (volume: number, reporter: string, page: number): string =>
  `${volume} ${reporter} ${page}`;

const seriesKey = ({ volume, reporter }: { volume: number; reporter: { name: string } }): string =>
  `${volume} ${reporter.name}`;
