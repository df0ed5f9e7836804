/** Every cell of the severity matrix, and what lowers, hides or marks a hit. */
import { describe, expect, test } from "bun:test";
import { NOTE_KINDS } from "../../src/process/conflict/notes.ts";
import type { IntakeRole, RecordMatter, RecordRole } from "../../src/process/conflict/schema.ts";
import { INTAKE_CLASS, MATRIX } from "../../src/process/conflict/severity.ts";
import { check, type Firm, firmWith, hitsOf, notesOf } from "./conflict-firm.ts";

type Column = readonly [role: RecordRole, matter: Partial<RecordMatter>];

/** One way onto each column of the matrix. */
const COLUMNS = {
  current: ["client", { status: "open" }],
  former: ["client", { status: "closed" }],
  prospective: ["client", { status: "prospective", engagement: "declined" }],
  opponent: ["adverse_party", { status: "open" }],
  past_opponent: ["adverse_party", { status: "closed" }],
  lateral: ["client", { status: "closed", source: "lateral" }],
  personnel: ["firm_personnel", { status: "open" }],
  other: ["witness", { status: "open" }],
  past_other: ["witness", { status: "closed" }],
} as const satisfies Record<string, Column>;

/** Severity and code of each cell, in the order of the columns above. */
const ROWS: Readonly<Partial<Record<IntakeRole, readonly string[]>>> = {
  prospective_client: [
    "info EXISTING_CLIENT",
    "info RETURNING_CLIENT",
    "info RETURNING_PROSPECT",
    "critical PROSPECT_IS_ADVERSE",
    "low PROSPECT_WAS_ADVERSE",
    "low PROSPECT_WAS_LATERALS_CLIENT",
    "high PROSPECT_IS_FIRM_PERSONNEL",
    "low PROSPECT_IN_OPEN_MATTER",
    "info PROSPECT_IN_CLOSED_MATTER",
  ],
  adverse_party: [
    "critical ADVERSE_TO_CURRENT_CLIENT",
    "high ADVERSE_TO_FORMER_CLIENT",
    "high ADVERSE_TO_PROSPECTIVE_CLIENT",
    "info COMMON_ADVERSARY",
    "info PAST_ADVERSARY",
    "high ADVERSE_TO_LATERALS_CLIENT",
    "high ADVERSE_TO_FIRM_PERSONNEL",
    "low ADVERSE_IN_OPEN_MATTER",
    "info ADVERSE_IN_CLOSED_MATTER",
  ],
  witness: [
    "high CURRENT_CLIENT_IS_WITNESS",
    "medium FORMER_CLIENT_IS_WITNESS",
    "medium PROSPECTIVE_CLIENT_IS_WITNESS",
    "info ADVERSARY_IS_WITNESS",
    "info PAST_ADVERSARY_IS_WITNESS",
    "medium LATERALS_CLIENT_IS_WITNESS",
    "high FIRM_PERSONNEL_IS_WITNESS",
    "low WITNESS_IN_OPEN_MATTER",
    "info WITNESS_IN_CLOSED_MATTER",
  ],
  related: [
    "medium RELATED_TO_CURRENT_CLIENT",
    "low RELATED_TO_FORMER_CLIENT",
    "low RELATED_TO_PROSPECTIVE_CLIENT",
    "medium RELATED_TO_ADVERSARY",
    "info RELATED_TO_PAST_ADVERSARY",
    "low RELATED_TO_LATERALS_CLIENT",
    "high RELATED_TO_FIRM_PERSONNEL",
    "low RELATED_IN_OPEN_MATTER",
    "info RELATED_IN_CLOSED_MATTER",
  ],
  judge: [
    "medium NEUTRAL_IS_CURRENT_CLIENT",
    "low NEUTRAL_IS_FORMER_CLIENT",
    "info NEUTRAL_IS_PROSPECTIVE_CLIENT",
    "low NEUTRAL_IS_ADVERSARY",
    "info NEUTRAL_WAS_ADVERSARY",
    "low NEUTRAL_WAS_LATERALS_CLIENT",
    "high NEUTRAL_IS_FIRM_PERSONNEL",
    "low NEUTRAL_IN_OPEN_MATTER",
    "info NEUTRAL_IN_CLOSED_MATTER",
  ],
  opposing_counsel: [
    "medium OPPOSING_COUNSEL_IS_CLIENT",
    "low OPPOSING_COUNSEL_WAS_CLIENT",
    "info OPPOSING_COUNSEL_IS_PROSPECT",
    "low OPPOSING_COUNSEL_IS_ADVERSARY",
    "info OPPOSING_COUNSEL_WAS_ADVERSARY",
    "low OPPOSING_COUNSEL_WAS_LATERALS_CLIENT",
    "high OPPOSING_COUNSEL_IS_FIRM_PERSONNEL",
    "info OPPOSING_COUNSEL_IN_OPEN_MATTER",
    "info OPPOSING_COUNSEL_IN_CLOSED_MATTER",
  ],
  payor: [
    "low PAYOR_IS_CURRENT_CLIENT",
    "info PAYOR_IS_FORMER_CLIENT",
    "info PAYOR_IS_PROSPECTIVE_CLIENT",
    "medium PAYOR_IS_ADVERSARY",
    "low PAYOR_WAS_ADVERSARY",
    "info PAYOR_WAS_LATERALS_CLIENT",
    "high PAYOR_IS_FIRM_PERSONNEL",
    "low PAYOR_IN_OPEN_MATTER",
    "info PAYOR_IN_CLOSED_MATTER",
  ],
  lateral_lawyer: [
    "medium LATERAL_IS_CURRENT_CLIENT",
    "low LATERAL_IS_FORMER_CLIENT",
    "low LATERAL_IS_PROSPECTIVE_CLIENT",
    "high LATERAL_IS_ADVERSARY",
    "low LATERAL_WAS_ADVERSARY",
    "low LATERAL_IS_LATERALS_CLIENT",
    "info LATERAL_IS_FIRM_PERSONNEL",
    "medium LATERAL_IN_OPEN_MATTER",
    "low LATERAL_IN_CLOSED_MATTER",
  ],
};

