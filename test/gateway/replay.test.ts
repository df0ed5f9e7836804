import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GATEWAY_DEFAULTS } from "../../src/gateway.ts";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, errorOf, INVOICE, rowsOf, send } from "../helpers/gateway.ts";
import { onFileEnd, temporaryDirectory } from "../trust-kit.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

const dataDir = temporaryDirectory(onFileEnd);
const clock = { aheadMs: 0 };
const deps = { nowMs: () => Date.now() + clock.aheadMs };
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway({ dataDir }, deps);
});
afterAll(() => gateway.close());

const ask = (key: string, change: object = {}) =>
  send(gateway, {
    path: "/v1/chat/completions",
    headers: { "idempotency-key": key },
    body: JSON.stringify({
      model: "svc-tier-b",
      messages: [{ role: "user", content: INVOICE }],
      temperature: 2,
      max_tokens: 12,
      ...change,
    }),
  });

test("the same request under its key gets the same body, a fresh seal, and no second row", async () => {
  const count = (await rowsOf(gateway)).length;
  const first = await ask("a");
  const again = await ask("a");
  expect(again.text).toBe(first.text);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  expect((await ask("b")).text).not.toBe(first.text);
  expect((await rowsOf(gateway)).length).toBe(count + 2);
});

test("another request under the key is refused", async () => {
  await ask("c");
  const other = await ask("c", { max_tokens: 13 });
  expect([other.status, ...errorOf(other)]).toEqual([422, "idempotency_key_reused", null]);
});

test("while the first is being answered, the others wait; one row pays for all", async () => {
  const count = (await rowsOf(gateway)).length;
  const all = await Promise.all(Array.from({ length: 8 }, () => ask("d")));
  expect(new Set(all.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  const replayed = all.filter(({ headers }) => headers.get("idempotent-replayed") === "true");
  expect(replayed).toHaveLength(7);
  expect((await rowsOf(gateway)).length).toBe(count + 1);
});

test("while the first is being answered, another request under its key is refused", async () => {
  const [first, second] = await Promise.all([ask("d2"), ask("d2", { max_tokens: 13 })]);
  expect(first.status).toBe(200);
  expect([second.status, ...errorOf(second)]).toEqual([422, "idempotency_key_reused", null]);
});

test("where the first fails, one of those that waited takes its place", async () => {
  const schema = { type: "string", minLength: 90 };
  const format = { type: "json_schema", json_schema: { name: "x", strict: true, schema } };
  // Refused only once the schema and the vocabulary are known: after the key was taken.
  const change = { max_tokens: 3, response_format: format };
  const refused = await Promise.all([1, 2, 3].map(() => ask("d3", change)));
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
  expect((await ask("d3")).status).toBe(200);
});

test("an answer comes again after a restart, and no file of the data directory shows it", async () => {
  // Long enough to be found by nobody's chance: what a model says of itself may be a word.
  const schema = { type: "string", minLength: 12 };
  const format = { type: "json_schema", json_schema: { name: "x", strict: true, schema } };
  const change = { max_tokens: 60, response_format: format };
  const first = await ask("r", change);
  const count = (await rowsOf(gateway)).length;
  gateway.gateway.tenants.rotateMasterKey();
  expect((await ask("r", change)).text).toBe(first.text);
  await gateway.close();
  const said = String(at(first.json, "choices", 0, "message", "content"));
  expect(said.length).toBeGreaterThan(8);
  for (const name of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    if (!name.isFile()) continue;
    const bytes = readFileSync(join(name.parentPath, name.name));
    for (const secret of [said, JSON.stringify(said).slice(1, -1)]) {
      expect([name.name, bytes.includes(secret)]).toEqual([name.name, false]);
    }
  }
  gateway = await createTestGateway({ dataDir }, deps);
  const again = await ask("r", change);
  expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
  expect((await rowsOf(gateway)).length).toBe(count);
});

test("an answer is kept for a day", async () => {
  const first = await ask("day");
  clock.aheadMs += GATEWAY_DEFAULTS.limits.replayMs - 5_000;
  expect((await ask("day")).text).toBe(first.text);
  clock.aheadMs += 5_000;
  expect((await ask("day")).headers.get("idempotent-replayed")).toBeNull();
});

test("a refusal keeps no key", async () => {
  expect((await ask("e", { max_tokens: 0 })).status).toBe(400);
  expect((await ask("e")).status).toBe(200);
  expect((await ask(" ")).status).toBe(400);
  expect((await ask("x".repeat(256))).status).toBe(400);
});

test("a stream under a key is buffered, and comes again as it was", async () => {
  const first = await ask("f", { stream: true });
  const again = await ask("f", { stream: true });
  expect(first.text).toEndWith("data: [DONE]\n\n");
  expect(again.text).toBe(first.text);
});

test("keys of tenants are their own", async () => {
  const first = await ask("g");
  const { apiKey } = gateway.gateway.tenants.createKey({ tenantName: "somebody else" });
  const response = await gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
      "idempotency-key": "g",
    },
    body: JSON.stringify({ model: "svc-tier-b", messages: [{ role: "user", content: "Hello" }] }),
  });
  expect(response.status).toBe(200);
  expect(await response.text()).not.toBe(first.text);
});
