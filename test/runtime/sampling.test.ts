import { describe, expect, test } from "bun:test";
import type { TokenLock } from "../../src/runtime/lock.ts";
import type { CompletionEvent } from "../../src/runtime/request.ts";
import { FAKE_END, FAKE_TABLE } from "../helpers/fake-decoder.ts";
import { FakeHost, type FakeRequest } from "../helpers/fake-host.ts";
import { type PartGrammar, PartLock } from "../helpers/part-lock.ts";

const LANE = { rows: 2, lane: [1, 2] };
const letters: PartGrammar = {
  parts: [{ text: '{"a":"' }, { bytes: "letters", min: 1, max: 12 }, { text: '"}' }],
};
const WHOLE = /^\{"a":"[a-z]{1,12}"\}$/;

/** Always the same next byte, by the length of the text so far; then the end. */
function saying(text: string, prompt: string) {
  return (token: number, history: readonly number[]): number => {
    const wanted = text.charCodeAt(history.length - prompt.length);
    return token === (Number.isNaN(wanted) ? FAKE_END : wanted) ? 10 : 0;
  };
}

describe("a lock", () => {
  test("holds against a sampler that picks the worst token, within every budget", async () => {
    const host = new FakeHost({ ...LANE, picks: "worst" });
    for (let maxTokens = 10; maxTokens <= 24; maxTokens++) {
      const { text, end } = await host.ask(`ask ${maxTokens}`, { grammar: letters, maxTokens });
      expect(text).toMatch(WHOLE);
      expect(end.finishReason).toBe("stop");
      expect(end.completionTokens).toBeLessThanOrEqual(maxTokens);
    }
    const { masks, refusals, sampledTokens } = host.pool.stats;
    expect(masks).toBeGreaterThan(0);
    // The worst token is never one of the few that a boost favours: then all others are banned.
    expect(refusals).toBeGreaterThan(sampledTokens / 2);
  });

  test("costs no mask while the model's own choice passes", async () => {
    const text = '{"a":"hello"}';
    const host = new FakeHost({ ...LANE, logit: saying(text, "say") });
    const answer = await host.ask("say", { grammar: letters });
    expect(answer.text).toBe(text);
    expect(host.pool.stats).toMatchObject({ masks: 0, refusals: 0 });
    // Before a draw from a nucleus the mask comes first, at every token that is drawn.
    const drawn = await host.ask("say", {
      grammar: letters,
      temperature: 0.01,
      topP: 0.5,
      seed: 1,
    });
    expect(drawn.text).toBe(text);
    expect(host.pool.stats).toMatchObject({ masks: 6, refusals: 0 });
  });

  test("bans a refused token, and samples again before it makes a mask of many", async () => {
    const wishes = (token: number): number => (token === 0x0a ? 9 : token === 0x62 ? 8 : 0);
    const host = new FakeHost({ ...LANE, logit: wishes });
    const answer = await host.ask("x", { grammar: letters, maxTokens: 40 });
    expect(answer.text).toBe(`{"a":"${"b".repeat(12)}"}`);
    expect(host.pool.stats).toMatchObject({ masks: 0, refusals: 12 });
  });

  test("gets the best token that it allows, however the refused ones are passed over", async () => {
    const grammars = [letters, { parts: [{ bytes: "letters" as const, min: 40, max: 60 }] }];
    const texts = [0, 1, 3, 16, 258].map(async (rankedCount) => {
      const host = new FakeHost({ ...LANE, rankedCount });
      const answers = grammars.flatMap((grammar) =>
        Array.from({ length: 12 }, (_, ask) => host.ask(`ask ${ask}`, { grammar, maxTokens: 80 })),
      );
      const all = (await Promise.all(answers)).map(({ text }) => text);
      return { all, masks: host.pool.stats.masks };
    });
    const [naive, ...others] = await Promise.all(texts);
    expect(new Set(naive?.all).size).toBeGreaterThan(20);
    for (const { all } of others) expect(all).toEqual(naive?.all ?? []);
    // With all of them told, no mask is needed but after short texts.
    expect(others.at(-1)?.masks).toBeLessThan(naive?.masks ?? 0);
  });

  test("makes that mask at once where a short text is refused that any free string takes", async () => {
    const wishes = (token: number): number =>
      token === 0x21 ? 9 : token === 0x3f ? 8.5 : token === 0x62 ? 8 : 0;
    const host = new FakeHost({ ...LANE, logit: wishes });
    const answer = await host.ask("x", { grammar: letters, maxTokens: 40 });
    expect(answer.text).toBe(`{"a":"${"b".repeat(12)}"}`);
    expect(host.pool.stats).toMatchObject({ masks: 12, refusals: 12 });
  });

  test("in a narrow state asks for the mask first, and favours what it allows", async () => {
    const digits: PartGrammar = {
      parts: [{ text: '{"a":"' }, { bytes: "digits", min: 1, max: 12 }, { text: '"}' }],
    };
    // Every choice is refused, and the best allowed token is far below.
    const best = new Map([
      [0x35, 1],
      [0x22, -1],
    ]);
    const wishes = (token: number): number => best.get(token) ?? (token > 0x40 ? 40 : 0);
    const host = new FakeHost({ ...LANE, logit: wishes });
    const answer = await host.ask("x", { grammar: digits, maxTokens: 40 });
    expect(answer.text).toBe(`{"a":"${"5".repeat(12)}"}`);
    const { masks, refusals, refusedTokens } = host.pool.stats;
    // One refusal leads to the first mask; after it nothing is refused any more.
    expect({ masks, refusals, refusedTokens }).toEqual({
      masks: 12,
      refusals: 1,
      refusedTokens: 1,
    });
    const biased = await host.ask("x", {
      ...{ grammar: digits, maxTokens: 40 },
      logitBias: new Map([[0x35, -5]]),
    });
    expect(biased.text).toBe(`{"a":"${"0".repeat(12)}"}`);
  });

  test("that allows nothing ends the request: no token comes out", async () => {
    const nothing: TokenLock = {
      computeMask: () => new Uint32Array(9),
      closingMask: () => new Uint32Array(9),
      fewTokens: () => new Uint32Array(),
      accept: () => false,
      forcedTokens: () => [],
      isComplete: false,
      setBudget: () => {},
      needTokens: () => 1,
      budgetLimited: false,
    };
    const host = new FakeHost(LANE);
    const started = host.start("x", {}, nothing);
    const events: CompletionEvent[] = [];
    const read = async () => {
      for await (const event of started) events.push(event);
    };
    await expect(read()).rejects.toMatchObject({ code: "decode_failed" });
    expect(events).toEqual([]);
  });

  test("gives the model no say over tokens that it forces", async () => {
    const fixed: PartGrammar = { parts: [{ text: '{"kind":"invoice"}' }] };
    const host = new FakeHost(LANE);
    const answer = await host.ask("x", { grammar: fixed, topLogprobs: 2 });
    expect(answer.text).toBe('{"kind":"invoice"}');
    // The end included: nothing is left for the network to say.
    expect(answer.end).toMatchObject({ forcedTokens: 19, completionTokens: 19 });
    expect(host.decoder.calls).toEqual([]);
    const halves: PartGrammar = {
      parts: [{ text: '{"a":' }, { bytes: "digits", min: 1, max: 2 }, { text: ',"bcdefgh":1}' }],
    };
    const mixed = new FakeHost({ ...LANE, chunkTokens: 64 });
    const answered = await mixed.ask("x", { grammar: halves });
    expect(answered.text).toMatch(/^\{"a":\d{1,2},"bcdefgh":1\}$/);
    // Prompt and all that is forced in one call, whose logits choose the digit.
    expect(mixed.decoder.calls[0]?.rows[0]?.tokens).toHaveLength(6);
    expect(mixed.decoder.calls.length).toBeLessThanOrEqual(4);
  });
});

