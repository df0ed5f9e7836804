/** Inputs of the conflict bench: a large firm, and pairs of names with labels. */
import Papa from "papaparse";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { scoreNames } from "../../src/process/conflict/name-score.ts";
import { DEFAULT_OPTIONS } from "../../src/process/conflict/options.ts";
import { parseName } from "../../src/process/conflict/parse-name.ts";

const GIVEN = "James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth".split(" ");
const SYLLABLES = "ba ko ler mi son ta ri ne du val".split(" ");
const TRADES = ["Systems", "Energy", "Foods"] as const;
const FORMS = ["Inc.", "LLC", "Corp."] as const;

/** One adverse party, and as many record parties, each with a role in one matter of five. */
export function conflictRecords(count: number): JsonValue {
  const parties = Array.from({ length: count }, (_, index) => ({
    party_id: `p${index}`,
    kind: index % 3 === 0 ? "organization" : "person",
    names: [{ name: index % 3 === 0 ? company(index) : person(index) }],
  }));
  const matters = Array.from({ length: count / 5 }, (_, index) => ({
    matter_id: `m${index}`,
    status: "open",
    roles: [0, 1, 2, 3, 4].map((offset) => ({
      party_id: `p${index * 5 + offset}`,
      role: offset === 0 ? "client" : "adverse_party",
    })),
  }));
  return {
    as_of: "2026-07-01",
    intake: {
      intake_id: "bench",
      parties: [
        {
          party_id: "q1",
          kind: "person",
          role: "adverse_party",
          names: [{ name: person(1) }],
        },
      ],
    },
    records: { parties, matters },
  };
}

const person = (index: number): string =>
  `${GIVEN[index % GIVEN.length]} ${String.fromCharCode(65 + (index % 26))}. ${surname(index * 7919)}`;

const company = (index: number): string =>
  `${surname(index * 31)} ${TRADES[index % 3]} ${FORMS[(index >> 2) % 3]}`;

/** 3,000 different ones. */
function surname(seed: number): string {
  let name = "";
  for (let left = (seed % 3000) + 7; left > 0; left = Math.floor(left / 10))
    name += SYLLABLES[left % 10] ?? "";
  return name.charAt(0).toUpperCase() + name.slice(1);
}

interface LabelledPair {
  readonly schema: string;
  readonly name1: string;
  readonly name2: string;
  readonly is_match: string;
}

export function nameScores(csv: string): JsonValue {
  const { data } = Papa.parse<LabelledPair>(csv, { header: true, skipEmptyLines: true });
  const count = { true_positive: 0, false_positive: 0, false_negative: 0, true_negative: 0 };
  for (const { schema, name1, name2, is_match: label } of data) {
    const form = schema === "Person" ? "person" : "organization";
    const { score } = scoreNames(parseName(name1, form), parseName(name2, form));
    const isHit = score >= DEFAULT_OPTIONS.review;
    const isMatch = label.toLowerCase() === "true";
    if (isMatch) count[isHit ? "true_positive" : "false_negative"] += 1;
    else count[isHit ? "false_positive" : "true_negative"] += 1;
  }
  const { true_positive: hits, false_positive: false_alarms, false_negative: misses } = count;
  const rate = (of: number): number => Math.round((1000 * hits) / of) / 1000;
  return {
    pairs: data.length,
    threshold: DEFAULT_OPTIONS.review,
    ...count,
    precision: rate(hits + false_alarms),
    recall: rate(hits + misses),
    f1: Math.round((2000 * hits) / (2 * hits + false_alarms + misses)) / 1000,
  };
}
