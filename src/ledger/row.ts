/**
 * One billable call as a ledger row: its canonical bytes. Frozen: see FORMAT.md.
 *
 * Every value is a whole number, a boolean, null, or a string of a known alphabet that needs no
 * escapes, so the bytes are canonical JSON (RFC 8785) by construction.
 */
import { assert } from "../bytes/assert.ts";

/** What the service knows about a billable call; the ledger adds the rest. */
export interface CallRow {
  readonly tenantId: string;
  readonly appId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly method: string;
  /** The path as routed, without the query. */
  readonly path: string;
  /** HTTP status; 499 when the client left a stream early. */
  readonly status: number;
  /** SHA-256 of the raw request body, in hex. */
  readonly requestBodyHash: string;
  /** SHA-256 of the raw response body as sent, in hex. */
  readonly responseBodyHash: string;
  /** The receipt's `output_hash`, where the response has a receipt. */
  readonly outputHash: string | null;
  /** Whether the same input promises the same output. */
  readonly deterministic: boolean;
  /** What computed the output, with its version; two equal ones compute alike. */
  readonly engine: string | null;
  /** The model alias that the call resolved to. */
  readonly model: string | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly ms: number;
  /** The build that answered. */
  readonly rev: string;
}

/** A row's place in its chain. */
export interface RowLink {
  /** 1 for a chain's first row. */
  readonly seq: number;
  /** Unix milliseconds, never less than the row before has. */
  readonly ts: number;
  /** The `row_hash` of the row before in hex; 64 zeros before the first. */
  readonly prevHash: string;
  /** Which of the tenant's HMAC secrets the row's MAC is made with. */
  readonly macEpoch: number;
  /** 16 random bytes in hex: published hashes of rows then reveal nothing about them. */
  readonly nonce: string;
}

const TENANT_ID = /^t_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const APP_ID = /^[a-z0-9][a-z0-9._-]{0,62}$/;
const NAME = /^[A-Za-z0-9._:@/+-]{1,128}$/;
const ID = /^[A-Za-z0-9._-]{1,64}$/;
const REV = /^[A-Za-z0-9._+-]{1,64}$/;
const METHOD = /^[A-Z]{1,16}$/;
const PATH = /^\/[A-Za-z0-9/._~:@%+-]{0,255}$/;
const HASH = /^[0-9a-f]{64}$/;

export const ZERO_HASH = "0".repeat(64);

/** @throws AssertionError for a value that a row cannot hold: the caller must not let it come. */
export function assertCallRow(call: CallRow): void {
  assert(TENANT_ID.test(call.tenantId), "a row's tenant id has another form");
  assert(APP_ID.test(call.appId), "a row's app id has another form");
  assert(ID.test(call.keyId), "a row's key id has another form");
  assert(ID.test(call.requestId), "a row's request id has another form");
  assert(METHOD.test(call.method), "a row's method has another form");
  assert(PATH.test(call.path), "a row's path has another form");
  assert(HASH.test(call.requestBodyHash), "a row's request hash is not 64 hex digits");
  assert(HASH.test(call.responseBodyHash), "a row's response hash is not 64 hex digits");
  assert(isNullOr(HASH, call.outputHash), "a row's output hash is not 64 hex digits");
  assert(isNullOr(NAME, call.engine), "a row's engine has another form");
  assert(isNullOr(NAME, call.model), "a row's model has another form");
  assert(REV.test(call.rev), "a row's revision has another form");
  assert(call.status >= 100 && call.status <= 599, "a row's status is no HTTP status");
  for (const count of [call.status, call.promptTokens, call.completionTokens, call.ms]) {
    assert(Number.isSafeInteger(count) && count >= 0, "a row's number is not a whole number");
  }
}

/** The text whose UTF-8 bytes are stored and hashed. Keys stand in the order of RFC 8785. */
export function rowText(call: CallRow, link: RowLink): string {
  return (
    `{"app_id":"${call.appId}","completion_tokens":${call.completionTokens},` +
    `"deterministic":${call.deterministic},"engine":${quoted(call.engine)},` +
    `"in_hash":"${call.requestBodyHash}","key_id":"${call.keyId}","mac_epoch":${link.macEpoch},` +
    `"method":"${call.method}","model":${quoted(call.model)},"ms":${call.ms},` +
    `"nonce":"${link.nonce}","out_hash":"${call.responseBodyHash}",` +
    `"output_hash":${quoted(call.outputHash)},"path":"${call.path}",` +
    `"prev_hash":"${link.prevHash}","prompt_tokens":${call.promptTokens},` +
    `"request_id":"${call.requestId}","rev":"${call.rev}","seq":${link.seq},` +
    `"status":${call.status},"t":"svc.row","tenant_id":"${call.tenantId}","ts":${link.ts},"v":1}`
  );
}

/** What a row says about its place. Numbers are as they are written. */
export interface RowPlace {
  readonly appId: string;
  readonly macEpoch: string;
  readonly prevHash: string;
  readonly requestId: string;
  readonly seq: string;
  readonly tenantId: string;
  readonly ts: string;
}

const HEX = "[0-9a-f]{64}";
const WHOLE = "(?:0|[1-9][0-9]{0,15})";
const TEXT = "[A-Za-z0-9._-]{1,64}";
const NAME_OR_NULL = '(?:null|"[A-Za-z0-9._:@/+-]{1,128}")';
/** The members as `rowText` writes them. Groups have numbers: names cost more (measured). */
const ROW = new RegExp(
  `^\\{"app_id":"([a-z0-9][a-z0-9._-]{0,62})","completion_tokens":${WHOLE},` +
    `"deterministic":(?:true|false),"engine":${NAME_OR_NULL},"in_hash":"${HEX}",` +
    `"key_id":"${TEXT}","mac_epoch":(${WHOLE}),"method":"[A-Z]{1,16}","model":${NAME_OR_NULL},` +
    `"ms":${WHOLE},"nonce":"[0-9a-f]{32}","out_hash":"${HEX}","output_hash":(?:null|"${HEX}"),` +
    `"path":"/[A-Za-z0-9/._~:@%+-]{0,255}","prev_hash":"(${HEX})","prompt_tokens":${WHOLE},` +
    `"request_id":"(${TEXT})","rev":"[A-Za-z0-9._+-]{1,64}","seq":(${WHOLE}),` +
    `"status":[1-5][0-9]{2},"t":"svc\\.row","tenant_id":"(t_[0-7][0-9A-HJKMNP-TV-Z]{25})",` +
    `"ts":(${WHOLE}),"v":1\\}$`,
);

/** @returns null for a text that `rowText` cannot have made. */
export function parseRow(text: string): RowPlace | null {
  const parts = ROW.exec(text);
  if (parts === null) return null;
  const [, appId = "", macEpoch = "", prevHash = "", requestId = "", seq = ""] = parts;
  const [tenantId = "", ts = ""] = parts.slice(6);
  return { appId, macEpoch, prevHash, requestId, seq, tenantId, ts };
}

function quoted(text: string | null): string {
  return text === null ? "null" : `"${text}"`;
}

function isNullOr(pattern: RegExp, text: string | null): boolean {
  return text === null || pattern.test(text);
}
