/**
 * JSON types as bits; `true` and `false` apart, so that every scalar constant is decided by type.
 */
import type { JsonValue } from "../bytes/canonical-json.ts";

export const NULL = 1;
export const TRUE = 2;
export const FALSE = 4;
export const NUMBER = 8;
export const STRING = 16;
export const ARRAY = 32;
export const OBJECT = 64;
export const BOOLEAN = TRUE | FALSE;
export const ANY_TYPE = 127;

export type JsonType = 1 | 2 | 4 | 8 | 16 | 32 | 64;
export const JSON_TYPES: readonly JsonType[] = [NULL, TRUE, FALSE, NUMBER, STRING, ARRAY, OBJECT];

export function typeOf(value: JsonValue): JsonType {
  if (value === null) return NULL;
  if (value === true) return TRUE;
  if (value === false) return FALSE;
  if (typeof value === "number") return NUMBER;
  if (typeof value === "string") return STRING;
  return Array.isArray(value) ? ARRAY : OBJECT;
}
