/** What a handler gives back. Bodies are bytes: they are serialised once, before anything signs. */
import { utf8Encode } from "../bytes/utf8.ts";
import type { Recorded, RecordedBody } from "../service/metered-call.ts";

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
  /** SHA-256 in hex, where it is known already. */
  readonly bodyHash?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The row of a billable call, which is durable already. */
  readonly row: Recorded | null;
}

const JSON_TYPE = "application/json";

export function jsonAnswer(
  value: unknown,
  options: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Answer {
  return {
    status: options.status ?? 200,
    contentType: JSON_TYPE,
    body: utf8Encode(JSON.stringify(value)),
    headers: options.headers ?? {},
    row: null,
  };
}

export function textAnswer(text: string, contentType: string): Answer {
  return { status: 200, contentType, body: utf8Encode(text), headers: {}, row: null };
}

export function emptyAnswer(status: number, headers: Readonly<Record<string, string>>): Answer {
  return { status, contentType: JSON_TYPE, body: new Uint8Array(), headers, row: null };
}

export function bytesAnswer(
  body: Uint8Array,
  contentType: string,
  headers: Readonly<Record<string, string>>,
): Answer {
  return { status: 200, contentType, body, headers, row: null };
}

/** A body that was recorded as it is. */
export function recordedAnswer({ body, bodyHash, row, headers }: RecordedBody): Answer {
  return { status: 200, contentType: JSON_TYPE, body, bodyHash, headers, row };
}
