/** What limits a check: names that could not be read or compared, and records that are missing. */
import { compareText, sorted } from "../order.ts";
import type { ConflictInput } from "./schema.ts";
import { recordClassOf } from "./severity.ts";
import { scriptsOf, transliterate } from "./transliterate.ts";
import { foldWords, unassignedIn } from "./unicode-fold.ts";

export const NOTE_KINDS = {
  /** A name holds code points that the engine's Unicode tables do not know. */
  UNASSIGNED_CODEPOINT: "warning",
  /** A name has no letters or digits, so that nothing can match it. */
  NAME_UNUSABLE: "warning",
  /** Some record names are in scripts that an intake name cannot be compared with. */
  SCRIPT_NOT_COMPARABLE: "warning",
  /** More hits were found than asked for; the worst are listed. */
  HITS_TRUNCATED: "warning",
} as const;

export interface Note {
  readonly code: keyof typeof NOTE_KINDS;
  readonly severity: "warning";
  readonly refs: readonly string[];
  readonly detail: string;
}

/** Parties named in one note; a damaged export must not fill the answer. */
const REFS_MAX = 100;

export function nameNotes({ intake, records }: ConflictInput): Note[] {
  const unassigned = new Set<string>();
  const unusable = new Set<string>();
  const scripts = new Map<string, number>();
  const read = (partyId: string, text: string): ReadonlySet<string> => {
    if (ASCII_LETTERS.test(text)) return LATIN;
    if (unassignedIn(text).length > 0) unassigned.add(partyId);
    const words = foldWords(text, " ");
    if (words === "") unusable.add(partyId);
    return scriptsOf(transliterate(words));
  };
  for (const { party_id: id, names } of records.parties) {
    for (const { name } of names) {
      const found = read(id, name);
      const key = found === LATIN ? "latin" : [...found].sort(compareText).join(" ");
      scripts.set(key, (scripts.get(key) ?? 0) + 1);
    }
  }
  const apart = new Map<string, number>();
  for (const { party_id: id, names } of intake.parties) {
    const own = names.map(({ name }) => read(id, name));
    const all = own.reduce((sum, one) => sum.union(one), new Set<string>());
    const count = countApart(all, scripts);
    if (count > 0) apart.set(id, count);
  }
  return [
    ...noteOf("UNASSIGNED_CODEPOINT", unassigned),
    ...noteOf("NAME_UNUSABLE", unusable),
    ...sorted([...apart], ([a], [b]) => compareText(a, b)).map(([id, count]) => ({
      code: "SCRIPT_NOT_COMPARABLE" as const,
      severity: NOTE_KINDS.SCRIPT_NOT_COMPARABLE,
      refs: [id],
      detail: `${count} record names`,
    })),
  ];
}

const LATIN: ReadonlySet<string> = new Set(["latin"]);

/** Most names, and nothing to note about them. */
const ASCII_LETTERS = /^[\0-\x7f]*[A-Za-z][\0-\x7f]*$/;

/** Record names that share no script with any name of the party. */
function countApart(own: ReadonlySet<string>, scripts: ReadonlyMap<string, number>): number {
  if (own.size === 0) return 0;
  let count = 0;
  for (const [key, names] of scripts) {
    const isShared = key === "" || key.split(" ").some((script) => own.has(script));
    if (!isShared) count += names;
  }
  return count;
}

function noteOf(code: Note["code"], partyIds: ReadonlySet<string>): Note[] {
  if (partyIds.size === 0) return [];
  const refs = [...partyIds].sort(compareText).slice(0, REFS_MAX);
  return [{ code, severity: NOTE_KINDS[code], refs, detail: `${partyIds.size} parties` }];
}

export function truncationNote(found: number, shown: number): Note[] {
  if (found <= shown) return [];
  const detail = `${found - shown} more hits`;
  return [{ code: "HITS_TRUNCATED", severity: NOTE_KINDS.HITS_TRUNCATED, refs: [], detail }];
}

/** Kinds of records that a firm should search and that were not supplied, in a fixed order. */
export function notSearched({ records }: ConflictInput): string[] {
  const classes = new Set(
    records.matters.flatMap((matter) =>
      matter.roles.map(({ role }) => recordClassOf(matter, role, false)),
    ),
  );
  return [
    ...(records.parties.length === 0 ? ["no_parties"] : []),
    ...((records.relationships ?? []).length === 0 ? ["no_relationships"] : []),
    ...(classes.has("current_client") ? [] : ["no_current_clients"]),
    ...(classes.has("former_client") ? [] : ["no_former_clients"]),
    ...(classes.has("prospective_client") ? [] : ["no_prospective_clients"]),
    ...(classes.has("lateral_client") ? [] : ["no_lateral_matters"]),
    ...(classes.has("firm_personnel") ? [] : ["no_firm_personnel"]),
  ];
}