const columns = Object.entries(COLUMNS) as unknown as readonly (readonly [string, Column])[];

for (const [role, cells] of Object.entries(ROWS) as [IntakeRole, readonly string[]][]) {
  describe(role, () => {
    for (const [index, [column, [recordRole, matter]]] of columns.entries()) {
      test(`against ${column}`, () => {
        const firm = firmWith(role, recordRole, matter);
        expect(hitsOf(firm).map(({ severity, code }) => `${severity} ${code}`)).toEqual([
          cells[index] ?? "",
        ]);
        // One role away, on either side, it is another cell.
        const [otherRole, otherMatter] = columns[(index + 1) % columns.length]?.[1] ?? [];
        const other = firmWith(role, otherRole ?? "client", otherMatter);
        expect(hitsOf(other)[0]?.code).not.toBe(cells[index]?.split(" ")[1]);
        // Without the role there is no hit, only the match.
        const idle = firmWith(role, recordRole, matter);
        for (const { roles } of idle.records.matters) roles.length = 0;
        expect(check(idle)).toMatchObject({
          outcome: "no_hits",
          hits: [],
          matches_without_matter: [{ matched_party_id: "r1", score: 1000 }],
        });
      });
    }
  });
}

const SAME_ROWS: readonly (readonly [IntakeRole, string])[] = [
  ["co_client", "EXISTING_CLIENT"],
  ["adverse_affiliate", "ADVERSE_TO_CURRENT_CLIENT"],
  ["adverse_insurer", "ADVERSE_TO_CURRENT_CLIENT"],
  ["affiliate", "RELATED_TO_CURRENT_CLIENT"],
  ["guarantor", "RELATED_TO_CURRENT_CLIENT"],
  ["expert", "CURRENT_CLIENT_IS_WITNESS"],
  ["mediator", "NEUTRAL_IS_CURRENT_CLIENT"],
  ["referrer", "PAYOR_IS_CURRENT_CLIENT"],
];

describe("the other roles stand in the same rows", () => {
  for (const [role, code] of SAME_ROWS) {
    test(role, () => {
      expect(hitsOf(firmWith(role, "client"))[0]?.code).toBe(code);
    });
  }
});

test("every cell and every role is in one of the tables above", () => {
  const cells = Object.values(MATRIX).flatMap((row) =>
    Object.values(row).map(({ severity, code }) => `${severity} ${code}`),
  );
  expect(Object.values(ROWS).flat().sort()).toEqual(cells.sort());
  expect([...Object.keys(ROWS), ...SAME_ROWS.map(([role]) => role)].sort()).toEqual(
    Object.keys(INTAKE_CLASS).sort(),
  );
});

