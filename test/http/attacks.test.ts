/**
 * Requests in their own bytes, over a socket: what parsers could read in two ways is refused or
 * ends the connection, and the server answers the next one.
 */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { readTarget } from "../../src/http/receive.ts";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { chat, errorOf, hex, openToken, rowsOf, send } from "../helpers/gateway.ts";
import { type Served, serve } from "../helpers/serve.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let gateway: TestGateway;
let served: Served;
beforeAll(async () => {
  gateway = await createTestGateway({ hosts: ["localhost", "127.0.0.1", "[::1]"] });
  served = serve(gateway);
});
afterAll(async () => {
  await served.close();
  await gateway.close();
});
afterEach(async () => {
  expect((await fetch(`${served.origin}/health`)).status).toBe(200);
});

/** Everything that comes back until the connection ends, or nothing more comes for a while. */
function raw(text: string | Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect(served.port, "127.0.0.1", () => socket.write(text));
    socket.setTimeout(300, () => socket.destroy());
    socket.on("data", (data) => {
      received += data.toString("latin1");
    });
    socket.on("error", () => resolve(received));
    socket.on("close", () => resolve(received));
  });
}

const HOST = "Host: localhost\r\n";
const key = (): string => `Authorization: Bearer ${gateway.apiKey}\r\n`;
const ok = `POST /v1/search HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`;
const body = '{"query":"x"}';
const length = `Content-Length: ${body.length}\r\n`;

