/** Requests signed with Ed25519, over a socket: our client helper, and another library as a peer. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHash, generateKeyPairSync, randomBytes, sign, verify } from "node:crypto";
import { httpbis } from "http-message-signatures";
import OpenAI from "openai";
import {
  type RequestSigner,
  signingFetch,
  signRegistration,
  signRequest,
} from "../../src/exports/verify.ts";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, errorOf, readAnswered, rowsOf } from "../helpers/gateway.ts";
import { type Served, serve } from "../helpers/serve.ts";
import { onFileEnd, temporaryDirectory } from "../trust-kit.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

const dataDir = temporaryDirectory(onFileEnd);
const logged: string[] = [];
const log = (...parts: readonly unknown[]): void => void logged.push(JSON.stringify(parts));
let gateway: TestGateway;
let served: Served;
let signer: RequestSigner;

beforeAll(async () => {
  gateway = await createTestGateway({ dataDir }, { bootedMs: 0, log });
  served = serve(gateway);
  signer = await register();
});
afterAll(async () => {
  await served.close();
  await gateway.close();
});

const bearer = () => ({ authorization: `Bearer ${gateway.apiKey}` });

async function post(path: string, body: object | null, headers: Record<string, string>) {
  const sent = body === null ? {} : { body: JSON.stringify(body) };
  const type = body === null ? {} : { "content-type": "application/json" };
  const init = { method: "POST", headers: { ...type, ...headers }, ...sent };
  return readAnswered(await fetch(served.origin + path, init), 0);
}

/** Makes a key and registers it with the bearer key. */
async function register(seed = new Uint8Array(randomBytes(32))): Promise<RequestSigner> {
  const challenge = await post("/v1/keys/challenge", null, bearer());
  const given = challenge.json as Parameters<typeof signRegistration>[0] | null;
  if (given === null) throw new Error("no challenge came");
  const made = await post("/v1/keys", await signRegistration(given, seed), bearer());
  expect([made.status, made.json]).toMatchObject([200, { scheme: "ed25519", active: true }]);
  return { keyId: String(made.json?.["key_id"]), seed };
}

interface Choices {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  readonly sentBody?: string;
  readonly signedMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

async function signedHeaders({ method = "GET", path = "/v1/me", body, signedMs }: Choices) {
  const request = { method, url: served.origin + path, ...(body !== undefined && { body }) };
  return signRequest(request, signer, signedMs === undefined ? {} : { nowMs: () => signedMs });
}

async function sendWith(headers: Readonly<Record<string, string>>, choices: Choices = {}) {
  const { method = "GET", path = "/v1/me", body, sentBody = body } = choices;
  const init = { method, headers, ...(sentBody !== undefined && { body: sentBody }) };
  return readAnswered(await fetch(served.origin + path, init), 0);
}

test("a signed request is its app's, with a body and a query too, and its answer is sealed", async () => {
  const me = await sendWith(await signedHeaders({}));
  expect([me.status, me.json]).toMatchObject([
    200,
    { scheme: "ed25519", key_id: signer.keyId, tenant_id: gateway.tenantId, active: true },
  ]);
  expect(me.headers.get("x-svc-signature")).toMatch(/^[0-9a-f]{64}$/);
  const audit = { path: "/v1/audit?limit=5&since=0" };
  expect((await sendWith(await signedHeaders(audit), audit)).status).toBe(200);
  const call = { method: "POST", path: "/v1/search", body: JSON.stringify({ query: "x" }) };
  const searched = await sendWith(await signedHeaders(call), call);
  expect(searched.status).toBe(200);
  const row = (await rowsOf(gateway)).at(-1);
  expect(row).toMatchObject({ key_id: signer.keyId, path: "/v1/search" });
});

test("an OpenAI client signs through the helper's fetch", async () => {
  const baseURL = `${served.origin}/v1`;
  const client = new OpenAI({ baseURL, apiKey: "signed", fetch: signingFetch(signer) });
  expect((await client.models.list()).data.map(({ id }) => id)).toContain("svc-tier-b");
  const answer = await client.chat.completions.create({
    model: "svc-tier-b",
    messages: [{ role: "user", content: "Hello" }],
    max_tokens: 3,
  });
  expect(answer.choices).toHaveLength(1);
});

test("replayed, altered and expired requests are refused: no row, no signature, one message", async () => {
  const count = (await rowsOf(gateway)).length;
  const body = JSON.stringify({ query: "x" });
  const call = { method: "POST", path: "/v1/search", body };
  const nowMs = Date.now();
  const once = await signedHeaders(call);
  expect((await sendWith(once, call)).status).toBe(200);
  const fresh = () => signedHeaders(call);
  const cases: readonly (readonly [string, Record<string, string>, Choices])[] = [
    ["replayed", once, call],
    ["another body", await fresh(), { ...call, sentBody: body.replace("x", "y") }],
    ["another path", await fresh(), { ...call, path: "/v1/chat-grounded" }],
    ["a query", await fresh(), { ...call, path: "/v1/search?a=1" }],
    ["another method", await signedHeaders({}), { method: "DELETE", path: "/v1/me" }],
    ["too old", await signedHeaders({ ...call, signedMs: nowMs - 62_000 }), call],
    ["from ahead", await signedHeaders({ ...call, signedMs: nowMs + 65_000 }), call],
    ["another type", { ...(await fresh()), "content-type": "text/json" }, call],
    ["with a key too", { ...(await fresh()), ...bearer() }, call],
    ["signed twice", { ...(await fresh()), signature: `${once["signature"]}, svc=:AA==:` }, call],
  ];
  const bodies = new Set<string>();
  for (const [name, headers, choices] of cases) {
    const refused = await sendWith(headers, choices);
    const isRoute = name !== "another method";
    expect([name, refused.status]).toEqual([name, isRoute ? 401 : 405]);
    expect(refused.headers.get("x-svc-signature")).toBeNull();
    expect(refused.headers.get("x-svc-attestation")).toMatch(/^[\w-]+\.[\w-]+$/);
    if (!isRoute) continue;
    expect(errorOf(refused)).toEqual(["invalid_signature", null]);
    bodies.add(refused.text);
  }
  expect(bodies.size).toBe(1);
  expect((await rowsOf(gateway)).length).toBe(count + 1);
  const problems = logged.filter((line) => line.includes("signature_refused"));
  for (const problem of ["replayed", "digest", "time", "signature"]) {
    expect(problems.join("\n")).toContain(`"problem":"${problem}"`);
  }
});

test("a signature of another label is somebody else's: the bearer key counts", async () => {
  const headers = { ...bearer(), "signature-input": 'proxy=("@path");created=1' };
  expect((await sendWith(headers)).json).toMatchObject({ scheme: "bearer" });
});

test("what another library signs is taken, and it takes what ours signs", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const seed = privateKey.export({ format: "der", type: "pkcs8" }).subarray(-32);
  const { keyId } = await register(new Uint8Array(seed));
  const body = JSON.stringify({ query: "x" });
  const url = `${served.origin}/v1/search?`;
  const digest = createHash("sha256").update(body).digest("base64");
  const fields = ["@query", "@path", "@authority", "@method", "content-type", "content-digest"];
  const signedByPeer = await httpbis.signMessage(
    {
      name: "svc",
      key: { id: keyId, alg: "ed25519", sign: async (data) => sign(null, data, privateKey) },
      fields,
      params: ["created", "expires", "nonce", "keyid", "alg", "tag"],
      paramValues: {
        nonce: randomBytes(18).toString("base64url"),
        tag: "svc-request-v1",
        expires: new Date(Date.now() + 60_000),
      },
    },
    {
      method: "POST",
      url,
      headers: { "content-type": "application/json", "content-digest": `sha-256=:${digest}:` },
    },
  );
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(signedByPeer.headers)) {
    headers[name.toLowerCase()] = String(value);
  }
  expect((await readAnswered(await fetch(url, { method: "POST", headers, body }), 0)).status).toBe(
    200,
  );
  const ours = await signRequest({ method: "POST", url: `${url}a=1`, body }, { keyId, seed });
  const asked: string[] = [];
  const isTaken = await httpbis.verifyMessage(
    {
      keyLookup: async ({ keyid }) => {
        asked.push(String(keyid));
        return { verify: async (data, signature) => verify(null, data, publicKey, signature) };
      },
      requiredFields: fields,
      requiredParams: ["created", "nonce", "keyid", "tag"],
    },
    { method: "POST", url: `${url}a=1`, headers: ours },
  );
  expect([isTaken, asked]).toEqual([true, [keyId]]);
});

