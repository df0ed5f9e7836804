/** Limits over a socket: the race at a quota's boundary, the rate of reads, and what headers say. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, errorOf, type Sent, send } from "../helpers/gateway.ts";
import { type Served, serve } from "../helpers/serve.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

const NOON_MS = Date.UTC(2026, 10, 20, 12);
const clock = { nowMs: NOON_MS };
let gateway: TestGateway;
let served: Served;
beforeAll(async () => {
  gateway = await createTestGateway({}, { nowMs: () => clock.nowMs });
  served = serve(gateway);
});
afterAll(async () => {
  await served.close();
  await gateway.close();
});

function keyUnder(id: string, limits: { daily?: number; perMinute?: number }) {
  const { tenants } = gateway.gateway;
  tenants.packages.put({
    id,
    tier: "t",
    dailyRequests: limits.daily ?? null,
    monthlyRequests: null,
    requestsPerMinute: limits.perMinute ?? null,
    modelTiers: ["svc-tier-b"],
    stripePrice: null,
  });
  const key = tenants.createKey({ tenantName: id });
  tenants.setPackage(key.tenantId, id);
  return key;
}

const as = ({ apiKey, hmacSecret }: ReturnType<typeof keyUnder>, sent: Sent) =>
  send(gateway, { ...sent, apiKey, hmacSecret }, served.origin);

const CITE: Sent = { path: "/v1/process/cite-check", body: '{"as_of":"2026-01-01","text":"none"}' };

test("of 200 requests at once with 100 left, 100 are answered, recorded and billed", async () => {
  const key = keyUnder("race", { daily: 100 });
  const answers = await Promise.all(Array.from({ length: 200 }, () => as(key, CITE)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  expect(statuses.filter((status) => status === 429)).toHaveLength(100);
  for (const answer of answers) {
    expect(answer.headers.get("x-ratelimit-limit-requests")).toBe("100");
    if (answer.status === 429) expect(errorOf(answer)[0]).toBe("insufficient_quota");
  }
  expect(gateway.gateway.ledger.head(key.tenantId, "default").height).toBe(100);
  const slice = await as(key, { path: "/v1/audit?limit=1000" });
  expect([at(slice.json, "chain_ok"), (at(slice.json, "rows") as object[]).length]).toEqual([
    true,
    100,
  ]);
});

test("reads that cost nothing count against the key's rate, on every path of the API", async () => {
  const key = keyUnder("reads", { perMinute: 5 });
  const paths = ["/v1/me", "/v1/models", "/v1/audit", "/v1/keys", "/v1/nothing"];
  const left: (string | null)[] = [];
  for (const path of paths) {
    const answer = await as(key, { path });
    expect([path, answer.status]).toEqual([path, path === "/v1/nothing" ? 404 : 200]);
    left.push(answer.headers.get("x-ratelimit-remaining-requests"));
  }
  expect(left).toEqual(["4", "3", "2", "1", "0"]);
  for (const sent of [{ path: "/v1/me" }, { path: "/v1/process" }, CITE]) {
    const refused = await as(key, sent);
    expect([refused.status, ...errorOf(refused)]).toEqual([429, "rate_limit_exceeded", null]);
    expect(at(refused.json, "error", "message")).toBe(
      "This key may make 5 requests a minute, and has made them; the next is allowed in 12 seconds.",
    );
    expect(refused.headers.get("retry-after")).toBe("12");
    expect(refused.headers.get("x-should-retry")).toBe("true");
    expect(refused.headers.get("x-ratelimit-reset-requests")).toBe("60s");
  }
  // What needs no key is not counted, with a key or without one.
  expect((await as(key, { path: "/health" })).status).toBe(200);
  clock.nowMs += 12_000;
  expect((await as(key, { path: "/v1/me" })).status).toBe(200);
  expect((await as(key, { path: "/v1/me" })).status).toBe(429);
});

test("every answer to a caller with limits says what is left; others say nothing of it", async () => {
  const key = keyUnder("told", { daily: 50 });
  const chat = JSON.stringify({
    model: "svc-tier-b",
    messages: [{ role: "user", content: "Hello" }],
    max_tokens: 2,
  });
  const stream = chat.replace("{", '{"stream":true,');
  const cases: readonly (readonly [Sent, number, string])[] = [
    [{ path: "/v1/me" }, 200, "50"],
    [CITE, 200, "49"],
    [{ ...CITE, body: "{" }, 400, "49"],
    [{ path: "/v1/chat/completions", body: chat }, 200, "48"],
    [
      { path: "/v1/chat/completions", body: stream, headers: { "x-svc-stream": "buffered" } },
      200,
      "47",
    ],
    [{ path: "/nothing" }, 404, "47"],
    [{ path: "/health" }, 200, "47"],
    [{ ...CITE, body: "x".repeat(33 << 20) }, 413, "47"],
  ];
  for (const [sent, status, remaining] of cases) {
    const { headers, ...answer } = await as(key, sent);
    expect([answer.status, headers.get("x-ratelimit-remaining-requests")]).toEqual([
      ...[status, remaining],
    ]);
    expect(headers.get("x-ratelimit-limit-requests")).toBe("50");
    expect(headers.get("x-ratelimit-reset-requests")).toMatch(/^\d+s$/);
  }
  const live = await fetch(`${served.origin}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.apiKey}`, "content-type": "application/json" },
    body: stream,
  });
  await live.text();
  expect(live.headers.get("x-ratelimit-remaining-requests")).toBe("46");
  for (const sent of [{ path: "/v1/me" }, { path: "/v1/me", apiKey: null }]) {
    const answer = await send(gateway, sent, served.origin);
    expect([...answer.headers.keys()].filter((name) => name.includes("ratelimit"))).toEqual([]);
  }
});
