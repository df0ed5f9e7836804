/** Which record parties an intake party may be, with the best reason for each. */

import { ascii } from "../ascii.ts";
import { ProcessInputError } from "../input-error.ts";
import { compareText } from "../order.ts";
import { type NameScore, scoreNames } from "./name-score.ts";
import { FREE_MAIL } from "./name-tables.ts";
import { type NameForm, type ParsedName, parseName } from "./parse-name.ts";
import { indexNames, type RecordIndex } from "./record-index.ts";
import type { ConflictInput, IntakeParty, PartyKind, RecordParty } from "./schema.ts";
import { splitNames } from "./split-names.ts";
import { rememberedScores } from "./token-score.ts";

export interface PartyMatch {
  readonly intake: IntakeParty;
  readonly record: RecordParty;
  readonly score: number;
  readonly by: "name" | "identifier";
  readonly intakeValue: string;
  readonly recordValue: string;
  readonly evidence: NameScore["evidence"];
  readonly reasons: readonly string[];
}

export interface Matching {
  /** At the review threshold or above. */
  readonly matches: readonly PartyMatch[];
  readonly comparedPairs: number;
  /** Pairs of parties that scored, but less than the review threshold. */
  readonly belowReview: number;
  readonly recordNames: number;
}

/** Caps and scores that belong to parties, not to names. */
export const PARTY_SCORES = {
  kind_conflict: 720,
  birth_conflict: 720,
  identifier: 1000,
  email_domain: 850,
  phone: 850,
} as const;

/** What identifies one party; the others only support or weaken a name. */
const STRONG_IDENTIFIERS: ReadonlySet<string> = new Set([
  "ein",
  "lei",
  "duns",
  "company_number",
  "bar_number",
  "email",
  "passport_hash",
  "ssn_hash",
  "naic",
]);

interface PartyName {
  readonly text: string;
  readonly party: number;
  readonly family: string | undefined;
}

export function matchParties(input: ConflictInput, review: number): Matching {
  const records = input.records.parties;
  const names: PartyName[] = [];
  for (let index = 0; index < records.length; index += 1) {
    const party = records[index];
    if (party) addNames(names, party, index);
  }
  const index = indexNames(names);
  const parse = memoisedParser(names);
  const byIdentifier = identifierIndex(records);
  const budget = comparisonBudget();
  const matches: PartyMatch[] = [];
  let comparedPairs = 0;
  let belowReview = 0;
  for (const intake of input.intake.parties) {
    const best = new Map<number, PartyMatch>();
    const offer = (record: number, match: PartyMatch): void => {
      const known = best.get(record);
      if (!known || compareOffers(match, known) < 0) best.set(record, match);
    };
    for (const [record, match] of identifierMatches(intake, records, byIdentifier))
      offer(record, match);
    for (const [record, match] of nameMatches(intake, { records, names, index, parse, budget })) {
      comparedPairs += 1;
      offer(record, match);
    }
    for (const match of best.values()) {
      if (match.score >= review) matches.push(match);
      else if (match.score > 0) belowReview += 1;
    }
  }
  return { matches, comparedPairs, belowReview, recordNames: names.length };
}

/** The best score; between equal ones, an order that the input's does not change. */
function compareOffers(a: PartyMatch, b: PartyMatch): number {
  return (
    b.score - a.score ||
    compareText(a.by, b.by) ||
    compareText(a.intakeValue, b.intakeValue) ||
    compareText(a.recordValue, b.recordValue)
  );
}

function addNames(names: PartyName[], party: IntakeParty | RecordParty, index: number): void {
  for (const { name, type, family } of party.names) {
    for (const { text } of splitNames(name, type ?? "legal"))
      names.push({ text, party: index, family });
  }
}

function namesOf(party: IntakeParty): readonly PartyName[] {
  const names: PartyName[] = [];
  addNames(names, party, 0);
  return names;
}

interface Side {
  readonly records: readonly RecordParty[];
  readonly names: readonly PartyName[];
  readonly index: RecordIndex;
  readonly parse: (name: number, form: NameForm) => ParsedName;
  readonly budget: ComparisonBudget;
}

/**
 * What one call may compare, in pairs of ordinary names: 30 parties that share a given name with
 * 10,000 each. A count, so that load never decides; about 6 s at most (measured).
 */
const COMPARISONS_MAX = 300_000;

/** Words of both sides, times those of the shorter, that make one ordinary pair (4 by 4). */
const PAIR_WORDS = 64;

interface ComparisonBudget {
  /** @throws ProcessInputError `too_many_comparisons` */
  spend(q: ParsedName, r: ParsedName): void;
}

function comparisonBudget(): ComparisonBudget {
  let spent = 0;
  return {
    spend: ({ tokens: { length: q } }, { tokens: { length: r } }) => {
      spent += Math.ceil((q * r * Math.min(q, r)) / PAIR_WORDS) || 1;
      if (spent <= COMPARISONS_MAX) return;
      const message =
        `the parties are like too many on file, or their names have too many words: more than ` +
        `${COMPARISONS_MAX} comparisons; check fewer parties in each call`;
      throw new ProcessInputError("too_many_comparisons", "/intake/parties", message);
    },
  };
}

