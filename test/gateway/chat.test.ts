import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import {
  at,
  chat,
  content,
  errorOf,
  hex,
  INVOICE_SCHEMA,
  openToken,
  rowsOf,
  send,
} from "../helpers/gateway.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway();
});
afterAll(() => gateway.close());

const strict = { type: "json_schema", strict: true, schema: INVOICE_SCHEMA };
const forms: Readonly<Record<string, object>> = {
  nested: {
    type: "json_schema",
    json_schema: { name: "invoice", strict: true, schema: INVOICE_SCHEMA },
  },
  flat: strict,
  "json_object with schema": { type: "json_object", strict: true, schema: INVOICE_SCHEMA },
};

describe("a chat", () => {
  test("is answered in OpenAI's shape, with the extension block", async () => {
    const answered = await chat(gateway, {
      model: "svc-tier-a",
      messages: [{ role: "user", content: "Hello" }],
    });
    expect(answered.status).toBe(200);
    const requestId = answered.headers.get("x-request-id") ?? "";
    const choice = {
      index: 0,
      message: { role: "assistant", content: expect.stringMatching(/^Hello!/), refusal: null },
      logprobs: null,
      finish_reason: "stop",
    };
    expect(answered.json).toEqual({
      id: requestId.replace("req_", "chatcmpl-"),
      object: "chat.completion",
      created: expect.any(Number),
      model: "svc-tier-a",
      choices: [choice],
      usage: {
        prompt_tokens: 4,
        completion_tokens: 19,
        total_tokens: 23,
        prompt_tokens_details: { cached_tokens: 0 },
      },
      system_fingerprint: expect.stringMatching(/^fp_/),
      svc: {
        schema_enforced: false,
        latency_ms: expect.any(Number),
        request_id: requestId,
        deterministic: true,
        budget_limited: false,
      },
    });
  });

  for (const [name, response_format] of Object.entries(forms)) {
    test(`is locked to a schema in the form: ${name}`, async () => {
      const answered = await chat(gateway, { response_format });
      expect(JSON.parse(content(answered))).toEqual({ invoice_number: "A-77", total: 120.5 });
      expect(at(answered.json, "svc", "schema_enforced")).toBe(true);
    });
  }

  test("in JSON mode is one JSON object", async () => {
    const answered = await chat(gateway, { response_format: { type: "json_object" } });
    expect(JSON.parse(content(answered))).toBeObject();
    expect(at(answered.json, "svc", "schema_enforced")).toBe(false);
  });

  test("leaves one row that its attestation names, and that its receipt gives", async () => {
    const before = await rowsOf(gateway);
    const answered = await chat(gateway, { response_format: strict });
    const rows = await rowsOf(gateway);
    expect(rows.length).toBe(before.length + 1);
    const row = rows.at(-1);
    expect(row).toMatchObject({
      status: 200,
      model: "svc-tier-b",
      path: "/v1/chat/completions",
      deterministic: true,
      out_hash: hex(answered.bytes),
      prompt_tokens: at(answered.json, "usage", "prompt_tokens"),
      completion_tokens: at(answered.json, "usage", "completion_tokens"),
    });
    const payload = openToken(gateway, answered.headers.get("x-svc-attestation") ?? "");
    expect(payload).toMatchObject({ chain_head: row?.["row_hash"], ts: row?.["ts"] });
    const requestId = answered.headers.get("x-request-id");
    const receipt = await send(gateway, { path: `/v1/receipts/${requestId}` });
    expect(receipt.json).toEqual({ request_id: requestId, row });
    const head = await send(gateway, { path: "/v1/audit/head" });
    expect(head.json).toMatchObject({ head_hash: row?.["row_hash"], height: rows.length });
  });

  test("that is refused leaves no row", async () => {
    const before = await rowsOf(gateway);
    expect((await chat(gateway, { temperature: 3 })).status).toBe(400);
    expect((await chat(gateway, { messages: [] })).status).toBe(400);
    expect((await rowsOf(gateway)).length).toBe(before.length);
  });

  test("goes to tier B for a schema or a short answer, where the router may choose", async () => {
    const model = async (body: object) =>
      (await chat(gateway, { model: "svc-auto", max_tokens: 80, ...body })).json?.["model"];
    expect(await model({})).toBe("svc-tier-a");
    expect(await model({ max_tokens: 64 })).toBe("svc-tier-b");
    expect(await model({ response_format: strict })).toBe("svc-tier-b");
  });

  test("with n gives as many answers, each as a request with the next seed would", async () => {
    // Nothing that the model was trained on: it is sure of what a greeting is answered with.
    const messages = [{ role: "user", content: "Sing of the sea and of 17 lamps" }];
    const body = { temperature: 2, max_tokens: 24, messages };
    const many = await chat(gateway, { ...body, seed: 5, n: 3 });
    const texts = [0, 1, 2].map((index) => at(many.json, "choices", index, "message", "content"));
    const alone = await Promise.all([5, 6, 7].map((seed) => chat(gateway, { ...body, seed })));
    expect(texts).toEqual(alone.map(content));
    expect(new Set(texts).size).toBe(3);
  });

  test("reports probabilities of tokens that spell the answer", async () => {
    const answered = await chat(gateway, {
      response_format: strict,
      logprobs: true,
      top_logprobs: 2,
    });
    const tokens = at(answered.json, "choices", 0, "logprobs", "content") as readonly {
      readonly bytes: readonly number[];
      readonly top_logprobs: readonly unknown[];
    }[];
    const bytes = tokens.flatMap((token) => token.bytes);
    expect(new TextDecoder().decode(Uint8Array.from(bytes))).toBe(content(answered));
    // Forced tokens have no alternatives.
    expect(new Set(tokens.map((token) => token.top_logprobs.length))).toEqual(new Set([0, 2]));
  });

  test("stops before a stop string; a lock's answer stays whole, and says so", async () => {
    const messages = [{ role: "user", content: "Hello" }];
    const free = await chat(gateway, { messages, stop: "!" });
    expect(content(free)).toBe("Hello");
    const locked = await chat(gateway, { response_format: strict, stop: ["A-77"] });
    expect(JSON.parse(content(locked))).toMatchObject({ invoice_number: "A-77" });
    expect(at(locked.json, "svc", "ignored")).toEqual(["stop"]);
  });

  test("names what it took without effect, and a random seed", async () => {
    const answered = await chat(gateway, {
      user: "u-1",
      metadata: {},
      temperature: 1,
      max_tokens: 4,
    });
    expect(at(answered.json, "svc")).toMatchObject({
      ignored: ["user", "metadata"],
      seed: expect.any(Number),
      deterministic: false,
    });
  });
});

