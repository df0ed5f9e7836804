/**
 * Malformed requests by the thousand (10,000 with SLOW=1): each gets a sealed 4xx, or a 200 where it
 * happened to be good; never a 5xx; and no key, secret, prompt or answer is in any answer or log line.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import pino from "pino";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { chat, content } from "../helpers/gateway.ts";
import { type Served, serve } from "../helpers/serve.ts";

const RUNS = process.env["SLOW"] === "1" ? 10_000 : 600;
setDefaultTimeout(RUNS * 60);

const ADMIN_KEY = "admin-0123456789abcdef0123456789abcdef";
const WEBHOOK_SECRET = "whsec_0123456789abcdef";
/** Stands in prompts. */
const SAID = "the-words-of-a-prompt";

const logged: string[] = [];
const logger = pino({ level: "trace", base: null }, { write: (line) => void logged.push(line) });
let gateway: TestGateway;
let served: Served;
beforeAll(async () => {
  gateway = await createTestGateway(
    { adminKey: ADMIN_KEY, stripeWebhookSecrets: [WEBHOOK_SECRET] },
    { log: (level, event, facts) => logger[level](facts, event) },
  );
  served = serve(gateway);
});
afterAll(async () => {
  await served.close();
  await gateway.close();
});

const ROUTES = [
  ["POST", "/v1/chat/completions"],
  ["POST", "/v1/responses"],
  ["POST", "/v1/embeddings"],
  ["POST", "/v1/chat-grounded"],
  ["POST", "/v1/search"],
  ["POST", "/v1/compose"],
  ["POST", "/v1/state/matters"],
  ["POST", "/v1/keys"],
  ["POST", "/v1/keys/challenge"],
  ["POST", "/signup/free"],
  ["POST", "/webhooks/stripe"],
  ["POST", "/checkout/complete"],
  ["POST", "/admin/keys"],
  ["PUT", "/admin/packages/x"],
  ["DELETE", "/admin/keys/x"],
  ["GET", "/v1/audit"],
  ["GET", "/v1/state/matters"],
  ["GET", "/v1/state/search"],
  ["GET", "/v1/receipts/x"],
  ["GET", "/audit/checkpoint"],
  ["GET", "/checkout/complete"],
  ["GET", "/admin/usage"],
] as const;
const SLUGS = ["cite-check", "iolta-reconcile", "svc-conflict-check", "ledes-validate", "none"];

const NAMES = [
  ...["model", "messages", "role", "content", "temperature", "max_tokens", "response_format"],
  ...["type", "schema", "json_schema", "strict", "tools", "tool_choice", "stream", "n", "stop"],
  ...["query", "mode", "input", "steps", "process", "text", "as_of", "records", "tenant", "tier"],
  ...["public_key", "challenge", "signature", "email", "__proto__", "constructor", "title"],
];
const WORDS = [
  ...["svc-tier-b", "user", "json_schema", "object", "function", "auto", "none", "2026-01-01"],
  ...[
    SAID,
    "",
    "\u0000",
    "\ud83d\ude00",
    "cite-check",
    "$step",
    "../..",
    "<script>",
    "' OR 1=1 --",
  ],
];

const leaf = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.constantFrom(null, true, false, 0, -1, 1, 1.5, 1e308, 2 ** 53),
  fc.string({ maxLength: 12 }),
);
const value = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("node"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie("node"), { maxKeys: 6 }),
  ),
})).node;
const damaged = fc
  .tuple(
    value.map((each) => JSON.stringify(each) ?? ""),
    fc.nat(),
    fc.constantFrom(...'{}[]",:\\0'),
  )
  .map(([text, at, character]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + character + text.slice(place + 1);
  });
