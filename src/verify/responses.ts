/**
 * Saved responses: that each came from the service, for this tenant, in answer to the saved
 * request, and that its call is in the chain as it was answered.
 */
import { fromBase64Url, latin1, textOf, toHex, utf8 } from "./encoding.ts";
import { ZERO_HASH } from "./fields.ts";
import { check, type Finding } from "./finding.ts";
import { type KeyChain, keyInUse } from "./keys.ts";
import { type Hashing, verifyEd25519 } from "./primitives.ts";
import type { RowText } from "./row-pattern.ts";

/** A response as a client kept it, with the request it answered. */
export interface SavedResponse {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly requestBody: Uint8Array;
  /** The body as received; of a stream, with its closing comments. */
  readonly responseBody: Uint8Array;
  /** Headers `X-Svc-Signature` and `X-Svc-Attestation`; null for what a stream says at its end. */
  readonly signature: string | null;
  readonly attestation: string | null;
  /** Header `X-Request-Id`, for a billable call; null: the call has no row. */
  readonly requestId: string | null;
}

/** A response whose seal holds, and what it says. */
export interface SealedResponse {
  readonly n: number;
  readonly requestId: string | null;
  readonly method: string;
  readonly path: string;
  readonly requestHash: string;
  readonly responseHash: string;
  readonly chainHead: string;
  readonly ts: number;
}

const TOKEN = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{86})$/;
const PAYLOAD = new RegExp(
  '^{"chain_head":"([0-9a-f]{64})","req_hash":"([0-9a-f]{64})","resp_hash":"([0-9a-f]{64})",' +
    '"rev":"[A-Za-z0-9._+-]{1,64}","ts":(0|[1-9][0-9]{0,15})}$',
);
const STREAM_END =
  /(?:: svc-signature=([0-9a-f]{64})\n)?: svc-attestation=([A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86})\n\n$/;

/** @param n the response's number, for findings. @throws VerifyError */
export async function verifySeal(
  context: {
    readonly hashing: Hashing;
    readonly keys: KeyChain;
    readonly hmacSecrets: readonly string[];
  },
  response: SavedResponse,
  n: number,
): Promise<SealedResponse> {
  const { hashing, keys, hmacSecrets } = context;
  const finding = (field: string, message: string): Finding => ({
    file: "responses",
    n,
    field,
    message,
  });
  const { body, signature, attestation } = sealOf(response);
  check(attestation !== null, finding("attestation", "is missing"));
  const token = TOKEN.exec(attestation);
  const signedBytes = fromBase64Url(token?.[1] ?? "");
  const tokenSignature = fromBase64Url(token?.[2] ?? "");
  const payload = PAYLOAD.exec(textOf(signedBytes ?? new Uint8Array()) ?? "");
  const isForm = signedBytes !== null && tokenSignature !== null && payload !== null;
  check(isForm, finding("attestation", "has another form than specified"));
  const [, chainHead = "", reqHash = "", respHash = "", tsText = ""] = payload;
  const ts = Number(tsText);

  const candidates = keys.keys.filter((key) => keyInUse(keys, key.kid, ts) !== null);
  let isSigned = false;
  for (const key of candidates) {
    isSigned ||= await verifyEd25519(key.publicKey, signedBytes, tokenSignature);
  }
  check(isSigned, finding("attestation", "is not signed by a key in use at its time"));
  const responseHash = hashing.sha256Hex(body);
  check(respHash === responseHash, finding("resp_hash", "is not the hash of the response body"));
  const requestHash = hashing.sha256Hex(response.requestBody);
  const request = `${response.method}\n${response.path}\n${tsText}\n${requestHash}`;
  const isAnswer = reqHash === hashing.sha256Hex(utf8(request));
  check(isAnswer, finding("req_hash", "does not belong to the saved request"));
  if (signature !== null && hmacSecrets.length > 0) {
    const isOurs = hmacSecrets.some(
      (secret) => toHex(hashing.hmacSha256(utf8(secret), body)) === signature,
    );
    check(isOurs, finding("signature", "is not made with the tenant's secret"));
  }
  const { method, path, requestId } = response;
  return { n, requestId, method, path, requestHash, responseHash, chainHead, ts };
}

/** That the row which the token names is the row of this call. @throws VerifyError */
export function verifyRowOf(response: SealedResponse, row: RowText | undefined): void {
  if (response.requestId === null) return;
  const where = { file: "responses", n: response.n };
  const missing = "names a row that the export does not have";
  check(row !== undefined, { ...where, field: "chain_head", message: missing });
  const pairs: readonly (readonly [string, string, string])[] = [
    ["request_id", response.requestId, row.request],
    ["method", response.method, row.method],
    ["path", response.path, row.path],
    ["in_hash", response.requestHash, row.input],
    ["out_hash", response.responseHash, row.body],
    ["ts", String(response.ts), row.ts],
  ];
  for (const [field, expected, found] of pairs) {
    const message = `differs between the response and row ${row.seq} of ${row.app}`;
    check(expected === found, { ...where, field, message, expected, found });
  }
}

/** That a response without a row names a head that existed. @throws VerifyError */
export function verifyHeadOf(
  response: SealedResponse,
  isKnownHead: (hash: string) => boolean,
): void {
  const { chainHead } = response;
  const isKnown = response.requestId !== null || chainHead === ZERO_HASH || isKnownHead(chainHead);
  const message = "is neither a row nor a checkpoint of the export";
  check(isKnown, { file: "responses", n: response.n, field: "chain_head", message });
}

/** Separates a stream's closing comments from the bytes that they are about. */
export function sealOf(response: SavedResponse): {
  readonly body: Uint8Array;
  readonly signature: string | null;
  readonly attestation: string | null;
} {
  const { responseBody, signature, attestation } = response;
  if (attestation !== null) return { body: responseBody, signature, attestation };
  const end = STREAM_END.exec(latin1(responseBody));
  if (end === null) return { body: responseBody, signature, attestation };
  const body = responseBody.subarray(0, end.index);
  return { body, signature: end[1] ?? null, attestation: end[2] ?? null };
}
