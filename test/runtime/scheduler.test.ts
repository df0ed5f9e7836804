import { describe, expect, test } from "bun:test";
import type { EngineError } from "../../src/runtime/errors.ts";
import { readAnswer } from "../helpers/engine.ts";
import type { FakeCall } from "../helpers/fake-decoder.ts";
import { FakeHost, type FakeRequest } from "../helpers/fake-host.ts";
import type { PartGrammar } from "../helpers/part-lock.ts";

const grammar: PartGrammar = {
  parts: [
    { text: '{"name":"' },
    { bytes: "letters", min: 2, max: 9 },
    { text: '","total":' },
    { bytes: "digits", min: 1, max: 4 },
    // A row with much to compute again and again is left out of the others' steps.
    { text: ',"first":' },
    { bytes: "digits", min: 1, max: 1 },
    { text: ',"second":' },
    { bytes: "digits", min: 1, max: 1 },
    { text: "}" },
  ],
};

/** Bits as they are on a CPU with f16: a lone row differs, and so do calls of several tokens. */
const shade = ({ rows }: FakeCall, index: number): string => {
  const { tokens } = rows[index] ?? { tokens: [] };
  if (tokens.length > 1) return `${tokens.length} tokens`;
  return rows.length === 1 ? "one" : "many";
};

interface Asked {
  readonly text: string;
  readonly changes: FakeRequest;
}

/** Free and locked, short and long, greedy and drawn, with beginnings in common. */
function mixedRequests(count: number): Asked[] {
  return Array.from({ length: count }, (_, index) => ({
    text: `${"shared system text, long enough for chunks. ".repeat(index % 4)}question ${index}`,
    changes: {
      maxTokens: 60,
      ...(index % 3 === 0 ? { grammar } : { maxTokens: 5 + (index % 20) }),
      ...(index % 5 === 0 ? { temperature: 0.8, seed: index } : {}),
      ...(index % 7 === 0 ? { temperature: 1, topP: 0.9, seed: index } : {}),
    },
  }));
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const keyed = items.map((item, index) => ({ item, key: Bun.hash(`${seed} ${index}`) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ item }) => item);
}

async function answersAlone(host: FakeHost, asked: readonly Asked[]): Promise<string[]> {
  const texts: string[] = [];
  for (const { text, changes } of asked) texts.push((await host.ask(text, changes)).text);
  return texts;
}

/** Many clients, in another order; every other request is started twice and one of the two left. */
async function answersInCrowd(
  host: FakeHost,
  asked: readonly Asked[],
  clients: number,
  seed: number,
): Promise<string[]> {
  const texts = new Map<Asked, string>();
  const waiting = shuffled(asked, seed);
  const client = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const stop = new AbortController();
      const leaving = host.start(`${next.text} again`, { ...next.changes, signal: stop.signal });
      const left = readAnswer(leaving).catch((error: EngineError) => error.code);
      const kept = host.ask(next.text, next.changes);
      stop.abort();
      texts.set(next, (await kept).text);
      await left;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return asked.map((each) => texts.get(each) ?? "");
}

