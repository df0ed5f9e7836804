/** JSON Pointer (RFC 6901). */
import type { JsonValue } from "../bytes/canonical-json.ts";

/** @returns the reference tokens, or null unless `pointer` is well formed. */
export function parsePointer(pointer: string): string[] | null {
  if (pointer === "") return [];
  if (!/^(?:\/(?:[^~/]|~0|~1)*)+$/.test(pointer)) return null;
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function printPointer(tokens: readonly (string | number)[]): string {
  return tokens
    .map((token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

/** @returns the value at the pointer, or undefined where there is none. */
export function resolvePointer(root: JsonValue, tokens: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const token of tokens) {
    if (Array.isArray(value))
      value = /^(?:0|[1-9][0-9]*)$/.test(token) ? value[Number(token)] : undefined;
    else if (typeof value === "object" && value !== null) value = memberOf(value, token);
    else return undefined;
  }
  return value;
}

function memberOf(value: JsonValue, key: string): JsonValue | undefined {
  const record = value as { readonly [key: string]: JsonValue };
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
