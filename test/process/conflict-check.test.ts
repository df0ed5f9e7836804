/** The worked example, and what holds for every input. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { svcConflictCheck } from "../../src/process/conflict/process.ts";
import { runProcess } from "../../src/process/definition.ts";
import { ProcessInputError } from "../../src/process/input-error.ts";
import worked from "../vectors/conflict/worked.json";
import { firmOf, NAME, ROLE } from "./conflict-arbitrary.ts";
import { check, type Firm, firmWith, hitsOf } from "./conflict-firm.ts";

describe("the worked example", () => {
  const output = svcConflictCheck.run(worked);
  const hits = output["hits"] as unknown as Record<string, JsonValue>[];

  test("finds the six hits, worst first", () => {
    const summary = hits.map((hit) =>
      [
        hit["severity"],
        hit["code"],
        hit["intake_party_id"],
        hit["matched_party_id"],
        hit["subject_party_id"],
        hit["matter_id"],
        (hit["match"] as { score: number }).score,
      ].join(" "),
    );
    expect(summary).toEqual([
      "high CURRENT_CLIENT_IS_WITNESS q4 r5 r5 M-103 1000",
      "high ADVERSE_TO_PROSPECTIVE_CLIENT q5 r6 r6 M-104 980",
      "high ADVERSE_TO_FORMER_CLIENT q3 r4 r4 M-102 875",
      "high ADVERSE_TO_CURRENT_CLIENT q2 r2 r3 M-101 970",
      "medium ADVERSE_TO_FORMER_CLIENT q2 r2 r3 M-100 970",
      "low PROSPECT_WAS_ADVERSE q1 r1 r1 M-100 884",
    ]);
  });

  test("explains each of them", () => {
    expect(hits[2]).toEqual({
      hit_id: "h-03",
      intake_party_id: "q3",
      intake_role: "adverse_party",
      matched_party_id: "r4",
      subject_party_id: "r4",
      hops: 0,
      path: [],
      match: {
        score: 875,
        band: "strong",
        by: "name",
        intake_value: "Bob Schmitt",
        record_value: "Robert Schmidt",
        evidence: [
          { q: "bob", r: "robert", s: 900, how: "nickname" },
          { q: "schmitt", r: "schmidt", s: 857, how: "edit:1" },
        ],
        reasons: [],
      },
      record_role: "client",
      record_class: "former_client",
      matter_id: "M-102",
      code: "ADVERSE_TO_FORMER_CLIENT",
      rule: "ABA 1.9(a),(c)",
      severity: "high",
      relatedness_factors: [
        { factor: "same_practice_area", value: "Employment" },
        { factor: "closed_on", value: "2023-07-01", age_days: 1096 },
      ],
      waivers: ["W-9"],
      walls: [],
      flags: [
        { waiver_id: "W-9", flag: "expired" },
        { waiver_id: "W-9", flag: "not_in_writing" },
      ],
      explanation_code: "ADV_FORMER",
    });
  });

  test("leaves the decision to a lawyer", () => {
    expect(output).toMatchObject({
      engine: "svc-conflict-check@1.0.0",
      outcome: "review_required",
      hit_counts: { critical: 0, high: 4, medium: 1, low: 1, info: 0 },
      not_searched: ["no_lateral_matters", "no_firm_personnel"],
    });
    expect(JSON.stringify(output)).not.toMatch(/no.conflict/i);
  });

  test("has the same output in every build", () => {
    // Cut from engine 1.0.0; a change here is a new engine version.
    expect(runProcess(svcConflictCheck, worked).outputHash).toBe(
      "3898ea8654f569cff42358aa2e9db63779ef0994cd566eb46a1dad7ed7aee341",
    );
  });
});

const shuffled = <T>(items: readonly T[]): fc.Arbitrary<T[]> =>
  fc.shuffledSubarray([...items], { minLength: items.length });

test("input order changes nothing", () => {
  const reordered = fc
    .tuple(
      shuffled(worked.intake.parties),
      shuffled(worked.records.parties),
      shuffled(worked.records.matters),
    )
    .map(([parties, records, matters]) => ({
      ...worked,
      intake: { ...worked.intake, parties },
      records: { ...worked.records, parties: records, matters },
    }));
  const expected = runProcess(svcConflictCheck, worked).outputHash;
  fc.assert(
    fc.property(reordered, (input) => {
      expect(runProcess(svcConflictCheck, input).outputHash).toBe(expected);
    }),
    { numRuns: 30 },
  );
});

const keyOf = (hit: ReturnType<typeof hitsOf>[number]): string =>
  [hit.severity, hit.intake_party_id, hit.subject_party_id, hit.matter_id, hit.match.score].join();

test("adding an irrelevant party never removes a hit", () => {
  const people = fc.array(fc.tuple(NAME, ROLE), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(people, NAME, fc.array(NAME, { maxLength: 4 }), (records, query, others) => {
      const before = hitsOf(firmOf(query, records)).map(keyOf);
      const firm = firmOf(query, records);
      for (const [index, name] of others.entries())
        firm.records.parties.push({ party_id: `x${index}`, kind: "person", names: [{ name }] });
      for (const [index, name] of others.entries())
        firm.intake.parties.push({
          party_id: `z${index}`,
          kind: "person",
          role: "witness",
          names: [{ name }],
        });
      const after = new Set(hitsOf(firm).map(keyOf));
      expect(before.filter((hit) => !after.has(hit))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test("more comparisons than one call may make are refused, by a count", () => {
  const letters = "abcdefghij".repeat(15).split("").join(" ");
  const of = (count: number): unknown => {
    const records = Array.from({ length: count }, () => [letters.slice(0, -2), "client"] as const);
    return check(firmOf(letters, records))["outcome"];
  };
  // 150 by 149 words is 52,034 ordinary pairs.
  expect(of(5)).toBe("no_hits");
  expect(() => of(6)).toThrow(
    expect.objectContaining({ code: "too_many_comparisons", pointer: "/intake/parties" }),
  );
});

describe("refused", () => {
  const refusal = (change: (firm: Firm) => unknown): string => {
    const firm = firmWith("adverse_party", "client");
    change(firm);
    try {
      check(firm);
    } catch (error) {
      if (error instanceof ProcessInputError) return `${error.code} ${error.pointer}`;
      throw error;
    }
    return "accepted";
  };
  const twice = <T>(items: T[]): unknown => items.push(...structuredClone(items));
  const cases: readonly (readonly [string, (firm: Firm) => unknown, string])[] = [
    ["nothing wrong", () => null, "accepted"],
    ["a day that is none", (f) => (f.as_of = "2026-06-31"), "invalid_date /as_of"],
    [
      "a name's day that is none",
      (f) => Object.assign(f.records.parties[0]?.names[0] ?? {}, { from: "2026-02-30" }),
      "invalid_date /records/parties/0/names/0/from",
    ],
    [
      "one party twice",
      (f) => twice(f.records.parties),
      "duplicate_id /records/parties/1/party_id",
    ],
    [
      "one matter twice",
      (f) => twice(f.records.matters),
      "duplicate_id /records/matters/1/matter_id",
    ],
    [
      "one intake party twice",
      (f) => twice(f.intake.parties),
      "duplicate_id /intake/parties/1/party_id",
    ],
    [
      "a role of nobody",
      (f) => f.records.matters[0]?.roles.push({ party_id: "r7", role: "client" }),
      "unknown_reference /records/matters/0/roles/1/party_id",
    ],
    [
      "a relationship to nobody",
      (f) => (f.records.relationships = [{ from: "r1", to: "r7", type: "owns" }]),
      "unknown_reference /records/relationships/0/to",
    ],
    [
      "a waiver of nobody",
      (f) => (f.records.waivers = [{ waiver_id: "W", party_id: "r7" }]),
      "unknown_reference /records/waivers/0/party_id",
    ],
    [
      "thresholds that hide strong matches",
      (f) => (f.options = { review: 900, strong: 850 }),
      "conflicting_input /options/strong",
    ],
    [
      "no names",
      (f) => (f.intake.parties[0] as { names: unknown[] }).names.splice(0),
      "invalid_input /intake/parties/0/names",
    ],
    [
      "half a surrogate pair",
      (f) => Object.assign(f.intake.parties[0]?.names[0] ?? {}, { name: "Ja\ud800ne" }),
      "not_canonical /intake/parties/0/names/0/name",
    ],
    [
      "a misspelt member",
      (f) => Object.assign(f.records, { partys: [] }),
      "invalid_input /records/partys",
    ],
  ];
  for (const [name, change, expected] of cases) {
    test(name, () => {
      expect(refusal(change)).toBe(expected);
    });
  }
});
