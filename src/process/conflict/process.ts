/** `svc-conflict-check`: finds and explains what may stand against taking on a matter. */
import { defineProcess, type JsonObject } from "../definition.ts";
import golden from "./golden.json";
import { findHits, type Hit } from "./hits.ts";
import { checkInput } from "./input-checks.ts";
import { matchParties, PARTY_SCORES, type PartyMatch } from "./match-parties.ts";
import { NAME_SCORES } from "./name-score.ts";
import { NAME_TABLES } from "./name-tables.ts";
import { NOTE_KINDS, nameNotes, notSearched, truncationNote } from "./notes.ts";
import { DEFAULT_OPTIONS, type Options, optionsOf } from "./options.ts";
import { TOKEN_WEIGHTS } from "./parse-name.ts";
import {
  indexNotes,
  type NoteIndex,
  relatednessFactors,
  waiverFlags,
  wallFlags,
} from "./related-facts.ts";
import { CONFLICT_INPUT, type ConflictInput } from "./schema.ts";
import { INTAKE_CLASS, MATRIX, outcomeOf, SEVERITIES } from "./severity.ts";
import { TOKEN_SCORES } from "./token-score.ts";
import { SCRIPT_TABLES } from "./transliterate.ts";
import { UNICODE_TABLES } from "./unicode-fold.ts";

const VERSION = "1.0.0";

export const svcConflictCheck = defineProcess({
  slug: "svc-conflict-check",
  version: VERSION,
  description:
    "Searches a firm's records for the parties of a new matter: spelling variants, former names, " +
    "relationships, roles. Every hit is explained. It finds and explains; it does not decide, it " +
    "never says that there is no conflict, and it is not legal advice.",
  inputSchema: CONFLICT_INPUT,
  tables: {
    unicode: UNICODE_TABLES,
    scripts: SCRIPT_TABLES,
    names: NAME_TABLES,
    token_weights: TOKEN_WEIGHTS,
    token_scores: TOKEN_SCORES,
    name_scores: NAME_SCORES,
    party_scores: PARTY_SCORES,
    intake_classes: INTAKE_CLASS,
    matrix: MATRIX,
    options: DEFAULT_OPTIONS,
    notes: NOTE_KINDS,
  },
  goldens: golden,
  compute: check,
});

function check(input: ConflictInput): JsonObject {
  checkInput(input);
  const options = optionsOf(input);
  const { matches, comparedPairs, belowReview, recordNames } = matchParties(input, options.review);
  const { hits, idle } = findHits(input, matches, options);
  const shown = hits.slice(0, options.max_hits);
  const notes = indexNotes(input);
  const { records } = input;
  return {
    engine: `svc-conflict-check@${VERSION}`,
    rules: "US-ABA",
    as_of: input.as_of,
    intake_id: input.intake.intake_id,
    ...(records.snapshot_hash === undefined ? {} : { snapshot_hash: records.snapshot_hash }),
    outcome: outcomeOf(hits.map(({ severity }) => severity)),
    hits: shown.map((hit, index) => hitOutput(hit, index, { input, notes, options })),
    hit_counts: Object.fromEntries(
      SEVERITIES.map((severity) => [
        severity,
        hits.filter((hit) => hit.severity === severity).length,
      ]),
    ),
    matches_without_matter: idle.slice(0, options.max_hits).map(idleOutput),
    exceptions: [...nameNotes(input), ...truncationNote(hits.length, shown.length)].map((note) => ({
      ...note,
    })),
    thresholds: { ...options },
    searched: {
      intake_parties: input.intake.parties.length,
      parties: records.parties.length,
      names: recordNames,
      matters: records.matters.length,
      relationships: records.relationships?.length ?? 0,
      waivers: records.waivers?.length ?? 0,
      walls: records.walls?.length ?? 0,
      compared_pairs: comparedPairs,
      below_review: belowReview,
    },
    not_searched: notSearched(input),
    decision_required: "A lawyer decides whether there is a conflict.",
  };
}

interface Context {
  readonly input: ConflictInput;
  readonly notes: NoteIndex;
  readonly options: Options;
}

function hitOutput(hit: Hit, index: number, { input, notes, options }: Context): JsonObject {
  const waivers = notes.waiversOf(hit);
  const walls = notes.wallsOf(hit);
  const flags = [
    ...waivers.flatMap((waiver) =>
      waiverFlags(waiver, input.as_of).map((flag) => ({ waiver_id: waiver.waiver_id, flag })),
    ),
    ...walls.flatMap((wall) =>
      wallFlags(wall, input.as_of).map((flag) => ({ wall_id: wall.wall_id, flag })),
    ),
  ];
  return {
    hit_id: `h-${String(index + 1).padStart(2, "0")}`,
    intake_party_id: hit.intake.party_id,
    intake_role: hit.intake.role,
    matched_party_id: hit.match?.record.party_id ?? null,
    subject_party_id: hit.subjectId,
    hops: hit.path.length,
    path: hit.path.map((step) => ({ ...step })),
    match: matchOutput(hit, options.strong),
    record_role: hit.role,
    record_class: hit.recordClass,
    matter_id: hit.matter.matter_id,
    code: hit.cell.code,
    rule: hit.cell.rule,
    severity: hit.severity,
    ...(hit.isOwnMatter ? { own_matter: true } : {}),
    relatedness_factors: relatednessFactors(hit, input),
    waivers: waivers.map(({ waiver_id: id }) => id),
    walls: walls.map(({ wall_id: id }) => id),
    ...(flags.length === 0 ? {} : { flags }),
    explanation_code: hit.explanation,
  };
}

function matchOutput({ match, score }: Hit, strong: number): JsonObject {
  const band = score >= strong ? "strong" : "review";
  if (!match) return { score, band, by: "relationship" };
  return {
    score,
    band,
    by: match.by,
    intake_value: match.intakeValue,
    record_value: match.recordValue,
    evidence: match.evidence.map((one) => ({ ...one })),
    reasons: match.reasons,
  };
}

function idleOutput({ intake, record, score }: PartyMatch): JsonObject {
  return { intake_party_id: intake.party_id, matched_party_id: record.party_id, score };
}
