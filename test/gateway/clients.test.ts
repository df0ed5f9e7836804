/**
 * Other clients that programs use today, each with its structured output, its streaming and its
 * tool loop, against a server on a port. Every answer is checked against OpenAI's own description.
 */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import createInstructor from "@instructor-ai/instructor";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, isStepCount, Output, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { INVOICE } from "../helpers/gateway.ts";
import { OpenAiSchemas } from "../helpers/openai-schemas.ts";
import { type Served, serve } from "../helpers/serve.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

const schemas = OpenAiSchemas.open();
const seen: Seen[] = [];

/** An answer as the server gave it. */
interface Seen {
  readonly ok: boolean;
  readonly isJson: boolean;
  readonly text: Promise<string>;
}

let gateway: TestGateway;
let served: Served;
let baseURL: string;
beforeAll(async () => {
  gateway = await createTestGateway();
  served = serve(gateway, (answer) => {
    const isJson = answer.headers.get("content-type") === "application/json";
    seen.push({ ok: answer.ok, isJson, text: answer.clone().text() });
  });
  baseURL = `${served.origin}/v1`;
});
afterAll(async () => {
  await served.close();
  await gateway.close();
});

/** Each answer that the client took is as OpenAI describes it. */
afterEach(async () => {
  expect(seen.length).toBeGreaterThan(0);
  for (const { ok, isJson, text } of seen.splice(0)) {
    if (schemas === null) continue;
    if (isJson) {
      const name = ok ? "CreateChatCompletionResponse" : "ErrorResponse";
      expect(schemas.problems(name, JSON.parse(await text))).toEqual([]);
      continue;
    }
    const chunks = [...(await text).matchAll(/^data: (\{.*)$/gm)];
    expect(chunks.length).toBeGreaterThan(1);
    for (const [, chunk = ""] of chunks) {
      const problems = schemas.problems("CreateChatCompletionStreamResponse", JSON.parse(chunk));
      expect(problems).toEqual([]);
    }
  }
});

test.skipIf(schemas === null)("OpenAI's description refuses what is no answer", async () => {
  const client = new OpenAI({ baseURL, apiKey: gateway.apiKey });
  const asked = { model: MODEL, messages: [{ role: "user" as const, content: "Hi" }] };
  const { usage, ...rest } = await client.chat.completions.create({ ...asked, max_tokens: 2 });
  const problems = (value: object) => schemas?.problems("CreateChatCompletionResponse", value);
  expect(usage?.completion_tokens).toBe(2);
  expect(problems(rest)).toEqual([]);
  expect(problems({ ...rest, usage: { ...usage, prompt_tokens: "1" } })?.[0]).toContain("integer");
  expect(problems({ ...rest, id: undefined })).not.toEqual([]);
});

const MODEL = "svc-tier-b";
const Invoice = z.object({ invoice_number: z.string(), total: z.number() });
const READ = { invoice_number: "A-77", total: 120.5 };
const QUESTION = "What is the weather in Paris?";
const City = z.object({ city: z.string().max(10) });

function aiModel() {
  const { apiKey } = gateway;
  const supportsStructuredOutputs = true;
  return createOpenAICompatible({ name: "svc", baseURL, apiKey, supportsStructuredOutputs })(MODEL);
}

test("the AI SDK gets a checked object", async () => {
  const output = Output.object({ schema: Invoice });
  const result = await generateText({ model: aiModel(), prompt: INVOICE, output });
  expect(result.output).toEqual(READ);
  expect(result.usage.outputTokens).toBeGreaterThan(5);
});

test("the AI SDK streams text and partial objects", async () => {
  const plain = streamText({ model: aiModel(), prompt: "Hello", maxOutputTokens: 8 });
  const pieces: string[] = [];
  for await (const piece of plain.textStream) pieces.push(piece);
  expect(pieces.join("")).toBe(await plain.text);
  expect(pieces.length).toBeGreaterThan(1);
  const output = Output.object({ schema: Invoice });
  const result = streamText({ model: aiModel(), prompt: INVOICE, output });
  const partials: unknown[] = [];
  for await (const partial of result.partialOutputStream) partials.push(partial);
  expect(partials.length).toBeGreaterThan(1);
  expect(partials.at(-1)).toEqual(READ);
});

test("the AI SDK runs a tool loop", async () => {
  const asked: unknown[] = [];
  const get_weather = tool({
    inputSchema: City,
    execute: async (given) => {
      asked.push(given);
      return "It is sunny.";
    },
  });
  const { steps } = await generateText({
    model: aiModel(),
    prompt: QUESTION,
    tools: { get_weather },
    toolChoice: "required",
    maxOutputTokens: 60,
    stopWhen: isStepCount(2),
  });
  expect(asked.length).toBe(2);
  expect(City.safeParse(asked[0]).success).toBe(true);
  expect(steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "tool-calls"]);
});

