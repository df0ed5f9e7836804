import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHmac } from "node:crypto";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import {
  at,
  chat,
  content,
  hex,
  INVOICE,
  INVOICE_SCHEMA,
  type Json,
  openToken,
  rowsOf,
} from "../helpers/gateway.ts";
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

const strict = { type: "json_schema", strict: true, schema: INVOICE_SCHEMA };
const base = { model: "svc-tier-b", messages: [{ role: "user", content: INVOICE }], stream: true };

function post(body: object, headers: object = {}, init: RequestInit = {}): Promise<Response> {
  return fetch(`${served.origin}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.apiKey}`,
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify({ ...base, ...body }),
    ...init,
  });
}

/** The JSON of each event, `[DONE]` left out. */
function chunksOf(text: string): Json[] {
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice(6)) as Json);
}

/** A live stream's bytes before its closing comments, and what these say. */
function unseal(text: string): { body: string; signature: string; token: string } {
  const match = /^(.*)(?<=\n\n): svc-signature=(.*)\n: svc-attestation=(.*)\n\n$/s.exec(text);
  expect(match).not.toBeNull();
  const [, body = "", signature = "", token = ""] = match ?? [];
  return { body, signature, token };
}

const joined = (chunks: readonly Json[]): string =>
  chunks.map((chunk) => at(chunk, "choices", 0, "delta", "content") ?? "").join("");

