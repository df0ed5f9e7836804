/**
 * Bytes to a JSON value, strictly: well-formed UTF-8, one value, no key twice in an object, no half
 * surrogates, bounded depth and count. One pass over the bytes decides that before `JSON.parse`
 * builds anything: parsing first would cost 29 bytes of memory for each byte of `{}` (measured).
 */
import { utf8Decode } from "../../bytes/utf8.ts";
import { ApiError, badRequest } from "../../service/api-error.ts";
import { JsonScan, type ScanLimits } from "./json-scan.ts";

/** @throws ApiError `invalid_json`, `invalid_utf8`, `request_too_complex`. */
export function parseJson(bytes: Uint8Array, limits: ScanLimits): unknown {
  const text = utf8Decode(bytes);
  if (text === null) throw badRequest("invalid_utf8", null, "the body is not well-formed UTF-8");
  const scan = new JsonScan(bytes, limits);
  const fault = scan.run();
  if (fault !== null) {
    const { line, column } = placeOf(bytes, fault.at);
    const where = `line ${line}, column ${column}`;
    if (fault.kind === "limit") {
      throw badRequest("request_too_complex", null, `${fault.message} (${where})`);
    }
    throw badRequest("invalid_json", null, `the body is not JSON: ${fault.message} at ${where}`);
  }
  const value: unknown = JSON.parse(text);
  if (countMembers(value) !== scan.members) throw doubledKey(bytes, limits);
  return value;
}

/** The media type of a JSON body. @throws ApiError 415. */
export function requireJson(headers: Headers): void {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    throw unsupportedMedia(`bodies encoded with ${JSON.stringify(encoding)} are not taken`);
  }
  const type = headers.get("content-type");
  const isJson = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type ?? "");
  if (isJson) return;
  const sent = type === null ? "without a Content-Type" : `as ${JSON.stringify(type)}`;
  throw unsupportedMedia(`the body was sent ${sent}; send Content-Type: application/json`);
}

function unsupportedMedia(message: string): ApiError {
  return new ApiError(message, {
    status: 415,
    type: "invalid_request_error",
    code: "unsupported_media_type",
    param: null,
  });
}

/** The parser keeps the last of two members with one name, so they show as a lower count. */
function countMembers(root: unknown): number {
  let count = 0;
  const rest: unknown[] = [root];
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (typeof value !== "object" || value === null) continue;
    const children: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    if (!Array.isArray(value)) count += children.length;
    for (const child of children) {
      if (typeof child === "object" && child !== null) rest.push(child);
    }
  }
  return count;
}

function doubledKey(bytes: Uint8Array, limits: ScanLimits): ApiError {
  const doubled = new JsonScan(bytes, limits).findDoubledKey();
  const { line, column } = placeOf(bytes, doubled?.at ?? 0);
  const name = JSON.stringify(doubled?.key ?? "");
  const message = `the name ${name} occurs twice in one object, at line ${line}, column ${column}`;
  return badRequest("duplicate_name", null, message);
}

/** Both count from 1; columns are bytes. */
function placeOf(
  bytes: Uint8Array,
  at: number,
): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (
    let index = bytes.indexOf(10);
    index !== -1 && index < at;
    index = bytes.indexOf(10, start)
  ) {
    line += 1;
    start = index + 1;
  }
  return { line, column: at - start + 1 };
}
