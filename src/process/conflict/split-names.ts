/** "John Smith a/k/a Jack Smyth d/b/a Smyth Books" holds three names. */

export type NameType =
  | "legal"
  | "former"
  | "alias"
  | "trade"
  | "maiden"
  | "transliteration"
  | "acronym"
  | "trustee";

export interface TypedName {
  readonly text: string;
  readonly type: NameType;
}

/** Words between two names of one party, and the type that they give to the second. */
const SEPARATORS: readonly (readonly [pattern: string, type: NameType])[] = [
  ["a/k/a|a\\.k\\.a\\.?|aka|also known as|alias", "alias"],
  ["f/k/a|f\\.k\\.a\\.?|fka|formerly known as|formerly", "former"],
  ["n/k/a|n\\.k\\.a\\.?|nka|now known as", "legal"],
  ["d/b/a|d\\.b\\.a\\.?|dba|doing business as|t/a|trading as", "trade"],
  ["n[eé]e", "maiden"],
  ["as successor to|successor to|successor in interest to", "former"],
  ["as trustee of|as trustee for|trustee of", "trustee"],
  ["ex rel\\.?", "alias"],
];

const SEPARATOR = new RegExp(
  `[ \\t\u00a0,(]+(?:${SEPARATORS.map(([pattern]) => `(${pattern})`).join("|")})[ \\t\u00a0:]+`,
  "iu",
);

/** How separators begin; most names have none of these, and are not searched. */
const MAY_SEPARATE = new RegExp(
  "[ \\t\u00a0,(](?:[afnd](?:/|\\.|[kb]a|lso|lias|ormerly|ow|oing)|t/a|trad|n[eé]e|" +
    "as |succ|trus|ex )",
  "iu",
);

/** @returns at least one name; the first keeps the type it was given with. */
export function splitNames(text: string, type: NameType): readonly TypedName[] {
  if (!MAY_SEPARATE.test(text)) return [{ text, type }];
  const found = SEPARATOR.exec(text);
  if (!found || found.index === 0) return [{ text, type }];
  const which = found.slice(1).findIndex((group) => group !== undefined);
  const before = text.slice(0, found.index);
  const after = text.slice(found.index + found[0].length).replace(/\)[ \t]*$/, "");
  if (after === "") return [{ text: before, type }];
  return [{ text: before, type }, ...splitNames(after, SEPARATORS[which]?.[1] ?? "alias")];
}
