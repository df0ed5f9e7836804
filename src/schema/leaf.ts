/**
 * Schemas of scalars that mean the same are one: documents repeat `{"type":"string"}` by the
 * hundred, and whatever is worked out for one of them then serves all.
 */
import type { Dialect } from "./dialect.ts";
import type { JsonObject } from "./document.ts";

/** Keywords that say everything about a schema of scalars. */
const LEAF_KEYWORDS: readonly string[] = [
  "type",
  "enum",
  "const",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
];
const ANNOTATIONS: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
]);

/** Equal only for schemas that mean the same; null for one that is more than a leaf. */
export function leafKey(json: JsonObject, dialect: Dialect): string | null {
  const parts: string[] = [dialect];
  for (const keyword of Object.keys(json)) {
    if (LEAF_KEYWORDS.includes(keyword)) parts.push(keyword, JSON.stringify(json[keyword]));
    else if (!ANNOTATIONS.has(keyword)) return null;
  }
  return parts.join("\n");
}