/** Name, request, and how each answer to it may begin; none: the connection ends without one. */
const SMUGGLED: readonly (readonly [name: string, request: () => string, statuses: string[]])[] = [
  [
    "both a length and chunks",
    () => `${ok}${key()}${length}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ["400"],
  ],
  [
    "two lengths that differ",
    () => `${ok}${key()}${length}Content-Length: 5\r\n\r\n${body}`,
    ["400"],
  ],
  ["a list of lengths", () => `${ok}${key()}Content-Length: 3, 3\r\n\r\nabc`, ["400"]],
  ["a signed length", () => `${ok}${key()}Content-Length: +3\r\n\r\nabc`, ["400"]],
  ["a negative length", () => `${ok}${key()}Content-Length: -3\r\n\r\nabc`, ["400"]],
  [
    "a list of encodings",
    () => `${ok}${key()}Transfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n`,
    ["400"],
  ],
  ["a folded header", () => `${ok}${key()}X-A: a\r\n b\r\n${length}\r\n${body}`, ["400"]],
  ["a space before a colon", () => `${ok}${key()}Content-Length : 3\r\n\r\nabc`, ["400"]],
  [
    "a chunk size past all numbers",
    () => `${ok}${key()}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc\r\n0\r\n\r\n`,
    ["400"],
  ],
  ["a NUL in a header", () => `${ok}X-A: a\0b\r\n${length}\r\n${body}`, ["400"]],
  ["no host", () => "GET /health HTTP/1.1\r\n\r\n", ["400"]],
  ["two hosts", () => `GET /health HTTP/1.1\r\n${HOST}${HOST}\r\n`, ["400"]],
  [
    "a body where none belongs",
    () => `GET /v1/me HTTP/1.1\r\n${HOST}${key()}${length}\r\n${body}`,
    ["400"],
  ],
  ["another protocol", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ["505", "400"]],
  ["no protocol", () => "hello\r\n\r\n", ["400"]],
  [
    "headers past all limits",
    () => `GET /health HTTP/1.1\r\n${HOST}X-A: ${"a".repeat(40_000)}\r\n\r\n`,
    ["431"],
  ],
  ["a name in a Host's place", () => "GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", ["421"]],
  [
    "a name that only ends well",
    () => "GET /health HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n",
    ["421"],
  ],
  ["dots in the path", () => `GET /v1/../health HTTP/1.1\r\n${HOST}\r\n`, ["200", "400"]],
  ["escaped dots", () => `GET /v1/%2e%2e/health HTTP/1.1\r\n${HOST}\r\n`, ["200", "400"]],
  ["a backslash", () => `GET /v1\\me HTTP/1.1\r\n${HOST}\r\n`, ["400", "401"]],
  ["an escaped slash", () => `GET /v1%2fme HTTP/1.1\r\n${HOST}\r\n`, ["400"]],
  ["an escaped slug", () => `POST /v1/process/a%2Fb HTTP/1.1\r\n${HOST}${key()}\r\n`, ["400"]],
  ["a broken escape", () => `GET /v1/process/%ff HTTP/1.1\r\n${HOST}\r\n`, ["400"]],
  ["TRACE", () => `TRACE /health HTTP/1.1\r\n${HOST}\r\n`, ["400", "405", "501"]],
  ["CONNECT", () => `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`, ["400", "405", "501"]],
  ["OPTIONS", () => `OPTIONS /v1/me HTTP/1.1\r\n${HOST}Origin: http://a.b\r\n\r\n`, ["405"]],
];

test.each(SMUGGLED)("%s is refused", async (_name, request, statuses) => {
  const count = (await rowsOf(gateway)).length;
  const received = await raw(request());
  const answers = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
  for (const status of answers) expect(statuses).toContain(String(status));
  expect(answers.length).toBeLessThanOrEqual(1);
  expect(received.toLowerCase()).not.toContain("access-control-allow");
  expect(received).not.toContain(gateway.apiKey);
  expect((await rowsOf(gateway)).length).toBe(count);
});

test("where dots were taken out of a path, the attestation is about what was routed", async () => {
  for (const target of ["/v1/../health", "/v1/%2e%2e/health"]) {
    const received = await raw(`GET ${target} HTTP/1.1\r\n${HOST}\r\n`);
    if (!received.startsWith("HTTP/1.1 200")) continue;
    const token = /x-svc-attestation: (\S+)/i.exec(received)?.[1] ?? "";
    const payload = openToken(gateway, token);
    expect(payload["req_hash"]).toBe(hex(`GET\n/health\n${payload["ts"]}\n${hex("")}`));
  }
});

test("two requests in one write are never mixed up: each has its own seal, or the line ends", async () => {
  const one = `${ok}${key()}${length}\r\n${body}`;
  const received = await raw(one + one);
  const ids = [...received.matchAll(/x-request-id: (\S+)/gi)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(received.match(/HTTP\/1\.1 /g) ?? []).toHaveLength(ids.length);
});

test("headers behind a body are nobody's request: the call is made once at most, and the line ends", async () => {
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n`;
  const trailers = "X-Admin-Key: x\r\nAuthorization: Bearer x\r\n\r\n";
  const count = (await rowsOf(gateway)).length;
  const received = await raw(`${ok}${key()}Transfer-Encoding: chunked\r\n\r\n${chunks}${trailers}`);
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
  expect(["200", "400", "200 400"]).toContain(statuses.join(" "));
  // The call was whole before its trailers were refused: at most it is billed, once.
  expect((await rowsOf(gateway)).length - count).toBeLessThanOrEqual(1);
});

test("a request id of the client's is never taken over, and no header of its comes back", async () => {
  for (const id of ["mine", "a".repeat(500), "<script>", "../../x", '"; x="']) {
    const headers = { "x-request-id": id, "x-marker": "come-back" };
    const answered = await send(gateway, { path: "/v1/me", headers }, served.origin);
    expect(answered.headers.get("x-request-id")).toMatch(/^req_[0-9A-Z]{26}$/);
    expect(JSON.stringify([...answered.headers]) + answered.text).not.toContain("come-back");
  }
});

test("names that objects have anyway are refused or are data, and change nothing", async () => {
  const prototype = '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}';
  const cases: readonly (readonly [path: string, rest: string])[] = [
    ["/v1/chat/completions", ',"model":"svc-tier-b","messages":[{"role":"user","content":"a"}]}'],
    ["/v1/process/cite-check", ',"as_of":"2026-01-01","text":"a"}'],
    ["/v1/search", ',"query":"a"}'],
    ["/v1/chat-grounded", ',"query":"a"}'],
    ["/v1/compose", ',"steps":[]}'],
    ["/v1/state/matters", ',"matter_id":"m","title":"a"}'],
    ["/v1/keys", ',"public_key":"a","challenge":"a","signature":"a"}'],
  ];
  for (const [path, rest] of cases) {
    const refused = await send(gateway, { path, body: prototype + rest }, served.origin);
    expect([path, refused.status]).toEqual([path, 400]);
    errorOf(refused);
  }
  expect(Object.hasOwn(Object.prototype, "admin")).toBe(false);
});

const strict = (schema: unknown) => ({
  max_tokens: 40,
  response_format: { type: "json_schema", json_schema: { name: "x", strict: true, schema } },
});
const nest = (depth: number): object =>
  depth === 0 ? {} : { type: "object", properties: { a: nest(depth - 1) }, required: ["a"] };

/** Longer than any of them takes on an idle machine. */
const SOON_MS = 5_000;

test("schemas that grow without end are refused soon", async () => {
  const pieces = Array.from({ length: 12 }, (_, index) => ({
    properties: { [`k${index}`]: { enum: [1, 2, 3, 4] } },
    anyOf: [{ required: [`k${index}`] }, { properties: { z: { enum: [index] } } }],
  }));
  const bombs: readonly (readonly [string, unknown])[] = [
    ["a million items", { type: "array", items: { type: "integer" }, minItems: 1e6 }],
    ["a text of a billion", { type: "string", minLength: 1e9 }],
    ["500 levels", nest(500)],
    ["a reference to itself alone", { $ref: "#" }],
    [
      "a chain that never ends",
      { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] },
    ],
    ["many choices at once", { allOf: pieces, type: "object", minProperties: 1e6 }],
    ["a counter of counters", { type: "string", pattern: "^((a{1,1000}){1,1000}){1,1000}$" }],
    ["a back reference", { type: "string", pattern: "^(a+)\\1$" }],
  ];
  for (const [name, schema] of bombs) {
    const answered = await chat(gateway, strict(schema));
    expect([name, answered.status]).toEqual([name, 400]);
    expect(String(errorOf(answered)[0])).toMatch(/schema|max_tokens_too_small|request_too_complex/);
    expect([name, answered.ms < SOON_MS]).toEqual([name, true]);
  }
});

test("patterns on which engines that try everything never end are answered soon", async () => {
  for (const pattern of [
    "^(a+)+$",
    "^(a|a)*$",
    "^(a*)*b?$",
    "\\s+$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
  ]) {
    const answered = await chat(gateway, strict({ type: "string", maxLength: 12, pattern }));
    expect([pattern, answered.status, answered.ms < SOON_MS]).toEqual([pattern, 200, true]);
  }
});

test("a foreign app and an unknown one look the same, and show nothing", async () => {
  const other = gateway.gateway.tenants.createKey({ tenantName: "B", appName: "secret-app" });
  const sent = { path: "/v1/search", body, apiKey: other.apiKey, hmacSecret: other.hmacSecret };
  const made = await send(gateway, sent);
  const requestId = String(made.headers.get("x-request-id"));
  const seen = async (path: string) => {
    const answered = await send(gateway, { path }, served.origin);
    return [answered.status, answered.text.replaceAll(/secret-app|no-such-app|req_\w+/g, "…")];
  };
  expect(await seen("/v1/audit?app_id=secret-app")).toEqual(
    await seen("/v1/audit?app_id=no-such-app"),
  );
  expect(await seen(`/v1/receipts/${requestId}`)).toEqual(
    await seen("/v1/receipts/req_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
  );
  expect((await seen(`/v1/receipts/${requestId}`))[0]).toBe(404);
});

test("hosts of few letters, ports and capitals are addresses like others", async () => {
  const authorities = ["x", "gw", "LOCALHOST", "a:1", "[::1]:80", "a.b:443"].map((host) => {
    const request = new Request("http://a/b", { headers: { host } });
    Object.defineProperty(request, "url", { value: `http://${host}/b?c=%20` });
    const { authority, path, search } = readTarget(request, null);
    expect([path, search]).toEqual(["/b", "?c=%20"]);
    return authority;
  });
  expect(authorities).toEqual(["x", "gw", "localhost", "a:1", "[::1]", "a.b"]);
  for (const host of ["LOCALHOST:5", "[::1]:80", "127.0.0.1"]) {
    expect(await raw(`GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toStartWith("HTTP/1.1 200");
  }
});
