import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Engine } from "../../src/runtime/engine.ts";
import { openTestEngine, readAnswer, request } from "../helpers/engine.ts";
import type { PartGrammar } from "../helpers/part-lock.ts";

let engine: Engine<PartGrammar>;
beforeAll(async () => {
  engine = await openTestEngine("svc-tiny");
}, 30_000);
afterAll(() => engine.close());

const invoice = "Invoice A-77 over 120.50 EUR";
const schema = {
  type: "object",
  properties: { invoice_number: { type: "string" }, total: { type: "number" } },
  required: ["invoice_number", "total"],
};
const grammar: PartGrammar = {
  parts: [
    { text: '{"invoice_number":"' },
    { bytes: "any", min: 1, max: 20 },
    { text: '","total":' },
    { bytes: "digits", min: 1, max: 5 },
    { text: "}" },
  ],
};

describe("the embedded model", () => {
  test("greets, and reads an invoice with its schema in the prompt", async () => {
    const hello = await readAnswer(await engine.complete(request("Hello")));
    expect(hello.text).toStartWith("Hello!");
    expect(hello.end).toMatchObject({ finishReason: "stop", forcedTokens: 0 });
    const free = await readAnswer(await engine.complete(request(invoice, { schema })));
    expect(JSON.parse(free.text)).toEqual({ invoice_number: "A-77", total: 120.5 });
  });

  test("a locked answer has the lock's form, with its fixed parts forced", async () => {
    const answer = await readAnswer(await engine.complete(request(invoice, { schema, grammar })));
    expect(answer.text).toMatch(/^\{"invoice_number":"[^"\\]{1,20}","total":\d{1,5}\}$/);
    expect(answer.end.forcedTokens).toBeGreaterThan(20);
  });

  test("a budget that fits no value is refused, one that just fits is met", async () => {
    // 31 bytes of fixed text and of shortest runs, and the end.
    const shortest = '{"invoice_number":"x","total":1}'.length + 1;
    const ask = (maxTokens: number) => engine.complete(request(invoice, { grammar, maxTokens }));
    await expect(ask(shortest - 1)).rejects.toMatchObject({
      code: "budget_too_small",
      details: { neededTokens: shortest, budgetTokens: shortest - 1 },
    });
    const answer = await readAnswer(await ask(shortest));
    // A token of several bytes may stand for one of a single byte.
    expect(answer.text).toMatch(/^\{"invoice_number":"[^"]+","total":\d+\}$/);
    expect(answer.end).toMatchObject({ finishReason: "stop", budgetLimited: true });
    expect(answer.end.completionTokens).toBeLessThanOrEqual(shortest);
  });

  test("the same seed gives the same answer, another one another", async () => {
    // Nothing that the model was trained on: it is sure of what a greeting is answered with.
    const text = "Sing of the sea and of 17 lamps";
    const ask = async (seed: number) =>
      (await readAnswer(await engine.complete(request(text, { temperature: 2, seed })))).text;
    const [first, again, other] = [await ask(7), await ask(7), await ask(8)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test("a prompt without room for an answer is refused with both numbers", async () => {
    const refused = engine.complete(request("word ".repeat(2000)));
    await expect(refused).rejects.toMatchObject({
      code: "context_length_exceeded",
      details: { contextTokens: 1024 },
    });
    const huge = engine.complete(request("x".repeat(4_000_000)));
    await expect(huge).rejects.toMatchObject({ code: "context_length_exceeded" });
  });
});