describe("which side a record is on", () => {
  const cases: readonly (readonly [string, (firm: Firm) => void, string])[] = [
    ["a co-client", (f) => setRole(f, "co_client"), "ADVERSE_TO_CURRENT_CLIENT"],
    ["a pending matter", (f) => setMatter(f, { status: "pending" }), "ADVERSE_TO_CURRENT_CLIENT"],
    [
      "a withdrawn engagement",
      (f) => setMatter(f, { engagement: "withdrawn" }),
      "ADVERSE_TO_FORMER_CLIENT",
    ],
    ["a role that ended yesterday", (f) => endRole(f, "2026-06-30"), "ADVERSE_TO_FORMER_CLIENT"],
    ["a role that ends today", (f) => endRole(f, "2026-07-01"), "ADVERSE_TO_CURRENT_CLIENT"],
    ["an insurer", (f) => setRole(f, "insurer"), "ADVERSE_IN_OPEN_MATTER"],
    ["a judge", (f) => setRole(f, "judge"), "ADVERSE_IN_OPEN_MATTER"],
  ];
  for (const [name, change, code] of cases) {
    test(name, () => {
      const firm = firmWith("adverse_party", "client");
      change(firm);
      expect(hitsOf(firm)[0]?.code).toBe(code);
    });
  }
});

function setRole(firm: Firm, role: RecordRole): void {
  for (const { roles } of firm.records.matters) for (const one of roles) one.role = role;
}

function setMatter(firm: Firm, matter: Partial<RecordMatter>): void {
  for (const one of firm.records.matters) Object.assign(one, matter);
}

function endRole(firm: Firm, to: string): void {
  for (const { roles } of firm.records.matters) for (const one of roles) one.to = to;
}

/** r1 is tied to r2, and r2 to r3, the client. */
function chain(shareBp: number, dates: { from_date?: string; to_date?: string } = {}): Firm {
  const firm = firmWith("adverse_party", "client");
  firm.records.parties.push(
    { party_id: "r2", kind: "organization", names: [{ name: "Roe Trading" }] },
    { party_id: "r3", kind: "organization", names: [{ name: "Zenith" }] },
  );
  for (const { roles } of firm.records.matters) for (const one of roles) one.party_id = "r3";
  firm.records.relationships = [
    { from: "r1", to: "r2", type: "owns", share_bp: shareBp, ...dates },
    { from: "r3", to: "r2", type: "parent_of" },
  ];
  return firm;
}

describe("relationships", () => {
  test("each hop lowers the severity by one level, in either direction", () => {
    expect(hitsOf(chain(5000))).toMatchObject([
      {
        severity: "medium",
        code: "ADVERSE_TO_CURRENT_CLIENT",
        matched_party_id: "r1",
        subject_party_id: "r3",
        hops: 2,
        path: [
          { from: "r1", to: "r2", type: "owns", reverse: false },
          { from: "r3", to: "r2", type: "parent_of", reverse: true },
        ],
      },
    ]);
  });

  const cases: readonly (readonly [string, Firm, number])[] = [
    ["a share of 10 % is a tie", chain(1000), 1],
    ["a basis point less is none", chain(999), 0],
    ["a relationship that ends today counts", chain(5000, { to_date: "2026-07-01" }), 1],
    ["one that ended yesterday does not", chain(5000, { to_date: "2026-06-30" }), 0],
    ["one that begins today counts", chain(5000, { from_date: "2026-07-01" }), 1],
    ["one that begins tomorrow does not", chain(5000, { from_date: "2026-07-02" }), 0],
    ["two hops are one too many for max_hops 1", withOptions(chain(5000), { max_hops: 1 }), 0],
  ];
  for (const [name, firm, count] of cases) {
    test(name, () => {
      expect(hitsOf(firm)).toHaveLength(count);
    });
  }

  test("the intake may tie its own party to one on file", () => {
    const firm = firmWith("adverse_party", "client");
    for (const party of firm.intake.parties) party.names = [{ name: "Somebody Else" }];
    expect(hitsOf(firm)).toEqual([]);
    firm.intake.relationships = [{ from: "q1", to: "r1", type: "spouse_of" }];
    expect(hitsOf(firm)).toMatchObject([
      { severity: "high", hops: 1, matched_party_id: null, match: { by: "relationship" } },
    ]);
  });
});

function withOptions(firm: Firm, options: NonNullable<Firm["options"]>): Firm {
  firm.options = options;
  return firm;
}

function named(intake: string, record: string): Firm {
  const firm = firmWith("adverse_party", "client");
  for (const { names } of firm.intake.parties) for (const name of names) name.name = intake;
  for (const { names } of firm.records.parties) for (const name of names) name.name = record;
  return firm;
}

