/** JSON Merge Patch (RFC 7396). */
import type { JsonValue } from "../bytes/canonical-json.ts";

type JsonRecord = { readonly [key: string]: JsonValue };

/** The target with the patch applied; neither is changed. */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isRecord(patch)) return patch;
  const merged = new Map(Object.entries(isRecord(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

function isRecord(value: JsonValue | undefined): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
