/** The members of records: which there are, and the form of each. */
import { type JsonValue, parseCanonicalObject } from "./encoding.ts";
import { check, type Finding } from "./finding.ts";

export const HASH = /^[0-9a-f]{64}$/;
export const KID = /^[0-9a-f]{16}$/;
export const REV = /^[A-Za-z0-9._+-]{1,64}$/;
export const TENANT_ID = /^t_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
export const APP_ID = /^[a-z0-9][a-z0-9._-]{0,62}$/;
export const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const SIGNATURE = /^[A-Za-z0-9_-]{86}$/;
export const ZERO_HASH = "0".repeat(64);

/** A pattern for a string, `"whole"` for a whole number, or the one value that is allowed. */
export type Form = RegExp | "whole" | { readonly is: JsonValue };

export type Members<Shape> = {
  readonly [Key in keyof Shape]: Shape[Key] extends "whole"
    ? number
    : Shape[Key] extends RegExp
      ? string
      : JsonValue;
};

/**
 * Parses canonical JSON with exactly these members.
 * @throws VerifyError naming the first member that differs.
 */
export function parseMembers<Shape extends Readonly<Record<string, Form>>>(
  text: string,
  shape: Shape,
  where: Omit<Finding, "message" | "field">,
): Members<Shape> {
  const value = parseCanonicalObject(text);
  const message = "is not canonical JSON";
  check(value !== null, { ...where, field: "json", message });
  for (const key of new Set([...Object.keys(shape), ...Object.keys(value)])) {
    const form = Object.hasOwn(shape, key) ? shape[key] : undefined;
    const member = Object.hasOwn(value, key) ? value[key] : undefined;
    const isRight = form !== undefined && member !== undefined && hasForm(member, form);
    check(isRight, { ...where, field: key, message: "has another form than specified" });
  }
  // Every member was just compared with the shape.
  return value as Members<Shape>;
}

function hasForm(member: JsonValue, form: Form): boolean {
  if (form === "whole") return Number.isSafeInteger(member) && Number(member) >= 0;
  if (form instanceof RegExp) return typeof member === "string" && form.test(member);
  return member === form.is;
}
