import { describe, expect, test } from "bun:test";
import { FAKE_CONTROL, FAKE_END } from "../helpers/fake-decoder.ts";
import { FakeHost } from "../helpers/fake-host.ts";
import type { PartGrammar } from "../helpers/part-lock.ts";

const END_OF_THOUGHT = 0x7e;
const thoughts = { start: FAKE_CONTROL, end: END_OF_THOUGHT };
const locked: PartGrammar = {
  parts: [{ text: '{"a":"' }, { bytes: "letters", min: 1, max: 4 }, { text: '"}' }],
};

/** A model that wants these tokens after a prompt of so many tokens, then the end. */
function hostThatWants(tokens: readonly number[], promptTokens: number): FakeHost {
  return new FakeHost({
    ...{ rows: 1, lane: [1], thoughts },
    logit: (token, history) =>
      token === (tokens[history.length - promptTokens] ?? FAKE_END) ? 9 : 0,
  });
}

const bytes = (text: string) => [...Buffer.from(text)];

describe("a model that thinks", () => {
  test("in the prompt's own thoughts is free until they end, then locked", async () => {
    const host = hostThatWants([...bytes("hm {"), END_OF_THOUGHT], "q?".length);
    const answer = await host.ask("q?", { grammar: locked, maxTokens: 200 });
    expect(answer.reasoning).toBe("hm {");
    expect(answer.text).toMatch(/^\{"a":"[a-z]{1,4}"\}$/);
    expect(answer.end.finishReason).toBe("stop");
  });

  test("may begin to think of its own accord, or answer at once", async () => {
    const thinking = hostThatWants([FAKE_CONTROL, ...bytes("so"), END_OF_THOUGHT, 0x6f, 0x6b], 1);
    const answer = await thinking.ask("q");
    expect([answer.reasoning, answer.text]).toEqual(["so", "ok"]);
    const direct = await hostThatWants(bytes("ok"), 1).ask("q");
    expect([direct.reasoning, direct.text]).toEqual(["", "ok"]);
    const withLock = await thinking.ask("q", { grammar: locked, maxTokens: 100 });
    expect(withLock.reasoning).toBe("so");
    expect(withLock.text).toMatch(/^\{"a":"[a-z]{1,4}"\}$/);
  });

  test("leaves room for a locked answer, and cannot end instead of it", async () => {
    const endless = new FakeHost({
      ...{ rows: 1, lane: [1], thoughts },
      logit: (token) => (token === 0x2e ? 9 : token === FAKE_END ? 10 : 0),
    });
    for (const maxTokens of [12, 20, 40]) {
      const answer = await endless.ask("q?", { grammar: locked, maxTokens });
      expect(answer.text).toMatch(/^\{"a":"[a-z]{1,4}"\}$/);
      expect(answer.end.completionTokens).toBeLessThanOrEqual(maxTokens);
    }
    expect(() => endless.start("q?", { grammar: locked, maxTokens: 10 })).toThrow(
      expect.objectContaining({ code: "budget_too_small" }),
    );
  });

  test("without a lock may run out of tokens inside its thoughts", async () => {
    const host = new FakeHost({
      ...{ rows: 1, lane: [1], thoughts },
      logit: (token) => (token === 0x2e ? 9 : 0),
    });
    const answer = await host.ask("q?", { maxTokens: 5 });
    expect(answer).toMatchObject({ reasoning: ".....", text: "" });
    expect(answer.end.finishReason).toBe("length");
  });
});
