/** Facts beside a hit: what consent or screen is on file, and what the two matters share. */

import { parseDate } from "../civil-date.ts";
import type { JsonObject } from "../definition.ts";
import { compareText, sorted } from "../order.ts";
import type { Hit } from "./hits.ts";
import type { ConflictInput, Waiver, Wall } from "./schema.ts";

/** A waiver or a wall never lowers a severity: what it covers is for a lawyer to say. */
export interface NoteIndex {
  waiversOf(hit: Hit): readonly Waiver[];
  wallsOf(hit: Hit): readonly Wall[];
}

export function indexNotes({ records }: ConflictInput): NoteIndex {
  const waivers = sorted(records.waivers ?? [], (a, b) => compareText(a.waiver_id, b.waiver_id));
  const walls = sorted(records.walls ?? [], (a, b) => compareText(a.wall_id, b.wall_id));
  return {
    waiversOf: (hit) => waivers.filter((waiver) => concerns(waiver, hit)),
    wallsOf: (hit) => walls.filter((wall) => concerns(wall, hit)),
  };
}

function concerns(note: { readonly party_id: string; readonly matter_id?: string }, hit: Hit) {
  const isParty = note.party_id === hit.subjectId || note.party_id === hit.match?.record.party_id;
  return isParty && (note.matter_id === undefined || note.matter_id === hit.matter.matter_id);
}

/** What stands against relying on a waiver, in a fixed order. */
export function waiverFlags(waiver: Waiver, asOf: string): string[] {
  return [
    ...(waiver.expires !== undefined && waiver.expires < asOf ? ["expired"] : []),
    ...(waiver.date !== undefined && waiver.date > asOf ? ["not_yet_given"] : []),
    ...(waiver.confirmed_in_writing === true ? [] : ["not_in_writing"]),
    ...(waiver.kind === "non_waivable_note" ? ["non_waivable"] : []),
  ];
}

/** @param lawyers who works on the intake's matter, as far as the records say. */
export function wallFlags(wall: Wall, asOf: string): string[] {
  return [
    ...(wall.from !== undefined && wall.from > asOf ? ["not_yet_in_force"] : []),
    ...(wall.notice_sent === true ? [] : ["notice_not_sent"]),
    ...(wall.screened_lawyer_ids.length === 0 ? ["nobody_screened"] : []),
  ];
}

/** Duties whose reach depends on how near the two matters are to each other. */
const RELATEDNESS_CLASSES: ReadonlySet<Hit["recordClass"]> = new Set([
  "former_client",
  "prospective_client",
  "lateral_client",
]);

/**
 * Signs that two matters are substantially related; whether they are is not decided here. There
 * is no age from which a matter no longer counts.
 */
export function relatednessFactors(hit: Hit, input: ConflictInput): JsonObject[] {
  if (!RELATEDNESS_CLASSES.has(hit.recordClass)) return [];
  const ours = input.intake.matter ?? {};
  const { matter } = hit;
  const shared = (
    factor: string,
    mine: readonly string[] | undefined,
    theirs: readonly string[] | undefined,
  ): JsonObject[] =>
    sorted(
      new Set(mine ?? [])
        .intersection(new Set(theirs ?? []))
        .values()
        .toArray(),
      compareText,
    ).map((value) => ({ factor, value }));
  const area = ours.practice_area;
  return [
    ...shared("same_docket", ours.docket_numbers, matter.docket_numbers),
    ...(area !== undefined && area === matter.practice_area
      ? [{ factor: "same_practice_area", value: area }]
      : []),
    ...shared("shared_tag", ours.tags, matter.tags),
    ...closedFactor(matter.closed, input.as_of),
  ];
}

function closedFactor(closed: string | undefined, asOf: string): JsonObject[] {
  if (closed === undefined) return [];
  const ageDays = (parseDate(asOf) ?? 0) - (parseDate(closed) ?? 0);
  return [{ factor: "closed_on", value: closed, age_days: ageDays }];
}