test("an app lists and revokes its own keys, and no others; a revoked key signs no more", async () => {
  const own = await register();
  const other = gateway.gateway.tenants.addKey(gateway.tenantId, "other");
  const asOther = { authorization: `Bearer ${other.apiKey}` };
  const list = async (headers: Record<string, string>) =>
    at((await sendWith(headers, { path: "/v1/keys" })).json, "keys") as object[];
  expect((await list(bearer())).length).toBeGreaterThanOrEqual(2);
  expect(await list(asOther)).toEqual([]);
  const revoke = { method: "DELETE", path: `/v1/keys/${own.keyId}` };
  expect((await sendWith(asOther, revoke)).status).toBe(404);
  const used = signer;
  signer = own;
  expect((await sendWith(await signedHeaders({}))).status).toBe(200);
  expect((await sendWith(await signedHeaders(revoke), revoke)).status).toBe(200);
  expect((await sendWith(await signedHeaders({}))).status).toBe(401);
  signer = used;
});

test("refused registrations say where: bad base64, unsafe keys, no proof, unknown members", async () => {
  const proof = async () => {
    const { json } = await post("/v1/keys/challenge", null, bearer());
    const given = json as unknown as Parameters<typeof signRegistration>[0];
    return signRegistration(given, new Uint8Array(randomBytes(32)));
  };
  const identity = Buffer.from(`01${"00".repeat(31)}`, "hex").toString("base64");
  const cases: readonly (readonly [object, string, string | null])[] = [
    [{ public_key: "AAAA" }, "invalid_value", "public_key"],
    [{ public_key: "not base64!" }, "invalid_value", "public_key"],
    [{ signature: "AAAA" }, "invalid_value", "signature"],
    [{ public_key: identity }, "invalid_public_key", "public_key"],
    [{ challenge: "unknown" }, "invalid_public_key", "public_key"],
    [{ signature: Buffer.alloc(64, 7).toString("base64") }, "invalid_public_key", "public_key"],
    [{ colour: 1 }, "unknown_parameter", "colour"],
  ];
  for (const [change, code, param] of cases) {
    const refused = await post("/v1/keys", { ...(await proof()), ...change }, bearer());
    expect([refused.status, ...errorOf(refused)]).toEqual([400, code, param]);
  }
  const nobody = await post("/v1/keys/challenge", null, {});
  expect(nobody.status).toBe(401);
});

test("a restart inside the window still knows which requests came", async () => {
  const request = await signedHeaders({});
  expect((await sendWith(request)).status).toBe(200);
  const unused = await signedHeaders({});
  const { port } = served;
  await served.close();
  await gateway.close();
  gateway = await createTestGateway({ dataDir }, { bootedMs: 0, log });
  served = serve(gateway, undefined, port);
  expect((await sendWith(request)).status).toBe(401);
  expect((await sendWith(unused)).json).toMatchObject({ key_id: signer.keyId });
});
