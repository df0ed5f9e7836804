/** What goes wrong at the door, over a socket: each a typed 4xx at once, and the server goes on. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { chat, errorOf, INVOICE, readAnswered, send } from "../helpers/gateway.ts";
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
afterEach(async () => {
  expect((await chat(gateway, { max_tokens: 2 })).status).toBe(200);
});

const path = "/v1/chat/completions";
const user = { role: "user", content: INVOICE };

/** Longer than any of them takes on an idle machine, the 4 MB ones included (measured: 115 ms). */
const SOON_MS = 2_000;

async function post(body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) {
  const startedMs = performance.now();
  const response = await fetch(served.origin + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.apiKey}`,
      "content-type": "application/json",
      ...headers,
    },
    body,
  });
  const answered = await readAnswered(response, startedMs);
  expect(answered.ms).toBeLessThan(SOON_MS);
  expect(answered.headers.get("x-svc-signature")).toMatch(/^[0-9a-f]{64}$/);
  return answered;
}

type Case = readonly [name: string, body: unknown, status: number, code: string, param: unknown];

const nested = (schema: unknown) => ({
  type: "json_schema",
  json_schema: { name: "x", strict: true, schema },
});

const VALUES: readonly Case[] = [
  ["an unknown model", { model: "gpt-9" }, 404, "model_not_found", "model"],
  ["no model", { model: null }, 400, "missing_required_parameter", "model"],
  ["no messages", { messages: null }, 400, "missing_required_parameter", "messages"],
  ["empty messages", { messages: [] }, 400, "invalid_value", "messages"],
  ["a bad role", { messages: [{ role: "bot" }] }, 400, "invalid_value", "messages[0].role"],
  ["a message that is none", { messages: ["hi"] }, 400, "invalid_type", "messages[0]"],
  [
    "an image",
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
    400,
    "unsupported_value",
    "messages[0].content[0].type",
  ],
  ["max_tokens 0", { max_tokens: 0 }, 400, "invalid_value", "max_tokens"],
  ["max_tokens 1.5", { max_tokens: 1.5 }, 400, "invalid_value", "max_tokens"],
  ["a text as number", { temperature: "1" }, 400, "invalid_type", "temperature"],
  ["temperature 2.1", { temperature: 2.1 }, 400, "invalid_value", "temperature"],
  ["n 9", { n: 9 }, 400, "invalid_value", "n"],
  ["an unknown member", { top_k: 4 }, 400, "unknown_parameter", "top_k"],
  ["audio", { audio: {} }, 400, "unsupported_parameter", "audio"],
  ["store with stream", { store: true, stream: true }, 400, "invalid_value", "store"],
  ["21 probabilities", { logprobs: true, top_logprobs: 21 }, 400, "invalid_value", "top_logprobs"],
  ["a bias for no token", { logit_bias: { x: 1 } }, 400, "invalid_value", "logit_bias.x"],
  [
    "a bias past the vocabulary",
    { logit_bias: { "99999": 1 } },
    400,
    "invalid_value",
    "logit_bias.99999",
  ],
  [
    "a bad schema",
    { response_format: nested({ properties: { a: { type: "strin" } } }) },
    400,
    "invalid_json_schema",
    "response_format.json_schema.schema#/properties/a/type",
  ],
  [
    "a schema that nothing satisfies",
    { response_format: nested({ type: "integer", minimum: 2, maximum: 1 }) },
    400,
    "unsatisfiable_json_schema",
    "response_format.json_schema.schema#",
  ],
  [
    "two schemas that differ",
    { response_format: { ...nested(true), schema: false } },
    400,
    "invalid_value",
    "response_format.schema",
  ],
  [
    "a limit that no answer fits",
    { response_format: nested({ type: "string", minLength: 90 }), max_tokens: 3 },
    400,
    "max_tokens_too_small",
    "max_tokens",
  ],
  [
    "a prompt that is too long",
    { messages: [{ role: "user", content: "word ".repeat(3000) }] },
    400,
    "context_length_exceeded",
    "messages",
  ],
];

for (const [name, change, status, code, param] of VALUES) {
  test(`refused: ${name}`, async () => {
    const body = { model: "svc-tier-b", messages: [user], ...(change as object) };
    const answered = await post(JSON.stringify(body));
    expect([answered.status, ...errorOf(answered)]).toEqual([status, code, param]);
  });
}

const whole = JSON.stringify({ model: "svc-tier-b", messages: [user] });
const BYTES: readonly Case[] = [
  ["nothing", "", 400, "invalid_json", null],
  ["no JSON", "hello", 400, "invalid_json", null],
  ["NaN", whole.replace("}]", '}],"temperature":NaN'), 400, "invalid_json", null],
  [
    "a number past all others",
    whole.replace("}]", '}],"temperature":1e999'),
    400,
    "invalid_value",
    "temperature",
  ],
  ["an array", "[]", 400, "invalid_type", null],
  ["two values", "{} {}", 400, "invalid_json", null],
  ["no UTF-8", Uint8Array.of(0x7b, 0x22, 0xff, 0x22), 400, "invalid_utf8", null],
  ["a byte order mark", `\uFEFF${whole}`, 400, "invalid_json", null],
  ["half a surrogate pair", `{"model":"\\ud800"}`, 400, "invalid_json", null],
  ["a doubled name", `{"model":"a","\\u006dodel":"b"}`, 400, "duplicate_name", null],
  ["6 MB of {}", "{}".repeat(3_000_000), 413, "request_too_large", null],
  ["4 MB of {}", `[${"{},".repeat(1_300_000)}{}]`, 400, "request_too_complex", null],
  ["nesting 5 million deep", "[".repeat(5_000_000), 413, "request_too_large", null],
  ["nesting 4 million deep", "[".repeat(4_000_000), 400, "request_too_complex", null],
  [
    "a schema 1,200 deep",
    `{"model":"svc-tier-b","messages":[],"response_format":${'{"schema":'.repeat(1200)}`,
    400,
    "request_too_complex",
    null,
  ],
];

for (const [name, body, status, code, param] of BYTES) {
  test(`refused: ${name}`, async () => {
    const answered = await post(body as string | Uint8Array);
    expect([answered.status, ...errorOf(answered)]).toEqual([status, code, param]);
  });
}

test("messages say where and what", async () => {
  const json = await post('{"model": "svc-tier-b",\n  "messages": [], "temperature": NaN}');
  expect(json.text).toContain('expected a value, found \\"NaN\\" at line 2, column 34');
  const role = await post(JSON.stringify({ model: "svc-tier-b", messages: [{ role: "bot" }] }));
  expect(role.text).toContain('messages[0].role must be one of \\"system\\"');
});

test("refused: other content types and encodings", async () => {
  for (const headers of [
    { "content-type": "text/plain" },
    { "content-type": "application/x-www-form-urlencoded" },
    { "content-type": "application/json; charset=latin1" },
    { "content-type": "application/json, text/plain" },
    { "content-encoding": "gzip" },
  ]) {
    const answered = await post(whole, headers);
    expect([answered.status, ...errorOf(answered)]).toEqual([415, "unsupported_media_type", null]);
  }
});

test("refused: methods, paths and parameters that are not there", async () => {
  const get = await send(gateway, { path });
  expect([get.status, ...errorOf(get)]).toEqual([405, "method_not_allowed", null]);
  expect(get.headers.get("allow")).toBe("POST");
  const lost = await send(gateway, { path: "/v1/nothing" });
  expect([lost.status, ...errorOf(lost)]).toEqual([404, "unknown_url", null]);
  for (const [query, param] of [
    ["since=-1", "since"],
    ["since=1e3", "since"],
    ["since=", "since"],
    ["since=0x10", "since"],
    ["since=%205", "since"],
    ["since=05", "since"],
    ["since=9007199254740993", "since"],
    [`since=${"9".repeat(400)}`, "since"],
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=1&limit=2", "limit"],
    ["app_id=A", "app_id"],
    ["after=x", "after"],
    ["until=3", "until"],
  ] as const) {
    const answered = await send(gateway, { path: `/v1/audit?${query}` });
    expect([answered.status, errorOf(answered)[1]]).toEqual([400, param]);
  }
});

test("refused: keys that are missing, unknown, misspelt or doubled", async () => {
  const keyed = ["/v1/me", "/v1/models", "/v1/audit", "/v1/audit/head", "/v1/audit/export"];
  for (const keyedPath of keyed) {
    const missing = await send(gateway, { path: keyedPath, apiKey: null });
    expect([missing.status, ...errorOf(missing)]).toEqual([401, "missing_api_key", null]);
  }
  const unknown = `sk-svc-${"0".repeat(32)}`;
  for (const apiKey of [unknown, "x", gateway.apiKey.toUpperCase(), `${gateway.apiKey}0`]) {
    const answered = await send(gateway, { path, body: whole, apiKey });
    expect([answered.status, ...errorOf(answered)]).toEqual([401, "invalid_api_key", null]);
  }
  const double = await send(gateway, {
    path: "/v1/me",
    apiKey: null,
    headers: { authorization: `Bearer ${gateway.apiKey}, Bearer ${gateway.apiKey}` },
  });
  expect(double.status).toBe(401);
});

/** The status line and body of a request in its own bytes. */
function raw(text: string): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(served.port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (data) => {
      received += String(data);
      socket.end();
    });
    socket.on("error", () => resolve(received));
    socket.on("close", () => resolve(received));
  });
}

test("refused: malformed hosts, targets and bodies without a length", async () => {
  const bad: readonly (readonly [string, string])[] = [
    ["GET /health HTTP/1.1\r\nHost: a b\r\n\r\n", "invalid_host"],
    ["GET /health HTTP/1.1\r\nHost: \r\n\r\n", "invalid_host"],
    ["GET /health HTTP/1.1\r\nHost: a/b?c\r\n\r\n", "invalid_host"],
    ["GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "invalid_host"],
    ["GET //health HTTP/1.1\r\nHost: a\r\n\r\n", "invalid_path"],
    ["GET /%68ealth HTTP/1.1\r\nHost: a\r\n\r\n", "invalid_path"],
    ["GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "unexpected_body"],
  ];
  for (const [request, code] of bad) {
    const answer = await raw(request);
    expect(answer).toStartWith("HTTP/1.1 400");
    expect(answer.toLowerCase()).toContain("\r\nx-svc-attestation: ");
    expect(answer).toContain(`"code":"${code}"`);
  }
});