describe("bands", () => {
  test("a match for review is one level lower than a strong one", () => {
    expect(hitsOf(named("J. Smith", "John Smith"))).toMatchObject([
      { severity: "high", match: { score: 800, band: "review" } },
    ]);
    expect(hitsOf(withOptions(named("J. Smith", "John Smith"), { strong: 800 }))).toMatchObject([
      { severity: "critical", match: { score: 800, band: "strong" } },
    ]);
  });

  test("a match at the threshold is reported, one below it counted", () => {
    expect(hitsOf(withOptions(named("J. Smith", "John Smith"), { review: 800 }))).toHaveLength(1);
    expect(check(withOptions(named("J. Smith", "John Smith"), { review: 801 }))).toMatchObject({
      hits: [],
      searched: { below_review: 1 },
    });
  });
});

/** Both parties get the identifier; the names have nothing in common. */
function identified(type: "ein" | "email" | "email_domain" | "phone" | "dob", ...values: string[]) {
  const firm = named("Alpha Works", "Omega Group");
  const [mine = "", theirs = mine] = values;
  for (const party of firm.intake.parties) party.identifiers = [{ type, value: mine }];
  for (const party of firm.records.parties) party.identifiers = [{ type, value: theirs }];
  return firm;
}

describe("identifiers", () => {
  const cases: readonly (readonly [string, Firm, number])[] = [
    ["one number, written in two ways", identified("ein", "12-3456789", "123456789"), 1000],
    ["two numbers", identified("ein", "12-3456789", "123456780"), 0],
    ["one address", identified("email", "A@x.example", "a@X.example"), 1000],
    ["one domain", identified("email", "a@x.example", "b@x.example"), 850],
    ["one free-mail domain", identified("email", "a@gmail.com", "b@gmail.com"), 0],
    ["one telephone", identified("phone", "+1 (212) 555-0100", "212-555-0100"), 850],
    ["an extension alone", identified("phone", "5501", "5501"), 0],
    ["one birthday", identified("dob", "1970-01-01"), 0],
  ];
  for (const [name, firm, score] of cases) {
    test(name, () => {
      expect(hitsOf(firm)[0]?.match.score ?? 0).toBe(score);
    });
  }

  test("different birthdays lower a name to review", () => {
    const firm = firmWith("adverse_party", "client");
    for (const party of firm.intake.parties) party.birth_year = 1970;
    for (const party of firm.records.parties) party.birth_year = 1970;
    expect(hitsOf(firm)).toMatchObject([{ match: { score: 1000, reasons: [] } }]);
    for (const party of firm.records.parties) party.birth_year = 1971;
    expect(hitsOf(firm)).toMatchObject([{ match: { score: 720, reasons: ["birth_conflict"] } }]);
  });

  test("a person and a company of one name are shown for review", () => {
    const firm = firmWith("adverse_party", "client");
    for (const party of firm.records.parties) party.kind = "organization";
    expect(hitsOf(firm)).toMatchObject([{ match: { score: 720, reasons: ["kind_conflict"] } }]);
    for (const party of firm.records.parties) party.kind = "unknown";
    expect(hitsOf(firm)).toMatchObject([{ match: { score: 1000 } }]);
  });
});

describe("waivers and walls", () => {
  const waived = (waiver: Partial<NonNullable<Firm["records"]["waivers"]>[number]>): Firm => {
    const firm = firmWith("adverse_party", "client");
    firm.records.waivers = [
      { waiver_id: "W1", party_id: "r1", confirmed_in_writing: true, ...waiver },
    ];
    return firm;
  };
  const cases: readonly (readonly [string, Firm, readonly string[]])[] = [
    ["a good waiver", waived({ expires: "2026-07-01", date: "2026-07-01" }), []],
    ["one that has run out", waived({ expires: "2026-06-30" }), ["expired"]],
    ["one of tomorrow", waived({ date: "2026-07-02" }), ["not_yet_given"]],
    ["one by word of mouth", waived({ confirmed_in_writing: false }), ["not_in_writing"]],
    ["one that cannot be", waived({ kind: "non_waivable_note" }), ["non_waivable"]],
  ];
  for (const [name, firm, flags] of cases) {
    test(`${name} is attached and lowers nothing`, () => {
      const [hit] = hitsOf(firm);
      expect(hit).toMatchObject({ severity: "critical", waivers: ["W1"], walls: [] });
      expect(hit?.flags ?? []).toEqual(flags.map((flag) => ({ waiver_id: "W1", flag })));
    });
  }

  test("a waiver for another matter or party is not attached", () => {
    expect(hitsOf(waived({ matter_id: "M1" }))[0]?.waivers).toEqual(["W1"]);
    expect(hitsOf(waived({ matter_id: "M2" }))[0]?.waivers).toEqual([]);
    const firm = waived({ party_id: "r9" });
    firm.records.parties.push({ party_id: "r9", kind: "person", names: [{ name: "X" }] });
    expect(hitsOf(firm)[0]?.waivers).toEqual([]);
  });

  test("a wall is attached with what stands against it", () => {
    const firm = firmWith("adverse_party", "client");
    firm.records.walls = [
      { wall_id: "L1", party_id: "r1", screened_lawyer_ids: ["u1"], notice_sent: true },
      { wall_id: "L2", party_id: "r1", screened_lawyer_ids: [], from: "2026-07-02" },
    ];
    expect(hitsOf(firm)).toMatchObject([
      {
        severity: "critical",
        walls: ["L1", "L2"],
        flags: [
          { wall_id: "L2", flag: "not_yet_in_force" },
          { wall_id: "L2", flag: "notice_not_sent" },
          { wall_id: "L2", flag: "nobody_screened" },
        ],
      },
    ]);
  });
});

