/** Who sent a request: the holder of a bearer key, or of the key that signed it. */
import { ApiError } from "../service/api-error.ts";
import type { SignableRequest } from "../tenant/signed-request.ts";
import type { Identity } from "../tenant/tenants.ts";
import type { Message, Target } from "./receive.ts";

export interface CredentialsDeps {
  readonly authenticate: (apiKey: string) => Identity | null;
  /** @returns null for a signature that is not taken; why not is for the log alone. */
  readonly authenticateSigned: (
    request: SignableRequest,
    requestId: string,
  ) => Promise<Identity | null>;
}

interface Received {
  readonly request: Request;
  readonly target: Target;
  readonly message: Message;
  readonly requestId: string;
}

/** The form of a key. Two Authorization lines arrive joined by a comma, and fail here. */
const BEARER = /^[Bb]earer sk-svc-[0-9a-f]{32}$/;
const SCHEME_CHARACTERS = "Bearer ".length;

/** @returns null for missing, malformed, unknown and revoked credentials alike. */
export async function readIdentity(
  deps: CredentialsDeps,
  { request, target, message, requestId }: Received,
): Promise<Identity | null> {
  const { headers, method } = request;
  const authorization = headers.get("authorization");
  if (!isSigned(headers)) {
    if (authorization === null) return null;
    // A malformed key costs what an unknown one does: it is looked up too.
    const found = deps.authenticate(authorization.slice(SCHEME_CHARACTERS));
    return BEARER.test(authorization) ? found : null;
  }
  // Two credentials: nobody can say which of them was meant. Of a body too large nothing is known.
  if (authorization !== null || message.refusal !== null) return null;
  const { authority, path, search: query } = target;
  const header = (name: string): string | null => headers.get(name);
  const { bytes: body, hash: bodyHash } = message;
  const signable = { method, authority, path, query, header, body, bodyHash };
  return deps.authenticateSigned(signable, requestId);
}

/** Whether a request tries to be someone, an operator included. */
export function hasCredentials(headers: Headers): boolean {
  return headers.has("authorization") || headers.has("x-admin-key") || isSigned(headers);
}

/** The 401 of an endpoint that needs a caller. */
export function unauthenticated(headers: Headers): ApiError {
  const refusal = (code: string, message: string): ApiError =>
    new ApiError(message, {
      status: 401,
      type: "authentication_error",
      code,
      param: null,
      headers: { "www-authenticate": "Bearer" },
    });
  if (isSigned(headers)) {
    const message =
      "the request's signature is not taken: its key, form, time, digest or nonce is not right, " +
      "or it came with an Authorization header too";
    return refusal("invalid_signature", message);
  }
  if (headers.has("authorization")) {
    const message = "the API key is not valid: it is unknown, revoked or misspelt";
    return refusal("invalid_api_key", message);
  }
  const message =
    "an API key is needed: send the header Authorization: Bearer sk-svc-…, or sign the request";
  return refusal("missing_api_key", message);
}

/** Signatures under other labels are others' business, such as a crawler's or a proxy's. */
function isSigned(headers: Headers): boolean {
  return /(?:^|,\s*)svc\s*=/.test(headers.get("signature-input") ?? "");
}
