/**
 * The specification's table of errors, row by row, over a socket. Each refusal has its status, its
 * type and code, OpenAI's shape and a seal, says nothing of secrets, and leaves no row.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import Type from "typebox";
import { defineProcess } from "../../src/process/definition.ts";
import { PROCESS_ENGINES } from "../../src/process/processes.ts";
import { closed } from "../../src/process/schema-parts.ts";
import { startEngine } from "../../src/runtime/engine.ts";
import { EngineError } from "../../src/runtime/errors.ts";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, errorOf, type Sent, send } from "../helpers/gateway.ts";
import { type Served, serve } from "../helpers/serve.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

const HIDDEN = "a detail that is for the log alone";
/** An engine with a bug. */
const BROKEN = defineProcess({
  slug: "broken",
  version: "1.0.0",
  description: "fails",
  inputSchema: closed({ a: Type.Integer() }),
  tables: null,
  goldens: [],
  compute: () => {
    throw new Error(HIDDEN);
  },
});
/** Makes the model fail. */
const CRASH = "crash the model";

const logged: string[] = [];
let gateway: TestGateway;
let served: Served;
const keys: Record<"day" | "month", { apiKey: string; hmacSecret: string }> = {
  day: { apiKey: "", hmacSecret: "" },
  month: { apiKey: "", hmacSecret: "" },
};

beforeAll(async () => {
  gateway = await createTestGateway(
    { adminKey: "an-admin-key-for-tests", stripeWebhookSecrets: ["whsec_test"] },
    {
      log: (...parts) => void logged.push(JSON.stringify(parts)),
      processEngines: [...PROCESS_ENGINES, BROKEN],
      startEngine: (options) => {
        const engine = startEngine(options);
        const complete: typeof engine.complete = async (request) => {
          if (!JSON.stringify(request.messages).includes(CRASH)) return engine.complete(request);
          throw new EngineError("the model failed to decode", { code: "decode_failed" });
        };
        return Object.assign(Object.create(engine), { complete });
      },
    },
  );
  served = serve(gateway);
  const { tenants } = gateway.gateway;
  const rest = { tier: "t", requestsPerMinute: null, stripePrice: null };
  const modelTiers = ["svc-tier-a", "svc-tier-b"];
  for (const name of ["day", "month"] as const) {
    const limits = {
      dailyRequests: null,
      monthlyRequests: null,
      [`${name === "day" ? "daily" : "monthly"}Requests`]: 0,
    };
    tenants.packages.put({ ...rest, modelTiers, ...limits, id: name });
    const key = tenants.createKey({ tenantName: name });
    tenants.setPackage(key.tenantId, name);
    keys[name] = key;
  }
});
afterAll(async () => {
  await served.close();
  await gateway.close();
});

const rowsInAll = (): number =>
  [...gateway.gateway.ledger.heads.all()].reduce((sum, { position }) => sum + position.seq, 0);

const json = (path: string, body: unknown): Sent => ({ path, body: JSON.stringify(body) });
const messages = [{ role: "user", content: "Hello" }];
const CHAT = json("/v1/chat/completions", { model: "svc-tier-b", messages, max_tokens: 2 });
const GROUNDED = json("/v1/chat-grounded", { query: "x", mode: "never-search" });
const PROCESS = json("/v1/process/svc-conflict-check", {});
const SEARCH = json("/v1/search", { query: "x" });
const COMPOSE = json("/v1/compose", { steps: [{}] });
const STATE = json("/v1/state/matters", {});
const ADMIN: Sent = { path: "/admin/keys", apiKey: null };
const audit = (query: string): Sent => ({ path: `/v1/audit?${query}` });

type Row = readonly [operation: string, sent: Sent, status: number, type: string, code: string];

const unauthenticated = (operation: string, sent: Sent): Row[] => {
  const error = "authentication_error";
  const revoked = `sk-svc-${"0".repeat(32)}`;
  return [
    [`${operation} without a key`, { ...sent, apiKey: null }, 401, error, "missing_api_key"],
    [`${operation} with a bad key`, { ...sent, apiKey: revoked }, 401, error, "invalid_api_key"],
  ];
};
const exhausted = (operation: string, sent: Sent): Row[] =>
  (["day", "month"] as const).map((limit) => {
    const code = "insufficient_quota";
    // Read when it is sent: the keys are made before the tests.
    const keyed = Object.defineProperties(
      { ...sent },
      {
        apiKey: { enumerable: true, get: () => keys[limit].apiKey },
        hmacSecret: { enumerable: true, get: () => keys[limit].hmacSecret },
      },
    ) as Sent;
    return [`${operation} past its ${limit}'s limit`, keyed, 429, code, code];
  });
