/**
 * The door: what a request must look like before anything else reads it. Everything that parsers
 * could understand in two ways is refused here.
 */
import { Sha256, sha256Hex } from "../crypto/hash.ts";
import { ApiError, badRequest } from "../service/api-error.ts";

export const METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);
/** `http://name[:port]`, `http://[v6]…`, then the path. A malformed Host leaves no origin. */
const URL_FORM = new RegExp(
  "^https?://([A-Za-z0-9._-]{1,255}|\\[[0-9A-Fa-f:.]{2,45}\\])(?::([0-9]{1,5}))?" +
    "(/[^?#]*)(?:\\?([^#]*))?$",
);
/** The characters that need no escaping: a path has one spelling. */
const PATH_FORM = /^\/[A-Za-z0-9/._~@:+-]{0,255}$/;

export interface Target {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The query as sent, with its question mark; `?` without one. */
  readonly search: string;
  /** Host and port in lower case, without the port of http or https: `@authority` of RFC 9421. */
  readonly authority: string;
}

/**
 * @param hosts names by which the server may be addressed; null: any.
 * @throws ApiError `invalid_host`, `misdirected_request`, `method_not_allowed`, `unexpected_body`,
 *   `invalid_path`.
 */
export function readTarget(request: Request, hosts: ReadonlySet<string> | null): Target {
  const match = URL_FORM.exec(request.url);
  if (match === null || request.headers.get("host")?.includes(",") === true) {
    throw badRequest("invalid_host", null, "the Host header is not a host name");
  }
  const [, name = "", port = "", path = "/", query = ""] = match;
  const host = name.toLowerCase();
  if (hosts !== null && !hosts.has(host)) {
    // A page elsewhere may have pointed a name of its own at this machine (DNS rebinding).
    const message = `this server does not answer to ${host}; its operator can add it with --hosts`;
    throw new ApiError(message, { ...INVALID, status: 421, code: "misdirected_request" });
  }
  if (!METHODS.has(request.method)) {
    const message = `the method ${request.method} is not known`;
    throw new ApiError(message, { ...INVALID, status: 405, code: "method_not_allowed" });
  }
  if (request.method === "GET" || request.method === "HEAD") refuseBody(request);
  if (!PATH_FORM.test(path) || path.includes("//") || path.includes("/.")) {
    throw badRequest("invalid_path", null, "the path holds characters that no path here has");
  }
  const authority = port === "" || port === "80" || port === "443" ? host : `${host}:${port}`;
  return { path, query: new URLSearchParams(query), search: `?${query}`, authority };
}

const INVALID = { type: "invalid_request_error", param: null } as const;

/** The server drops such a body unread, so no attestation could cover it. */
function refuseBody({ method, headers }: Request): void {
  const length = headers.get("content-length") ?? "0";
  if (length === "0" && !headers.has("transfer-encoding")) return;
  throw badRequest("unexpected_body", null, `a ${method} request has no body`);
}

/** A body as received. */
export interface Message {
  readonly bytes: Uint8Array;
  /** SHA-256 in hex. */
  readonly hash: string;
  /** The refusal of a body that is too large; its bytes are not kept. */
  readonly refusal: ApiError | null;
}

export const NO_BODY: Message = { bytes: new Uint8Array(), hash: sha256Hex(""), refusal: null };

/** Bodies are hashed to this size even where they are refused; past it reading stops. */
const HASHED_BYTES_MAX = 64 << 20;

/**
 * The body as received. One that is larger than `bytesMax` is hashed all the same, so that the
 * refusal's attestation names what was sent, up to 64 MiB; the hash of more is that of nothing.
 */
export async function readBody(request: Request, bytesMax: number): Promise<Message> {
  if (request.body === null) return NO_BODY;
  const declared = Number(request.headers.get("content-length") ?? "0");
  if (declared > 0 && declared <= bytesMax) {
    const bytes = await request.bytes();
    const refusal = bytes.byteLength > bytesMax ? tooLarge(bytesMax) : null;
    return { bytes, hash: sha256Hex(bytes), refusal };
  }
  return readPieces(request.body, bytesMax);
}

async function readPieces(body: ReadableStream<Uint8Array>, bytesMax: number): Promise<Message> {
  const digest = new Sha256();
  let pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.byteLength;
    if (length > HASHED_BYTES_MAX) return { ...NO_BODY, refusal: tooLarge(bytesMax) };
    digest.update(piece);
    if (length <= bytesMax) pieces.push(piece);
    else pieces = [];
  }
  const refusal = length > bytesMax ? tooLarge(bytesMax) : null;
  return { bytes: Buffer.concat(pieces), hash: digest.digestHex(), refusal };
}

function tooLarge(bytesMax: number): ApiError {
  const message = `the body is larger than ${bytesMax} bytes, the most that this endpoint takes`;
  return new ApiError(message, { ...INVALID, status: 413, code: "request_too_large" });
}
