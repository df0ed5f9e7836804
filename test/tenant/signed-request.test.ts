import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { generateSigningKey, signingKeyFromSeed } from "../../src/crypto/ed25519.ts";
import {
  isSafePublicKey,
  type SignableRequest,
  type SignatureProblem,
  SignedRequests,
  signatureBase,
} from "../../src/tenant/signed-request.ts";

const KEY_ID = "k_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const START_S = 1_790_000_000;
const key = generateSigningKey();

function openRequests() {
  const clock = { nowMs: START_S * 1000 };
  const requests = new SignedRequests({
    publicKeyOf: (keyId) => (keyId === KEY_ID ? key.publicKey : null),
    authorities: new Set(["api.example.com"]),
    nowMs: () => clock.nowMs,
  });
  clock.nowMs += 10_000;
  return { clock, requests };
}

interface Choices {
  readonly method?: string;
  readonly authority?: string;
  readonly path?: string;
  readonly query?: string;
  readonly body?: string;
  readonly components?: readonly string[];
  readonly parameters?: string;
  readonly digest?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

let nonces = 0;

function parametersWith(changes: Readonly<Record<string, string | null>> = {}): string {
  nonces += 1;
  const values = {
    created: String(START_S + 10),
    nonce: `"${String(nonces).padStart(24, "n")}"`,
    keyid: `"${KEY_ID}"`,
    tag: '"svc-request-v1"',
    ...changes,
  };
  const present = Object.entries(values).filter(([, value]) => value !== null);
  return present.map(([name, value]) => `;${name}=${value}`).join("");
}

/** A request as a client signs it. */
function signed(choices: Choices = {}): SignableRequest {
  const { method = "POST", authority = "api.example.com", path = "/v1/me", query = "?" } = choices;
  const body = choices.body ?? "";
  const always = ["@method", "@authority", "@path", "@query"];
  const components =
    choices.components ?? (body === "" ? always : [...always, "content-digest", "content-type"]);
  const sha256 = createHash("sha256").update(body).digest("base64");
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "content-digest": choices.digest ?? `sha-256=:${sha256}:`,
  };
  const list = components.map((name) => `"${name}"`).join(" ");
  const input = `(${list})${choices.parameters ?? parametersWith()}`;
  const request = {
    method,
    authority,
    path,
    query,
    body: Buffer.from(body),
    header: (name: string) => headers[name] ?? null,
  };
  const signature = key.sign(Buffer.from(signatureBase(request, components, input)));
  headers["signature-input"] = `svc=${input}`;
  headers["signature"] = `svc=:${Buffer.from(signature).toString("base64")}:`;
  Object.assign(headers, choices.headers);
  return request;
}

test("a signed request is its key's, with and without a body, components in any order", () => {
  const { requests } = openRequests();
  const shuffled = ["content-type", "@query", "@path", "content-digest", "@method", "@authority"];
  for (const choices of [
    {},
    { body: '{"a":1}' },
    { body: "x", components: shuffled },
    { query: "?limit=5" },
    { parameters: parametersWith({ alg: '"ed25519"', expires: String(START_S + 300) }) },
  ]) {
    expect(requests.verify(signed(choices))).toEqual({ keyId: KEY_ID });
  }
});

test("a signature is good once, and for nothing but its own request", () => {
  const { requests } = openRequests();
  const request = signed({ body: "{}" });
  for (const changes of [
    { method: "PUT" },
    { path: "/v1/audit" },
    { query: "?a=1" },
    { header: (name: string) => (name === "content-type" ? "text/plain" : request.header(name)) },
  ]) {
    expect(requests.verify({ ...request, ...changes })).toEqual({ problem: "signature" });
  }
  const other = { ...request, body: Buffer.from("[]") };
  expect(requests.verify(other)).toEqual({ problem: "digest" });
  expect(requests.verify({ ...request, authority: "evil.example" })).toEqual({
    problem: "components",
  });
  expect(requests.verify(request)).toEqual({ keyId: KEY_ID });
  expect(requests.verify(request)).toEqual({ problem: "replayed" });
});

test("the window is a minute either way, an expiry is kept, and nothing predates the start", () => {
  const at = (created: number, changes: Record<string, string> = {}) => {
    const { clock, requests } = openRequests();
    clock.nowMs = (START_S + 1000) * 1000;
    return requests.verify(
      signed({ parameters: parametersWith({ created: String(created), ...changes }) }),
    );
  };
  const now = START_S + 1000;
  for (const created of [now - 60, now, now + 60]) expect(at(created)).toEqual({ keyId: KEY_ID });
  for (const created of [now - 61, now + 61]) expect(at(created)).toEqual({ problem: "time" });
  expect(at(now, { expires: String(now) })).toEqual({ problem: "time" });
  expect(at(now, { expires: String(now + 301) })).toEqual({ problem: "time" });
  expect(at(now, { expires: String(now + 300) })).toEqual({ keyId: KEY_ID });
  const { requests } = openRequests();
  const before = signed({ parameters: parametersWith({ created: String(START_S - 1) }) });
  expect(requests.verify(before)).toEqual({ problem: "time" });
});

