/**
 * The values that processes are hashed over: JSON whose numbers are safe integers and whose
 * strings are well-formed Unicode. Anything else would have two spellings, or none, in canonical
 * JSON.
 */
import type { JsonValue } from "../bytes/canonical-json.ts";
import { ProcessInputError } from "./input-error.ts";
import { printPointer } from "./pointer.ts";

/** Deeper input has no meaning in any process; the bound keeps recursion off the stack's end. */
const DEPTH_MAX = 64;

/**
 * @throws ProcessInputError `not_canonical` with the pointer of the first value that is not plain.
 */
export function checkPlainJson(value: JsonValue): void {
  check(value, [], 0);
}

function check(value: JsonValue, path: (string | number)[], depth: number): void {
  if (value === null || typeof value === "boolean") return;
  if (typeof value === "string") checkString(value, path);
  else if (typeof value === "number") checkNumber(value, path);
  else if (depth === DEPTH_MAX) refuse(path, `is nested deeper than ${DEPTH_MAX} levels`);
  else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1)
      checkMember(value[index] as JsonValue, index, path, depth);
  } else {
    const record = value as { readonly [key: string]: JsonValue };
    for (const key of Object.keys(record)) {
      checkString(key, path);
      checkMember(record[key] as JsonValue, key, path, depth);
    }
  }
}

function checkMember(
  item: JsonValue,
  key: string | number,
  path: (string | number)[],
  depth: number,
): void {
  path.push(key);
  check(item, path, depth + 1);
  path.pop();
}

function checkNumber(value: number, path: readonly (string | number)[]): void {
  if (!Number.isSafeInteger(value)) refuse(path, "must be an integer within ±(2^53 - 1)");
}

function checkString(text: string, path: readonly (string | number)[]): void {
  if (!text.isWellFormed()) refuse(path, "holds half of a surrogate pair");
}

function refuse(path: readonly (string | number)[], message: string): never {
  throw new ProcessInputError("not_canonical", printPointer(path), message);
}
