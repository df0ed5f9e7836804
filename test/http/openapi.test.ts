/**
 * The OpenAPI document: valid by another's validator, about exactly the routes that there are, and
 * true: what the server answers fits the schemas that the document gives.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv2020 from "ajv/dist/2020";
import addFormats from "ajv-formats";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, type Json, type Sent, send } from "../helpers/gateway.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

const ADMIN_KEY = "an-admin-key-for-tests";
let gateway: TestGateway;
let document: Json;
beforeAll(async () => {
  gateway = await createTestGateway({ adminKey: ADMIN_KEY });
  document = (await send(gateway, { path: "/openapi.json", apiKey: null })).json ?? {};
});
afterAll(() => gateway.close());

test("is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  const { errors, valid } = await validator.validate(structuredClone(document));
  expect([errors, valid, validator.version]).toEqual([undefined, true, "3.1"]);
});

test("describes every route, and nothing else", () => {
  const described = Object.entries(document["paths"] as Json).flatMap(([path, methods]) =>
    Object.keys(methods as Json).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const there = gateway.gateway.routes.map(
    ({ method, path }) => `${method} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}`,
  );
  expect(described.sort()).toEqual([...new Set(there)].sort());
});

test("names every parameter of a path", () => {
  for (const [path, methods] of Object.entries(document["paths"] as Json)) {
    const names = [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name = ""]) => name);
    for (const operation of Object.values(methods as Json)) {
      const parameters = (at(operation, "parameters") ?? []) as Json[];
      const given = parameters.filter((each) => each["in"] === "path").map(({ name }) => name);
      expect([path, given]).toEqual([path, names]);
    }
  }
});

test("says of each operation whose key it needs", async () => {
  const without = { 401: "needs a key", 200: "is public" };
  for (const [path, methods] of Object.entries(document["paths"] as Json)) {
    for (const [method, operation] of Object.entries(methods as Json)) {
      const isPublic = (at(operation, "security") as object[]).length === 0;
      const sent = {
        method: method.toUpperCase(),
        path: path.replaceAll(/[{}]/g, ""),
        apiKey: null,
      };
      const { status } = await send(gateway, sent);
      const found = status === 401 ? without[401] : without[200];
      expect([method, path, found]).toEqual([method, path, isPublic ? without[200] : without[401]]);
    }
  }
});

const body = (value: unknown): Pick<Sent, "body"> => ({ body: JSON.stringify(value) });
const chat = { model: "svc-tier-b", messages: [{ role: "user", content: "Hi" }], max_tokens: 3 };
const cite = { as_of: "2026-01-01", text: "none" };
const admin = { headers: { "x-admin-key": ADMIN_KEY } };
const pack = { tier: "t", model_tiers: ["svc-tier-b"] };

/** Each with the document's path where that is another. */
const CALLS: readonly (readonly [sent: Sent, path?: string])[] = [
  [{ path: "/v1/chat/completions", ...body(chat) }],
  [{ path: "/v1/chat/completions", ...body({ ...chat, n: 0 }) }],
  [{ path: "/v1/responses", ...body({ model: "svc-tier-b", input: "Hi", max_output_tokens: 3 }) }],
  [{ path: "/v1/chat-grounded", ...body({ query: "x", mode: "never-search", max_tokens: 3 }) }],
  [{ path: "/v1/search", ...body({ query: "x" }) }],
  [{ path: "/v1/models" }],
  [{ path: "/v1/models/svc-tier-a" }, "/v1/models/{model}"],
  [{ path: "/v1/models/none" }, "/v1/models/{model}"],
  [{ path: "/v1/process" }],
  [{ path: "/v1/process/cite-check", ...body(cite) }, "/v1/process/{slug}"],
  [{ path: "/v1/compose", ...body({ steps: [{ process: "cite-check", input: cite }] }) }],
  [{ path: "/v1/state/matters" }],
  [{ path: "/v1/state/search?q=a" }],
  [{ path: "/v1/state/parties" }],
  [{ path: "/v1/state/head" }],
  [{ path: "/v1/me" }],
  [{ path: "/v1/audit?limit=3" }],
  [{ path: "/v1/audit/head" }],
  [{ path: "/v1/requests" }],
  [{ path: "/v1/requests", method: "PUT", ...body({ stored: true }) }],
  [{ path: "/v1/chat/completions", ...body({ ...chat, store: null }) }],
  [{ path: "/v1/keys" }],
  [{ path: "/v1/keys/challenge", method: "POST" }],
  [{ path: "/audit/checkpoint/latest" }],
  [{ path: "/audit/checkpoint/verify" }],
  [{ path: "/attestation/keys" }],
  [{ path: "/health" }],
  [{ path: "/ready" }],
  [{ path: "/admin/keys", ...admin }],
  [{ path: "/admin/keys", ...admin, ...body({ tenant: "documented" }) }],
  [{ path: "/admin/tenants", ...admin }],
  [{ path: "/admin/packages", ...admin }],
  [{ path: "/admin/packages/p", ...admin, method: "PUT", ...body(pack) }, "/admin/packages/{id}"],
  [{ path: "/admin/packages/p", ...admin, method: "DELETE" }, "/admin/packages/{id}"],
  [{ path: "/admin/usage", ...admin }],
];

test("is true of what the server answers", async () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  ajv.addSchema(document, "openapi");
  for (const [sent, documented] of CALLS) {
    const path = documented ?? sent.path.replace(/\?.*/, "");
    const method = (sent.method ?? (sent.body === undefined ? "GET" : "POST")).toLowerCase();
    const answered = await send(gateway, sent);
    const status = String(answered.status);
    const place = at(document, "paths", path, method, "responses", status);
    expect([method, path, status, place === undefined]).toEqual([method, path, status, false]);
    const isError = answered.status >= 400;
    const pointer = ["paths", path, method, "responses", status, "content", "application/json"]
      .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
      .join("/");
    const schema = isError ? "components/schemas/Error" : `${pointer}/schema`;
    const validate = ajv.compile({ $ref: `openapi#/${schema}` });
    validate(answered.json);
    expect([method, path, validate.errors]).toEqual([method, path, null]);
  }
});

test("lists are given in pages, from the first to the last", async () => {
  for (const tenant of ["one", "two", "three"]) {
    await send(gateway, { path: "/admin/keys", ...admin, ...body({ tenant }) });
  }
  const lists = [
    ["keys", "key_id"],
    ["tenants", "tenant_id"],
    ["packages", "id"],
    ["usage", "day"],
  ] as const;
  for (const [name, id] of lists) {
    const all = at(
      (await send(gateway, { path: `/admin/${name}`, ...admin })).json,
      name,
    ) as Json[];
    const paged: Json[] = [];
    for (let after = ""; ; ) {
      const path = `/admin/${name}?limit=1${after}`;
      const { json } = await send(gateway, { path, ...admin });
      paged.push(...(at(json, name) as Json[]));
      if (at(json, "next") === null) break;
      after = `&after=${encodeURIComponent(String(at(json, "next")))}`;
    }
    expect([name, paged.map((each) => each[id])]).toEqual([name, all.map((each) => each[id])]);
  }
});
