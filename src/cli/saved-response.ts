/** Responses as `curl -i` leaves them in a file, for `svc verify --response`. */
import type { SavedResponse } from "../verify/responses.ts";
import { CliError, EXIT_USAGE } from "./cli-error.ts";
import { readBytes } from "./files.ts";
import type { CliIo } from "./io.ts";

/** Calls that leave a row when they are answered with 200. */
const BILLABLE =
  /^\/v1\/(chat\/completions|chat-grounded|compose|responses|search|state\/matters)$/;
const BILLABLE_PROCESS = /^\/v1\/process\/[^/]+$/;
const STATUS_LINE = /^HTTP\/[0-9.]+ ([0-9]{3})/;

/**
 * @param text `PATH:FILE` of a GET, `PATH:FILE:REQUEST` of a POST whose body is the file REQUEST.
 * @throws CliError
 */
export async function readSavedResponse(io: CliIo, text: string): Promise<SavedResponse> {
  const parts = /^(\/[^:?]+):([^:]+)(?::([^:]+))?$/.exec(text);
  if (parts === null) throw usage(`--response ${text} is not PATH:FILE or PATH:FILE:REQUEST`);
  const [, path = "", file = "", request] = parts;
  const { status, headers, body } = splitMessage(file, await readBytes(io, file));
  const header = (name: string): string | null => headers.get(name) ?? null;
  const method = request === undefined ? "GET" : "POST";
  const isRecorded =
    method === "POST" &&
    status === 200 &&
    (BILLABLE.test(path) || BILLABLE_PROCESS.test(path)) &&
    !headers.has("idempotent-replayed");
  return {
    method,
    path,
    requestBody: request === undefined ? new Uint8Array() : await readBytes(io, request),
    responseBody: body,
    signature: header("x-svc-signature"),
    attestation: header("x-svc-attestation"),
    requestId: isRecorded ? header("x-request-id") : null,
  };
}

interface HttpMessage {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** Interim responses and those of proxies come first, each with a head of its own. */
function splitMessage(file: string, bytes: Uint8Array): HttpMessage {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  for (;;) {
    const end = view.indexOf("\r\n\r\n", start);
    const [first = "", ...lines] = view.toString("latin1", start, Math.max(end, 0)).split("\r\n");
    const status = Number(STATUS_LINE.exec(first)?.[1] ?? 0);
    if (end === -1 || status === 0) throw usage(`${file} is not what curl -i prints`);
    start = end + 4;
    const hasNext = STATUS_LINE.test(view.toString("latin1", start, start + 16));
    if (status >= 200 && !hasNext) {
      const headers = new Map(lines.map(headerOf));
      return { status, headers, body: bytes.subarray(start) };
    }
  }
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

function usage(message: string): CliError {
  const hint = "save answers with curl -si … -o FILE";
  return new CliError(message, { code: "usage", hint, exitCode: EXIT_USAGE });
}
