/** `svc.tokens`: a live stream that tells how each token came about. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createHmac } from "node:crypto";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, chat, errorOf, INVOICE, INVOICE_SCHEMA, type Json } from "../helpers/gateway.ts";
import { OpenAiSchemas } from "../helpers/openai-schemas.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await createTestGateway();
});
afterAll(async () => {
  await gateway.close();
});

const locked = { response_format: { type: "json_schema", strict: true, schema: INVOICE_SCHEMA } };
const asked = { svc: { tokens: true } };

interface Told {
  readonly text: string;
  readonly forced: boolean;
  readonly mask_us: number;
}

function post(body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const messages = [{ role: "user", content: INVOICE }];
  return gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.apiKey}`,
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify({ model: "svc-tier-b", messages, stream: true, ...body }),
  });
}

/** The chunks of a live stream, whose seal covers every byte of them. */
async function stream(body: object): Promise<Json[]> {
  const response = await post({ stream_options: { include_usage: true }, ...body });
  const [events = "", seal = ""] = (await response.text()).split(": svc-signature=");
  const signature = createHmac("sha256", gateway.hmacSecret).update(events).digest("hex");
  expect(seal).toStartWith(`${signature}\n`);
  return events
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice(6)) as Json);
}

const toldIn = (chunks: readonly Json[]): Told[] =>
  chunks.flatMap((chunk) => (at(chunk, "svc", "tokens") ?? []) as Told[]);

const contentOf = (chunk: Json): string =>
  String(at(chunk, "choices", 0, "delta", "content") ?? "");

test("tells every token where its text stands, and which of them were forced", async () => {
  const chunks = await stream({ ...locked, ...asked });
  const told = toldIn(chunks);
  expect(told.length).toBe(Number(at(chunks.at(-1), "usage", "completion_tokens")));
  for (const chunk of chunks) {
    expect(
      toldIn([chunk])
        .map(({ text }) => text)
        .join(""),
    ).toBe(contentOf(chunk));
  }
  const forced = told.filter((token) => token.forced).map(({ text }) => text);
  // Names are the schema's, values the model's. The end is forced, and has no text.
  expect(forced.join("")).toBe('{"invoice_numbertotal');
  expect(forced.at(-1)).toBe("");
  const sampled = told.filter((token) => !token.forced).map(({ text }) => text);
  expect(sampled.join("")).toContain("77");
  expect(told.every(({ mask_us }) => mask_us >= 0 && mask_us < 1e6)).toBe(true);
  expect(told.some(({ mask_us }) => mask_us > 0)).toBe(true);
});

test("changes nothing else of the stream, and says nothing unless asked", async () => {
  const plain = await stream(locked);
  expect(JSON.stringify(plain)).not.toContain("mask_us");
  const withoutTokens = (await stream({ ...locked, ...asked })).map(({ svc: _, ...rest }) => rest);
  const bare = (chunk: Json): string =>
    JSON.stringify({ ...chunk, id: null, created: null, svc: null });
  expect(withoutTokens.map(bare)).toEqual(plain.map(bare));
  const off = await stream({ ...locked, svc: { tokens: false } });
  expect(off.map(bare)).toEqual(plain.map(bare));
});

test("tells the frame of a tool call, and of several answers each its own", async () => {
  const parameters = { type: "object", properties: { city: { enum: ["Rome", "Oslo"] } } };
  const tools = [{ type: "function", function: { name: "weather", parameters } }];
  const called = await stream({ tools, tool_choice: "required", ...asked });
  const text = toldIn(called).map((token) => token.text);
  expect(JSON.parse(text.join(""))).toMatchObject({ name: "weather" });
  expect(toldIn(called).length).toBe(Number(at(called.at(-1), "usage", "completion_tokens")));
  const two = await stream({ ...locked, ...asked, n: 2 });
  for (const index of [0, 1]) {
    const own = two.filter((chunk) => at(chunk, "choices", 0, "index") === index);
    expect(
      toldIn(own)
        .map((token) => token.text)
        .join(""),
    ).toBe(own.map(contentOf).join(""));
  }
});

test("keeps to OpenAI's description of a chunk", async () => {
  const schemas = OpenAiSchemas.open();
  if (schemas === null) return;
  for (const chunk of await stream({ ...locked, ...asked })) {
    expect(schemas.problems("CreateChatCompletionStreamResponse", chunk)).toEqual([]);
  }
});

test("is refused for an answer that is kept or compared", async () => {
  const kept: Record<string, string>[] = [
    { "idempotency-key": "a" },
    { "x-svc-stream": "buffered" },
  ];
  for (const headers of kept) {
    const response = await post(asked, headers);
    expect(response.status).toBe(400);
    expect(at((await response.json()) as Json, "error", "param")).toBe("svc.tokens");
  }
  expect(errorOf(await chat(gateway, asked))).toEqual(["invalid_value", "svc.tokens"]);
  const unknown = await chat(gateway, { svc: { token: true } });
  expect(errorOf(unknown)).toEqual(["unknown_parameter", "svc.token"]);
});