describe("a schema", () => {
  const ask = (schema: unknown, isStrict: boolean) =>
    chat(gateway, { response_format: { type: "json_schema", strict: isStrict, schema } });
  const deep = { type: "object", properties: { a: { $ref: "https://example.com/a.json" } } };

  test("that cannot be enforced is refused with its pointer", async () => {
    const [code, param] = errorOf(await ask(deep, true));
    expect(code).toBe("invalid_json_schema");
    expect(param).toBe("response_format.schema#/properties/a/$ref");
    const pattern = { type: "object", properties: { a: { pattern: "^(.)\\1$" } } };
    expect(errorOf(await ask(pattern, true))).toEqual([
      "unsupported_schema_keyword",
      "response_format.schema#/properties/a/pattern",
    ]);
  });

  test("without strict becomes JSON alone, and what is not enforced is named", async () => {
    const pattern = { type: "object", properties: { a: { type: "string", pattern: "^(.)\\1$" } } };
    const answered = await ask(pattern, false);
    expect(answered.status).toBe(200);
    expect(JSON.parse(content(answered))).toBeObject();
    expect(at(answered.json, "svc")).toMatchObject({
      schema_enforced: false,
      unenforced: ["/properties/a/pattern"],
    });
  });

  test("names its annotations", async () => {
    const answered = await ask({ type: "string", format: "vegetable" }, true);
    expect(at(answered.json, "svc", "annotations")).toEqual(["/format"]);
  });
});

test("the same request gives the same bytes twenty times, after a restart too", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-restart-"));
  const contents = new Set<string>();
  for (let start = 0; start < 2; start++) {
    const other = await createTestGateway({ dataDir });
    for (let time = 0; time < 10; time++) {
      contents.add(content(await chat(other, { response_format: strict })));
    }
    await other.close();
  }
  rmSync(dataDir, { recursive: true });
  contents.add(content(await chat(gateway, { response_format: strict })));
  expect(contents.size).toBe(1);
});

test("what a tenant may not see is unknown to it", async () => {
  const answered = await chat(gateway, { max_tokens: 4 });
  const requestId = answered.headers.get("x-request-id");
  const other = gateway.gateway.tenants.createKey({ tenantName: "other" });
  const path = `/v1/receipts/${requestId}`;
  const response = await gateway.fetch(path, {
    headers: { authorization: `Bearer ${other.apiKey}` },
  });
  expect(response.status).toBe(404);
});

test("svc.schema_in_prompt: false leaves the schema to the lock alone", async () => {
  const response_format = { type: "json_schema", strict: true, schema: INVOICE_SCHEMA };
  const promptTokens = async (change: object) =>
    Number(
      at((await chat(gateway, { response_format, ...change })).json, "usage", "prompt_tokens"),
    );
  const told = await promptTokens({});
  const untold = await promptTokens({ svc: { schema_in_prompt: false } });
  expect(untold).toBeLessThan(told);
  expect(untold).toBe(await promptTokens({ response_format: { type: "text" } }));
});
