/** Single answers and slices, checked as they arrive: what holds, and each way it can not. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { attest } from "../../src/receipt/attestation.ts";
import { signResponse } from "../../src/receipt/body-digest.ts";
import {
  type AnswerFacts,
  findBreak,
  type ServedRow,
  verifyAnswer,
} from "../../src/verify/online.ts";
import { openKit } from "../trust-kit.ts";
import { appendAll, callOf, rowsIn } from "../trust-lab.ts";

const sha256 = (data: Uint8Array | string): string =>
  createHash("sha256").update(data).digest("hex");
const requestBody = Buffer.from('{"model":"svc-tier-b"}');
const responseBody = Buffer.from('{"id":"x"}');

/** A call of a tenant, recorded and sealed as the service does it. */
async function answered() {
  const lab = openKit();
  const { hmacSecret, tenantId } = lab.tenants.createKey({ tenantName: "acme" });
  const method = "POST";
  const path = "/v1/chat/completions";
  const hashes = { requestBodyHash: sha256(requestBody), responseBodyHash: sha256(responseBody) };
  const call = callOf(tenantId, { ...hashes, method, path });
  await appendAll(lab.ledger, [callOf(tenantId), call, callOf(tenantId)]);
  const served: readonly ServedRow[] = rowsIn(
    lab.ledger.readSlice({ tenantId, since: 0, limit: 10 }),
  );
  const row = served.find((candidate) => candidate["request_id"] === call.requestId) ?? {};
  const chainHead = String(row["row_hash"]);
  const facts: AnswerFacts = {
    response: {
      method,
      path,
      requestBody,
      responseBody,
      requestId: call.requestId,
      signature: signResponse(hmacSecret, responseBody),
      attestation: attest(lab.keys.current, {
        ts: Number(row["ts"]),
        method,
        path,
        ...hashes,
        chainHead,
        rev: "r",
      }),
    },
    keyHistory: lab.keys.history(),
    hmacSecret,
    row,
    sentMs: Number(row["ts"]) - 1000,
  };
  return { facts, rows: served };
}

async function failing(facts: AnswerFacts): Promise<string[]> {
  const { ok, steps } = await verifyAnswer(facts);
  const failed = steps.filter(({ state }) => state === "failed").map(({ name }) => name);
  expect(ok).toBe(failed.length === 0);
  return failed;
}

test("an answer verifies with its keys, its secret and its row", async () => {
  const { facts } = await answered();
  const { ok, steps } = await verifyAnswer(facts);
  expect([ok, steps.map(({ name, state }) => `${name} ${state}`)]).toEqual([
    true,
    ["keys ok", "signature ok", "attestation ok", "row ok"],
  ]);
});

test("what is not given is not checked, and said so", async () => {
  const { facts } = await answered();
  const { ok, steps } = await verifyAnswer({ ...facts, hmacSecret: null, row: null });
  expect(ok).toBe(true);
  expect(steps.map(({ state }) => state)).toEqual(["ok", "not checked", "ok", "not checked"]);
});

test("an answer to an earlier request, sent again, is found by its age", async () => {
  const { facts } = await answered();
  const minute = 60_000;
  const sent = (afterMs: number) => ({ ...facts, sentMs: Number(facts.sentMs) + afterMs });
  expect(await failing(sent(4 * minute))).toEqual([]);
  expect(await failing(sent(6 * minute))).toEqual(["attestation"]);
  expect(await failing({ ...sent(6 * minute), sentMs: null })).toEqual([]);
});

test("each altered part fails the step that covers it", async () => {
  const { facts } = await answered();
  const { keyHistory, response, row } = facts;
  const history = keyHistory as { root: { public_key: string }; keys: { signature: string }[] };
  const [key] = history.keys;
  const { signature } = key as { signature: string };
  // Not a fixed letter: one signature in 64 starts with it, and would stay as it was.
  const forged = {
    ...key,
    signature: (signature.startsWith("A") ? "B" : "A") + signature.slice(1),
  };
  const other = { ...response, requestBody: Buffer.from("{}") };
  const cases: readonly [Partial<AnswerFacts>, string[]][] = [
    [{ response: { ...response, responseBody: Buffer.from("{}") } }, ["signature", "attestation"]],
    [{ response: other }, ["attestation"]],
    [{ response: { ...response, path: "/v1/models" } }, ["attestation"]],
    [{ response: { ...response, signature: null } }, ["signature"]],
    [{ response: { ...response, attestation: null } }, ["attestation"]],
    [{ response: { ...response, requestId: "req_other" } }, ["row"]],
    [{ hmacSecret: "0".repeat(64) }, ["signature"]],
    [{ row: { ...row, prompt_tokens: 1_000_000 } }, ["row"]],
    [{ keyHistory: { ...history, keys: [forged] } }, ["keys"]],
    [{ keyHistory: null }, ["keys"]],
  ];
  for (const [change, expected] of cases) {
    expect(await failing({ ...facts, ...change })).toEqual(expected);
  }
});

test("a slice holds; a changed, missing or reordered row is found where it is", async () => {
  const { rows } = await answered();
  const [first, second, third] = rows;
  if (!first || !second || !third) throw new Error("three rows were appended");
  expect(findBreak(rows)).toBeNull();
  expect(findBreak([third], new Map([["default", second]]))).toBeNull();
  const changed = { ...second, status: 500 };
  expect(findBreak([first, changed, third])).toMatchObject({ index: 1 });
  expect(findBreak([first, third])).toEqual({
    index: 1,
    message: "a row is missing before height 3",
  });
  expect(findBreak([third], new Map([["default", first]]))).toMatchObject({ index: 0 });
  expect(findBreak([second, first])).toMatchObject({ index: 1 });
});