describe("drawing", () => {
  const ask = async (host: FakeHost, changes: FakeRequest) =>
    (await host.ask("draw", { temperature: 1.5, maxTokens: 24, ...changes })).text;

  test("repeats with its seed, on another row and in another run too", async () => {
    const host = new FakeHost(LANE);
    const first = await ask(host, { seed: 7 });
    expect(await ask(new FakeHost(LANE), { seed: 7 })).toBe(first);
    expect(await Promise.all([ask(host, { seed: 8 }), ask(host, { seed: 7 })])).toContain(first);
    expect(await ask(host, { seed: 8 })).not.toBe(first);
    // 2³² - 1 stands for "any seed" in llama.cpp, and -1 is the same bits.
    for (const seed of [0, 2 ** 32 - 1, 2 ** 32 - 2, -1]) {
      expect(await ask(host, { seed })).toBe(await ask(host, { seed }));
    }
  });

  test("with no temperature or no nucleus is an argmax", async () => {
    const host = new FakeHost(LANE);
    const best = await ask(host, { temperature: 0 });
    expect(await ask(host, { temperature: 1e-9, seed: 3 })).toBe(best);
    expect(await ask(host, { topP: 0, seed: 3 })).toBe(best);
  });

  test("keeps a locked answer whole", async () => {
    const host = new FakeHost(LANE);
    for (let seed = 0; seed < 20; seed++) {
      for (const topP of [1, 0.7]) {
        expect(await ask(host, { grammar: letters, seed, topP })).toMatch(WHOLE);
      }
    }
  });
});

