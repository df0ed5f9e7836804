/** Input of `svc-conflict-check`, version 1. */
import Type, { type Static } from "typebox";
import { closed, DATE, ID, SHA256, TEXT } from "../schema-parts.ts";

/** The body limit of the API comes first for most inputs. */
const PARTIES_MAX = 250_000;
const MATTERS_MAX = 250_000;
const RELATIONSHIPS_MAX = 250_000;
const NOTES_MAX = 50_000;

const COUNTRY = Type.String({ pattern: "^[A-Z]{2}$" });
const SHORT_LIST = { maxItems: 100 } as const;

const NAME = closed({
  name: Type.String({ minLength: 1, maxLength: 300 }),
  type: Type.Optional(
    Type.Enum(["legal", "former", "alias", "trade", "maiden", "transliteration", "acronym"]),
  ),
  given: Type.Optional(TEXT),
  middle: Type.Optional(TEXT),
  family: Type.Optional(TEXT),
  suffix: Type.Optional(TEXT),
  from: Type.Optional(DATE),
  to: Type.Optional(DATE),
});

const IDENTIFIER = closed({
  type: Type.Enum([
    "ein",
    "lei",
    "duns",
    "company_number",
    "bar_number",
    "email",
    "email_domain",
    "phone",
    "dob",
    "passport_hash",
    "ssn_hash",
    "naic",
  ]),
  value: Type.String({ minLength: 1, maxLength: 128 }),
  country: Type.Optional(COUNTRY),
});

const PARTY = {
  party_id: ID,
  kind: Type.Enum(["person", "organization", "government", "unknown"]),
  names: Type.Array(NAME, { minItems: 1, maxItems: 40 }),
  identifiers: Type.Optional(Type.Array(IDENTIFIER, { maxItems: 20 })),
  birth_year: Type.Optional(Type.Integer({ minimum: 1800, maximum: 2200 })),
  country: Type.Optional(COUNTRY),
};

const RELATIONSHIP = closed({
  from: ID,
  to: ID,
  type: Type.Enum([
    "parent_of",
    "owns",
    "affiliate_of",
    "successor_of",
    "officer_of",
    "director_of",
    "general_partner_of",
    "member_of",
    "employee_of",
    "spouse_of",
    "family_of",
    "insurer_of",
    "trustee_of",
    "beneficiary_of",
    "lender_to",
    "counsel_to",
  ]),
  share_bp: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  from_date: Type.Optional(DATE),
  to_date: Type.Optional(DATE),
});

const INTAKE_ROLE = Type.Enum([
  "prospective_client",
  "co_client",
  "adverse_party",
  "adverse_affiliate",
  "adverse_insurer",
  "opposing_counsel",
  "related",
  "affiliate",
  "guarantor",
  "witness",
  "expert",
  "judge",
  "mediator",
  "referrer",
  "payor",
  "lateral_lawyer",
]);

const RECORD_ROLE = Type.Enum([
  "client",
  "co_client",
  "adverse_party",
  "related",
  "opposing_counsel",
  "witness",
  "expert",
  "judge",
  "insurer",
  "payor",
  "firm_personnel",
]);

const MATTER = closed({
  matter_id: ID,
  title: Type.Optional(TEXT),
  status: Type.Enum(["prospective", "pending", "open", "closed"]),
  engagement: Type.Optional(Type.Enum(["engaged", "declined", "withdrawn"])),
  source: Type.Optional(Type.Enum(["firm", "lateral"])),
  lateral_lawyer_id: Type.Optional(ID),
  practice_area: Type.Optional(TEXT),
  docket_numbers: Type.Optional(Type.Array(TEXT, SHORT_LIST)),
  tags: Type.Optional(Type.Array(ID, SHORT_LIST)),
  opened: Type.Optional(DATE),
  closed: Type.Optional(DATE),
  lawyer_ids: Type.Optional(Type.Array(ID, SHORT_LIST)),
  roles: Type.Array(
    closed({
      party_id: ID,
      role: RECORD_ROLE,
      from: Type.Optional(DATE),
      to: Type.Optional(DATE),
    }),
    { maxItems: 2000 },
  ),
});

const WAIVER = closed({
  waiver_id: ID,
  party_id: ID,
  matter_id: Type.Optional(ID),
  kind: Type.Optional(Type.Enum(["informed_consent", "advance_waiver", "non_waivable_note"])),
  confirmed_in_writing: Type.Optional(Type.Boolean()),
  scope: Type.Optional(TEXT),
  date: Type.Optional(DATE),
  expires: Type.Optional(DATE),
});

const WALL = closed({
  wall_id: ID,
  party_id: ID,
  matter_id: Type.Optional(ID),
  screened_lawyer_ids: Type.Array(ID, SHORT_LIST),
  from: Type.Optional(DATE),
  notice_sent: Type.Optional(Type.Boolean()),
});

export const CONFLICT_INPUT = closed({
  schema: Type.Optional(Type.Literal("svc-conflict-check/1")),
  as_of: DATE,
  rules: Type.Optional(Type.Enum(["US-ABA"])),
  intake: closed({
    intake_id: ID,
    kind: Type.Optional(
      Type.Enum([
        "new_client",
        "new_matter",
        "lateral_hire",
        "added_party",
        "business_transaction",
        "pitch",
      ]),
    ),
    matter: Type.Optional(
      closed({
        matter_id: Type.Optional(ID),
        title: Type.Optional(TEXT),
        description: Type.Optional(Type.String({ maxLength: 4000 })),
        practice_area: Type.Optional(TEXT),
        docket_numbers: Type.Optional(Type.Array(TEXT, SHORT_LIST)),
        tags: Type.Optional(Type.Array(ID, SHORT_LIST)),
      }),
    ),
    parties: Type.Array(closed({ ...PARTY, role: INTAKE_ROLE }), { minItems: 1, maxItems: 200 }),
    relationships: Type.Optional(Type.Array(RELATIONSHIP, { maxItems: 2000 })),
  }),
  records: closed({
    snapshot_hash: Type.Optional(SHA256),
    parties: Type.Array(closed(PARTY), { maxItems: PARTIES_MAX }),
    matters: Type.Array(MATTER, { maxItems: MATTERS_MAX }),
    relationships: Type.Optional(Type.Array(RELATIONSHIP, { maxItems: RELATIONSHIPS_MAX })),
    waivers: Type.Optional(Type.Array(WAIVER, { maxItems: NOTES_MAX })),
    walls: Type.Optional(Type.Array(WALL, { maxItems: NOTES_MAX })),
  }),
  options: Type.Optional(
    closed({
      review: Type.Optional(Type.Integer({ minimum: 500, maximum: 1000 })),
      strong: Type.Optional(Type.Integer({ minimum: 500, maximum: 1000 })),
      max_hops: Type.Optional(Type.Integer({ minimum: 0, maximum: 4 })),
      ownership_min_bp: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
      max_hits: Type.Optional(Type.Integer({ minimum: 1, maximum: 2000 })),
    }),
  ),
});

export type ConflictInput = Static<typeof CONFLICT_INPUT>;
export type IntakeParty = ConflictInput["intake"]["parties"][number];
export type RecordParty = ConflictInput["records"]["parties"][number];
export type PartyKind = RecordParty["kind"];
export type IntakeRole = Static<typeof INTAKE_ROLE>;
export type RecordRole = Static<typeof RECORD_ROLE>;
export type RecordMatter = Static<typeof MATTER>;
export type Relationship = Static<typeof RELATIONSHIP>;
export type Waiver = Static<typeof WAIVER>;
export type Wall = Static<typeof WALL>;
