/**
 * Wrong keys by the dozen, over a socket, as a trusted proxy passes them on: past the limit their
 * address gets 429s in place of 401s, and nothing else changes for anyone.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { DEFAULT_LIMITS } from "../../src/service/limits.ts";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { type Answered, at, errorOf, rowsOf, type Sent, send } from "../helpers/gateway.ts";
import { type Served, serve } from "../helpers/serve.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

const PER_MINUTE = 3;
const clock = { nowMs: Date.UTC(2026, 10, 22, 12) };
let gateway: TestGateway;
let served: Served;
beforeAll(async () => {
  const limits = { ...DEFAULT_LIMITS, failedAttemptsPerMinute: PER_MINUTE };
  const trustedProxies = ["127.0.0.1"];
  const adminKey = "an-admin-key-for-tests";
  const nowMs = (): number => clock.nowMs;
  gateway = await createTestGateway({ adminKey, limits, trustedProxies }, { nowMs });
  served = serve(gateway);
});
afterAll(async () => {
  await served.close();
  await gateway.close();
});

/** Sends a request that came to the proxy from this address. */
function from(address: string, sent: Sent): Promise<Answered> {
  const headers = { ...sent.headers, "x-forwarded-for": address };
  return send(gateway, { ...sent, headers }, served.origin);
}

const ME = "/v1/me";
const unknown: Sent = { path: ME, apiKey: `sk-svc-${"0".repeat(32)}` };
const malformed: Sent = { path: ME, apiKey: "sk-svc-" };
const noAdmin: Sent = { path: "/admin/keys", apiKey: null, headers: { "x-admin-key": "wrong" } };
const unsigned: Sent = { path: ME, apiKey: null, headers: { "signature-input": "svc=()" } };
function revoked(): Sent {
  const { tenants } = gateway.gateway;
  const { apiKey, keyId } = tenants.createKey({ tenantName: "revoked" });
  tenants.revokeKey(keyId);
  return { path: ME, apiKey };
}

async function useUp(address: string): Promise<void> {
  for (let tried = 0; tried < PER_MINUTE; tried++) {
    expect((await from(address, unknown)).status).toBe(401);
  }
}

test("past the limit every kind of wrong key gets the same 429, sealed and without a row", async () => {
  const rows = (await rowsOf(gateway)).length;
  const kinds = [unknown, malformed, revoked(), noAdmin, unsigned];
  const statuses = kinds.slice(0, PER_MINUTE).map((kind) => from("192.0.2.7", kind));
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([401, 401, 401]);
  const refused = await Promise.all(kinds.map((kind) => from("192.0.2.7", kind)));
  expect(new Set(refused.map(({ text }) => text)).size).toBe(1);
  for (const answer of refused) {
    expect([answer.status, ...errorOf(answer)]).toEqual([429, "rate_limit_exceeded", null]);
    expect(at(answer.json, "error", "type")).toBe("rate_limit_error");
    expect(at(answer.json, "error", "message")).toBe(
      "3 failed authentications a minute are answered from one network; the next one will be in " +
        "20 s, and a valid key is served at any time",
    );
    expect(answer.headers.get("retry-after")).toBe("20");
    expect(answer.headers.get("x-should-retry")).toBe("false");
  }
  expect(await rowsOf(gateway)).toHaveLength(rows);
});

test("a valid key is served from an address whose failures are used up, and one without a key is told so", async () => {
  await useUp("192.0.2.8");
  expect((await from("192.0.2.8", unknown)).status).toBe(429);
  expect((await from("192.0.2.8", { path: ME })).status).toBe(200);
  const body = JSON.stringify({ query: "x" });
  expect((await from("192.0.2.8", { path: "/v1/search", body })).status).toBe(200);
  expect((await from("192.0.2.8", { path: "/health", apiKey: "wrong" })).status).toBe(200);
  const admin = { "x-admin-key": "an-admin-key-for-tests" };
  const listed = await from("192.0.2.8", { path: "/admin/keys", apiKey: null, headers: admin });
  expect(listed.status).toBe(200);
  for (const path of [ME, "/admin/keys", "/metrics"]) {
    expect((await from("192.0.2.8", { path, apiKey: null })).status).toBe(401);
  }
});

test("valid keys use nothing up", async () => {
  for (let asked = 0; asked < 3 * PER_MINUTE; asked++) await from("192.0.2.9", { path: ME });
  await useUp("192.0.2.9");
});

test("an address gets its 401s back with time; another never lost any", async () => {
  await useUp("192.0.2.10");
  expect((await from("192.0.2.10", unknown)).status).toBe(429);
  await useUp("192.0.2.11");
  clock.nowMs += 20_000;
  expect((await from("192.0.2.10", unknown)).status).toBe(401);
  expect((await from("192.0.2.10", unknown)).status).toBe(429);
});

test("a /64 of IPv6 counts as one address, as the last proxy saw it", async () => {
  await useUp("2001:db8:1:2::1");
  expect((await from("2001:db8:1:2:ffff::9", unknown)).status).toBe(429);
  expect((await from("192.0.2.99, 2001:db8:1:2::3", unknown)).status).toBe(429);
  expect((await from("2001:db8:1:3::1", unknown)).status).toBe(401);
});

test("programs of the machine itself are not counted", async () => {
  for (let tried = 0; tried < 3 * PER_MINUTE; tried++) {
    const { status } = await send(gateway, unknown, served.origin);
    expect(status).toBe(401);
    expect((await from("::1", unknown)).status).toBe(401);
  }
});