test("the AI SDK names what is wrong with a request", async () => {
  const asked = generateText({ model: aiModel(), prompt: "", maxOutputTokens: 1, topP: 3 });
  await expect((async () => asked)()).rejects.toThrow("top_p must be from 0 to 1, not 3");
});

function langchain(): ChatOpenAI {
  const { apiKey } = gateway;
  return new ChatOpenAI({ model: MODEL, apiKey, maxTokens: 60, configuration: { baseURL } });
}

test("LangChain gets a checked object", async () => {
  const model = langchain().withStructuredOutput(Invoice, { method: "jsonSchema", strict: true });
  expect(await model.invoke(INVOICE)).toEqual(READ);
});

test("LangChain gets a checked object from a function call too", async () => {
  const model = langchain().withStructuredOutput(Invoice, { method: "functionCalling" });
  expect(Invoice.safeParse(await model.invoke(INVOICE)).success).toBe(true);
});

test("LangChain streams", async () => {
  const pieces: string[] = [];
  for await (const { text } of await langchain().stream(INVOICE)) pieces.push(text);
  expect(pieces.filter((piece) => piece !== "").length).toBeGreaterThan(1);
  const whole = await langchain().invoke(INVOICE);
  expect(pieces.join("")).toBe(whole.text);
});

test("LangChain runs a tool loop", async () => {
  const weather = langchainTool(async ({ city }) => `It is sunny in ${city}.`, {
    name: "get_weather",
    description: "The weather of a city",
    schema: City,
  });
  const bound = langchain().bindTools([weather], { tool_choice: "required", strict: true });
  const question = new HumanMessage(QUESTION);
  const called = await bound.invoke([question]);
  const [call] = called.tool_calls ?? [];
  if (call === undefined) throw new Error("the answer holds no call");
  expect(call.name).toBe("get_weather");
  const result = await weather.invoke({ ...call, type: "tool_call" });
  expect(ToolMessage.isInstance(result)).toBe(true);
  const answer = await langchain().invoke([question, called, result as ToolMessage]);
  expect(answer.text).toBeString();
});

/** The instructor client reads schemas of zod 3. */
const Invoice3 = z3.object({ invoice_number: z3.string(), total: z3.number() });

test.each(["TOOLS", "JSON_SCHEMA"] as const)("instructor extracts with mode %s", async (mode) => {
  const client = new OpenAI({ baseURL, apiKey: gateway.apiKey });
  const instructor = createInstructor({ client, mode });
  const found = await instructor.chat.completions.create({
    model: MODEL,
    messages: [{ role: "user", content: INVOICE }],
    response_model: { schema: Invoice3, name: "Invoice" },
    max_tokens: 60,
  });
  expect(Invoice3.safeParse(found).success).toBe(true);
});

test("instructor streams partial objects", async () => {
  const client = new OpenAI({ baseURL, apiKey: gateway.apiKey });
  const stream = await createInstructor({ client, mode: "TOOLS" }).chat.completions.create({
    model: MODEL,
    messages: [{ role: "user", content: INVOICE }],
    response_model: { schema: Invoice3, name: "Invoice" },
    max_tokens: 60,
    stream: true,
  });
  const partials: unknown[] = [];
  for await (const partial of stream) partials.push(partial);
  expect(partials.length).toBeGreaterThan(1);
  expect(partials.at(-1)).toMatchObject({ invoice_number: expect.any(String) });
});
