/**
 * The attestation token: what the service says about one response, signed. Frozen: see FORMAT.md.
 */
import { assert } from "../bytes/assert.ts";
import { fromBase64Url, toBase64Url } from "../bytes/base64url.ts";
import { utf8Decode, utf8Encode } from "../bytes/utf8.ts";
import type { SigningKey } from "../crypto/ed25519.ts";
import { sha256Hex } from "../crypto/hash.ts";

/** The five fields of a token's payload, exactly. */
export interface AttestationPayload {
  /** Unix milliseconds; for a billable call, the `ts` of its ledger row. */
  readonly ts: number;
  /** See `requestHash`. */
  readonly reqHash: string;
  /** SHA-256 of the raw response body, in hex. */
  readonly respHash: string;
  /** The chain's head after this call's own row; without a tenant, the newest checkpoint. */
  readonly chainHead: string;
  /** The build that produced the response. */
  readonly rev: string;
}

export interface Attested {
  readonly ts: number;
  readonly method: string;
  /** The path as routed, without the query. */
  readonly path: string;
  readonly requestBodyHash: string;
  readonly responseBodyHash: string;
  readonly chainHead: string;
  readonly rev: string;
}

const HASH = /^[0-9a-f]{64}$/;
const REV = /^[A-Za-z0-9._+-]{1,64}$/;
/** Canonical JSON of five known keys: their order and the values' alphabets leave one spelling. */
const PAYLOAD = new RegExp(
  '^{"chain_head":"([0-9a-f]{64})","req_hash":"([0-9a-f]{64})","resp_hash":"([0-9a-f]{64})",' +
    '"rev":"([A-Za-z0-9._+-]{1,64})","ts":(0|[1-9][0-9]{0,15})}$',
);
const TOKEN = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{86})$/;

/** @returns `<payload>.<signature>`, both base64url, for the header `X-Svc-Attestation`. */
export function attest(key: SigningKey, facts: Attested): string {
  assert(HASH.test(facts.responseBodyHash), "a response hash is not 64 hex digits");
  assert(HASH.test(facts.chainHead), "a chain head is not 64 hex digits");
  assert(REV.test(facts.rev), "a build revision has unexpected characters");
  const payload = utf8Encode(
    `{"chain_head":"${facts.chainHead}","req_hash":"${requestHash(facts)}",` +
      `"resp_hash":"${facts.responseBodyHash}","rev":"${facts.rev}","ts":${facts.ts}}`,
  );
  return `${toBase64Url(payload)}.${toBase64Url(key.sign(payload))}`;
}

/** SHA-256, in hex, of method, path, ts and the body's hex SHA-256, joined with newlines. */
export function requestHash(request: {
  readonly method: string;
  readonly path: string;
  readonly ts: number;
  readonly requestBodyHash: string;
}): string {
  assert(Number.isSafeInteger(request.ts) && request.ts >= 0, "a time is not a whole number of ms");
  assert(HASH.test(request.requestBodyHash), "a request hash is not 64 hex digits");
  return sha256Hex(`${request.method}\n${request.path}\n${request.ts}\n${request.requestBodyHash}`);
}

/**
 * Takes a token apart without verifying it.
 * @returns null unless the token is spelled exactly as `attest` spells it.
 */
export function parseAttestation(token: string): {
  readonly payload: AttestationPayload;
  readonly signedBytes: Uint8Array;
  readonly signature: Uint8Array;
} | null {
  const parts = TOKEN.exec(token);
  const signedBytes = fromBase64Url(parts?.[1] ?? "");
  const signature = fromBase64Url(parts?.[2] ?? "");
  if (parts === null || signedBytes === null || signature === null) return null;
  const payload = parsePayload(utf8Decode(signedBytes) ?? "");
  return payload === null ? null : { payload, signedBytes, signature };
}

function parsePayload(text: string): AttestationPayload | null {
  const parts = PAYLOAD.exec(text);
  if (parts === null) return null;
  const [, chainHead = "", reqHash = "", respHash = "", rev = "", digits = ""] = parts;
  const ts = Number(digits);
  return Number.isSafeInteger(ts) ? { ts, reqHash, respHash, chainHead, rev } : null;
}
