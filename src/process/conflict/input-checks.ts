/** What the JSON Schema cannot say: real dates, ids that are unique and exist. */
import { parseDate } from "../civil-date.ts";
import { ProcessInputError } from "../input-error.ts";
import type { ConflictInput, Relationship } from "./schema.ts";

/** @throws ProcessInputError */
export function checkInput(input: ConflictInput): void {
  checkDates(input);
  const { intake, records } = input;
  const intakeIds = uniqueIds(intake.parties, "/intake/parties", "party_id");
  const recordIds = uniqueIds(records.parties, "/records/parties", "party_id");
  const isKnown = (id: string): boolean => recordIds.has(id);
  uniqueIds(records.matters, "/records/matters", "matter_id");
  uniqueIds(records.waivers ?? [], "/records/waivers", "waiver_id");
  uniqueIds(records.walls ?? [], "/records/walls", "wall_id");
  for (const [index, { roles }] of records.matters.entries()) {
    const at = roles.findIndex(({ party_id: id }) => !recordIds.has(id));
    const id = roles[at]?.party_id;
    if (id !== undefined)
      requireKnown(id, isKnown, `/records/matters/${index}/roles/${at}/party_id`);
  }
  checkEnds(intake.relationships ?? [], "/intake/relationships", (id) => {
    return intakeIds.has(id) || isKnown(id);
  });
  checkEnds(records.relationships ?? [], "/records/relationships", isKnown);
  for (const [pointer, { party_id: id }] of [
    ...pointed("/records/waivers", records.waivers ?? []),
    ...pointed("/records/walls", records.walls ?? []),
  ])
    requireKnown(id, isKnown, `${pointer}/party_id`);
}

function checkEnds(
  relationships: readonly Relationship[],
  pointer: string,
  isKnown: (id: string) => boolean,
): void {
  for (const [at, { from, to }] of pointed(pointer, relationships)) {
    requireKnown(from, isKnown, `${at}/from`);
    requireKnown(to, isKnown, `${at}/to`);
  }
}

function requireKnown(id: string, isKnown: (id: string) => boolean, pointer: string): void {
  if (!isKnown(id))
    throw new ProcessInputError("unknown_reference", pointer, `no party is called ${id}`);
}

function uniqueIds<Key extends string>(
  items: readonly { readonly [key in Key]: string }[],
  pointer: string,
  key: Key,
): Set<string> {
  const ids = new Set<string>();
  for (const item of items) ids.add(item[key]);
  if (ids.size === items.length) return ids;
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const id = item[key];
    if (seen.has(id)) {
      const message = `${id} is the ${key} of an earlier item`;
      throw new ProcessInputError("duplicate_id", `${pointer}/${index}/${key}`, message);
    }
    seen.add(id);
  }
  return ids;
}

function checkDates({ as_of: asOf, intake, records }: ConflictInput): void {
  requireDate(asOf, "", "as_of");
  checkNameDates(intake.parties, "/intake/parties");
  checkNameDates(records.parties, "/records/parties");
  for (const [index, { opened, closed, roles }] of records.matters.entries()) {
    const at = `/records/matters/${index}`;
    requireDate(opened, at, "opened");
    requireDate(closed, at, "closed");
    if (roles.some(hasDate)) checkSpans(roles, `${at}/roles`);
  }
  for (const [list, edges] of [
    ["/intake/relationships", intake.relationships],
    ["/records/relationships", records.relationships],
  ] as const) {
    for (const [at, { from_date: from, to_date: to }] of pointed(list, edges ?? [])) {
      requireDate(from, at, "from_date");
      requireDate(to, at, "to_date");
    }
  }
  for (const [at, { date, expires }] of pointed("/records/waivers", records.waivers ?? [])) {
    requireDate(date, at, "date");
    requireDate(expires, at, "expires");
  }
  checkSpans(records.walls ?? [], "/records/walls");
}

function checkNameDates(
  parties: readonly { readonly names: readonly Span[] }[],
  pointer: string,
): void {
  for (let index = 0; index < parties.length; index += 1) {
    const names = parties[index]?.names ?? [];
    if (names.some(hasDate)) checkSpans(names, `${pointer}/${index}/names`);
  }
}

interface Span {
  readonly from?: string;
  readonly to?: string;
}

const hasDate = ({ from, to }: Span): boolean => from !== undefined || to !== undefined;

function checkSpans(spans: readonly Span[], pointer: string): void {
  for (const [index, { from, to }] of spans.entries()) {
    if (from !== undefined) requireDate(from, `${pointer}/${index}`, "from");
    if (to !== undefined) requireDate(to, `${pointer}/${index}`, "to");
  }
}

function* pointed<T>(pointer: string, items: readonly T[]): Generator<readonly [string, T]> {
  for (const [index, item] of items.entries()) yield [`${pointer}/${index}`, item];
}

function requireDate(text: string | undefined, pointer: string, key: string): void {
  if (text !== undefined && parseDate(text) === null)
    throw new ProcessInputError(
      "invalid_date",
      `${pointer}/${key}`,
      `${text} is not a day of the calendar`,
    );
}
