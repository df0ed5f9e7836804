/** What the drafts of JSON Schema read differently. */

export type Dialect = "draft4" | "draft6" | "draft7" | "2019-09" | "2020-12" | "unstated";

const DRAFTS: readonly (readonly [string, Dialect])[] = [
  ["draft-04", "draft4"],
  ["draft-06", "draft6"],
  ["draft-07", "draft7"],
  ["2019-09", "2019-09"],
  ["2020-12", "2020-12"],
];

/**
 * The dialect that `$schema` names. An unknown URI, or none, gives "unstated": the 2020-12 reading,
 * with draft-04's boolean `exclusiveMinimum`, `id`, array `items` and `dependencies` understood,
 * since a third of published schemas are written so.
 */
export function dialectOf(schemaUri: unknown): Dialect {
  if (typeof schemaUri !== "string") return "unstated";
  return DRAFTS.find(([part]) => schemaUri.includes(part))?.[1] ?? "unstated";
}

/** Up to draft-07, `$ref` hides the keywords beside it. */
export function refHidesSiblings(dialect: Dialect): boolean {
  return dialect === "draft4" || dialect === "draft6" || dialect === "draft7";
}

/** The keyword that names a schema's own URI. */
export function idKeywords(dialect: Dialect): readonly string[] {
  if (dialect === "draft4") return ["id"];
  return dialect === "unstated" ? ["$id", "id"] : ["$id"];
}

/** In draft-04, 1.0 is not an integer. */
export function integersHaveNoFraction(dialect: Dialect): boolean {
  return dialect === "draft4";
}

/** Keywords that are younger than a dialect: in it, they are annotations like any unknown word. */
const SINCE: readonly (readonly [Dialect, readonly string[]])[] = [
  ["draft6", ["const", "contains", "propertyNames"]],
  ["draft7", ["if", "then", "else"]],
  [
    "2019-09",
    [
      "$anchor",
      "$recursiveRef",
      "dependentRequired",
      "dependentSchemas",
      "maxContains",
      "minContains",
      "unevaluatedItems",
      "unevaluatedProperties",
    ],
  ],
  ["2020-12", ["$dynamicRef", "prefixItems"]],
];

const ORDER: readonly Dialect[] = ["draft4", "draft6", "draft7", "2019-09", "2020-12"];

const KNOWN_SINCE: ReadonlyMap<string, number> = new Map(
  SINCE.flatMap(([dialect, keywords]) =>
    keywords.map((keyword) => [keyword, ORDER.indexOf(dialect)] as const),
  ),
);

/** Whether the dialect defines a keyword (any dialect, for those that all have). */
export function definesKeyword(dialect: Dialect, keyword: string): boolean {
  if (dialect === "unstated") return true;
  return ORDER.indexOf(dialect) >= (KNOWN_SINCE.get(keyword) ?? 0);
}
