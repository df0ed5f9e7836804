/** The parties of a set of matters, once each, and the records that a conflict check takes. */
import { canonicalJson, type JsonValue } from "../bytes/canonical-json.ts";
import { sha256Hex } from "../crypto/hash.ts";
import { wordsOf } from "../process/conflict/parse-name.ts";
import type { RecordMatter, RecordRole } from "../process/conflict/schema.ts";
import type { Matter, MatterParty } from "./matter-schema.ts";

type JsonObject = { readonly [key: string]: JsonValue };

export interface PartyEntry {
  readonly party_id: string;
  readonly kind: string;
  readonly names: JsonValue;
  readonly roles: readonly { readonly matter_id: string; readonly role: string }[];
}

/** @param text every word must occur in one of the party's names; null for all parties. */
export function partiesOf(
  matters: readonly JsonObject[],
  text: string | null,
  limit: number,
): readonly PartyEntry[] {
  const words = text === null ? [] : wordsOf(text, " ");
  if (text !== null && words.length === 0) return [];
  const { parties } = collectParties(matters as unknown as readonly Matter[]);
  return [...parties.values()]
    .filter(({ party }) =>
      party.names.some(({ name }) => {
        const own = wordsOf(name, " ");
        return words.every((word) => own.some((one) => one.startsWith(word)));
      }),
    )
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit)
    .map(({ id, party, roles }) => ({
      party_id: id,
      kind: party.kind,
      names: party.names as unknown as JsonValue,
      roles,
    }));
}

interface Collected {
  readonly id: string;
  readonly party: MatterParty;
  readonly roles: { readonly matter_id: string; readonly role: string }[];
}

/**
 * Matters may use one id for one party, or each their own ids: an id that stands for different
 * parties in two matters is qualified by its matter.
 */
function collectParties(matters: readonly Matter[]): {
  readonly parties: ReadonlyMap<string, Collected>;
  readonly idOf: (matter: Matter, partyId: string) => string;
} {
  const faces = new Map<string, Set<string>>();
  for (const { parties = [] } of matters) {
    for (const party of parties) {
      const known = faces.get(party.party_id) ?? new Set<string>();
      faces.set(party.party_id, known.add(faceOf(party)));
    }
  }
  const idOf = (matter: Matter, partyId: string): string =>
    (faces.get(partyId)?.size ?? 0) > 1 ? `${matter.matter_id}/${partyId}` : partyId;
  const parties = new Map<string, Collected>();
  for (const matter of matters) {
    for (const party of matter.parties ?? []) {
      const id = idOf(matter, party.party_id);
      const known = parties.get(id) ?? { id, party, roles: [] };
      known.roles.push({ matter_id: matter.matter_id, role: party.role });
      parties.set(id, known);
    }
  }
  return { parties, idOf };
}

function faceOf({ kind, names }: MatterParty): string {
  return canonicalJson({ kind, names } as unknown as JsonValue);
}

/** Roles that the conflict check tells apart; all others are related parties. */
const ROLES: Readonly<Record<string, RecordRole>> = {
  client: "client",
  co_client: "co_client",
  adverse_party: "adverse_party",
  opposing_counsel: "opposing_counsel",
  witness: "witness",
  expert: "expert",
  judge: "judge",
  mediator: "judge",
  insurer: "insurer",
  payor: "payor",
};

const STATUSES: Readonly<Record<Matter["status"], Partial<RecordMatter>>> = {
  prospective: { status: "prospective" },
  declined: { status: "prospective", engagement: "declined" },
  pending: { status: "pending" },
  open: { status: "open" },
  on_hold: { status: "open" },
  closed: { status: "closed" },
  archived: { status: "closed" },
};

const IDENTIFIERS: ReadonlySet<string> = new Set(
  (
    "ein lei duns company_number bar_number email email_domain phone dob passport_hash ssn_hash " +
    "naic"
  ).split(" "),
);

const RELATIONSHIPS: ReadonlySet<string> = new Set(
  (
    "parent_of owns affiliate_of successor_of officer_of director_of general_partner_of " +
    "member_of employee_of spouse_of family_of insurer_of trustee_of beneficiary_of lender_to " +
    "counsel_to"
  ).split(" "),
);

/**
 * The `records` of a conflict check over these matters. `snapshot_hash` is over the records
 * themselves, so that an archived snapshot can be told from a changed one.
 */
export function conflictRecords(matters: readonly JsonObject[]): JsonObject {
  const list = matters as unknown as readonly Matter[];
  const { parties, idOf } = collectParties(list);
  const people = peopleOf(list);
  const records = {
    parties: [
      ...[...parties.values()].map(({ id, party }) => recordParty(wireId(id), party)),
      ...[...people].map(([id, name]) => ({
        party_id: wireId(id),
        kind: "person",
        names: [{ name }],
      })),
    ],
    matters: list.map((matter) => recordMatter(matter, idOf)),
    relationships: list.flatMap((matter) => relationshipsOf(matter, idOf, parties)),
    waivers: notesOf(list, "waivers", idOf, parties),
    walls: notesOf(list, "walls", idOf, parties),
  } as unknown as JsonObject;
  return { snapshot_hash: sha256Hex(canonicalJson(records)), ...records };
}

