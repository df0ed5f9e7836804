import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { canonicalJson, type JsonValue } from "../../src/bytes/canonical-json.ts";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, errorOf, hex, type Json, rowsOf, send } from "../helpers/gateway.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway();
});
afterAll(() => gateway.close());

const write = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  send(gateway, { path: "/v1/state/matters", body: JSON.stringify(body), headers });
const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  send(gateway, { path: `/v1/state/${path}`, headers });
const matter = (id: string, title: string) => ({ matter_id: id, status: "open", title });

test("a write leaves one row and a receipt; reads are free", async () => {
  const count = (await rowsOf(gateway)).length;
  const answered = await write({
    matters: [matter("a-1", "Alder v Birch"), matter("a-2", "Cedar")],
  });
  expect(answered.status).toBe(200);
  const { receipt, ...output } = answered.json ?? {};
  expect(receipt).toEqual({
    request_id: answered.headers.get("x-request-id"),
    ms: expect.any(Number),
    deterministic_hash: expect.any(String),
    output_hash: hex(canonicalJson(output as JsonValue)),
  });
  for (const path of ["matters", "matters/a-1", "matters/a-1/history", "search?q=alder", "head"]) {
    expect((await get(path)).status).toBe(200);
  }
  const rows = await rowsOf(gateway);
  expect(rows.length).toBe(count + 1);
  expect(rows.at(-1)).toMatchObject({
    path: "/v1/state/matters",
    engine: "svc-state-write/1",
    output_hash: at(answered.json, "receipt", "output_hash"),
  });
});

test("records are read back, listed, searched, and by version", async () => {
  await write(matter("b-1", "Dogwood estate"));
  await write(matter("b-1", "Dogwood trust"));
  const current = await get("matters/b-1");
  expect(current.json).toMatchObject({ matter_id: "b-1", title: "Dogwood trust", version: 2 });
  expect((await get("matters/b-1/versions/1")).json).toMatchObject({ title: "Dogwood estate" });
  const history = await get("matters/b-1/history");
  const versions = history.json?.["data"] as readonly Json[];
  expect(versions.map(({ version, op }) => [version, op])).toEqual([
    [2, "updated"],
    [1, "created"],
  ]);
  const found = await get("search?q=dogwood");
  expect(at(found.json, "data", 0, "matter_id")).toBe("b-1");
  const listed = await get("matters?limit=1");
  expect(at(listed.json, "data") as readonly Json[]).toHaveLength(1);
  expect(listed.json).toHaveProperty("next_cursor");
  expect((await get("parties")).json?.["data"]).toBeArray();
});

test("an unchanged record is a 304, and preconditions hold writes back", async () => {
  const first = await write(matter("c-1", "Elm"));
  const etag = first.headers.get("etag") ?? "";
  expect(etag).toMatch(/^"v1-[0-9a-f]{16}"$/);
  const same = await get("matters/c-1", { "if-none-match": etag });
  expect([same.status, same.bytes.length]).toEqual([304, 0]);
  const count = (await rowsOf(gateway)).length;
  const late = await write(matter("c-1", "Elm 2"), { "if-match": '"v9-0000000000000000"' });
  expect(late.status).toBe(412);
  const conflict = await write({ ...matter("c-1", "Elm 3"), if_version: 7 });
  expect([conflict.status, at(conflict.json, "error", "code")]).toEqual([409, "version_conflict"]);
  expect(at(conflict.json, "error", "details")).toEqual([
    expect.objectContaining({ matter_id: "c-1", current_version: 1 }),
  ]);
  const wrong = await write({ matter_id: "c-2", status: "asleep" });
  expect([wrong.status, errorOf(wrong)[1]]).toEqual([400, "/status"]);
  expect((await rowsOf(gateway)).length).toBe(count);
  expect((await write(matter("c-1", "Elm 4"), { "if-match": etag })).status).toBe(200);
});

test("other tenants and other apps see nothing of it", async () => {
  await write(matter("d-1", "Fir"));
  for (const options of [{ tenantName: "other" }, { tenantName: "test", appName: "second" }]) {
    const { apiKey } = gateway.gateway.tenants.createKey(options);
    const headers = { authorization: `Bearer ${apiKey}` };
    const one = await gateway.fetch("/v1/state/matters/d-1", { headers });
    expect(one.status).toBe(404);
    const all = await gateway.fetch("/v1/state/matters", { headers });
    expect(((await all.json()) as Json)["data"]).toEqual([]);
  }
  expect((await send(gateway, { path: "/v1/state/head", apiKey: null })).status).toBe(401);
});

test("a conflict check can take its records from the state, alone and in a workflow", async () => {
  const name = { name: "Grove Holdings LLC" };
  await write({
    ...matter("e-1", "Grove v Hazel"),
    parties: [{ party_id: "p-1", kind: "organization", names: [name], role: "client" }],
  });
  const question = {
    as_of: "2026-07-01",
    intake: {
      intake_id: "i-1",
      kind: "new_client",
      matter: { title: "Ivy v Grove" },
      parties: [{ party_id: "q1", role: "adverse_party", kind: "organization", names: [name] }],
    },
    records: { from: "state" },
  };
  const alone = await send(gateway, {
    path: "/v1/process/svc-conflict-check",
    body: JSON.stringify(question),
  });
  expect(alone.status).toBe(200);
  expect(alone.text).toContain("Grove Holdings LLC");
  const composed = await send(gateway, {
    path: "/v1/compose",
    body: JSON.stringify({ steps: [{ process: "svc-conflict-check", input: question }] }),
  });
  expect(at(composed.json, "steps", 0, "output_hash")).toBe(
    at(alone.json, "receipt", "output_hash"),
  );
});