function* nameMatches(
  intake: IntakeParty,
  { records, names, index, parse, budget }: Side,
): Generator<readonly [record: number, match: PartyMatch]> {
  const words = {
    person: rememberedScores("person"),
    organization: rememberedScores("organization"),
  };
  for (const { text, family } of namesOf(intake)) {
    const parsed = new Map<NameForm, ParsedName>();
    const query = (form: NameForm): ParsedName => {
      const known = parsed.get(form) ?? parseName(text, form, family);
      parsed.set(form, known);
      return known;
    };
    const lookups: readonly NameForm[] =
      intake.kind === "unknown" ? ["person", "organization"] : [formOf(intake.kind)];
    const candidates = new Set(lookups.flatMap((form) => index.candidates(query(form), text)));
    for (const candidate of candidates) {
      const name = names[candidate];
      const record = name && records[name.party];
      if (!record) continue;
      const form = commonForm(intake.kind, record.kind, () =>
        [query("organization"), parse(candidate, "organization")].some(
          ({ designators }) => designators.length > 0,
        ),
      );
      budget.spend(query(form), parse(candidate, form));
      const scored = scoreNames(query(form), parse(candidate, form), words[form]);
      const { score, reasons } = cappedScore(scored, intake, record);
      yield [
        name.party,
        {
          intake,
          record,
          score,
          by: "name",
          intakeValue: text,
          recordValue: name.text,
          evidence: scored.evidence,
          reasons,
        },
      ];
    }
  }
}

/** A kind that is not known takes the form of the other side. */
function commonForm(a: PartyKind, b: PartyKind, hasDesignator: () => boolean): NameForm {
  if (a === "unknown" && b === "unknown") return hasDesignator() ? "organization" : "person";
  if (a === "unknown") return formOf(b);
  if (b === "unknown") return formOf(a);
  return formOf(a) === formOf(b) ? formOf(a) : "organization";
}

function formOf(kind: PartyKind): NameForm {
  return kind === "person" ? "person" : "organization";
}

function cappedScore(
  scored: NameScore,
  intake: IntakeParty,
  record: RecordParty,
): { readonly score: number; readonly reasons: readonly string[] } {
  const reasons = [...scored.reasons];
  let { score } = scored;
  const isKnown = intake.kind !== "unknown" && record.kind !== "unknown";
  if (isKnown && formOf(intake.kind) !== formOf(record.kind)) {
    score = Math.min(score, PARTY_SCORES.kind_conflict);
    reasons.push("kind_conflict");
  }
  if (bornApart(intake, record)) {
    score = Math.min(score, PARTY_SCORES.birth_conflict);
    reasons.push("birth_conflict");
  }
  return { score, reasons };
}

function bornApart(a: IntakeParty, b: RecordParty): boolean {
  const birth = (party: RecordParty): string | undefined =>
    party.identifiers?.find(({ type }) => type === "dob")?.value;
  const [ofA, ofB] = [birth(a), birth(b)];
  if (ofA !== undefined && ofB !== undefined) return ofA !== ofB;
  return a.birth_year !== undefined && b.birth_year !== undefined && a.birth_year !== b.birth_year;
}

function memoisedParser(names: readonly PartyName[]): Side["parse"] {
  const memo = {
    person: new Map<number, ParsedName>(),
    organization: new Map<number, ParsedName>(),
  };
  return (position, form) => {
    const known = memo[form].get(position);
    if (known) return known;
    const name = names[position];
    const parsed = parseName(name?.text ?? "", form, name?.family);
    memo[form].set(position, parsed);
    return parsed;
  };
}

interface Identifier {
  readonly type: string;
  readonly value: string;
}

/** In the spelling that equal identifiers share; null for what identifies nobody. */
function identifierKeys(party: RecordParty): Identifier[] {
  return (party.identifiers ?? []).flatMap(({ type, value, country }) => {
    const text = ascii.lower(ascii.trim(value));
    if (type === "email") {
      const domain = text.slice(text.lastIndexOf("@") + 1);
      return [{ type, value: text }, ...domainKeys(domain)];
    }
    if (type === "email_domain") return domainKeys(text);
    if (type === "dob") return [];
    const plain = text.replace(/[^0-9a-z]/g, "");
    if (plain === "") return [];
    if (type === "phone") return plain.length < 7 ? [] : [{ type, value: plain.slice(-10) }];
    const place = type === "company_number" ? `${country ?? ""}:` : "";
    return [{ type, value: `${place}${plain}` }];
  });
}

function domainKeys(domain: string): Identifier[] {
  const isShared = FREE_MAIL.has(domain) || !domain.includes(".");
  return isShared ? [] : [{ type: "email_domain", value: domain }];
}

function identifierIndex(records: readonly RecordParty[]): Map<string, number[]> {
  const byKey = new Map<string, number[]>();
  for (const [index, party] of records.entries()) {
    if (!party.identifiers) continue;
    for (const { type, value } of identifierKeys(party)) {
      const key = `${type} ${value}`;
      byKey.set(key, [...(byKey.get(key) ?? []), index]);
    }
  }
  return byKey;
}

function* identifierMatches(
  intake: IntakeParty,
  records: readonly RecordParty[],
  byKey: ReadonlyMap<string, readonly number[]>,
): Generator<readonly [record: number, match: PartyMatch]> {
  for (const { type, value } of identifierKeys(intake)) {
    for (const index of byKey.get(`${type} ${value}`) ?? []) {
      const record = records[index];
      if (!record) continue;
      const score = identifierScore(type);
      const evidence = [{ q: value, r: value, s: score, how: type }];
      const match = { intake, record, score, by: "identifier" as const, evidence, reasons: [] };
      yield [index, { ...match, intakeValue: `${type}:${value}`, recordValue: `${type}:${value}` }];
    }
  }
}

function identifierScore(type: string): number {
  if (STRONG_IDENTIFIERS.has(type)) return PARTY_SCORES.identifier;
  return type === "phone" ? PARTY_SCORES.phone : PARTY_SCORES.email_domain;
}
