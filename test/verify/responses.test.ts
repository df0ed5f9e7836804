/** Saved responses against an export: each is this service's, answers its request, has its row. */
import { beforeAll, expect, test } from "bun:test";
import type { SavedResponse } from "../../src/verify/responses.ts";
import { inPieces, verifyArchive } from "../trust-export.ts";
import { answered, type Kept, keep } from "./fixture.ts";

let kept: Kept;

beforeAll(async () => {
  kept = await keep(4);
});

const verify = (responses: readonly SavedResponse[], hmacSecrets = [kept.hmacSecret]) =>
  verifyArchive(inPieces(kept.archive), { responses, hmacSecrets });

function responseAt(index: number): SavedResponse {
  const response = kept.responses[index];
  if (response === undefined) throw new Error(`there is no response ${index}`);
  return response;
}

test("every saved response is found in the chain, streams and reads without a row included", async () => {
  const report = await verify(kept.responses);
  expect(report.finding).toBeNull();
  expect(report.summary.responses).toBe(6);
});

/** The first response is plain, the second a stream, the last two have no row. */
const CHANGES: readonly (readonly [string, number, (r: SavedResponse) => SavedResponse, string])[] =
  [
    ["a changed body", 0, (r) => ({ ...r, responseBody: Buffer.from("{}") }), "resp_hash"],
    [
      "a changed byte of a stream",
      1,
      (r) => ({ ...r, responseBody: Buffer.from(r.responseBody).fill("D", 0, 1) }),
      "resp_hash",
    ],
    ["another request", 0, (r) => ({ ...r, requestBody: Buffer.from("{}") }), "req_hash"],
    ["another method", 0, (r) => ({ ...r, method: "PUT" }), "req_hash"],
    ["another path", 0, (r) => ({ ...r, path: "/v1/completions" }), "req_hash"],
    ["another request id", 0, (r) => ({ ...r, requestId: "req_other" }), "request_id"],
    ["another signature", 0, (r) => ({ ...r, signature: "ab".repeat(32) }), "signature"],
    ["no attestation", 0, (r) => ({ ...r, attestation: null }), "attestation"],
    ["a padded token", 0, (r) => ({ ...r, attestation: `${r.attestation}=` }), "attestation"],
    [
      "a stream without its closing comments",
      1,
      (r) => ({ ...r, responseBody: r.responseBody.slice(0, 20) }),
      "attestation",
    ],
    ["a read that claims a row", 4, (r) => ({ ...r, requestId: "req_other" }), "request_id"],
  ];

test.each(CHANGES)("%s is found", async (_name, index, change, field) => {
  const responses = kept.responses.with(index, change(responseAt(index)));
  const { finding } = await verify(responses);
  expect(finding).toMatchObject({ file: "responses", n: index + 1, field });
});

test("a token of one response does not pass for another", async () => {
  const other = responseAt(2).attestation;
  const { finding } = await verify([{ ...responseAt(0), attestation: other }]);
  expect(finding).toMatchObject({ file: "responses", n: 1, field: "resp_hash" });
});

test("every bit of a token counts", async () => {
  const token = responseAt(0).attestation ?? "";
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (let at = 0; at < token.length; at += 29) {
    const next = alphabet[(alphabet.indexOf(token[at] ?? "") + 1) % 64] ?? "A";
    const attestation = `${token.slice(0, at)}${next}${token.slice(at + 1)}`;
    const { finding } = await verify([{ ...responseAt(0), attestation }]);
    expect(finding).toMatchObject({ file: "responses", n: 1 });
  }
});

test("a response that is newer than the export is not looked for, and the report says so", async () => {
  const { service, tenantId, hmacSecret } = kept;
  service.clock.nowMs += 60_000;
  const newer = await answered(service, { tenantId, hmacSecret }, 99);
  const report = await verify([newer]);
  expect(report.finding).toBeNull();
  expect(report.notes).toContain("response 1 is newer than the export: its row was not looked for");
});
