/**
 * Processes, workflows, state, search and grounded chat over the API, field by field: what each
 * takes, its default and its limits. What does not fit is a 400 that points at it and leaves no
 * row. `error-table.test.ts` has the statuses that all endpoints share.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { indexDirectory } from "../../src/search/local-index.ts";
import { searchIndexPath } from "../../src/service/open-search.ts";
import { openIndexForWriting } from "../../src/store/open-index.ts";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, errorOf, type Json, rowsOf, send } from "../helpers/gateway.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let dataDir: string;
let gateway: TestGateway;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "svc-fields-"));
  const documents = join(dataDir, "documents");
  mkdirSync(documents);
  for (let n = 1; n <= 12; n += 1)
    writeFileSync(join(documents, `${n}.txt`), `Walnut tariff of year ${n}.`);
  const db = openIndexForWriting(searchIndexPath(dataDir));
  await indexDirectory(db, "documents", documents);
  db.close();
  gateway = await createTestGateway({ dataDir });
});
afterAll(async () => {
  await gateway.close();
  rmSync(dataDir, { recursive: true });
});

const post = (path: string, body: unknown) => send(gateway, { path, body: JSON.stringify(body) });
const listOf = (json: Json | null, key: string) => json?.[key] as readonly Json[];
const list = (length: number, value: unknown): unknown[] => Array.from({ length }, () => value);

const CITE = { process: "cite-check", input: { text: "See 1 U.S. 1.", as_of: "2026-07-01" } };
const GIVEN = { process: "cite-check", input: { ...CITE.input, text: { $from: "input#/t" } } };
const MATTER = { matter_id: "f-1", status: "open" };

/** Path, body, and the pointer of what is refused; null where it is taken. */
const BODIES: readonly (readonly [path: string, body: unknown, pointer: string | null])[] = [
  ["/v1/process/cite-check", CITE.input, null],
  ["/v1/process/cite-check", { as_of: "2026-07-01" }, "/text"],
  ["/v1/process/cite-check", { ...CITE.input, texts: 1 }, "/texts"],
  ["/v1/process/deadline-compute", { rules: "FRCP-7", deadlines: [] }, "/rules"],
  ["/v1/compose", { steps: [CITE] }, null],
  ["/v1/compose", { steps: list(16, CITE) }, null],
  ["/v1/compose", { steps: list(17, CITE) }, "/steps"],
  ["/v1/compose", { steps: [] }, "/steps"],
  ["/v1/compose", {}, "/steps"],
  ["/v1/compose", { steps: [CITE], step: 1 }, "/step"],
  ["/v1/compose", { steps: [{ ...CITE, id: "a-1" }] }, null],
  ["/v1/compose", { steps: [{ ...CITE, id: "1a" }] }, "/steps/0/id"],
  ["/v1/compose", { steps: [{ ...CITE, id: "input" }] }, "/steps/0/id"],
  ["/v1/compose", { steps: list(2, { ...CITE, id: "a" }) }, "/steps/1/id"],
  ["/v1/compose", { steps: [{ input: {} }] }, "/steps/0/process"],
  ["/v1/compose", { steps: [{ ...CITE, process: "nope" }] }, "/steps/0/process"],
  ["/v1/compose", { steps: [{ ...CITE, engine: "1.0.0" }] }, null],
  ["/v1/compose", { steps: [{ ...CITE, engine: "9.0.0" }] }, "/steps/0/engine"],
  ["/v1/compose", { steps: [{ ...CITE, engine: "one" }] }, "/steps/0/engine"],
  ["/v1/compose", { steps: [{ process: "cite-check" }] }, "/steps/0/input"],
  ["/v1/compose", { steps: [{ ...CITE, input: {} }] }, "/steps/0/input/text"],
  ["/v1/compose", { steps: [{ ...CITE, expect: list(16, { pointer: "", equals: 1 }) }] }, null],
  [
    "/v1/compose",
    { steps: [{ ...CITE, expect: list(17, { pointer: "", equals: 1 }) }] },
    "/steps/0/expect",
  ],
  [
    "/v1/compose",
    { steps: [{ ...CITE, expect: [{ pointer: "x", equals: 1 }] }] },
    "/steps/0/expect/0/pointer",
  ],
  ["/v1/compose", { steps: [CITE], include: "hashes" }, null],
  ["/v1/compose", { steps: [CITE], include: "some" }, "/include"],
  ["/v1/compose", { input: { t: "1 U.S. 1" }, steps: [GIVEN] }, null],
  ["/v1/compose", { input: { t: 1 }, steps: [GIVEN] }, "/steps/0/input/text"],
  ["/v1/compose", { input: {}, steps: [GIVEN] }, "/steps/0/input/text"],
  ["/v1/compose", { steps: [CITE], output: { $from: "s0#" } }, null],
  ["/v1/compose", { steps: [CITE], output: { $from: "s1#" } }, "/output/$from"],
  ["/v1/search", { query: "walnut" }, null],
  ["/v1/search", {}, "/query"],
  ["/v1/search", { query: "" }, "/query"],
  ["/v1/search", { query: 1 }, "/query"],
  ["/v1/search", { query: "q".repeat(2001) }, "/query"],
  ["/v1/search", { query: "walnut", max_results: 10 }, null],
  ["/v1/search", { query: "walnut", max_results: 11 }, "/max_results"],
  ["/v1/search", { query: "walnut", max_results: 0 }, "/max_results"],
  ["/v1/search", { query: "walnut", max_results: "5" }, "/max_results"],
  ["/v1/search", { query: "walnut", lang: "en" }, "/lang"],
  ["/v1/chat-grounded", { query: "walnut", max_tokens: 4 }, null],
  ["/v1/chat-grounded", { query: null }, "/query"],
  ["/v1/chat-grounded", { query: "walnut", mode: "auto", max_tokens: 4 }, null],
  ["/v1/chat-grounded", { query: "walnut", mode: "always" }, "/mode"],
  // An answer is a text of at least one token between the lock's quotes.
  ["/v1/chat-grounded", { query: "walnut", max_tokens: 1 }, "max_tokens"],
  ["/v1/chat-grounded", { query: "walnut", max_tokens: 0 }, "/max_tokens"],
  ["/v1/chat-grounded", { query: "walnut", max_tokens: 1.5 }, "/max_tokens"],
  ["/v1/chat-grounded", { query: "walnut", temperature: 2, max_tokens: 4 }, null],
  ["/v1/chat-grounded", { query: "walnut", temperature: 2.01 }, "/temperature"],
  ["/v1/chat-grounded", { query: "walnut", temperature: -1 }, "/temperature"],
  ["/v1/chat-grounded", { query: "walnut", max_results: 11 }, "/max_results"],
  ["/v1/chat-grounded", { query: "walnut", model: "svc-tier-a", max_tokens: 4 }, null],
  ["/v1/chat-grounded", { query: "walnut", model: 1 }, "/model"],
  ["/v1/chat-grounded", { query: "walnut", stream: true }, "/stream"],
  ["/v1/state/matters", MATTER, null],
  ["/v1/state/matters", { ...MATTER, status: "asleep" }, "/status"],
  ["/v1/state/matters", { status: "open" }, "/matter_id"],
  ["/v1/state/matters", { matters: [MATTER], mode: "merge" }, null],
  ["/v1/state/matters", { matters: [MATTER], mode: "append" }, "/mode"],
  ["/v1/state/matters", { matters: [MATTER], dry_run: "yes" }, "/dry_run"],
  ["/v1/state/matters", { matters: [MATTER, { matter_id: "f-2" }] }, "/matters/1/status"],
  ["/v1/state/matters", { ...MATTER, if_version: -1 }, "/if_version"],
];

