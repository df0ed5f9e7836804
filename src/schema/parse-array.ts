/** Keywords for arrays. */
import type { JsonValue } from "../bytes/canonical-json.ts";
import type { KeywordReader } from "./keyword-reader.ts";
import type { ArrayRules, Contains, Schema } from "./schema.ts";

export function readArrayRules(reader: KeywordReader): ArrayRules | null {
  const { prefix, items } = readItems(reader);
  const minItems = reader.demand("minItems");
  const maxItems = reader.count("maxItems") ?? Number.POSITIVE_INFINITY;
  const contains = readContains(reader);
  const unique = reader.value("uniqueItems");
  if (unique !== undefined && typeof unique !== "boolean")
    reader.invalid("uniqueItems", "a boolean");
  const uniqueItems = unique === true;
  const bounded = minItems > 0 || maxItems !== Number.POSITIVE_INFINITY;
  if (prefix.length === 0 && !items && !bounded && !contains && !uniqueItems) return null;
  return { prefix, items, minItems, maxItems, contains, uniqueItems };
}

/**
 * 2020-12 writes tuples as `prefixItems` + `items`, the drafts before as `items` +
 * `additionalItems`.
 */
function readItems(reader: KeywordReader): {
  readonly prefix: readonly Schema[];
  readonly items: Schema | null;
} {
  const items = reader.value("items");
  if (Array.isArray(items)) {
    const list = items as readonly JsonValue[];
    const prefix = list.map((item, index) => reader.at(item, "items", String(index)));
    return { prefix, items: reader.schema("additionalItems") };
  }
  const prefix = reader.schemas("prefixItems") ?? [];
  reader.value("additionalItems");
  return { prefix, items: reader.schema("items") };
}

function readContains(reader: KeywordReader): Contains | null {
  const schema = reader.schema("contains");
  const min = reader.count("minContains") ?? 1;
  const max = reader.count("maxContains") ?? Number.POSITIVE_INFINITY;
  if (!schema || (min === 0 && max === Number.POSITIVE_INFINITY)) return null;
  return { schema, min, max };
}
