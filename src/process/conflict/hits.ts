/** Every role that a matched or related party has in a matter, weighed by the matrix. */
import { compareText } from "../order.ts";
import type { PartyMatch } from "./match-parties.ts";
import type { Options } from "./options.ts";
import { type Neighbours, neighboursOf, type Reached, reach, type Step } from "./reach.ts";
import type { ConflictInput, IntakeParty, RecordMatter, RecordRole } from "./schema.ts";
import {
  type Cell,
  explanationCode,
  INTAKE_CLASS,
  loweredSeverity,
  MATRIX,
  type RecordClass,
  recordClassOf,
  SEVERITIES,
  type Severity,
} from "./severity.ts";

export interface Hit {
  readonly intake: IntakeParty;
  /** The record party whose name or identifier matched; null for a relationship of the intake. */
  readonly match: PartyMatch | null;
  readonly subjectId: string;
  readonly path: readonly Step[];
  readonly score: number;
  readonly matter: RecordMatter;
  readonly role: RecordRole;
  readonly recordClass: RecordClass;
  readonly cell: Cell;
  readonly severity: Severity;
  readonly explanation: string;
  /** The matter that the intake itself is about. */
  readonly isOwnMatter: boolean;
}

interface RoleIn {
  readonly matter: RecordMatter;
  readonly role: RecordRole;
  readonly ended: boolean;
}

export interface Hits {
  /** Worst first. */
  readonly hits: readonly Hit[];
  /** Matched parties from which no role in any matter can be reached. */
  readonly idle: readonly PartyMatch[];
}

export function findHits(
  input: ConflictInput,
  matches: readonly PartyMatch[],
  options: Options,
): Hits {
  const limits = { asOf: input.as_of, ownershipMinBp: options.ownership_min_bp };
  const neighbours = neighboursOf(input.records.relationships ?? [], limits);
  const starts = [...startsOf(input, matches, neighbours, options)];
  const roles = rolesOf(starts, input);
  const best = new Map<string, Hit>();
  const idle: PartyMatch[] = [];
  for (const start of starts) {
    let found = 0;
    for (const reached of start.reached) {
      for (const role of roles.get(reached.partyId) ?? []) {
        found += 1;
        keepWorst(best, hitOf(input, start, reached, role, options));
      }
    }
    if (found === 0 && start.match) idle.push(start.match);
  }
  return { hits: [...best.values()].sort(compareHits), idle: idle.sort(compareMatches) };
}

interface Start {
  readonly intake: IntakeParty;
  readonly match: PartyMatch | null;
  readonly reached: readonly Reached[];
}

function* startsOf(
  input: ConflictInput,
  matches: readonly PartyMatch[],
  neighbours: Neighbours,
  { max_hops: hopsMax }: Options,
): Generator<Start> {
  for (const match of matches) {
    yield {
      intake: match.intake,
      match,
      reached: reach(match.record.party_id, neighbours, hopsMax),
    };
  }
  if (hopsMax === 0) return;
  const limits = { asOf: input.as_of, ownershipMinBp: 0 };
  const own = neighboursOf(input.intake.relationships ?? [], limits);
  const intakeIds = new Set(input.intake.parties.map(({ party_id: id }) => id));
  for (const intake of input.intake.parties) {
    for (const step of own.get(intake.party_id) ?? []) {
      const recordId = step.reverse ? step.from : step.to;
      // The other party of the intake is checked in its own role.
      if (intakeIds.has(recordId)) continue;
      const reached = reach(recordId, neighbours, hopsMax - 1).map(({ partyId, path }) => ({
        partyId,
        path: [step, ...path],
      }));
      yield { intake, match: null, reached };
    }
  }
}

/** The roles of the parties that were reached. */
function rolesOf(starts: readonly Start[], input: ConflictInput): Map<string, RoleIn[]> {
  const roles = new Map<string, RoleIn[]>();
  for (const { reached } of starts) for (const { partyId } of reached) roles.set(partyId, []);
  for (const matter of input.records.matters) {
    for (const { party_id: id, role, to } of matter.roles) {
      roles.get(id)?.push({ matter, role, ended: to !== undefined && to < input.as_of });
    }
  }
  return roles;
}

function hitOf(
  input: ConflictInput,
  { intake, match }: Start,
  { partyId, path }: Reached,
  { matter, role, ended }: RoleIn,
  { strong }: Options,
): Hit {
  const row = INTAKE_CLASS[intake.role];
  const recordClass = recordClassOf(matter, role, ended);
  const cell = MATRIX[row][recordClass];
  const score = match?.score ?? RELATIONSHIP_SCORE;
  const isOwnMatter = input.intake.matter?.matter_id === matter.matter_id;
  const levels = path.length + (score < strong ? 1 : 0);
  return {
    intake,
    match,
    subjectId: partyId,
    path,
    score,
    matter,
    role,
    recordClass,
    cell,
    // In its own matter a party meets itself.
    severity: isOwnMatter ? "info" : loweredSeverity(cell.severity, levels),
    explanation: explanationCode(row, recordClass),
    isOwnMatter,
  };
}

/** The intake names the record party itself. */
const RELATIONSHIP_SCORE = 1000;

/** One hit for each intake party, subject, matter and role: the one that weighs most. */
function keepWorst(best: Map<string, Hit>, hit: Hit): void {
  const key = JSON.stringify([
    hit.intake.party_id,
    hit.subjectId,
    hit.matter.matter_id,
    hit.role,
    hit.recordClass,
  ]);
  const known = best.get(key);
  if (!known || compareHits(hit, known) < 0) best.set(key, hit);
}

function compareHits(a: Hit, b: Hit): number {
  return (
    SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
    a.path.length - b.path.length ||
    b.score - a.score ||
    compareText(a.intake.party_id, b.intake.party_id) ||
    compareText(a.subjectId, b.subjectId) ||
    compareText(a.matter.matter_id, b.matter.matter_id) ||
    compareText(a.role, b.role) ||
    compareText(a.match?.record.party_id ?? "", b.match?.record.party_id ?? "") ||
    compareText(JSON.stringify(a.path), JSON.stringify(b.path))
  );
}

function compareMatches(a: PartyMatch, b: PartyMatch): number {
  return (
    b.score - a.score ||
    compareText(a.intake.party_id, b.intake.party_id) ||
    compareText(a.record.party_id, b.record.party_id)
  );
}