test.each(BODIES)("%s of %j", async (path, body, pointer) => {
  const count = (await rowsOf(gateway)).length;
  const answered = await post(path, body);
  const found = answered.status === 200 ? null : [answered.status, errorOf(answered)[1]];
  expect(found).toEqual(pointer === null ? null : [400, pointer]);
  expect((await rowsOf(gateway)).length).toBe(count + (pointer === null ? 1 : 0));
});

test("a search gives five results, or as many as asked, to ten", async () => {
  const count = async (body: object) => {
    const { json } = await post("/v1/search", { query: "walnut tariff", ...body });
    return listOf(json, "results").length;
  };
  expect(await Promise.all([{}, { max_results: 1 }, { max_results: 10 }].map(count))).toEqual([
    5, 1, 10,
  ]);
  const { json } = await post("/v1/search", { query: "walnut" });
  expect(Object.keys(json ?? {})).toEqual(["query", "provider", "results", "receipt"]);
  const [first] = listOf(json, "results");
  expect(Object.keys(first ?? {})).toEqual(["title", "url", "snippet"]);
});

test("a grounded answer has the members of the specification, five citations by default", async () => {
  const body = { query: "latest walnut tariff", max_tokens: 4 };
  const { json } = await post("/v1/chat-grounded", body);
  expect(json?.["citations"] as readonly Json[]).toHaveLength(5);
  expect(json).toMatchObject({ model: "svc-tier-b", search_used: true, search_skip_reason: "" });
  expect(Number(at(json, "usage", "completion_tokens"))).toBeLessThanOrEqual(4);
  expect(Object.keys(json?.["receipt"] as Json).sort()).toEqual([
    ...["deterministic_hash", "evidence_chain", "ms", "output_hash", "request_id"],
    "verify_verdict",
  ]);
  const two = await post("/v1/chat-grounded", { ...body, max_results: 2, model: "svc-tier-a" });
  expect(two.json?.["citations"] as readonly Json[]).toHaveLength(2);
  expect(two.json?.["model"]).toBe("svc-tier-a");
});

