import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, chat, errorOf, hex, openToken, send } from "../helpers/gateway.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 10, 20, 12, 30);
const clock = { nowMs: START_MS };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({}, { nowMs: () => clock.nowMs });
});
afterAll(() => gateway.close());

const get = (path: string) => send(gateway, { path, apiKey: null });

test("checkpoints are public: the latest, each hour's, and whether they hold together", async () => {
  // The start makes the hour's first.
  const first = await get("/audit/checkpoint/latest");
  expect(first.json).toMatchObject({ n: 1, capture_ts: START_MS, partitions: 0, tree_size: 0 });
  await chat(gateway, { max_tokens: 2 });
  clock.nowMs += HOUR_MS;
  gateway.gateway.checkpoints.run();
  const second = await get("/audit/checkpoint/latest");
  expect(second.json).toMatchObject({ n: 2, partitions: 1, tree_size: 1 });
  expect(second.json?.["global_head"]).toBe(hex(String(second.json?.["record"])));
  const record = JSON.parse(String(second.json?.["record"])) as object;
  expect(record).toMatchObject({ prev: first.json?.["global_head"], n: 2 });
  expect(String(second.json?.["note"])).toContain(
    `svc-checkpoint 2 ${second.json?.["global_head"]}`,
  );
  const status = await get("/audit/checkpoint/verify");
  expect(status.json).toEqual({
    ok: true,
    checkpoints: 2,
    global_head: second.json?.["global_head"],
    checkpoint_break: null,
  });
  const then = await get(`/audit/checkpoint?ts=${START_MS + HOUR_MS - 1}`);
  expect(then.json).toEqual(first.json);
  const now = await get(`/audit/checkpoint?ts=${START_MS + HOUR_MS}`);
  expect(now.json).toEqual(second.json);
  // Without a tenant, an attestation names the newest checkpoint.
  const payload = openToken(gateway, now.headers.get("x-svc-attestation") ?? "");
  expect(payload["chain_head"]).toBe(second.json?.["global_head"]);
});

test("a time before the first has none, and a time is needed", async () => {
  const early = await get(`/audit/checkpoint?ts=${START_MS - 1}`);
  expect([early.status, ...errorOf(early)]).toEqual([404, "no_checkpoint", null]);
  const missing = await get("/audit/checkpoint");
  expect([missing.status, ...errorOf(missing)]).toEqual([400, "missing_required_parameter", "ts"]);
  expect((await get("/audit/checkpoint?ts=now")).status).toBe(400);
});

test("the key history and the current key are public", async () => {
  const pem = await get("/attestation.pub");
  expect(pem.text).toStartWith("-----BEGIN PUBLIC KEY-----\n");
  const history = await get("/attestation/keys");
  expect(at(history.json, "keys", 0, "kid")).toBe(pem.headers.get("x-svc-attestation-kid"));
});

test("health and readiness are public", async () => {
  expect((await get("/health")).json).toMatchObject({
    status: "ok",
    service: "svc",
    version: "0.1.0",
    uptime_s: (clock.nowMs - START_MS) / 1000,
    timestamp: new Date(clock.nowMs).toISOString(),
  });
  expect((await get("/ready")).json).toMatchObject({ status: "ready" });
});
