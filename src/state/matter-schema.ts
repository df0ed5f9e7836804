/** A matter record as clients write it, version 1. */
import Type, { type Static } from "typebox";
import { CURRENCY, closed, DATE, SHA256 } from "../process/schema-parts.ts";

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }));
const date = Type.Optional(DATE);
const ID = Type.String({ minLength: 1, maxLength: 128 });

export const MATTER_ID = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]*$",
});

const NAME = closed({
  name: Type.String({ minLength: 1, maxLength: 300 }),
  type: Type.Optional(
    Type.Enum(["legal", "former", "alias", "trade", "maiden", "transliteration", "acronym"]),
  ),
});

const PARTY = closed({
  party_id: ID,
  role: Type.Enum([
    "client",
    "co_client",
    "adverse_party",
    "opposing_counsel",
    "co_counsel",
    "related",
    "affiliate",
    "guarantor",
    "insurer",
    "payor",
    "lienholder",
    "witness",
    "expert",
    "judge",
    "mediator",
    "referrer",
    "other",
  ]),
  kind: Type.Enum(["person", "organization", "government", "unknown"]),
  names: Type.Array(NAME, { minItems: 1, maxItems: 40 }),
  identifiers: Type.Optional(
    Type.Array(Type.Object({ type: Type.String(), value: Type.String({ maxLength: 128 }) }), {
      maxItems: 20,
    }),
  ),
  from: date,
  to: date,
});

const PERSON = closed({
  person_id: ID,
  name: text(200),
  role: Type.Enum([
    "responsible",
    "originating",
    "supervising",
    "associate",
    "paralegal",
    "billing",
  ]),
  bar_number: text(40),
  from: date,
  to: date,
});

const CLASSIFICATION = closed({
  practice_area: text(120),
  area_of_law_iri: text(500),
  service_iri: text(500),
  utbms_code_set: Type.Optional(
    Type.Enum([
      "litigation",
      "project",
      "counseling",
      "bankruptcy",
      "patent",
      "trademark",
      "ediscovery",
      "other",
    ]),
  ),
});

const CONFLICTS = closed({
  last_checked_on: date,
  last_check_request_id: text(128),
  last_check_output_hash: Type.Optional(SHA256),
  outcome: Type.Optional(
    Type.Enum(["no_hits", "hits_low", "review_required", "conflict_indicated"]),
  ),
  disposition: Type.Optional(
    Type.Enum(["undecided", "cleared", "cleared_with_consent", "screened", "declined"]),
  ),
  decided_by: text(200),
  decided_on: date,
  waivers: Type.Optional(Type.Array(Type.Object({}), { maxItems: 100 })),
  walls: Type.Optional(Type.Array(Type.Object({}), { maxItems: 100 })),
});

const BILLING = closed({
  method: Type.Optional(
    Type.Enum(["hourly", "flat", "contingency", "hybrid", "pro_bono", "other"]),
  ),
  currency: Type.Optional(CURRENCY),
  billable: Type.Optional(Type.Boolean()),
  ledes_client_id: text(20),
  trust_account_ids: Type.Optional(Type.Array(ID, { maxItems: 100 })),
  minimum_trust_balance: Type.Optional(Type.Integer()),
});

const VENUE = closed({
  jurisdiction: Type.Optional(Type.String({ pattern: "^[A-Z]{2}(-[A-Z0-9]{1,3})?$" })),
  court: text(200),
  docket_numbers: Type.Optional(Type.Array(Type.String({ maxLength: 80 }), { maxItems: 20 })),
  judge_party_id: Type.Optional(ID),
});

const RELATIONSHIP = Type.Object({
  from: ID,
  to: ID,
  type: Type.String({ maxLength: 40 }),
  share_bp: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
});

const EXTERNAL = closed({
  system: Type.String({ maxLength: 40 }),
  id: Type.String({ maxLength: 128 }),
  etag: text(128),
  url: text(500),
});

/** Without the members that only steer a write. A misspelt member must not vanish silently. */
export const MATTER = closed({
  matter_id: MATTER_ID,
  client_matter_number: text(20),
  law_firm_matter_number: text(20),
  display_number: text(64),
  title: text(300),
  description: text(8000),
  status: Type.Enum([
    "prospective",
    "pending",
    "open",
    "on_hold",
    "closed",
    "declined",
    "archived",
  ]),
  stage: text(80),
  dates: Type.Optional(
    closed({ opened: date, pending: date, closed: date, limitations: date, retain_until: date }),
  ),
  classification: Type.Optional(CLASSIFICATION),
  venue: Type.Optional(VENUE),
  people: Type.Optional(Type.Array(PERSON, { maxItems: 100 })),
  parties: Type.Optional(Type.Array(PARTY, { maxItems: 500 })),
  relationships: Type.Optional(Type.Array(RELATIONSHIP, { maxItems: 500 })),
  conflicts: Type.Optional(CONFLICTS),
  billing: Type.Optional(BILLING),
  confidentiality: Type.Optional(
    closed({
      level: Type.Optional(Type.Enum(["standard", "restricted", "sealed"])),
      legal_hold: Type.Optional(Type.Boolean()),
    }),
  ),
  external_refs: Type.Optional(Type.Array(EXTERNAL, { maxItems: 20 })),
  tags: Type.Optional(
    Type.Array(Type.String({ maxLength: 60 }), { maxItems: 50, uniqueItems: true }),
  ),
  custom: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Union([Type.String(), Type.Integer(), Type.Boolean(), Type.Null()]),
      { maxProperties: 100 },
    ),
  ),
});

export type Matter = Static<typeof MATTER>;
export type MatterParty = NonNullable<Matter["parties"]>[number];
