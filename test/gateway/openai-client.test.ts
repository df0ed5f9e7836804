/** The real `openai` client against a server on a port: what users' programs do. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { INVOICE } from "../helpers/gateway.ts";
import { type Served, serve } from "../helpers/serve.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let gateway: TestGateway;
let served: Served;
let client: OpenAI;
beforeAll(async () => {
  gateway = await createTestGateway();
  served = serve(gateway);
  client = new OpenAI({ baseURL: `${served.origin}/v1`, apiKey: gateway.apiKey });
});
afterAll(async () => {
  await served.close();
  await gateway.close();
});

const model = "svc-tier-b";
const messages = [{ role: "user" as const, content: INVOICE }];
const Invoice = z.object({ invoice_number: z.string(), total: z.number() });

test("gets a parsed object from a strict zod schema", async () => {
  const response_format = zodResponseFormat(Invoice, "invoice");
  const completion = await client.chat.completions.parse({ model, messages, response_format });
  expect(completion.choices[0]?.message.parsed).toEqual({ invoice_number: "A-77", total: 120.5 });
  expect(completion._request_id).toStartWith("req_");
});

test("keeps zod's checks: formats, bounds, unions, nullables, recursion", async () => {
  interface Tree {
    readonly name: string;
    readonly children: readonly Tree[];
  }
  const Tree: z.ZodType<Tree> = z.object({
    name: z.string().max(4),
    get children() {
      return z.array(Tree).max(1);
    },
  });
  const Everything = z.object({
    when: z.iso.date(),
    mail: z.email().max(40),
    count: z.int().min(1).max(9),
    maybe: z.string().max(5).nullable(),
    either: z.union([z.boolean(), z.number().min(0).max(1)]),
    kind: z.discriminatedUnion("type", [
      z.object({ type: z.literal("a"), a: z.boolean() }),
      z.object({ type: z.literal("b"), b: z.enum(["x", "y"]) }),
    ]),
    tree: Tree,
  });
  const response_format = zodResponseFormat(Everything, "everything");
  for (const temperature of [0, 1]) {
    const completion = await client.chat.completions.parse({
      model,
      messages,
      response_format,
      temperature,
      seed: 4,
    });
    expect(Everything.safeParse(completion.choices[0]?.message.parsed).success).toBe(true);
  }
});

test("streams", async () => {
  const stream = client.chat.completions.stream({
    model,
    messages,
    response_format: zodResponseFormat(Invoice, "invoice"),
    stream_options: { include_usage: true },
  });
  const deltas: string[] = [];
  stream.on("content", (delta) => deltas.push(delta));
  const final = await stream.finalChatCompletion();
  expect(final.choices[0]?.message.parsed).toEqual({ invoice_number: "A-77", total: 120.5 });
  expect(deltas.join("")).toBe(final.choices[0]?.message.content ?? "");
  expect(final.usage?.completion_tokens).toBeGreaterThan(5);
});

test("runs a tool loop", async () => {
  const asked: { readonly city: string }[] = [];
  const Weather = z.object({ city: z.string().max(10) });
  const tool = zodFunction({
    name: "get_weather",
    parameters: Weather,
    function: (given) => {
      asked.push(given);
      return "It is sunny.";
    },
  });
  const runner = client.chat.completions.runTools(
    {
      model,
      messages: [{ role: "user", content: "What is the weather in Paris?" }],
      tools: [tool],
      tool_choice: { type: "function", function: { name: "get_weather" } },
      max_tokens: 60,
    },
    { maxChatCompletions: 2 },
  );
  await runner.done();
  expect(asked.length).toBe(1);
  expect(asked[0]?.city).toBeString();
  expect(runner.messages.map(({ role }) => role).slice(0, 3)).toEqual([
    "user",
    "assistant",
    "tool",
  ]);
});

test("streams a tool call", async () => {
  const stream = client.chat.completions.stream({
    model,
    messages,
    tools: [zodFunction({ name: "note", parameters: z.object({ text: z.string().max(20) }) })],
    tool_choice: "required",
  });
  const final = await stream.finalChatCompletion();
  const [call] = final.choices[0]?.message.tool_calls ?? [];
  expect(call).toMatchObject({
    type: "function",
    function: { name: "note", parsed_arguments: { text: expect.any(String) } },
  });
  expect(final.choices[0]?.finish_reason).toBe("tool_calls");
});

test("lists models, and reads errors with their parameter", async () => {
  const ids: string[] = [];
  for await (const { id } of client.models.list()) ids.push(id);
  expect(ids).toEqual(["svc-tier-a", "svc-tier-b"]);
  expect((await client.models.retrieve("svc-tier-a")).object).toBe("model");
  const refused = async () => client.chat.completions.create({ model, messages: [] });
  await expect(refused()).rejects.toMatchObject({ status: 400, param: "messages" });
  const stranger = new OpenAI({ baseURL: `${served.origin}/v1`, apiKey: "sk-svc-none" });
  await expect((async () => stranger.models.list())()).rejects.toBeInstanceOf(
    OpenAI.AuthenticationError,
  );
});