describe("biases", () => {
  const flat = (token: number): number => (token === 0x61 ? 5 : token === 0x62 ? 4.5 : 0);
  const ask = async (changes: FakeRequest) =>
    (await new FakeHost({ ...LANE, logit: flat }).ask("x", { maxTokens: 8, ...changes })).text;

  test("of logit_bias are added to the logits", async () => {
    expect(await ask({})).toBe("aaaaaaaa");
    expect(await ask({ logitBias: new Map([[0x62, 1]]) })).toBe("bbbbbbbb");
    expect(await ask({ logitBias: new Map([[0x61, -100]]) })).toBe("bbbbbbbb");
  });

  test("of penalties go by presence once and by frequency each time", async () => {
    // 5 - 1 < 4.5: a, then b; 4 against 3.5 from then on.
    expect(await ask({ presencePenalty: 1 })).toBe("abaaaaaa");
    // a: 5, 4, 3 … b: 4.5, 3.5, 2.5 …
    expect(await ask({ frequencyPenalty: 1 })).toBe("abababab");
    expect(await ask({ presencePenalty: -1 })).toBe("aaaaaaaa");
  });

  test("cannot break a lock, nor be broken by it", async () => {
    const host = new FakeHost({ ...LANE, logit: flat });
    const logitBias = new Map([
      [0x21, 100],
      [0x62, 50],
    ]);
    const { text } = await host.ask("x", { grammar: letters, logitBias, maxTokens: 40 });
    expect(text).toBe(`{"a":"${"b".repeat(12)}"}`);
  });
});

describe("stop strings", () => {
  const ask = (text: string, changes: FakeRequest) =>
    new FakeHost({ ...LANE, logit: saying(text, "p") }).ask("p", changes);

  test("end the text before them, over token borders, the earliest first", async () => {
    const answer = await ask("one two three", { stop: ["three", "two"] });
    expect(answer.text).toBe("one ");
    expect(answer.end.finishReason).toBe("stop");
    // Decoding ends with the token that completes it.
    expect(answer.end.completionTokens).toBe("one two".length);
    expect((await ask("aaab", { stop: ["aab"] })).text).toBe("a");
    expect((await ask("tw", { stop: ["two"] })).text).toBe("tw");
  });

  test("never cut a locked answer", async () => {
    const answer = await ask('{"a":"stop"}', { grammar: letters, stop: ["stop", "}"] });
    expect(answer.text).toBe('{"a":"stop"}');
  });

  test("count outside a tool call only, where the lock also allows free text", async () => {
    const free = { parts: [{ bytes: "any" as const, min: 1, max: 40 }] };
    const lock = () => new PartLock(free, FAKE_TABLE);
    const host = new FakeHost({ ...LANE, logit: saying("say END now", "p") });
    expect((await host.ask("p", { stop: ["END"] }, lock())).text).toBe("say ");
  });

  test("never show the half of a code point", async () => {
    const bytes = Buffer.from("né€😀!");
    const host = new FakeHost({
      ...LANE,
      logit: (token, history) => (token === (bytes[history.length - 1] ?? FAKE_END) ? 9 : 0),
    });
    const answer = await host.ask("p", { stop: ["!"] });
    expect(answer.text).toBe("né€😀");
    for (const event of answer.events) {
      if (event.kind === "text") expect(event.text).not.toContain("\ufffd");
    }
  });
});

describe("probabilities", () => {
  test("are the model's own, before bias and temperature, and sum to one", async () => {
    const flat = (token: number): number => (token === 0x61 ? 2 : token === 0x62 ? 1 : -50);
    const host = new FakeHost({ ...LANE, logit: flat });
    const answer = await host.ask("x", {
      ...{ maxTokens: 2, topLogprobs: 2, temperature: 0.5, seed: 1 },
      logitBias: new Map([[0x62, 100]]),
    });
    expect(answer.text).toBe("bb");
    const tokens = answer.events.flatMap((event) => (event.kind === "text" ? event.tokens : []));
    expect(tokens.map(({ token }) => token).join("")).toBe("bb");
    for (const { logprob, top } of tokens) {
      expect(Math.exp(logprob)).toBeCloseTo(1 / (1 + Math.E), 6);
      expect(top.map(({ token }) => token)).toEqual(["a", "b"]);
      expect(top.reduce((sum, each) => sum + Math.exp(each.logprob), 0)).toBeCloseTo(1, 6);
    }
  });
});
