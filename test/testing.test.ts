/** `./testing`, as people's own test suites use it. */
import { afterAll, expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import OpenAI from "openai";
import { createTestGateway, type TestGateway, type TestGatewayOptions } from "../src/testing.ts";
import { STRICT_SCHEMAS } from "./helpers/strict-schemas.ts";

const opened: TestGateway[] = [];
afterAll(async () => {
  for (const gateway of opened) await gateway.close();
});

async function open(
  options: TestGatewayOptions,
): Promise<{ gateway: TestGateway; client: OpenAI }> {
  const gateway = await createTestGateway(options);
  opened.push(gateway);
  return { gateway, client: new OpenAI({ ...gateway.clientOptions, maxRetries: 0 }) };
}

const model = "svc-tier-b";
const messages = [{ role: "user", content: "Invoice A-77 over 120.50 EUR" }] as const;

async function ask(client: OpenAI, schema: object, more: object = {}) {
  return await client.chat.completions.create({
    ...{ model, messages: [...messages] },
    response_format: { type: "json_schema", json_schema: { name: "a", strict: true, schema } },
    ...more,
  } as OpenAI.Chat.ChatCompletionCreateParamsNonStreaming);
}

const contentOf = (answer: OpenAI.Chat.ChatCompletion): string =>
  answer.choices[0]?.message.content ?? "";

test("without a model a hundred requests take less than two seconds of one core", async () => {
  const before = process.cpuUsage();
  const { client } = await open({ answers: "shortest" });
  const schema = {
    type: "object",
    properties: { id: { type: "string", minLength: 3 }, total: { type: "number", minimum: 1 } },
    required: ["id", "total"],
  };
  for (let n = 0; n < 100; n++) {
    const answer = await ask(client, schema, { messages: [{ role: "user", content: `${n}` }] });
    expect(JSON.parse(contentOf(answer))).toMatchObject({ total: 1 });
  }
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(2);
});

test.each(["shortest", "sampled"] as const)(
  "%s answers are valid for every schema",
  async (answers) => {
    const { client } = await open({ answers });
    const ajv = new Ajv2020({ strict: false });
    addFormats(ajv);
    for (const schema of Object.values(STRICT_SCHEMAS)) {
      const answer = await ask(client, schema as object);
      expect(ajv.validate(schema as object, JSON.parse(contentOf(answer)))).toBe(true);
    }
  },
);

test("a seed draws another sampled answer, and a shortest one is the shortest", async () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const { client: shortest } = await open({ answers: "shortest" });
  expect(contentOf(await ask(shortest, schema))).toBe('{"a":""}');
  const { client } = await open({ answers: "sampled" });
  const drawn = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (seed) =>
      contentOf(await ask(client, schema, { seed, temperature: 1 })),
    ),
  );
  expect(new Set(drawn).size).toBeGreaterThan(2);
});

test("free answers say the message again, and a tool loop calls and ends", async () => {
  const { client } = await open({ answers: "shortest" });
  const free = await client.chat.completions.create({ model, messages: [...messages] });
  expect(contentOf(free)).toBe(messages[0].content);
  const asked: unknown[] = [];
  const runner = client.chat.completions.runTools({
    model,
    messages: [...messages],
    tools: [
      {
        type: "function",
        function: {
          name: "total",
          description: "the total of an invoice",
          parameters: {
            type: "object",
            properties: { id: { enum: ["A-77"] } },
            required: ["id"],
          },
          parse: JSON.parse,
          function: (input: unknown) => {
            asked.push(input);
            return "120.50 EUR";
          },
        },
      },
    ],
  });
  expect(await runner.finalContent()).toBe("120.50 EUR");
  expect(asked).toEqual([{ id: "A-77" }]);
});

test("a schema that a model would be refused is refused without one too", async () => {
  const { client } = await open({ answers: "shortest" });
  const refused = ask(client, { type: "string", pattern: "(a)\\1" });
  await expect(refused).rejects.toMatchObject({ status: 400, code: "unsupported_schema_keyword" });
});

test("with a clock that stands still whole answers are the same in every run", async () => {
  const clockMs = Date.UTC(2026, 0, 1);
  const texts: string[] = [];
  for (let run = 0; run < 2; run++) {
    const { gateway } = await open({ answers: "sampled", clockMs });
    const response = await gateway.fetch("/v1/chat/completions", {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.apiKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ model, messages, temperature: 1 }),
    });
    const headers = ["x-request-id", "x-svc-signature"].map((name) => response.headers.get(name));
    texts.push(JSON.stringify([gateway.apiKey, headers, await response.json()]));
  }
  expect(texts[0]).toBe(String(texts[1]));
  expect(texts[0]).toContain(`"created":${clockMs / 1000}`);
});
