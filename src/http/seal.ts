/**
 * The last step of every response: signature, attestation, request id. What is sealed is the bytes
 * that are sent; nothing is serialised after it.
 */

import type { SigningKey } from "../crypto/ed25519.ts";
import { sha256Hex } from "../crypto/hash.ts";
import { attest } from "../receipt/attestation.ts";
import { signResponse } from "../receipt/body-digest.ts";
import type { Recorded } from "../service/metered-call.ts";
import type { Identity } from "../tenant/tenants.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";

export interface SealDeps {
  readonly key: SigningKey;
  readonly rev: string;
  readonly hmacSecret: (tenantId: string) => string;
  /** Of the caller's chain; without a caller, the newest checkpoint. */
  readonly chainHead: (identity: Identity | null) => string;
  /** The ledger's time, which no row is ahead of. */
  readonly nowMs: () => number;
  /** What a caller has left under its limits, after this request. */
  readonly limitHeaders: (identity: Identity) => Readonly<Record<string, string>>;
}

/** What a seal says about a request. */
export type SealedCall = Pick<Call, "requestId" | "method" | "path" | "bodyHash" | "identity">;

export function sealAnswer(deps: SealDeps, call: SealedCall, answer: Answer): Response {
  const headers = new Headers(answer.headers);
  headers.set("content-type", answer.contentType);
  setCallHeaders(headers, deps, call);
  const responseBodyHash = answer.bodyHash ?? sha256Hex(answer.body);
  headers.set("x-svc-attestation", attestation(deps, call, responseBodyHash, answer.row));
  if (call.identity !== null) {
    const secret = deps.hmacSecret(call.identity.tenantId);
    headers.set("x-svc-signature", signResponse(secret, answer.body));
  }
  const hasNoBody = call.method === "HEAD" || answer.status === 204 || answer.status === 304;
  return new Response(hasNoBody ? null : answer.body, { status: answer.status, headers });
}

export function setCallHeaders(headers: Headers, deps: SealDeps, call: SealedCall): void {
  headers.set("x-request-id", call.requestId);
  headers.set("x-svc-attestation-kid", deps.key.kid);
  // A proxy that compressed or rewrote the body would break every signature.
  headers.set("cache-control", "no-store, no-transform");
  headers.set("x-content-type-options", "nosniff");
  if (call.identity === null) return;
  for (const [name, value] of Object.entries(deps.limitHeaders(call.identity))) {
    headers.set(name, value);
  }
}

/** The token over a response whose digest is known. */
export function attestation(
  deps: SealDeps,
  call: SealedCall,
  responseBodyHash: string,
  row: Recorded | null,
): string {
  return attest(deps.key, {
    ts: row?.ts ?? deps.nowMs(),
    method: call.method,
    path: call.path,
    requestBodyHash: call.bodyHash,
    responseBodyHash,
    chainHead: row?.rowHash ?? deps.chainHead(call.identity),
    rev: deps.rev,
  });
}
