/**
 * Whatever a model wants to say, what comes out is valid and whole. With SLOW=1 the model knows
 * nothing, its vocabulary is a real one of 128k tokens, and it gives 1,000 answers; without, the
 * embedded one gives 40, at temperatures where it knows little more.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { at, chat, content } from "../helpers/gateway.ts";
import { randomModelPath, SMALL } from "../helpers/random-model.ts";
import { STRICT_SCHEMAS } from "../helpers/strict-schemas.ts";

const isSlow = process.env["SLOW"] === "1";
const ANSWERS_PER_SCHEMA = isSlow ? 50 : 2;
const TEMPERATURES = isSlow ? [0, 1] : [0, 2];
// 50 answers of a few dozen tokens each, on a busy machine.
setDefaultTimeout(isSlow ? 1_800_000 : 120_000);

let gateway: TestGateway;
beforeAll(async () => {
  if (!isSlow) {
    gateway = await createTestGateway();
    return;
  }
  const model = await randomModelPath(SMALL);
  // One row and a short context: the engine tests a model on itself, and this is enough of it.
  gateway = await createTestGateway({
    tiers: { "svc-tier-a": model, "svc-tier-b": model },
    contextTokens: 512,
    rows: 1,
  });
});
afterAll(() => gateway.close());

/** Tokens of the shortest answer, as the refusal of a limit below it says. */
async function neededTokens(schema: unknown): Promise<number> {
  const refused = await ask(schema, { max_tokens: 1 });
  const message = String(at(refused.json, "error", "message"));
  return Number(/shortest answer takes (\d+) tokens/.exec(message)?.[1]);
}

function ask(schema: unknown, change: object) {
  const response_format = { type: "json_schema", json_schema: { name: "x", strict: true, schema } };
  const messages = [{ role: "user", content: "Anything." }];
  return chat(gateway, { messages, response_format, ...change });
}

describe("strict answers", () => {
  for (const [name, schema] of Object.entries(STRICT_SCHEMAS)) {
    test(`are valid and whole: ${name}`, async () => {
      const ajv = new Ajv2020({ strict: false, allErrors: true });
      addFormats(ajv);
      const validate = ajv.compile(schema as object);
      const needed = await neededTokens(schema);
      expect(needed).toBeGreaterThan(0);
      for (let turn = 0; turn < ANSWERS_PER_SCHEMA; turn++) {
        // Tight limits: from what just fits to a few tokens more.
        const max_tokens = needed + ((turn * 7) % 23);
        const temperature = TEMPERATURES[turn % 2];
        const answered = await ask(schema, { max_tokens, temperature, seed: turn });
        expect(at(answered.json, "choices", 0, "finish_reason")).toBe("stop");
        const text = content(answered);
        const isValid = validate(JSON.parse(text));
        expect([text, isValid, validate.errors]).toEqual([text, true, null]);
        const used = Number(at(answered.json, "usage", "completion_tokens"));
        expect(used).toBeLessThanOrEqual(max_tokens);
      }
    });
  }
});
