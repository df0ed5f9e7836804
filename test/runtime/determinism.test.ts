/**
 * Promise 2 on real engines: what a request is answered at temperature 0, or with a seed, does not
 * depend on what else runs, on what ran before, on cached prefixes, nor on the process.
 *
 * Here the embedded model; with SLOW=1 also 200 requests on random weights over 128,256 and 151,936
 * tokens: two architectures, four weight types.
 */
import { describe, expect, test } from "bun:test";
import type { Engine } from "../../src/runtime/engine.ts";
import type { EngineError } from "../../src/runtime/errors.ts";
import { openTestEngine, readAnswer, request } from "../helpers/engine.ts";
import type { PartGrammar } from "../helpers/part-lock.ts";
import { type RandomModel, randomModelPath, SMALL } from "../helpers/random-model.ts";
import { vocabulariesAvailable } from "../helpers/vocabularies.ts";

type Asked = ReturnType<typeof request<PartGrammar>>;

const invoice: PartGrammar = {
  parts: [
    { text: '{"invoice_number":"' },
    { bytes: "any", min: 1, max: 12 },
    { text: '","total":' },
    { bytes: "digits", min: 1, max: 5 },
    { text: "}" },
  ],
};
const schema = {
  type: "object",
  properties: { invoice_number: { type: "string" }, total: { type: "number" } },
  required: ["invoice_number", "total"],
};
const tools = [{ name: "find_invoice", description: "Finds one.", parameters: schema }];

/** Strict, free, with tools, short and long, with beginnings in common, some drawn with a seed. */
function requests(count: number, wordsMax: number): Asked[] {
  const words = "Invoice A-77 from Larsen over 120.50 EUR paid on Monday by wire".split(" ");
  return Array.from({ length: count }, (_, index) => {
    const length = (index * 37) % wordsMax;
    const shared = Array.from({ length }, (_, at) => words[(at * at + 3) % words.length]);
    const text = `${shared.join(" ")} number ${index}`;
    const kind = index % 4;
    return request<PartGrammar>(text, {
      maxTokens: 12 + (index % 30),
      ...(kind === 0 ? { grammar: invoice, schema, maxTokens: 60 } : {}),
      ...(kind === 1 ? { schema } : {}),
      ...(kind === 2 ? { tools } : {}),
      ...(index % 9 === 0 ? { temperature: 0.8, seed: index } : {}),
      ...(index % 13 === 0 ? { temperature: 1, topP: 0.9, seed: index } : {}),
    });
  });
}

const textOf = async (engine: Engine<PartGrammar>, asked: Asked) =>
  (await readAnswer(await engine.complete(asked))).text;

async function alone(engine: Engine<PartGrammar>, asked: readonly Asked[]): Promise<string[]> {
  const texts: string[] = [];
  for (const each of asked) texts.push(await textOf(engine, each));
  return texts;
}

/** Clients in another order, with requests in between that are left in the middle. */
async function crowd(
  engine: Engine<PartGrammar>,
  asked: readonly Asked[],
  clients: number,
): Promise<string[]> {
  const texts = new Array<string>(asked.length).fill("");
  const order = [...asked.keys()].sort((a, b) => ((a * 7919) % 101) - ((b * 7919) % 101));
  const client = async (): Promise<void> => {
    for (let next = order.pop(); next !== undefined; next = order.pop()) {
      const each = asked[next];
      if (each === undefined) continue;
      const stop = new AbortController();
      const leaving = readAnswer(await engine.complete({ ...each, signal: stop.signal }));
      const kept = textOf(engine, each);
      setTimeout(() => stop.abort(), next % 5);
      await leaving.catch((error: EngineError) => expect(error.code).toBe("cancelled"));
      texts[next] = await kept;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return texts;
}

async function expectTheSame(model: string, asked: readonly Asked[]): Promise<void> {
  const first = await openTestEngine(model);
  expect(first.tiers.get("svc-tier-a")?.deterministic).toBe(true);
  const expected = await alone(first, asked);
  expect(new Set(expected).size).toBeGreaterThan(asked.length / 3);
  expect(await crowd(first, asked, 8)).toEqual(expected);
  await first.close();
  // Another engine, as after a restart: no prefix is cached when the crowd comes.
  const second = await openTestEngine(model);
  expect(second.tiers.get("svc-tier-a")?.fingerprint).toBe(
    first.tiers.get("svc-tier-a")?.fingerprint ?? "",
  );
  expect(await crowd(second, asked, 3)).toEqual(expected);
  const strangers = asked.map((each) => ({ ...each, tenantId: "other" }));
  expect(await crowd(second, strangers, 5)).toEqual(expected);
  await second.close();
}

describe("the same request gets the same bytes", () => {
  test("from the embedded model, alone and in every crowd", async () => {
    await expectTheSame("svc-tiny", requests(process.env["SLOW"] === "1" ? 200 : 18, 50));
  }, 600_000);

  const models: readonly Partial<RandomModel>[] = [
    { weights: "Q8_0" },
    { weights: "F16" },
    { weights: "Q4_K", width: 256 },
    { weights: "Q8_0", architecture: "qwen2", vocabulary: "qwen2" },
    { weights: "Q4_0", architecture: "qwen2", vocabulary: "qwen2" },
  ];
  for (const change of models) {
    const name = `${change.architecture ?? "llama"} ${change.weights}`;
    test.skipIf(process.env["SLOW"] !== "1" || !vocabulariesAvailable)(
      `from random weights: ${name}`,
      async () => {
        const count = Number(process.env["SLOW_REQUESTS"] ?? 200);
        await expectTheSame(await randomModelPath({ ...SMALL, ...change }), requests(count, 400));
      },
      1_800_000,
    );
  }
});