test("reads of the state take their parameters, refuse others, and leave no row", async () => {
  const matters = Array.from({ length: 101 }, (_, n) => ({
    ...MATTER,
    matter_id: `g-${String(n).padStart(3, "0")}`,
    title: "Hazel",
  }));
  await post("/v1/state/matters", { matters });
  const count = (await rowsOf(gateway)).length;
  const get = (path: string) => send(gateway, { path: `/v1/state/${path}` });
  const sizes = async (path: string) => listOf((await get(path)).json, "data").length;
  expect(await sizes("search?q=hazel")).toBe(100);
  expect(await sizes("search?q=hazel&limit=101")).toBe(101);
  expect(await sizes("matters?q=hazel")).toBe(100);
  expect(await sizes("matters?q=hazel&limit=1000")).toBe(101);
  const rows: readonly (readonly [path: string, status: number])[] = [
    ["matters?limit=0", 400],
    ["matters?limit=1001", 400],
    ["matters?status=open&limit=1", 200],
    ["matters?stat=open", 400],
    ["matters?updated_since=-1", 400],
    ["matters/g-000", 200],
    ["matters/none", 404],
    ["matters/g-000/history", 200],
    ["matters/none/history", 404],
    ["matters/g-000/versions/1", 200],
    ["matters/g-000/versions/2", 404],
    ["matters/g-000/versions/0", 400],
    ["matters/g-000/versions/one", 400],
    ["search", 400],
    ["search?q=", 400],
    ["search?q=hazel&limit=1001", 400],
    ["search?q=hazel&q=elm", 400],
    ["parties", 200],
    ["parties?limit=0", 400],
    ["parties?name=x", 400],
    ["head", 200],
    ["nothing", 404],
  ];
  const found = await Promise.all(rows.map(async ([path]) => [path, (await get(path)).status]));
  expect(found).toEqual(rows.map(([path, status]) => [path, status]));
  expect((await rowsOf(gateway)).length).toBe(count);
});
