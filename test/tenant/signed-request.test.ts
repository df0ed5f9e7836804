import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  generateSigningKey,
  signatureCheck,
  signingKeyFromSeed,
} from "../../src/crypto/ed25519.ts";
import { Nonces } from "../../src/tenant/nonces.ts";
import {
  isSafePublicKey,
  type SignableRequest,
  type SignatureProblem,
  SignedRequests,
  signatureBase,
} from "../../src/tenant/signed-request.ts";
import { openKit, temporaryDirectory } from "../trust-kit.ts";

const KEY_ID = "k_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const START_S = 1_790_000_000;
const key = generateSigningKey();

function openRequests(nowMs = (START_S + 10) * 1000, dataDir = temporaryDirectory()) {
  const clock = { nowMs };
  const { close, store } = openKit({ dataDir });
  const requests = new SignedRequests({
    signerOf: (keyId) => (keyId === KEY_ID ? signatureCheck(key.publicKey) : null),
    nonces: new Nonces(store, nowMs),
    bootedMs: (START_S - 600) * 1000,
    nowMs: () => clock.nowMs,
  });
  return { clock, close, requests, store };
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

function bodyOf(text: string) {
  const bodyHash = createHash("sha256").update(text).digest("hex");
  return { body: Buffer.from(text), bodyHash };
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
    ...bodyOf(body),
    header: (name: string) => headers[name] ?? null,
  };
  const signature = key.sign(Buffer.from(signatureBase(request, components, input)));
  headers["signature-input"] = `svc=${input}`;
  headers["signature"] = `svc=:${Buffer.from(signature).toString("base64")}:`;
  Object.assign(headers, choices.headers);
  return request;
}

test("a signed request is its key's, with and without a body, components in any order", async () => {
  const { requests } = openRequests();
  const shuffled = ["content-type", "@query", "@path", "content-digest", "@method", "@authority"];
  for (const choices of [
    {},
    { body: '{"a":1}' },
    { body: "x", components: shuffled },
    { query: "?limit=5" },
    { parameters: parametersWith({ alg: '"ed25519"', expires: String(START_S + 300) }) },
  ]) {
    expect(await requests.verify(signed(choices))).toEqual({ keyId: KEY_ID });
  }
});

test("a signature is good once, and for nothing but its own request", async () => {
  const { requests } = openRequests();
  const request = signed({ body: "{}" });
  for (const changes of [
    { method: "PUT" },
    { path: "/v1/audit" },
    { query: "?a=1" },
    { authority: "evil.example" },
    { header: (name: string) => (name === "content-type" ? "text/plain" : request.header(name)) },
  ]) {
    expect(await requests.verify({ ...request, ...changes })).toEqual({ problem: "signature" });
  }
  const other = { ...request, ...bodyOf("[]") };
  expect(await requests.verify(other)).toEqual({ problem: "digest" });
  expect(await requests.verify(request)).toEqual({ keyId: KEY_ID });
  expect(await requests.verify(request)).toEqual({ problem: "replayed" });
});

test("the window is a minute either way, and an expiry is kept", async () => {
  const now = START_S + 1000;
  const at = (created: number, changes: Record<string, string> = {}) => {
    const parameters = parametersWith({ created: String(created), ...changes });
    return openRequests(now * 1000).requests.verify(signed({ parameters }));
  };
  for (const created of [now - 60, now, now + 60]) {
    expect(await at(created)).toEqual({ keyId: KEY_ID });
  }
  for (const created of [now - 61, now + 61])
    expect(await at(created)).toEqual({ problem: "time" });
  expect(await at(now, { expires: String(now) })).toEqual({ problem: "time" });
  expect(await at(now, { expires: String(now + 301) })).toEqual({ problem: "time" });
  expect(await at(now, { expires: String(now + 300) })).toEqual({ keyId: KEY_ID });
});

