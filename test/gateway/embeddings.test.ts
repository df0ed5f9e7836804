/** `POST /v1/embeddings` from an embedding model with random weights. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embedMany } from "ai";
import OpenAI from "openai";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, errorOf, rowsOf, send } from "../helpers/gateway.ts";
import { OpenAiSchemas } from "../helpers/openai-schemas.ts";
import { BERT_CONTEXT, BERT_WIDTH, randomBertPath } from "../helpers/random-bert.ts";
import { vocabulariesAvailable } from "../helpers/vocabularies.ts";

// Models load: seconds on a busy machine.
setDefaultTimeout(30_000);

const schemas = OpenAiSchemas.open();
const withModel = test.skipIf(!vocabulariesAvailable);
let gateway: TestGateway;
let without: TestGateway;
let client: OpenAI;
beforeAll(async () => {
  without = await createTestGateway();
  if (!vocabulariesAvailable) return;
  gateway = await createTestGateway({ embeddings: await randomBertPath(), threads: 1 });
  client = new OpenAI(gateway.clientOptions);
});
afterAll(async () => {
  await without.close();
  await gateway?.close();
});

const model = "svc-embed";
const post = (body: object, to: TestGateway = gateway) =>
  send(to, { path: "/v1/embeddings", body: JSON.stringify({ model, ...body }) });
const vectorOf = (json: unknown, index = 0) => at(json, "data", index, "embedding") as number[];
const length = (vector: readonly number[]) => Math.hypot(...vector);

withModel("gives unit vectors, one per text, in order, as OpenAI describes them", async () => {
  const { json } = await post({ input: ["A cat.", "A dog barks.", "A cat."] });
  expect(schemas?.problems("CreateEmbeddingResponse", json) ?? []).toEqual([]);
  expect(vectorOf(json)).toHaveLength(BERT_WIDTH);
  expect(length(vectorOf(json))).toBeCloseTo(1, 6);
  expect(vectorOf(json, 2)).toEqual(vectorOf(json, 0));
  expect(vectorOf(json, 1)).not.toEqual(vectorOf(json, 0));
  // [CLS] a cat . [SEP], [CLS] a dog bark ##s . [SEP]
  expect(json?.["usage"]).toEqual({ prompt_tokens: 17, total_tokens: 17 });
  expect(at(json, "svc", "deterministic")).toBe(true);
});

withModel("the same text has the same bytes, whatever else is asked at the time", async () => {
  const alone = vectorOf((await post({ input: "Same bytes." })).json);
  const others = ["x", "many more words than before ".repeat(9)].map((input) => post({ input }));
  const beside = vectorOf((await post({ input: "Same bytes." })).json);
  await Promise.all(others);
  expect(beside).toEqual(alone);
});

withModel("every word counts, and so does its place", async () => {
  const texts = ["dog bites man", "man bites dog", "dog bites"];
  const { json } = await post({ input: texts });
  const vectors = texts.map((_, index) => JSON.stringify(vectorOf(json, index)));
  expect(new Set(vectors).size).toBe(3);
});

withModel("base64 holds the very numbers that float shows", async () => {
  const input = "A cat.";
  const floats = vectorOf((await post({ input, encoding_format: "float" })).json);
  const { json } = await post({ input, encoding_format: "base64" });
  const bytes = Buffer.from(String(at(json, "data", 0, "embedding")), "base64");
  const read = Array.from({ length: BERT_WIDTH }, (_, index) => bytes.readFloatLE(index * 4));
  expect(read).toEqual(floats.map(Math.fround));
  // The client asks for base64 and decodes it.
  const { data } = await client.embeddings.create({ model, input });
  expect(Array.from(data[0]?.embedding ?? [])).toEqual(read);
});

withModel("the AI SDK embeds many texts", async () => {
  const { apiKey, baseURL, fetch } = gateway.clientOptions;
  // One cast: Bun's own fetch has a member more, which no client uses.
  const provider = createOpenAICompatible({
    ...{ name: "svc", baseURL, apiKey },
    fetch: fetch as typeof globalThis.fetch,
  });
  const values = ["A cat.", "A dog barks."];
  const { embeddings } = await embedMany({ model: provider.embeddingModel(model), values });
  expect(embeddings.map(length)).toEqual([expect.closeTo(1, 5), expect.closeTo(1, 5)]);
});

withModel("is one row, signed, with the model and its tokens", async () => {
  const before = (await rowsOf(gateway)).length;
  await post({ input: ["A cat.", "A cat."] });
  const rows = (await rowsOf(gateway)).slice(before);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({
    path: "/v1/embeddings",
    model,
    prompt_tokens: 10,
    completion_tokens: 0,
    deterministic: true,
  });
});

withModel("is listed where it is configured", async () => {
  const { json } = await send(gateway, { path: "/v1/models" });
  expect(at(json, "data", 2, "id")).toBe(model);
  const ready = await send(gateway, { path: "/ready" });
  expect(at(ready.json, "embeddings")).toMatchObject({ dimensions: BERT_WIDTH, device: "cpu" });
});

/** Body, status, code, param. */
const REFUSED: readonly (readonly [object, number, string, string])[] = [
  [{}, 400, "missing_required_parameter", "input"],
  [{ input: "" }, 400, "invalid_value", "input"],
  [{ input: [] }, 400, "invalid_value", "input"],
  [{ input: ["a", ""] }, 400, "invalid_value", "input[1]"],
  [{ input: [1, 2] }, 400, "unsupported_value", "input[0]"],
  [{ input: "a", dimensions: 8 }, 400, "unsupported_value", "dimensions"],
  [{ input: "a", encoding_format: "int8" }, 400, "invalid_value", "encoding_format"],
  [{ input: "a", model: "text-embedding-3-small" }, 404, "model_not_found", "model"],
  [{ input: "word ".repeat(BERT_CONTEXT) }, 400, "context_length_exceeded", "input"],
  [{ input: ["a", "b ".repeat(BERT_CONTEXT)] }, 400, "context_length_exceeded", "input[1]"],
];

for (const [body, status, code, param] of REFUSED) {
  withModel(`refuses ${code} at ${param}`, async () => {
    const refused = await post(body);
    expect([refused.status, ...errorOf(refused)]).toEqual([status, code, param]);
  });
}

test("without an embedding model says what to do, and bills nothing", async () => {
  const refused = await post({ input: "A cat." }, without);
  expect([refused.status, ...errorOf(refused)]).toEqual([400, "no_embedding_model", "model"]);
  expect(refused.text).toContain("--embeddings MODEL");
  expect(await rowsOf(without)).toEqual([]);
});