test("a nonce is remembered for as long as its signature would pass, and then forgotten", () => {
  const { clock, requests } = openRequests();
  const ahead = signed({ parameters: parametersWith({ created: String(START_S + 70) }) });
  expect(requests.verify(ahead)).toEqual({ keyId: KEY_ID });
  for (const seconds of [1, 60, 59]) {
    clock.nowMs += seconds * 1000;
    expect(requests.verify(ahead)).toEqual({ problem: "replayed" });
  }
  clock.nowMs += 1000;
  expect(requests.verify(ahead)).toEqual({ problem: "time" });
});

const BAD: readonly (readonly [string, Choices, SignatureProblem])[] = [
  ["no signature", { headers: { signature: "" } }, "form"],
  ["two signatures", { headers: { signature: "svc=:AA==:, b=:AA==:" } }, "form"],
  ["another label", { headers: { "signature-input": "sig=()" } }, "form"],
  [
    "a component parameter",
    { headers: { "signature-input": 'svc=("@path";req);created=1' } },
    "form",
  ],
  ["a missing component", { components: ["@method", "@authority", "@path"] }, "components"],
  ["a doubled component", { components: ["@method", "@method", "@path", "@query"] }, "components"],
  [
    "no cover of the body",
    { body: "x", components: ["@method", "@authority", "@path", "@query"] },
    "components",
  ],
  ["no nonce", { parameters: parametersWith({ nonce: null }) }, "parameters"],
  ["a short nonce", { parameters: parametersWith({ nonce: '"short"' }) }, "parameters"],
  ["no time", { parameters: parametersWith({ created: null }) }, "parameters"],
  ["a quoted time", { parameters: parametersWith({ created: '"1790000010"' }) }, "parameters"],
  ["another tag", { parameters: parametersWith({ tag: '"other"' }) }, "parameters"],
  ["another algorithm", { parameters: parametersWith({ alg: '"rsa-v1_5-sha256"' }) }, "parameters"],
  ["an unknown parameter", { parameters: parametersWith({ foo: '"bar"' }) }, "parameters"],
  ["a doubled parameter", { parameters: `${parametersWith()};created=1` }, "parameters"],
  [
    "another key",
    { parameters: parametersWith({ keyid: '"k_01ARZ3NDEKTSV4RRFFQ69G5FAW"' }) },
    "unknown_key",
  ],
  ["another body's digest", { body: "x", digest: "sha-256=:AAAA:" }, "digest"],
  ["a digest of an unknown kind alone", { body: "x", digest: "md5=:AAAA:" }, "digest"],
];

test.each(BAD)("%s is not taken", (_name, choices, problem) => {
  const { requests } = openRequests();
  expect(requests.verify(signed(choices))).toEqual({ problem });
});

test("every known digest must be the body's", () => {
  const { requests } = openRequests();
  const [sha256, sha512] = ["sha256", "sha512"].map((kind) =>
    createHash(kind).update("x").digest("base64"),
  );
  const both = `sha-256=:${sha256}:, sha-512=:${sha512}:`;
  expect(requests.verify(signed({ body: "x", digest: both }))).toEqual({ keyId: KEY_ID });
  const half = `sha-256=:${sha256}:, sha-512=:${sha256}:`;
  expect(requests.verify(signed({ body: "x", digest: half }))).toEqual({ problem: "digest" });
});

test("the signature base and Ed25519 reproduce RFC 9421, B.2.6", () => {
  const headers: Record<string, string> = {
    date: "Tue, 20 Apr 2021 02:07:55 GMT",
    "content-type": "application/json",
    "content-length": "18",
  };
  const request = {
    method: "POST",
    path: "/foo",
    authority: "example.com",
    query: "?param=Value&Pet=dog",
    header: (name: string) => headers[name] ?? null,
  };
  const names = ["date", "@method", "@path", "@authority", "content-type", "content-length"];
  const list = names.map((name) => `"${name}"`).join(" ");
  const base = signatureBase(
    request,
    names,
    `(${list});created=1618884473;keyid="test-key-ed25519"`,
  );
  const pkcs8 = Buffer.from(
    "MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF",
    "base64",
  );
  const signature = signingKeyFromSeed(pkcs8.subarray(-32)).sign(Buffer.from(base));
  expect(Buffer.from(signature).toString("base64")).toBe(
    "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
  );
});

test("keys of small order, and keys in another form, are not registered", () => {
  expect(isSafePublicKey(key.publicKey)).toBe(true);
  const bad = [
    "00".repeat(32),
    `01${"00".repeat(31)}`,
    `01${"00".repeat(30)}80`,
    `ec${"ff".repeat(30)}7f`,
    `ec${"ff".repeat(30)}ff`,
    `ed${"ff".repeat(30)}7f`,
    `ee${"ff".repeat(30)}7f`,
    "ff".repeat(32),
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "aa".repeat(31),
  ];
  for (const hex of bad) expect(isSafePublicKey(Buffer.from(hex, "hex"))).toBe(false);
});
