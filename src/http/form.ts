/** Forms of one field, and the pages that have them. */
import { utf8Decode, utf8Encode } from "../bytes/utf8.ts";
import { sha256 } from "../crypto/hash.ts";
import { badRequest } from "../service/api-error.ts";
import { type Answer, bytesAnswer } from "./answer.ts";
import type { Call } from "./call.ts";
import { PAGE_STYLE } from "./sign-up-page.ts";

const FORM_BYTES_MAX = 4096;

const STYLE_HASH = Buffer.from(sha256(PAGE_STYLE)).toString("base64");
/** Nothing is loaded or run, no other page may frame it, and the form leads back here only. */
const HEADERS = {
  "content-security-policy":
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; ` +
    "base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

export function page(html: string): Answer {
  return bytesAnswer(utf8Encode(html), "text/html; charset=utf-8", HEADERS);
}

/** @returns nothing where there is no form, or not this field in it. @throws ApiError 400. */
export function formOf({ body, headers }: Call, field: string): string {
  if (body.byteLength === 0) return "";
  const type = (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    const message = "the body must be a form: application/x-www-form-urlencoded, or be left out";
    throw badRequest("unsupported_content_type", null, message);
  }
  const text = body.byteLength > FORM_BYTES_MAX ? null : utf8Decode(body);
  if (text === null) {
    const message = `the form must be at most ${FORM_BYTES_MAX} bytes of UTF-8`;
    throw badRequest("invalid_form", null, message);
  }
  const given = new URLSearchParams(text).getAll(field);
  if (given.length > 1) {
    throw badRequest("invalid_form", field, `${field} is given more than once`);
  }
  return given[0] ?? "";
}
