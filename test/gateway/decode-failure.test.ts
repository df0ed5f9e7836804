/**
 * The library fails in the middle of an answer, under the real scheduler, service and ledger: who
 * was in that call is told, nobody pays for it, and the others do not notice.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createTestGateway, type TestGateway } from "../../src/testing.ts";
import { startDouble } from "../../src/testing-engine.ts";
import { FAKE_END } from "../helpers/fake-decoder.ts";
import { FakeHost } from "../helpers/fake-host.ts";
import { at, chat, content, errorOf, rowsOf } from "../helpers/gateway.ts";

const [A, BANG] = [0x61, 0x21];
/** After this many tokens an answer to the prompt B says "!", which the library cannot take. */
const SAID = 5;

const host = new FakeHost({
  ...{ rows: 3, lane: [1], queueMax: 3 },
  logit: (token, history) => {
    const isBad = history.includes(0x42) && history.filter((each) => each === A).length >= SAID;
    if (token === FAKE_END) return -100;
    return token === (isBad ? BANG : A) ? 10 : 0;
  },
  onStep: ({ rows }) => {
    if (rows.some(({ tokens }) => tokens.includes(BANG))) throw new Error("Eval has failed");
  },
});
let gateway: TestGateway;
beforeAll(async () => {
  const log = () => {};
  const startEngine = () => {
    const complete = async (request: Parameters<typeof double.complete>[0]) => {
      const { maxTokens, messages, signal } = request;
      return host.start(messages.at(-1)?.content ?? "", { maxTokens, signal });
    };
    const double = startDouble("shortest");
    return Object.assign(Object.create(double), { complete });
  };
  gateway = await createTestGateway({}, { log, startEngine });
});
afterAll(async () => {
  await gateway.close();
  await host.close();
});

const ask = (text: string, change: object = {}) =>
  chat(gateway, { messages: [{ role: "user", content: text }], max_tokens: 30, ...change });

test("a failed call is a 502 that nobody pays for; the answers beside it go on", async () => {
  const before = (await rowsOf(gateway)).length;
  const [one, failed, two] = await Promise.all([ask("one"), ask("B"), ask("two")]);
  expect([failed.status, ...errorOf(failed)]).toEqual([502, "decode_failed", null]);
  expect(at(failed.json, "error", "type")).toBe("upstream_error");
  for (const { status, ...rest } of [one, two]) {
    expect(status).toBe(200);
    expect(content({ status, ...rest })).toBe("a".repeat(30));
  }
  const rows = await rowsOf(gateway);
  expect(rows.length).toBe(before + 2);
  const failedId = failed.headers.get("x-request-id");
  expect(rows.some((row) => row["request_id"] === failedId)).toBe(false);
  // Its slot serves the next.
  expect((await ask("three")).status).toBe(200);
});

test("a stream that fails says so, never ends as a whole one does, and is not billed", async () => {
  const before = (await rowsOf(gateway)).length;
  const response = await gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      ...{ model: "svc-tier-b", stream: true, max_tokens: 30 },
      messages: [{ role: "user", content: "B" }],
    }),
  });
  const text = await response.text();
  const said = [...text.matchAll(/"delta":\{"content":"(a*!?)"/g)].map(([, piece]) => piece);
  expect(said.join("")).toStartWith("a".repeat(SAID));
  expect(text).toContain('"code":"decode_failed"');
  expect(text).not.toContain("[DONE]");
  expect(text).not.toContain('"finish_reason":"');
  expect((await rowsOf(gateway)).length).toBe(before);
});

test("of a buffered stream that fails nothing comes out but the error", async () => {
  const before = (await rowsOf(gateway)).length;
  const response = await gateway.fetch("/v1/chat/completions", {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.apiKey}`,
      "content-type": "application/json",
      "x-svc-stream": "buffered",
    },
    body: JSON.stringify({
      ...{ model: "svc-tier-b", stream: true, max_tokens: 30 },
      messages: [{ role: "user", content: "B" }],
    }),
  });
  expect(response.status).toBe(502);
  expect(await response.text()).not.toContain("data:");
  expect((await rowsOf(gateway)).length).toBe(before);
});

test("what finds neither a row nor a place in the queue is a 429 that says when to come again", async () => {
  const all = await Promise.all(Array.from({ length: 8 }, (_, n) => ask(`wait ${n}`)));
  const refused = all.filter(({ status }) => status !== 200);
  // Three wait, at most three run.
  expect(refused.length).toBeGreaterThanOrEqual(2);
  for (const each of refused) {
    expect([each.status, ...errorOf(each)]).toEqual([429, "queue_full", null]);
    expect(each.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  }
});