describe("what else runs", () => {
  const asked = mixedRequests(32);

  test("does not change an answer: alone, among 3, among 8, after a restart", async () => {
    const alone = await answersAlone(
      new FakeHost({ rows: 8, lane: [2, 3, 4, 5, 6, 7, 8], shade }),
      asked,
    );
    expect(new Set(alone).size).toBeGreaterThan(24);
    for (const [clients, seed] of [
      [8, 1],
      [3, 2],
      [8, 3],
    ] as const) {
      const host = new FakeHost({ rows: 8, lane: [2, 3, 4, 5, 6, 7, 8], shade });
      expect(await answersInCrowd(host, asked, clients, seed)).toEqual(alone);
    }
  });

  test("does not change an answer in a class with gaps, nor one row at a time", async () => {
    for (const lane of [[4, 8], [1]]) {
      const alone = await answersAlone(new FakeHost({ rows: 8, lane, shade }), asked);
      const host = new FakeHost({ rows: 8, lane, shade });
      expect(await answersInCrowd(host, asked, 8, 5)).toEqual(alone);
    }
  });

  test("would change it if calls left their class (what the proof rests on)", async () => {
    const lane = [1, 2, 3, 4, 5, 6, 7, 8];
    const alone = await answersAlone(new FakeHost({ rows: 8, lane, shade }), asked);
    const crowd = await answersInCrowd(new FakeHost({ rows: 8, lane, shade }), asked, 8, 1);
    expect(crowd).not.toEqual(alone);
  });

  test("leaves no trace of fillers in the slots they stand in for", async () => {
    const host = new FakeHost({ rows: 4, lane: [4] });
    await host.ask("one alone");
    const [prompt, ...steps] = host.decoder.calls;
    expect(prompt?.rows.map(({ tokens }) => tokens.length)).toEqual([9]);
    expect(steps.every(({ rows }) => rows.length === 4)).toBe(true);
    expect([1, 2, 3].map((slot) => host.decoder.length(slot))).toEqual([0, 0, 0]);
  });
});

test("a reader has the text so far while the next token is computed", async () => {
  let read = 0;
  const seen: number[] = [];
  const host = new FakeHost({
    ...{ rows: 2, lane: [1, 2], logit: (token) => (token === 0x61 ? 10 : 0) },
    onStep: () => {
      seen.push(read);
    },
  });
  for await (const event of host.start("x", { maxTokens: 5 })) {
    if (event.kind === "text") read += event.text.length;
  }
  expect(read).toBe(5);
  expect(seen).toEqual([0, 1, 2, 3, 4]);
});

describe("prompts", () => {
  const long = "x".repeat(100);

  test("are cut at fixed positions, and running answers step between the pieces", async () => {
    const host = new FakeHost({ rows: 2, lane: [1, 2], logit: neverEnd });
    const running = host.ask("short", { maxTokens: 40 });
    await untilCalls(host, 5);
    await Promise.all([running, host.ask(long, { maxTokens: 1 })]);
    const chunks = host.decoder.calls.filter(({ rows }) =>
      rows.some(({ tokens }) => tokens.length > 1),
    );
    const ofLong = chunks.filter(({ rows }) => rows[0]?.slot === 1);
    expect(ofLong.map(({ lengths }) => lengths[0])).toEqual([0, 16, 32, 48, 64, 80, 96]);
    for (const [index, call] of ofLong.entries()) {
      const next = ofLong[index + 1]?.step ?? call.step + 2;
      expect(next - call.step).toBe(2);
    }
  });

  test("that begin alike are taken over within a tenant, with the same answer", async () => {
    const host = new FakeHost({ rows: 2, lane: [1, 2], shade });
    const miss = await host.ask(`${long} first`);
    const hit = await host.ask(`${long} first`);
    expect(hit.text).toBe(miss.text);
    expect([miss.end.cachedTokens, hit.end.cachedTokens]).toEqual([0, 96]);
    const partly = await host.ask(`${long.slice(0, 50)} other end`);
    expect(partly.end.cachedTokens).toBe(48);
    const stranger = await host.ask(`${long} first`, { tenantId: "other" });
    expect(stranger.end.cachedTokens).toBe(0);
    expect(stranger.text).toBe(miss.text);
  });

  test("are kept in a bounded number, those out of use for longest go first", async () => {
    const host = new FakeHost({ rows: 1, lane: [1], shade });
    const texts = ["a", "b", "c", "d"].map((letter) => letter.repeat(40));
    for (const text of texts) await host.ask(text, { maxTokens: 2 });
    // The row has the last; of the two slots that keep, one goes to it when another comes.
    const cached = async (letter: string) =>
      (await host.ask(letter.repeat(40), { maxTokens: 2 })).end.cachedTokens;
    expect(await cached("d")).toBe(32);
    expect(await cached("c")).toBe(32);
    expect(await cached("d")).toBe(32);
    expect(await cached("a")).toBe(0);
    expect(host.decoder.slots).toBe(3);
  });

  test("of recurrent models are computed whole each time", async () => {
    const host = new FakeHost({ rows: 2, lane: [1], shade, canTruncate: false });
    const first = await host.ask(long);
    const second = await host.ask(long);
    expect(second.text).toBe(first.text);
    expect(second.end.cachedTokens).toBe(0);
  });

  test("leave room for at least one token, and answers end where the context does", async () => {
    const host = new FakeHost({ rows: 1, lane: [1], slotPositions: 256, logit: neverEnd });
    const whole = await host.ask("y".repeat(250), { maxTokens: null });
    expect(whole.end).toMatchObject({ finishReason: "length", completionTokens: 6 });
    expect(() => host.start("y".repeat(256))).toThrow(
      expect.objectContaining({ code: "context_length_exceeded" }),
    );
    const last = await host.ask("y".repeat(255), { maxTokens: 9 });
    expect(last.end.completionTokens).toBe(1);
  });
});