describe("exceptions", () => {
  const cases: readonly (readonly [string, Firm, Firm])[] = [
    ["UNASSIGNED_CODEPOINT", named("Jane Roe\u1c89", "Jane Roe"), named("Jane Roé", "Jane Roe")],
    ["NAME_UNUSABLE", named("Jane Roe", "???"), named("Jane Roe", "?1?")],
    ["SCRIPT_NOT_COMPARABLE", named("Jane Roe", "习近平"), named("Jane Roe", "Джейн Ро")],
    [
      "HITS_TRUNCATED",
      withOptions(twoMatters(), { max_hits: 1 }),
      withOptions(twoMatters(), { max_hits: 2 }),
    ],
  ];
  test("none is left out", () => {
    expect(cases.map(([code]) => code).sort()).toEqual(Object.keys(NOTE_KINDS).sort());
  });
  for (const [code, withIt, without] of cases) {
    test(code, () => {
      expect(notesOf(withIt).map((note) => note.code)).toEqual([code]);
      expect(notesOf(without)).toEqual([]);
    });
  }
});

function twoMatters(): Firm {
  const firm = firmWith("adverse_party", "client");
  firm.records.matters.push({
    matter_id: "M2",
    status: "open",
    roles: [{ party_id: "r1", role: "client" }],
  });
  return firm;
}

describe("outcomes", () => {
  const cases: readonly (readonly [IntakeRole, string])[] = [
    ["adverse_party", "conflict_indicated"],
    ["witness", "review_required"],
    ["related", "review_required"],
    ["payor", "hits_low"],
    ["prospective_client", "hits_low"],
  ];
  for (const [role, outcome] of cases) {
    test(outcome, () => {
      expect(check(firmWith(role, "client"))["outcome"]).toBe(outcome);
    });
  }

  test("hits that are not listed count all the same", () => {
    const firm = withOptions(twoMatters(), { max_hits: 1 });
    expect(check(firm)).toMatchObject({
      outcome: "conflict_indicated",
      hit_counts: { critical: 2 },
    });
  });
});

test("the intake's own matter is no conflict with itself", () => {
  const firm = firmWith("adverse_party", "client");
  firm.intake.matter = { matter_id: "M1" };
  expect(hitsOf(firm)).toMatchObject([{ severity: "info", own_matter: true }]);
  firm.intake.matter = { matter_id: "M2" };
  expect(hitsOf(firm)).toMatchObject([{ severity: "critical" }]);
});

test("what two matters share is named, not judged", () => {
  const firm = firmWith("adverse_party", "client", { status: "closed" });
  firm.intake.matter = { practice_area: "Tax", docket_numbers: ["1:26-cv-1"], tags: ["a", "b"] };
  setMatter(firm, {
    practice_area: "Tax",
    docket_numbers: ["1:26-cv-1"],
    tags: ["b"],
    closed: "2026-06-01",
  });
  expect(hitsOf(firm)).toMatchObject([
    {
      relatedness_factors: [
        { factor: "same_docket", value: "1:26-cv-1" },
        { factor: "same_practice_area", value: "Tax" },
        { factor: "shared_tag", value: "b" },
        { factor: "closed_on", value: "2026-06-01", age_days: 30 },
      ],
    },
  ]);
});
