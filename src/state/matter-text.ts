/** What full-text search sees of a matter: words folded as the conflict check folds them. */
import { wordsOf } from "../process/conflict/parse-name.ts";
import type { Matter } from "./matter-schema.ts";

export interface IndexTexts {
  readonly clients: string;
  readonly parties: string;
  readonly people: string;
  readonly title: string;
  readonly rest: string;
}

export function indexTexts(matter: Matter): IndexTexts {
  const parties = matter.parties ?? [];
  const isClient = (role: string): boolean => role === "client" || role === "co_client";
  const namesOf = (list: typeof parties): string[] =>
    list.flatMap(({ names }) => names.map(({ name }) => name));
  return {
    clients: folded(namesOf(parties.filter(({ role }) => isClient(role)))),
    parties: folded(namesOf(parties)),
    people: folded((matter.people ?? []).flatMap(({ name }) => name ?? [])),
    title: folded([matter.title ?? "", matter.matter_id]),
    rest: folded([
      matter.description ?? "",
      matter.client_matter_number ?? "",
      matter.law_firm_matter_number ?? "",
      matter.display_number ?? "",
      matter.classification?.practice_area ?? "",
      matter.venue?.court ?? "",
      ...(matter.venue?.docket_numbers ?? []),
      ...(matter.tags ?? []),
    ]),
  };
}

const folded = (texts: readonly string[]): string =>
  texts.map((text) => wordsOf(text, " ").join(" ")).join(" . ");

/** Longer questions are for the conflict check. */
const WORDS_MAX = 16;

/**
 * Every word must occur, in any column; the last one may be the beginning of a word.
 * @param column only this column, where given.
 * @returns null for text without words.
 */
export function ftsQuery(text: string, column?: keyof IndexTexts): string | null {
  const words = wordsOf(text, " ").slice(0, WORDS_MAX);
  if (words.length === 0) return null;
  // Folding leaves letters and digits only; quotes keep AND, OR, NEAR and NOT plain words.
  const terms = words.map((word, index) => `"${word}"${index === words.length - 1 ? "*" : ""}`);
  const query = terms.join(" AND ");
  return column === undefined ? query : `${column} : (${query})`;
}