const body = fc.oneof(
  { weight: 5, arbitrary: value.map((each) => JSON.stringify(each) ?? "") },
  { weight: 3, arbitrary: damaged },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.constant(`${"[".repeat(2000)}`) },
);
const query = fc.oneof(
  fc.constant(""),
  fc
    .array(
      fc.tuple(
        fc.constantFrom("since", "limit", "ts", "after", "q", "app_id", "cursor", "session_id"),
        fc.oneof(
          fc.constantFrom("-1", "1e3", "0x10", " 5", "9".repeat(400), "%00", ""),
          fc.string(),
        ),
      ),
      { maxLength: 3 },
    )
    .map((pairs) => `?${new URLSearchParams(pairs)}`),
);
const CREDENTIALS = ["good", "good", "good", "good", "none", "unknown", "half", "signed"] as const;
const TYPES = [
  ...["application/json", "application/json", "application/json; charset=utf-8", "text/plain"],
  ...[
    "application/x-www-form-urlencoded",
    "application/json; charset=utf-16",
    "multipart/form-data",
  ],
];
const HEADERS = {
  "idempotency-key": ["a", "é", " ", "x".repeat(300)],
  "if-match": ["*", "x", '"a"'],
  "x-svc-stream": ["buffered", "live", "?"],
  "stripe-signature": ["t=1,v1=00", "t=x", ""],
  "signature-input": ["svc=()", 'svc=("@path");created=1', "=;="],
  "content-encoding": ["gzip", "identity"],
  range: ["bytes=0-1"],
  expect: ["x"],
};
const extra = fc.option(
  fc
    .constantFrom(...Object.entries(HEADERS))
    .chain(([name, values]) => fc.constantFrom(...values).map((each) => [name, each] as const)),
);

function authorization(kind: (typeof CREDENTIALS)[number]): Record<string, string> {
  const { apiKey } = gateway;
  if (kind === "none") return {};
  if (kind === "half") return { authorization: `Bearer ${apiKey.slice(0, 30)}` };
  if (kind === "unknown") return { authorization: `Bearer sk-svc-${"0".repeat(32)}` };
  if (kind === "signed") return { "signature-input": "svc=(", signature: "svc=::" };
  return { authorization: `Bearer ${apiKey}` };
}

function secrets(): string[] {
  const { apiKey, hmacSecret } = gateway;
  return [apiKey, apiKey.slice(7), hmacSecret, ADMIN_KEY, WEBHOOK_SECRET];
}

const asked = fc.record({
  route: fc.oneof(
    fc.constantFrom(...ROUTES),
    fc.constantFrom(...SLUGS).map((slug) => ["POST", `/v1/process/${slug}`] as const),
  ),
  body,
  query,
  type: fc.constantFrom(...TYPES),
  credentials: fc.constantFrom(...CREDENTIALS),
  extra,
  isAdmin: fc.boolean(),
});

test(`of ${RUNS} malformed requests none is a 5xx, and nothing leaks`, async () => {
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(asked, async ({ route, query: search, type, credentials, ...rest }) => {
      const [method, path] = route;
      const headers = {
        "content-type": type,
        ...authorization(credentials),
        ...(rest.isAdmin && { "x-admin-key": ADMIN_KEY }),
        ...(rest.extra !== null && { [rest.extra[0]]: rest.extra[1] }),
      };
      const sent = method === "GET" ? {} : { body: rest.body };
      const init = { method, headers, ...sent };
      // The headers that fetch itself refuses never leave.
      const response = await fetch(served.origin + path + search, init).catch(() => null);
      if (response === null) return;
      const said = await response.text();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      expect(response.status).toBeLessThan(500);
      expect(response.headers.get("x-svc-attestation")).toMatch(/^[\w-]+\.[\w-]+$/);
      const whole = said + JSON.stringify([...response.headers]);
      expect(secrets().filter((secret) => whole.includes(secret))).toEqual([]);
    }),
    { numRuns: RUNS, seed: 8, endOnFailure: true },
  );
  const lines = logged.join("");
  expect([...secrets(), SAID].filter((secret) => lines.includes(secret))).toEqual([]);
  // The mixture is one: many kinds of refusal, and some requests that were good.
  expect([...statuses.keys()].sort()).toEqual(expect.arrayContaining([200, 400, 401, 415]));
  expect((await chat(gateway, { max_tokens: 2 })).status).toBe(200);
});

test("a log line has the request's id, and nothing of what was said or of who may say it", async () => {
  const messages = [{ role: "user", content: `${SAID} Write a sentence.` }];
  const answered = await chat(gateway, { messages, max_tokens: 30 });
  const requestId = answered.headers.get("x-request-id");
  const lines = logged.filter((line) => line.includes(String(requestId)));
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      msg: "request",
      request_id: requestId,
      method: "POST",
      path: "/v1/chat/completions",
      status: 200,
      tenant_id: gateway.tenantId,
    },
  ]);
  const answer = content(answered);
  expect(answer.length).toBeGreaterThan(10);
  for (const secret of [...secrets(), SAID, answer]) expect(lines.join("")).not.toContain(secret);
  await fetch(`${served.origin}/v1/${gateway.apiKey}?key=${gateway.apiKey}`);
  expect(logged.join("")).not.toContain(gateway.apiKey);
  expect(logged.join("")).toContain("/v1/sk-svc-…");
});
