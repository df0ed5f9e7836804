/** Several contexts beside each other: who takes a request, and what runs at the same time. */
import { describe, expect, test } from "bun:test";
import { DeviceLock } from "../../src/runtime/device-lock.ts";
import { planCalls } from "../../src/runtime/lane.ts";
import { contextsFor } from "../../src/runtime/threads.ts";
import { readAnswer } from "../helpers/engine.ts";
import { FakeHost } from "../helpers/fake-host.ts";

const MIB = 2 ** 20;
const neverEnd = (token: number): number | undefined => (token >= 256 ? -100 : undefined);
const newHost = (queueMax = 64) =>
  new FakeHost({ rows: 2, contexts: 2, lane: [1, 2], logit: neverEnd, queueMax });
const promptsIn = (host: FakeHost): string[][] =>
  host.decoders.map(({ calls }) =>
    calls
      .filter(({ lengths, rows }) => lengths[0] === 0 && (rows[0]?.tokens.length ?? 0) > 1)
      .map(({ rows }) => Buffer.from(rows[0]?.tokens ?? []).toString()),
  );

describe("a request", () => {
  test("goes to the context with the fewest answers", async () => {
    const host = newHost();
    const texts = ["one", "two", "three", "four"];
    await Promise.all(texts.map((text) => host.ask(text, { maxTokens: 20 })));
    expect(promptsIn(host)).toEqual([
      ["one", "three"],
      ["two", "four"],
    ]);
  });

  test("goes to the context that knows its beginning, where both are as busy", async () => {
    const host = newHost();
    const texts = ["a", "b"].map((letter) => letter.repeat(40));
    await Promise.all(texts.map((text) => host.ask(text, { maxTokens: 20 })));
    for (const text of [...texts, ...texts]) {
      expect((await host.ask(text, { maxTokens: 2 })).end.cachedTokens).toBe(32);
    }
  });

  test("waits in one queue, and the first free slot of any context takes it", async () => {
    const host = newHost(4);
    const long = ["l1", "l2", "l3"].map((text) => host.ask(text, { maxTokens: 300 }));
    const short = host.ask("short", { maxTokens: 5 });
    await new Promise((resolve) => setImmediate(resolve));
    const waiting = ["w1", "w2", "w3", "w4"].map((text) => host.start(text, { maxTokens: 5 }));
    expect(waiting.map(({ queuePosition }) => queuePosition)).toEqual([1, 2, 3, 4]);
    expect(host.pool.stats).toMatchObject({ queued: 4, rowsUsed: 4, rows: 4 });
    expect(() => host.start("w5")).toThrow(expect.objectContaining({ code: "queue_full" }));
    await Promise.all([short, ...waiting.map((answer) => readAnswer(answer))]);
    expect(host.pool.stats).toMatchObject({ queued: 0, rowsUsed: 3 });
    await Promise.all(long);
    expect(host.pool.stats).toMatchObject({ rowsUsed: 0, sampledTokens: 925 });
  });

  test("that waits and is cancelled leaves its place to others", async () => {
    const host = newHost();
    const stop = new AbortController();
    const running = ["1", "2", "3", "4"].map((text) => host.ask(text, { maxTokens: 30 }));
    const left = host.start("left", { signal: stop.signal });
    const next = host.ask("next", { maxTokens: 3 });
    const ended = readAnswer(left).catch((error) => error.code);
    stop.abort();
    expect(await ended).toBe("cancelled");
    await Promise.all([...running, next]);
    expect(host.pool.stats).toMatchObject({ queued: 0, rowsUsed: 0 });
  });

  test("gets the same answer from each context, alone and in a crowd", async () => {
    const shade = ({ rows }: { readonly rows: readonly unknown[] }) =>
      rows.length === 1 ? "one" : "many";
    const texts = Array.from(
      { length: 24 },
      (_, index) => `${"common ".repeat(index % 5)}${index}`,
    );
    const single = new FakeHost({ rows: 4, lane: [2, 3, 4], shade });
    const alone: string[] = [];
    for (const text of texts) alone.push((await single.ask(text, { maxTokens: 25 })).text);
    const host = new FakeHost({ rows: 4, contexts: 3, lane: [2, 3, 4], shade });
    const crowd = await Promise.all(texts.map((text) => host.ask(text, { maxTokens: 25 })));
    expect(crowd.map(({ text }) => text)).toEqual(alone);
    expect(host.decoders.every(({ calls }) => calls.length > 20)).toBe(true);
  });

  test("fails with its own context; the other's answers go on", async () => {
    const host = new FakeHost({
      ...{ rows: 2, contexts: 2, lane: [1, 2], logit: neverEnd },
      onStep: ({ rows }) => {
        if (rows.some(({ tokens }) => tokens.length > 1 && tokens.includes(33))) {
          throw new Error("Eval has failed");
        }
      },
    });
    const good = [host.ask("one", { maxTokens: 20 }), host.ask("two", { maxTokens: 20 })];
    await expect(host.ask("bad!")).rejects.toMatchObject({ code: "decode_failed" });
    for (const answer of good) expect((await answer).end.completionTokens).toBe(20);
  });

  test("ends with all of them when the server stops", async () => {
    const host = newHost();
    const codes = ["1", "2", "3", "4", "5", "6"].map((text) =>
      host.ask(text, { maxTokens: 400 }).catch((error) => error.code),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    await host.close();
    expect(await Promise.all(codes)).toEqual(new Array(6).fill("closed"));
    expect(host.decoders.map(({ disposed }) => disposed)).toEqual([true, true]);
  });
});

describe("the cores of a device", () => {
  /** Calls that run until they are told to end, in the order in which they began. */
  function begun() {
    const device = new DeviceLock(3);
    const names: string[] = [];
    const ends = new Map<string, () => void>();
    const call = (name: string, threads?: number) =>
      device.hold(() => {
        names.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      }, threads);
    const end = async (name: string) => {
      ends.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { names, call, end };
  }

  test("run calls side by side while each thread has one", async () => {
    const { names, call, end } = begun();
    const calls = [call("a", 1), call("b", 2), call("c", 1)];
    expect(names).toEqual(["a", "b"]);
    await end("a");
    expect(names).toEqual(["a", "b", "c"]);
    for (const name of ["b", "c"]) await end(name);
    await Promise.all(calls);
  });

  test("let a call that takes all of them wait for its turn and no longer", async () => {
    const { names, call, end } = begun();
    const calls = [call("a", 1), call("all"), call("b", 1), call("c", 9)];
    expect(names).toEqual(["a"]);
    await end("a");
    expect(names).toEqual(["a", "all"]);
    await end("all");
    expect(names).toEqual(["a", "all", "b"]);
    await end("b");
    expect(names).toEqual(["a", "all", "b", "c"]);
    await end("c");
    await Promise.all(calls);
  });

  test("are free again after a call that throws", async () => {
    const device = new DeviceLock(1);
    const fails = device.hold(() => Promise.reject(new Error("no")));
    const next = device.hold(async () => "next");
    await expect(fails).rejects.toThrow("no");
    expect(await next).toBe("next");
  });
});

test("a small model has a context for each core, a large one has one", () => {
  expect(contextsFor(8, 4 * MIB, 2)).toBe(2);
  expect(contextsFor(8, 82 * MIB, 16)).toBe(8);
  expect(contextsFor(8, 82 * MIB, 3)).toBe(2);
  expect(contextsFor(1, 4 * MIB, 8)).toBe(1);
  expect(contextsFor(8, 4 * MIB, 1)).toBe(1);
  expect(contextsFor(8, 7000 * MIB, 16)).toBe(1);
});

test("calls have the row counts that cost least where they were measured", () => {
  const slots = [0, 1, 2, 3];
  const plan = (costs: readonly number[]) =>
    planCalls([1, 2, 4], slots, 4, (rows) => costs[rows - 1] ?? 0).map(({ rows }) => rows);
  expect(plan([3, 16, 18, 19])).toEqual([1, 1, 1, 1]);
  expect(plan([3, 4, 5, 6])).toEqual([4]);
  expect(plan([3, 5, 7, 12])).toEqual([2, 2]);
});