describe("a model that reads both ways", () => {
  const both = { rows: 4, lane: [2, 3, 4], shade, readsBothWays: true };

  test("gets a prompt in one call, and of an answer one token a call, forced or not", async () => {
    const host = new FakeHost(both);
    const asked = "a prompt of several chunks, as it would be for any other model";
    const { text, end } = await host.ask(asked, { grammar, maxTokens: 60 });
    expect(text).toMatch(/^\{"name":"[a-z]{2,9}","total":\d+,"first":\d,"second":\d\}$/);
    const [prompt, ...steps] = host.decoder.calls;
    expect(prompt?.rows.map(({ tokens }) => tokens.length)).toEqual([asked.length]);
    // What the lock forces at once is no part of the prompt, and nothing is sampled from it then.
    expect(prompt?.rows.map(({ output }) => output)).toEqual([false]);
    for (const { rows } of steps)
      expect(rows.every(({ tokens }) => tokens.length === 1)).toBe(true);
    // Behind the last choice nothing is computed.
    const computed = Buffer.from(host.decoder.tokens(0).slice(asked.length)).toString();
    expect([computed, text]).toEqual([text.slice(0, -2), `${computed}${text.slice(-2)}`]);
    expect(end.cachedTokens).toBe(0);
    expect((await host.ask(asked, { grammar, maxTokens: 60 })).end.cachedTokens).toBe(0);
  });

  test("answers the same beside others", async () => {
    const asked = mixedRequests(32);
    const alone = await answersAlone(new FakeHost(both), asked);
    expect(await answersInCrowd(new FakeHost(both), asked, 4, 1)).toEqual(alone);
  });

  test("must not have its prompts cut", () => {
    expect(() => new FakeHost({ ...both, chunkTokens: 16 })).toThrow("a prompt is read whole");
  });
});

const neverEnd = (token: number): number | undefined => (token >= 256 ? -100 : undefined);

async function untilCalls(host: FakeHost, calls: number): Promise<void> {
  while (host.decoder.calls.length < calls) await new Promise((resolve) => setImmediate(resolve));
}

describe("a client that leaves", () => {
  test("stops its answer within one token, and its row serves the next", async () => {
    const host = new FakeHost({ rows: 1, lane: [1], logit: neverEnd });
    const stop = new AbortController();
    const running = host.start("talk", { maxTokens: 400, signal: stop.signal });
    const ended = readAnswer(running).catch((error: EngineError) => error.code);
    await untilCalls(host, 10);
    const before = running.completionTokens;
    stop.abort();
    expect(await ended).toBe("cancelled");
    expect(running.completionTokens - before).toBeLessThanOrEqual(1);
    const { length } = host.decoder.calls;
    expect((await host.ask("next", { maxTokens: 3 })).end.completionTokens).toBe(3);
    // The prompt gives the first token, a step each of the others.
    expect(host.decoder.calls.length).toBe(length + 3);
  });

  test("need only stop reading", async () => {
    const host = new FakeHost({ rows: 1, lane: [1], logit: neverEnd });
    const running = host.start("talk", { maxTokens: 400 });
    for await (const event of running) if (event.kind === "text") break;
    const { completionTokens } = running;
    await host.ask("next", { maxTokens: 3 });
    expect(running.completionTokens - completionTokens).toBeLessThanOrEqual(1);
  });

  test("leaves the queue too", async () => {
    const host = new FakeHost({ rows: 1, lane: [1], logit: neverEnd });
    const first = host.ask("first", { maxTokens: 20 });
    const stop = new AbortController();
    const second = host.start("second", { signal: stop.signal });
    const third = host.start("third", { maxTokens: 1 });
    await untilCalls(host, 3);
    expect([second.queuePosition, third.queuePosition]).toEqual([1, 2]);
    const ended = readAnswer(second).catch((error: EngineError) => error.code);
    stop.abort();
    expect(await ended).toBe("cancelled");
    expect(third.queuePosition).toBe(1);
    await Promise.all([first, readAnswer(third)]);
    expect(third.queuePosition).toBe(0);
  });
});