const bad = (operation: string, sent: Sent, code: string): Row => [
  operation,
  sent,
  400,
  "invalid_request_error",
  code,
];

const TABLE: readonly Row[] = [
  ...unauthenticated("chat", CHAT),
  ...exhausted("chat", CHAT),
  ...unauthenticated("models", { path: "/v1/models" }),
  ...unauthenticated("me", { path: "/v1/me" }),
  bad("audit since words", audit("since=yesterday"), "invalid_value"),
  bad("audit since before 1970", audit("since=-1"), "invalid_value"),
  bad("audit of no rows", audit("limit=0"), "invalid_value"),
  bad("audit of 1001 rows", audit("limit=1001"), "invalid_value"),
  ...unauthenticated("audit", { path: "/v1/audit" }),
  bad("grounded without a query", json("/v1/chat-grounded", {}), "invalid_input"),
  bad("grounded with a number", json("/v1/chat-grounded", { query: 7 }), "invalid_input"),
  ...unauthenticated("grounded", GROUNDED),
  ...exhausted("grounded", GROUNDED),
  [
    "grounded, and the model fails",
    json("/v1/chat-grounded", { query: CRASH, mode: "never-search" }),
    502,
    "upstream_error",
    "decode_failed",
  ],
  bad("process of a wrong input", json("/v1/process/iolta-reconcile", { a: 1 }), "invalid_input"),
  bad("process of a list", json("/v1/process/iolta-reconcile", []), "invalid_type"),
  ...unauthenticated("process", PROCESS),
  ...exhausted("process", json("/v1/process/cite-check", { text: "" })),
  [
    "process, and its engine fails",
    json("/v1/process/broken", { a: 1 }),
    500,
    "server_error",
    "engine_failure",
  ],
  ...unauthenticated("search", SEARCH),
  ...exhausted("search", SEARCH),
  bad("compose of a step that is none", COMPOSE, "invalid_step"),
  ...unauthenticated("compose", COMPOSE),
  ...exhausted("compose", json("/v1/compose", { steps: [{ process: "cite-check", input: {} }] })),
  ...unauthenticated("state", STATE),
  ...exhausted("state", json("/v1/state/matters", { matter_id: "m1", title: "A" })),
  bad(
    "a webhook without a signature",
    { ...json("/webhooks/stripe", {}), apiKey: null },
    "bad_payment_event",
  ),
  ["admin without its key", ADMIN, 401, "authentication_error", "invalid_admin_key"],
  [
    "admin with another key",
    { ...ADMIN, headers: { "x-admin-key": "an-admin-key-for-testS" } },
    401,
    "authentication_error",
    "invalid_admin_key",
  ],
];

test.each(TABLE)("%s is refused", async (_operation, sent, status, type, code) => {
  const count = rowsInAll();
  const refused = await send(gateway, sent, served.origin);
  expect([refused.status, at(refused.json, "error", "type"), errorOf(refused)[0]]).toEqual([
    ...[status, type, code],
  ]);
  expect(refused.headers.get("content-type")).toBe("application/json");
  expect(String(at(refused.json, "error", "message")).length).toBeGreaterThan(20);
  expect(refused.text).not.toContain(HIDDEN);
  expect(rowsInAll()).toBe(count);
  if (status !== 429) return;
  expect(at(refused.json, "error", "message")).toMatch(
    /allows 0 requests a (UTC day|billing month); 0 are used.* starts again at 20\d\d-.*Z, in \d+/,
  );
  expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expect(refused.headers.get("x-should-retry")).toBe("false");
  expect(refused.headers.get("x-ratelimit-limit-requests")).toBe("0");
  expect(refused.headers.get("x-ratelimit-remaining-requests")).toBe("0");
  expect(refused.headers.get("x-ratelimit-reset-requests")).toMatch(/^[1-9]\d*s$/);
});

test("what failed on our side is in the log, under the request's id", async () => {
  const failed = await send(gateway, json("/v1/process/broken", { a: 1 }), served.origin);
  const requestId = failed.headers.get("x-request-id");
  const line = logged.find((each) => each.includes(`"request_id":"${requestId}"`));
  expect(line).toContain("request_failed");
  expect(line).toContain(HIDDEN);
});

test("sign-up past the limit of its address is 429, and makes no key", async () => {
  const signUp = () =>
    send(gateway, { method: "POST", path: "/signup/free", apiKey: null }, served.origin);
  const made = await Promise.all([1, 2, 3, 4, 5].map(signUp));
  expect(made.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const keysBefore = gateway.gateway.tenants.listKeys().length;
  const refused = await signUp();
  expect([refused.status, ...errorOf(refused)]).toEqual([429, "rate_limit_exceeded", null]);
  expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expect(gateway.gateway.tenants.listKeys()).toHaveLength(keysBefore);
});
