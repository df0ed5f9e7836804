import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { canonicalJson, type JsonValue } from "../../src/bytes/canonical-json.ts";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { verifyComposition } from "../../src/verify/composition.ts";
import { jsonOf, run } from "../cli/kit.ts";
import { at, errorOf, hex, type Json, rowsOf, send } from "../helpers/gateway.ts";
import v4 from "../vectors/iolta/v4-masked.json";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway();
});
afterAll(() => gateway.close());

const post = (path: string, body: unknown) =>
  send(gateway, { path, body: typeof body === "string" ? body : JSON.stringify(body) });
const input = v4.input;

/** A response without its receipt: what `output_hash` is over. */
function outputOf(json: Json | null): JsonValue {
  const { receipt: _, ...output } = json ?? {};
  return output as JsonValue;
}

describe("a process", () => {
  test("is listed for everyone, with the schema of its input", async () => {
    const { status, json } = await send(gateway, { path: "/v1/process", apiKey: null });
    expect(status).toBe(200);
    const processes = json?.["processes"] as readonly Json[];
    expect(processes.map(({ id }) => id)).toContain("iolta-reconcile");
    expect(processes[0]).toMatchObject({
      description: expect.any(String),
      model_id: expect.stringMatching(/@\d+\.\d+\.\d+$/),
      input_schema: { $schema: "https://json-schema.org/draft/2020-12/schema" },
    });
  });

  test("answers with its output and a receipt, in one row", async () => {
    const count = (await rowsOf(gateway)).length;
    const answered = await post("/v1/process/iolta-reconcile", input);
    expect(answered.status).toBe(200);
    const outputHash = hex(canonicalJson(outputOf(answered.json)));
    const requestId = answered.headers.get("x-request-id");
    expect(answered.json?.["receipt"]).toEqual({
      request_id: requestId,
      ms: expect.any(Number),
      deterministic_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      output_hash: outputHash,
    });
    const rows = await rowsOf(gateway);
    expect(rows.length).toBe(count + 1);
    expect(rows.at(-1)).toMatchObject({
      request_id: requestId,
      path: "/v1/process/iolta-reconcile",
      engine: expect.stringMatching(/^iolta-reconcile@/),
      model: null,
      deterministic: true,
      output_hash: outputHash,
      out_hash: hex(answered.bytes),
    });
  });

  test("gives the same output and hashes again, by its version too", async () => {
    const first = await post("/v1/process/iolta-reconcile", input);
    const [version] = (await enginesOf("iolta-reconcile")) as readonly string[];
    const again = await post(`/v1/process/iolta-reconcile?engine=${version}`, input);
    expect(outputOf(again.json)).toEqual(outputOf(first.json));
    for (const hash of ["deterministic_hash", "output_hash"]) {
      expect(at(again.json, "receipt", hash)).toBe(at(first.json, "receipt", hash));
    }
  });

  test("refuses what does not fit with the pointer, and costs nothing then", async () => {
    const count = (await rowsOf(gateway)).length;
    const refused = await post("/v1/process/iolta-reconcile", { ...input, extra: 1 });
    expect([refused.status, ...errorOf(refused)]).toEqual([400, "invalid_input", "/extra"]);
    for (const body of ["[]", "1", "{", '{"a":1,"a":2}']) {
      expect((await post("/v1/process/iolta-reconcile", body)).status).toBe(400);
    }
    const lost = await post("/v1/process/no-such", {});
    expect([lost.status, ...errorOf(lost)]).toEqual([404, "unknown_process", null]);
    const old = await post("/v1/process/iolta-reconcile?engine=0.0.1", input);
    expect(old.status).toBe(404);
    const stranger = await send(gateway, {
      path: "/v1/process/iolta-reconcile",
      body: JSON.stringify(input),
      apiKey: null,
    });
    expect(stranger.status).toBe(401);
    expect((await rowsOf(gateway)).length).toBe(count);
  });
});

async function enginesOf(id: string): Promise<unknown> {
  const { json } = await send(gateway, { path: "/v1/process" });
  const processes = (json?.["processes"] ?? []) as readonly Json[];
  return processes.find(({ id: known }) => known === id)?.["engines"];
}

describe("a composition", () => {
  const steps = [{ id: "books", process: "iolta-reconcile", input }];

  test("chains its steps' hashes to one receipt and one row", async () => {
    const count = (await rowsOf(gateway)).length;
    const answered = await post("/v1/compose", { steps });
    expect(answered.status).toBe(200);
    expect(at(answered.json, "receipt", "deterministic_hash")).toBe(answered.json?.["chain_hash"]);
    expect(at(answered.json, "receipt", "output_hash")).toBe(
      hex(canonicalJson(outputOf(answered.json))),
    );
    const alone = await post("/v1/process/iolta-reconcile", input);
    expect(at(answered.json, "steps", 0, "output_hash")).toBe(
      at(alone.json, "receipt", "output_hash"),
    );
    const rows = await rowsOf(gateway);
    expect(rows.length).toBe(count + 2);
    expect(rows.at(-2)).toMatchObject({ path: "/v1/compose", engine: "svc-compose/1" });
  });

  test("has the hashes of the command line, and verifies offline", async () => {
    const request = JSON.stringify({ steps });
    const answered = await post("/v1/compose", request);
    const offline = jsonOf(await run({ directory: "/", stdin: request }, "compose", "-", "--json"));
    expect(at(answered.json, "receipt", "output_hash")).toBe(offline["output_hash"]);
    expect(answered.json?.["chain_hash"]).toBe(offline["chain_hash"]);
    const saved = { answer: answered.bytes, request: Buffer.from(request) };
    expect(verifyComposition(saved)).toMatchObject({ ok: true, notes: [] });
    const text = answered.text.replace('"output_hash":"', '"output_hash":"0');
    expect(verifyComposition({ ...saved, answer: Buffer.from(text) }).ok).toBe(false);
  });

  test("is refused whole, with the pointer of the step", async () => {
    const bad = [...steps, { process: "no-such", input: {} }];
    const refused = await post("/v1/compose", { steps: bad });
    expect([refused.status, ...errorOf(refused)]).toEqual([
      400,
      "invalid_step",
      "/steps/1/process",
    ]);
  });
});