/** Waits for a row, which a hang-up leaves a moment later. */
async function rowAfter(count: number): Promise<Json> {
  for (let turn = 0; turn < 500; turn++) {
    const rows = await rowsOf(gateway);
    const row = rows.at(-1);
    if (rows.length > count && row !== undefined) return row;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error("no row came");
}

describe("a live stream", () => {
  test("has OpenAI's chunks: role, content, finish, usage, done", async () => {
    const response = await post({
      stream_options: { include_usage: true },
      response_format: strict,
    });
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    const { body } = unseal(await response.text());
    expect(body).toEndWith("data: [DONE]\n\n");
    const chunks = chunksOf(body);
    const [first, ...rest] = chunks;
    expect(at(first, "choices", 0, "delta")).toEqual({ role: "assistant", content: "" });
    const usage = rest.pop();
    const finish = rest.pop();
    expect(at(finish, "choices", 0)).toEqual({
      index: 0,
      delta: {},
      logprobs: null,
      finish_reason: "stop",
    });
    expect(usage?.["choices"]).toEqual([]);
    expect(at(usage, "usage", "completion_tokens")).toBeGreaterThan(5);
    expect(at(usage, "svc", "schema_enforced")).toBe(true);
    expect(chunks.slice(0, -1).every((chunk) => chunk["usage"] === null)).toBe(true);
    expect(rest.every((chunk) => at(chunk, "choices", 0, "finish_reason") === null)).toBe(true);
    const constant = chunks.map(({ id, created, model, object, system_fingerprint }) =>
      JSON.stringify([id, created, model, object, system_fingerprint]),
    );
    expect(new Set(constant).size).toBe(1);
    expect(JSON.parse(joined(chunks))).toEqual({ invoice_number: "A-77", total: 120.5 });
  });

  test("says the same as a whole answer, piece by piece", async () => {
    const whole = await chat(gateway, { response_format: strict });
    const chunks = chunksOf(await (await post({ response_format: strict })).text());
    expect(joined(chunks)).toBe(content(whole));
    expect(chunks.length).toBeGreaterThan(6);
    expect(chunks.some((chunk) => "usage" in chunk)).toBe(false);
    expect(at(chunks.at(-1), "svc", "schema_enforced")).toBe(true);
  });

  test("closes with signature and attestation over every byte before them", async () => {
    const count = (await rowsOf(gateway)).length;
    const response = await post({});
    const { body, signature, token } = unseal(await response.text());
    expect(signature).toBe(createHmac("sha256", gateway.hmacSecret).update(body).digest("hex"));
    const row = await rowAfter(count);
    expect(row).toMatchObject({ status: 200, out_hash: hex(body) });
    expect(openToken(gateway, token)).toMatchObject({
      resp_hash: hex(body),
      chain_head: row["row_hash"],
      ts: row["ts"],
    });
    expect(response.headers.get("x-svc-signature")).toBeNull();
  });

  test("of several answers keeps them apart by index", async () => {
    const body = { n: 3, temperature: 2, seed: 1, max_tokens: 10 };
    const whole = await chat(gateway, body);
    const chunks = chunksOf(await (await post(body)).text());
    for (const index of [0, 1, 2]) {
      const own = chunks.flatMap((chunk) => (chunk["choices"] as Json[]) ?? []);
      const text = own.map((choice) =>
        choice["index"] === index ? (at(choice, "delta", "content") ?? "") : "",
      );
      expect(text.join("")).toBe(String(at(whole.json, "choices", index, "message", "content")));
    }
  });

  test("is refused like any request, before it begins", async () => {
    const response = await post({ max_tokens: 0 });
    expect(response.status).toBe(400);
    expect(response.headers.get("x-svc-signature")).not.toBeNull();
    const options = await post({ stream: false, stream_options: { include_usage: true } });
    expect(options.status).toBe(400);
  });
});

describe("a client that hangs up", () => {
  const long = { messages: [{ role: "user", content: "Hello" }], temperature: 2, seed: 3 };
  // Nothing ends these answers early: every word is as likely as the next.
  const endless = { ...long, logit_bias: { "0": -100, "1": -100, "2": -100 }, max_tokens: 900 };

  test("after a token stops decoding within one, and pays for what it got", async () => {
    const count = (await rowsOf(gateway)).length;
    const abort = new AbortController();
    const response = await post(endless, {}, { signal: abort.signal });
    const reader = response.body?.getReader();
    let text = "";
    while (chunksOf(text).length < 4) {
      const read = await reader?.read();
      text += new TextDecoder().decode(read?.value);
    }
    abort.abort();
    const row = await rowAfter(count);
    expect(row).toMatchObject({ status: 499, prompt_tokens: 4 });
    // What was on its way when the client left counts as sent.
    const tokens = Number(row["completion_tokens"]);
    expect(tokens).toBeGreaterThanOrEqual(3);
    expect(tokens).toBeLessThan(300);
    const next = await chat(gateway, { max_tokens: 4 });
    expect(next.status).toBe(200);
  });

  test("in process: the token after the hang-up is the last", async () => {
    const count = (await rowsOf(gateway)).length;
    const response = await gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.apiKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ ...base, ...endless }),
    });
    const reader = response.body?.getReader();
    let sent = "";
    for (let read = 0; read < 6; read++) {
      sent += new TextDecoder().decode((await reader?.read())?.value);
    }
    await reader?.cancel();
    const row = await rowAfter(count);
    expect(row).toMatchObject({ status: 499, out_hash: hex(sent) });
    expect(Number(row["completion_tokens"])).toBeLessThanOrEqual(chunksOf(sent).length + 1);
  });

  test("before the first token leaves no row", async () => {
    const count = (await rowsOf(gateway)).length;
    const response = await gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.apiKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ ...base, ...endless }),
    });
    await response.body?.cancel();
    await chat(gateway, { max_tokens: 4 });
    expect((await rowsOf(gateway)).length).toBe(count + 1);
  });
});

test("a buffered stream has its seal in the headers", async () => {
  const response = await post({ response_format: strict }, { "x-svc-stream": "buffered" });
  const body = await response.text();
  expect(body).toEndWith("data: [DONE]\n\n");
  const signature = createHmac("sha256", gateway.hmacSecret).update(body).digest("hex");
  expect(response.headers.get("x-svc-signature")).toBe(signature);
  const token = openToken(gateway, response.headers.get("x-svc-attestation") ?? "");
  expect(token["resp_hash"]).toBe(hex(body));
  const other = await post({}, { "x-svc-stream": "trailers" });
  expect(other.status).toBe(400);
});
