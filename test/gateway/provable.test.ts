/**
 * The third promise, end to end: what a client keeps of its calls and what it downloads later are
 * enough for the offline verifier, and a service that forgets a call is found out.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import type { SavedResponse } from "../../src/verify/responses.ts";
import { verifyArchive } from "../../src/verify/verify.ts";
import { send } from "../helpers/gateway.ts";
import { inPieces } from "../trust-export.ts";
import v4 from "../vectors/iolta/v4-masked.json";

// A model loads: seconds on a busy machine.
setDefaultTimeout(60_000);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway();
});
afterAll(() => gateway.close());

const chat = {
  model: "svc-tier-b",
  messages: [{ role: "user", content: "Hello." }],
  max_tokens: 8,
};

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly apiKey?: string | null;
  /** Whether the call is billable: then it has a row. */
  readonly isBilled: boolean;
}

/** Sends a request and keeps what a careful client keeps. */
async function keep(sent: Sent): Promise<SavedResponse> {
  const method = sent.method ?? "POST";
  const body = sent.body === undefined ? "" : JSON.stringify(sent.body);
  const apiKey = sent.apiKey === undefined ? gateway.apiKey : sent.apiKey;
  const response = await gateway.fetch(sent.path, {
    method,
    headers: {
      "content-type": "application/json",
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    ...(body === "" ? {} : { body }),
  });
  return {
    method,
    path: sent.path.split("?")[0] ?? "",
    requestBody: new TextEncoder().encode(body),
    responseBody: await response.bytes(),
    signature: response.headers.get("x-svc-signature"),
    attestation: response.headers.get("x-svc-attestation"),
    requestId: sent.isBilled ? response.headers.get("x-request-id") : null,
  };
}

const CALLS: readonly Sent[] = [
  { path: "/v1/models", method: "GET", isBilled: false },
  { path: "/v1/process/iolta-reconcile", body: v4.input, isBilled: true },
  { path: "/v1/chat/completions", body: chat, isBilled: true },
  { path: "/v1/chat/completions", body: { ...chat, stream: true }, isBilled: true },
  { path: "/v1/process/iolta-reconcile", body: { not: "an input" }, isBilled: false },
  { path: "/v1/process/iolta-reconcile", body: v4.input, isBilled: true },
  { path: "/v1/me", method: "GET", apiKey: null, isBilled: false },
  { path: "/v1/audit?limit=1", method: "GET", isBilled: false },
  { path: "/v1/no-such-path", method: "GET", isBilled: false },
];

/** Downloads the export and checks its seal. */
async function download(): Promise<Uint8Array> {
  const { status, bytes } = await send(gateway, { path: "/v1/audit/export" });
  expect(status).toBe(200);
  return bytes;
}

test("every kept answer, refusals included, is proven by the export", async () => {
  const responses: SavedResponse[] = [];
  for (const sent of CALLS) responses.push(await keep(sent));
  const archive = await download();
  const hmacSecrets = [gateway.hmacSecret];
  const report = await verifyArchive(inPieces(archive), { responses, hmacSecrets });
  expect(report.finding).toBeNull();
  expect(report.summary).toMatchObject({
    tenantId: gateway.tenantId,
    rows: CALLS.filter((sent) => sent.isBilled).length,
    responses: CALLS.length,
  });
  expect(report.notes.filter((note) => note.includes("newer than the export"))).toEqual([]);

  // Heads that were seen hold for every later export.
  await keep(CALLS[1] as Sent);
  const later = await verifyArchive(inPieces(await download()), {
    responses,
    hmacSecrets,
    heldHeads: report.summary.chains,
  });
  expect(later.finding).toBeNull();
  expect(later.summary.rows).toBe(report.summary.rows + 1);
  const earlier = await verifyArchive(inPieces(archive), { heldHeads: later.summary.chains });
  expect(earlier.finding).toMatchObject({ field: "held head" });
});

test("a client that leaves while its export is being sealed costs no more than that", async () => {
  const left = new AbortController();
  left.abort();
  const { status } = await gateway.gateway.fetch(
    new Request("http://localhost/v1/audit/export", {
      headers: { authorization: `Bearer ${gateway.apiKey}` },
      signal: left.signal,
    }),
  );
  expect(status).toBe(499);
});
