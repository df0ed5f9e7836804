/** `POST /v1/responses` through the real `openai` client: a chat in the other form. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import type { ResponseInputItem, ResponseStreamEvent } from "openai/resources/responses/responses";
import { z } from "zod";
import { type ChoiceEvent, collectChoice } from "../../src/service/chat-choice.ts";
import type { ChatFacts } from "../../src/service/chat-response.ts";
import { responsesForm } from "../../src/service/responses-form.ts";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, chat, content, errorOf, hex, INVOICE, rowsOf, send } from "../helpers/gateway.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let gateway: TestGateway;
let client: OpenAI;
beforeAll(async () => {
  gateway = await createTestGateway();
  client = new OpenAI(gateway.clientOptions);
});
afterAll(() => gateway.close());

const model = "svc-tier-b";
const Invoice = z.object({ invoice_number: z.string(), total: z.number() });
const READ = { invoice_number: "A-77", total: 120.5 };
const text = { format: zodTextFormat(Invoice, "invoice") };

const post = (body: object) =>
  send(gateway, { path: "/v1/responses", body: JSON.stringify({ model, ...body }) });

test("parses an answer that is locked to a strict schema", async () => {
  const response = await client.responses.parse({ model, input: INVOICE, text });
  expect(response.output_parsed).toEqual(READ);
  expect(response).toMatchObject({
    object: "response",
    status: "completed",
    model,
    instructions: null,
    store: false,
    output: [{ type: "message", role: "assistant", status: "completed" }],
    svc: { schema_enforced: true, deterministic: true },
  });
  expect(response.usage?.total_tokens).toBe(
    Number(response.usage?.input_tokens) + Number(response.usage?.output_tokens),
  );
});

test("gives the same text as a chat completion of the same messages", async () => {
  const system = "You are brief.";
  const asked = [
    { role: "system", content: system },
    { role: "user", content: INVOICE },
  ];
  const completion = await chat(gateway, { messages: asked, max_tokens: 20 });
  const parts = [{ type: "input_text", text: INVOICE }];
  const input = [{ role: "user", content: parts }];
  const response = await post({ instructions: system, input, max_output_tokens: 20 });
  expect(at(response.json, "output", 0, "content", 0, "text")).toBe(content(completion));
  expect(response.json?.["instructions"]).toBe(system);
});

test("streams every event in order, and its last snapshot is the whole answer", async () => {
  const stream = client.responses.stream({ model, input: INVOICE, text });
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event as ResponseStreamEvent);
  const final = await stream.finalResponse();
  expect(final.output_parsed).toEqual(READ);
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()]);
  const types = events.map(({ type }) => type);
  const deltas = types.filter((type) => type === "response.output_text.delta").length;
  expect(deltas).toBeGreaterThan(1);
  expect(types).toEqual([
    ...["response.created", "response.in_progress", "response.output_item.added"],
    "response.content_part.added",
    ...Array.from({ length: deltas }, () => "response.output_text.delta"),
    ...["response.output_text.done", "response.content_part.done", "response.output_item.done"],
    "response.completed",
  ] as typeof types);
});

test("streams the same response that it gives whole, under one seal and one row", async () => {
  const before = (await rowsOf(gateway)).length;
  const whole = await post({ input: INVOICE, max_output_tokens: 2 });
  const body = JSON.stringify({ model, input: INVOICE, max_output_tokens: 2, stream: true });
  const path = "/v1/responses";
  const streamed = await send(gateway, { path, body, headers: { "x-svc-stream": "buffered" } });
  const last = /event: response\.incomplete\ndata: (.*)\n\ndata: \[DONE\]\n\n$/.exec(streamed.text);
  const response = JSON.parse(last?.[1] ?? "null").response;
  expect(response.status).toBe("incomplete");
  expect(response.incomplete_details).toEqual({ reason: "max_output_tokens" });
  expect(at(response, "output", 0, "content")).toEqual(at(whole.json, "output", 0, "content"));
  const rows = (await rowsOf(gateway)).slice(before);
  expect(rows.map((row) => [row["path"], row["out_hash"]])).toEqual([
    [path, hex(whole.bytes)],
    [path, hex(streamed.bytes)],
  ]);
});

test("runs a tool loop", async () => {
  const Weather = z.object({ city: z.string().max(10) });
  const tools = [zodResponsesFunction({ name: "get_weather", parameters: Weather })];
  const input: ResponseInputItem[] = [{ role: "user", content: "Weather in Paris?" }];
  const tool_choice = { type: "function", name: "get_weather" } as const;
  const first = await client.responses.parse({ model, input, tools, tool_choice });
  const [call] = first.output;
  if (call?.type !== "function_call") throw new Error("the answer is a call");
  expect(Weather.safeParse(call.parsed_arguments).success).toBe(true);
  input.push(call, { type: "function_call_output", call_id: call.call_id, output: "Sunny." });
  const second = await client.responses.create({ model, input, max_output_tokens: 20 });
  expect(second.output_text).toBeString();
});

test("streams a function call", async () => {
  const Note = z.object({ text: z.string().max(20) });
  const tools = [zodResponsesFunction({ name: "note", parameters: Note })];
  const stream = client.responses.stream({ model, input: INVOICE, tools, tool_choice: "required" });
  let written = "";
  stream.on("response.function_call_arguments.delta", ({ delta }) => {
    written += delta;
  });
  const [call] = (await stream.finalResponse()).output;
  if (call?.type !== "function_call") throw new Error("the answer is a call");
  expect(call.arguments).toBe(written);
  expect(Note.safeParse(JSON.parse(written)).success).toBe(true);
});

test("gives probabilities where they are asked for", async () => {
  const include = ["message.output_text.logprobs"];
  const { json } = await post({ input: "Hi", include, top_logprobs: 2, max_output_tokens: 2 });
  const logprobs = at(json, "output", 0, "content", 0, "logprobs") as object[];
  expect(logprobs.length).toBe(2);
  expect(logprobs[0]).toMatchObject({ token: expect.any(String), logprob: expect.any(Number) });
  expect(at(logprobs, 0, "top_logprobs")).toHaveLength(2);
});

test("writes what a reasoning model thought as an item of its own", async () => {
  const answer: ChoiceEvent[] = [
    { kind: "reasoning", text: "Let me", trace: [] },
    { kind: "reasoning", text: " see.", trace: [] },
    { kind: "content", text: "Four.", logprobs: [], trace: [] },
    {
      ...{ kind: "end", finishReason: "stop", promptTokens: 3, completionTokens: 5 },
      ...{ cachedTokens: 0, budgetLimited: false, trace: [] },
    } as Extract<ChoiceEvent, { kind: "end" }>,
  ];
  const events = async function* () {
    yield* answer;
  };
  const echo = { instructions: null, max_output_tokens: null, metadata: {}, temperature: 0 };
  const form = responsesForm({
    ...{ ...echo, top_p: 1, text: { format: { type: "text" } }, tools: [], tool_choice: "none" },
  });
  const head = { requestId: "req_1", createdMs: 0, model, fingerprint: "f", mayCall: false };
  const pieces = form.pieces(
    { ...head, includeUsage: true, hasLogprobs: false },
    [events()],
    () => FACTS,
  );
  const chunks: object[] = [];
  for await (const piece of pieces) {
    if (piece.kind === "chunk") chunks.push(piece.chunk);
    else chunks.push(...piece.chunks);
  }
  const lines = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  const fetch = async () =>
    new Response(lines.join(""), { headers: { "content-type": "text/event-stream" } });
  const stream = new OpenAI({ apiKey: "none", fetch }).responses.stream({ model, input: "2 + 2" });
  const { output, output_text } = await stream.finalResponse();
  expect(output_text).toBe("Four.");
  expect(output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
  expect(at(output, 0, "content")).toEqual([{ type: "reasoning_text", text: "Let me see." }]);
  const choice = await collectChoice(events(), false);
  const whole = form.body(FACTS, [choice]);
  expect(at(whole, "output", 0)).toEqual(output[0]);
  expect(at(whole, "output", 1, "content", 0, "text")).toBe("Four.");
});

const FACTS: ChatFacts = {
  ...{ requestId: "req_1", createdMs: 0, model, fingerprint: "f", latencyMs: 1, seed: null },
  lock: { grammar: null, schema: null, enforced: false, annotations: [], unenforced: [] },
  ...{ deterministic: true, ignored: [], budgetLimited: false, schemaEnforced: false },
  usage: { promptTokens: 3, completionTokens: 5, cachedTokens: 0 },
};

test("says what it ignores", async () => {
  const given = {
    store: false,
    reasoning: { effort: "low" },
    user: "u",
    text: { verbosity: "low" },
  };
  const { json } = await post({
    input: "Hi",
    max_output_tokens: 1,
    metadata: { a: "b" },
    ...given,
  });
  expect(at(json, "svc", "ignored")).toEqual(["user", "reasoning", "text.verbosity"]);
  expect(json?.["metadata"]).toEqual({ a: "b" });
});

/** Body, code, param. */
const REFUSED: readonly (readonly [object, string, string])[] = [
  [{}, "missing_required_parameter", "input"],
  [{ input: [] }, "invalid_value", "input"],
  [{ input: "a", previous_response_id: "resp_1" }, "unsupported_parameter", "previous_response_id"],
  [{ input: "a", store: true }, "unsupported_parameter", "store"],
  [{ input: "a", truncation: "auto" }, "unsupported_parameter", "truncation"],
  [{ input: "a", messages: [] }, "unknown_parameter", "messages"],
  [{ input: [{ type: "item_reference", id: "x" }] }, "unsupported_value", "input[0].type"],
  [
    { input: [{ role: "user", content: [{ type: "input_image" }] }] },
    "unsupported_value",
    "input[0].content[0].type",
  ],
  [
    { input: [{ type: "function_call_output", call_id: "c", output: "" }] },
    "invalid_value",
    "input[0].call_id",
  ],
  [{ input: "a", tools: [{ type: "web_search" }] }, "invalid_value", "tools[0].type"],
  [
    { input: "a", text: { format: { type: "json_schema", name: "n" } } },
    "missing_required_parameter",
    "text.format.schema",
  ],
  [{ input: "word ".repeat(3000) }, "context_length_exceeded", "input"],
  [{ input: "a", max_output_tokens: 1, text }, "max_tokens_too_small", "max_output_tokens"],
];

for (const [body, code, param] of REFUSED) {
  test(`refuses ${code} at ${param}`, async () => {
    const refused = await post(body);
    expect([refused.status, ...errorOf(refused)]).toEqual([400, code, param]);
  });
}