/** Ids of matters are free text; those of the process are printable and short. */
function wireId(id: string): string {
  return /^[\x21-\x7e]{1,128}$/.test(id) ? id : `sha256:${sha256Hex(id)}`;
}

function recordParty(id: string, party: MatterParty): JsonObject {
  const identifiers = (party.identifiers ?? []).filter(
    ({ type, value }) => IDENTIFIERS.has(type) && value !== "",
  );
  return {
    party_id: id,
    kind: party.kind,
    names: party.names.map(({ name, type }) => ({ name, ...(type === undefined ? {} : { type }) })),
    ...(identifiers.length === 0
      ? {}
      : { identifiers: identifiers.map(({ type, value }) => ({ type, value })) }),
  };
}

/** Lawyers and staff, who have interests of their own. */
function peopleOf(matters: readonly Matter[]): Map<string, string> {
  const people = new Map<string, string>();
  for (const { people: list = [] } of matters) {
    for (const { person_id: id, name } of list)
      if (name !== undefined && name !== "") people.set(`firm:${id}`, name);
  }
  return people;
}

type IdOf = (matter: Matter, partyId: string) => string;

function recordMatter(matter: Matter, idOf: IdOf): JsonObject {
  const span = ({ from, to }: { readonly from?: string; readonly to?: string }) => ({
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  });
  const area = matter.classification?.practice_area;
  const { opened, closed } = matter.dates ?? {};
  return {
    matter_id: matter.matter_id,
    ...(STATUSES[matter.status] as JsonObject),
    ...(matter.title === undefined ? {} : { title: matter.title }),
    ...(area === undefined ? {} : { practice_area: area }),
    ...(matter.venue?.docket_numbers ? { docket_numbers: matter.venue.docket_numbers } : {}),
    ...(opened === undefined ? {} : { opened }),
    ...(closed === undefined ? {} : { closed }),
    roles: [
      ...(matter.parties ?? []).map((party) => ({
        party_id: wireId(idOf(matter, party.party_id)),
        role: ROLES[party.role] ?? "related",
        ...span(party),
      })),
      ...(matter.people ?? [])
        .filter(({ name }) => name !== undefined && name !== "")
        .map((person) => ({
          party_id: wireId(`firm:${person.person_id}`),
          role: "firm_personnel",
          ...span(person),
        })),
    ],
  };
}

/** An end that no matter names is left out; a type that is not known is a tie all the same. */
function relationshipsOf(
  matter: Matter,
  idOf: IdOf,
  parties: ReadonlyMap<string, Collected>,
): JsonObject[] {
  return (matter.relationships ?? []).flatMap(({ from, to, type, share_bp: share }) => {
    const ends = [from, to].map((id) => idOf(matter, id));
    if (!ends.every((id) => parties.has(id))) return [];
    return [
      {
        from: wireId(ends[0] ?? ""),
        to: wireId(ends[1] ?? ""),
        type: RELATIONSHIPS.has(type) ? type : "affiliate_of",
        ...(share === undefined ? {} : { share_bp: share }),
      },
    ];
  });
}

const NOTE_IDS = { waivers: "waiver_id", walls: "wall_id" } as const;
const NOTE_KEYS = {
  waivers: ["kind", "confirmed_in_writing", "scope", "date", "expires"],
  walls: ["screened_lawyer_ids", "from", "notice_sent"],
} as const;

/** Notes in the form of the conflict check; others are for people. */
function notesOf(
  matters: readonly Matter[],
  list: "waivers" | "walls",
  idOf: IdOf,
  parties: ReadonlyMap<string, Collected>,
): JsonObject[] {
  const seen = new Set<string>();
  return matters.flatMap((matter) =>
    ((matter.conflicts?.[list] ?? []) as unknown as readonly JsonObject[]).flatMap((note) => {
      const { [NOTE_IDS[list]]: id, party_id: partyId } = note;
      if (typeof id !== "string" || typeof partyId !== "string" || seen.has(id)) return [];
      const party = idOf(matter, partyId);
      if (!parties.has(party) || (list === "walls" && !note["screened_lawyer_ids"])) return [];
      seen.add(id);
      const kept = Object.entries(note).filter(([key]) =>
        (NOTE_KEYS[list] as readonly string[]).includes(key),
      );
      return [
        {
          [NOTE_IDS[list]]: wireId(id),
          party_id: wireId(party),
          matter_id: matter.matter_id,
          ...Object.fromEntries(kept),
        },
      ];
    }),
  );
}
