import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { errorOf, INVOICE, rowsOf, send } from "../helpers/gateway.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway();
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

test("while the first is being answered, the second is told to wait", async () => {
  const [first, second] = await Promise.all([ask("d"), ask("d")]);
  expect(first.status).toBe(200);
  expect([second.status, ...errorOf(second)]).toEqual([409, "idempotency_key_in_use", null]);
  expect(second.headers.get("retry-after")).toBe("1");
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
  const { apiKey } = gateway.gateway.tenants.createKey({ tenantName: "other" });
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