describe("too many requests", () => {
  test("are refused once the queue is full, and taken again when it has room", async () => {
    const host = new FakeHost({ rows: 1, lane: [1], queueMax: 2, logit: neverEnd });
    const running = host.ask("one", { maxTokens: 9 });
    await untilCalls(host, 2);
    const waiting = [host.ask("two", { maxTokens: 2 }), host.ask("three", { maxTokens: 2 })];
    expect(() => host.start("four")).toThrow(
      expect.objectContaining({ code: "queue_full", details: { queueMax: 2 } }),
    );
    await Promise.all([running, ...waiting]);
    expect((await host.ask("four", { maxTokens: 2 })).end.completionTokens).toBe(2);
  });
});

describe("a call that fails", () => {
  test("ends the answers in it; the others give what they would have given", async () => {
    let failAt = -1;
    const host = new FakeHost({
      ...{ rows: 4, lane: [2], logit: neverEnd, shade },
      onStep: ({ step }) => {
        if (step === failAt) throw new Error("Eval has failed");
      },
    });
    const texts = ["alpha", "beta", "gamma", "delta"];
    const ask = (text: string) => host.ask(text, { maxTokens: 30 });
    const alone: string[] = [];
    for (const text of texts) alone.push((await ask(text)).text);
    // Four prompts, then pairs of rows in turn.
    failAt = host.decoder.calls.length + 20;
    const crowd = await Promise.all(texts.map((text) => ask(text).catch((error: Error) => error)));
    const failed = crowd.filter((end) => end instanceof Error);
    expect(failed).toHaveLength(2);
    for (const error of failed) expect(error).toMatchObject({ code: "decode_failed" });
    const texted = crowd.map((end, index) => (end instanceof Error ? alone[index] : end.text));
    expect(texted).toEqual(alone);
    for (const [index, text] of texts.entries())
      expect((await ask(text)).text).toBe(alone[index] ?? "");
  });

  test("while a prompt is computed ends that request alone", async () => {
    const host = new FakeHost({
      ...{ rows: 2, lane: [1, 2], logit: neverEnd },
      onStep: ({ rows }) => {
        if (rows[0]?.tokens.includes(33)) throw new Error("Eval has failed");
      },
    });
    const good = host.ask("good", { maxTokens: 20 });
    await expect(host.ask("bad!bad")).rejects.toMatchObject({ code: "decode_failed" });
    expect((await good).end.completionTokens).toBe(20);
  });
});

test("closing ends running and waiting answers, and frees the decoder", async () => {
  const host = new FakeHost({ rows: 1, lane: [1], logit: neverEnd });
  const codes = ["one", "two"].map((text) =>
    host.ask(text, { maxTokens: 400 }).catch((error: EngineError) => error.code),
  );
  await untilCalls(host, 4);
  await host.close();
  expect(await Promise.all(codes)).toEqual(["closed", "closed"]);
  expect(host.decoder.disposed).toBe(true);
  expect(() => host.start("three")).toThrow(expect.objectContaining({ code: "closed" }));
});
