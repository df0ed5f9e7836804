/** What happens in the middle: a key is revoked, nothing can be recorded, a port is taken. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { listen } from "../../src/cli/listen.ts";
import { SETTINGS } from "../../src/config.ts";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { errorOf, INVOICE, rowsOf, send } from "../helpers/gateway.ts";
import { type Served, serve } from "../helpers/serve.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let gateway: TestGateway;
let served: Served;
beforeAll(async () => {
  gateway = await createTestGateway();
  served = serve(gateway);
});
afterAll(async () => {
  await served.close();
  await gateway.close();
});

test("a key revoked in the middle of an answer: that one is finished and billed, no other", async () => {
  const { tenants } = gateway.gateway;
  const key = tenants.addKey(gateway.tenantId);
  const ask = () =>
    fetch(`${served.origin}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "svc-tier-b",
        messages: [{ role: "user", content: INVOICE }],
        max_tokens: 60,
        temperature: 2,
        stream: true,
      }),
    });
  const answer = await ask();
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  let said = new TextDecoder().decode(first?.value);
  tenants.revokeKey(key.keyId);
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) break;
    said += new TextDecoder().decode(value);
  }
  expect(said).toContain("data: [DONE]");
  expect(said).toContain(": svc-signature=");
  const row = (await rowsOf(gateway)).at(-1);
  expect(row).toMatchObject({
    key_id: key.keyId,
    status: 200,
    request_id: answer.headers.get("x-request-id"),
  });
  expect((await ask()).status).toBe(401);
});

test("where nothing can be recorded, calls are 503 and leave nothing; reads go on", async () => {
  const { writer } = gateway.gateway.store;
  const count = (await rowsOf(gateway)).length;
  const sent = { path: "/v1/search", body: '{"query":"x"}' };
  writer.run("PRAGMA query_only = ON");
  const refused = await send(gateway, sent, served.origin);
  expect([refused.status, ...errorOf(refused)]).toEqual([503, "ledger_unavailable", null]);
  expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expect(refused.text).not.toContain("query_only");
  expect((await send(gateway, { path: "/v1/me" }, served.origin)).status).toBe(200);
  const page = { method: "POST", path: "/signup/free", apiKey: null };
  expect((await send(gateway, page, served.origin)).status).toBe(503);
  writer.run("PRAGMA query_only = OFF");
  expect((await rowsOf(gateway)).length).toBe(count);
  expect((await send(gateway, sent, served.origin)).status).toBe(200);
  expect((await rowsOf(gateway)).length).toBe(count + 1);
});

test("a port that another server has is an error, never shared", async () => {
  const names = Object.entries(SETTINGS).map(([name, { fallback }]) => [name, fallback]);
  const config = { ...Object.fromEntries(names), tls: null, port: served.port };
  expect(() => listen(config, gateway.gateway)).toThrow(/EADDRINUSE|in use/i);
});
