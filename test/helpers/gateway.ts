/** Requests to a test gateway, and what every answer of it must be. */
import { expect } from "bun:test";
import { createHash, createHmac, createPublicKey, verify } from "node:crypto";
import type { TestGateway } from "../../src/testing.ts";

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** Null where the body is no JSON. */
  readonly json: Json | null;
  readonly ms: number;
}

/** JSON of a response, read by path without types. */
export type Json = Readonly<Record<string, unknown>>;

export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Null: no key is sent; by default the test tenant's. */
  readonly apiKey?: string | null;
  /** Of another key's tenant: signs its answers. */
  readonly hmacSecret?: string;
}

/** Sends a request and checks the seal of the answer. @param origin of a socket; none: without. */
export async function send(gateway: TestGateway, sent: Sent, origin = ""): Promise<Answered> {
  const { method = sent.body === undefined ? "GET" : "POST", path, body } = sent;
  const apiKey = sent.apiKey === undefined ? gateway.apiKey : sent.apiKey;
  const headers = {
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    ...sent.headers,
  };
  const startedMs = performance.now();
  const init = { method, headers, body: body ?? null };
  const response = await (origin === "" ? gateway.fetch(path, init) : fetch(origin + path, init));
  const answered = await readAnswered(response, startedMs);
  const own = apiKey === gateway.apiKey ? gateway.hmacSecret : null;
  const hmacSecret = sent.hmacSecret ?? own;
  expectSeal(gateway, { method, path: path.replace(/\?.*/, ""), body, hmacSecret }, answered);
  return answered;
}

/** A chat request with the defaults that most tests want. */
export function chat(gateway: TestGateway, body: object): Promise<Answered> {
  const whole = { model: "svc-tier-b", messages: [{ role: "user", content: INVOICE }], ...body };
  return send(gateway, { path: "/v1/chat/completions", body: JSON.stringify(whole) });
}

export const INVOICE = "Invoice A-77 over 120.50 EUR";

export const INVOICE_SCHEMA = {
  type: "object",
  properties: { invoice_number: { type: "string" }, total: { type: "number" } },
  required: ["invoice_number", "total"],
  additionalProperties: false,
} as const;

export async function readAnswered(response: Response, startedMs: number): Promise<Answered> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const ms = performance.now() - startedMs;
  const text = new TextDecoder().decode(bytes);
  const isJson = response.headers.get("content-type") === "application/json" && text !== "";
  const json = isJson ? (JSON.parse(text) as Json) : null;
  return { status: response.status, headers: response.headers, bytes, text, json, ms };
}

interface SealFacts {
  readonly method: string;
  readonly path: string;
  readonly body?: string | Uint8Array | undefined;
  /** Null where the caller's tenant is not known. */
  readonly hmacSecret: string | null;
}

/** Signature, attestation and request id, computed again with other code than the server's. */
function expectSeal(gateway: TestGateway, sent: SealFacts, answered: Answered): void {
  const { headers, bytes } = answered;
  expect(headers.get("x-request-id")).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/);
  const { hmacSecret } = sent;
  const signature = createHmac("sha256", hmacSecret ?? "")
    .update(bytes)
    .digest("hex");
  expect(headers.get("x-svc-signature")).toBe(hmacSecret === null ? null : signature);
  const payload = openToken(gateway, headers.get("x-svc-attestation") ?? "");
  expect(Object.keys(payload).sort()).toEqual(["chain_head", "req_hash", "resp_hash", "rev", "ts"]);
  const bodyHash = hex(sent.body ?? "");
  const request = [sent.method, sent.path, payload["ts"], bodyHash].join("\n");
  expect(payload["req_hash"]).toBe(hex(request));
  expect(payload["resp_hash"]).toBe(hex(bytes));
  expect(payload["rev"]).toBe(gateway.gateway.rev);
}

/** The payload of an attestation token whose signature is good. */
export function openToken(gateway: TestGateway, token: string): Json {
  const [payload = "", signature = ""] = token.split(".");
  const bytes = Buffer.from(payload, "base64url");
  const key = createPublicKey(gateway.gateway.keys.current.publicKeyPem);
  expect(verify(null, bytes, key, Buffer.from(signature, "base64url"))).toBe(true);
  return JSON.parse(bytes.toString()) as Json;
}

export function hex(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** A member deep inside JSON: `at(json, "choices", 0, "message", "content")`. */
export function at(json: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Json | null)?.[key], json);
}

export function content(answered: Answered): string {
  return String(at(answered.json, "choices", 0, "message", "content"));
}

/** The error of a refusal: code and param. */
export function errorOf({ json }: Answered): readonly [unknown, unknown] {
  expect(Object.keys((json?.["error"] ?? {}) as Json).sort()).toEqual([
    ...["code", "message", "param", "type"],
  ]);
  return [at(json, "error", "code"), at(json, "error", "param")];
}

/** Rows of the test tenant, newest last. */
export async function rowsOf(gateway: TestGateway): Promise<Json[]> {
  const { json } = await send(gateway, { path: "/v1/audit?limit=1000" });
  expect(json?.["chain_ok"]).toBe(true);
  return json?.["rows"] as Json[];
}