test("a nonce is remembered for as long as its signature would pass, and then forgotten", async () => {
  const { clock, requests, store } = openRequests();
  const ahead = signed({ parameters: parametersWith({ created: String(START_S + 70) }) });
  expect(await requests.verify(ahead)).toEqual({ keyId: KEY_ID });
  for (const seconds of [1, 60, 59]) {
    clock.nowMs += seconds * 1000;
    expect(await requests.verify(ahead)).toEqual({ problem: "replayed" });
  }
  clock.nowMs += 1000;
  expect(await requests.verify(ahead)).toEqual({ problem: "time" });
  const later = signed({ parameters: parametersWith({ created: String(START_S + 131) }) });
  expect(await requests.verify(later)).toEqual({ keyId: KEY_ID });
  const kept = store.reader.query("SELECT count(*) AS count FROM request_nonce").get();
  expect(kept).toEqual({ count: 1 });
});

test("a restart remembers every nonce whose signature would still pass", async () => {
  const dataDir = temporaryDirectory();
  const first = openRequests(undefined, dataDir);
  const [now, ahead] = [10, 60].map((seconds) =>
    signed({ parameters: parametersWith({ created: String(START_S + seconds) }) }),
  ) as [SignableRequest, SignableRequest];
  for (const request of [now, ahead]) {
    expect(await first.requests.verify(request)).toEqual({ keyId: KEY_ID });
  }
  first.close();
  const second = openRequests((START_S + 30) * 1000, dataDir);
  for (const request of [now, ahead]) {
    expect(await second.requests.verify(request)).toEqual({ problem: "replayed" });
  }
  expect(await second.requests.verify(signed())).toEqual({ keyId: KEY_ID });
});

test("after the machine's own start, nothing is taken that may have been signed before it", async () => {
  const bootedMs = (START_S - 40) * 1000;
  const nonces = { remember: () => Promise.resolve(true) };
  const nowMs = (): number => START_S * 1000;
  const requests = new SignedRequests({
    signerOf: () => signatureCheck(key.publicKey),
    nonces,
    bootedMs,
    nowMs,
  });
  const at = (created: number) =>
    requests.verify(signed({ parameters: parametersWith({ created: String(created) }) }));
  expect(await at(START_S + 20)).toEqual({ problem: "time" });
  expect(await at(START_S + 21)).toEqual({ keyId: KEY_ID });
});

test("of the same request twenty times at once, one is taken", async () => {
  const { requests } = openRequests();
  const request = signed({ body: "{}" });
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async () => Object.keys(await requests.verify(request))[0]),
  );
  expect(outcomes.sort()).toEqual(["keyId", ...Array<string>(19).fill("problem")]);
});

test("a nonce that could not be kept is an error, and may be used again", async () => {
  const { requests, store } = openRequests();
  const request = signed();
  store.writer.run("PRAGMA query_only = ON");
  expect(requests.verify(request)).rejects.toThrow();
  await Promise.allSettled([requests.verify(request)]);
  store.writer.run("PRAGMA query_only = OFF");
  expect(await requests.verify(request)).toEqual({ keyId: KEY_ID });
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

test.each(BAD)("%s is not taken", async (_name, choices, problem) => {
  const { requests } = openRequests();
  expect(await requests.verify(signed(choices))).toEqual({ problem });
});

test("every known digest must be the body's", async () => {
  const { requests } = openRequests();
  const [sha256, sha512] = ["sha256", "sha512"].map((kind) =>
    createHash(kind).update("x").digest("base64"),
  );
  const both = `sha-256=:${sha256}:, sha-512=:${sha512}:`;
  expect(await requests.verify(signed({ body: "x", digest: both }))).toEqual({ keyId: KEY_ID });
  const half = `sha-256=:${sha256}:, sha-512=:${sha256}:`;
  expect(await requests.verify(signed({ body: "x", digest: half }))).toEqual({ problem: "digest" });
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
