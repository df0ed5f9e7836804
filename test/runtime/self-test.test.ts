import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseLane, planCalls } from "../../src/runtime/lane.ts";
import { computeCanary, runSelfTest } from "../../src/runtime/self-test.ts";
import { openTestEngine } from "../helpers/engine.ts";
import { type FakeCall, FakeDecoder } from "../helpers/fake-decoder.ts";
import { temporaryDirectory } from "../trust-kit.ts";

const ROWS = 8;

function optionsFor(decoder: FakeDecoder, rows = ROWS) {
  return { decoder, vocabularySize: 258, chunkTokens: 128, rows, parameters: 1e6 };
}

async function classesOf(shade: (call: FakeCall, index: number) => string, canTruncate = true) {
  const decoder = new FakeDecoder({ slots: 12, slotPositions: 1024, shade, canTruncate });
  const { classes, unstable } = await runSelfTest(optionsFor(decoder));
  expect(Array.from({ length: 12 }, (_, slot) => decoder.length(slot))).toEqual(
    new Array(12).fill(0),
  );
  return { classes, unstable };
}

/** Prompts are calls of their own; only steps have a class. */
const inSteps = (shade: (call: FakeCall, index: number) => string | number) => {
  return (call: FakeCall, index: number) =>
    call.rows[index]?.output ? String(shade(call, index)) : "prompt";
};

const all = [1, 2, 3, 4, 5, 6, 7, 8];

describe("the self-test", () => {
  test("puts row counts of the same bits into one class", async () => {
    expect(await classesOf(() => "")).toEqual({ classes: [all], unstable: [] });
    // f16 on a CPU, measured.
    const lonely = inSteps(({ rows }) => (rows.length === 1 ? "one" : "many"));
    expect(await classesOf(lonely)).toEqual({ classes: [[1], all.slice(1)], unstable: [] });
  });

  test("finds row counts whose rows differ by their index", async () => {
    // Q4_K on a CPU, measured: rows go through another kernel in fours.
    const fours = inSteps(({ rows }, index) => (index < rows.length - (rows.length % 4) ? 4 : 1));
    expect(await classesOf(fours)).toEqual({
      classes: [
        [1, 2, 3],
        [4, 8],
      ],
      unstable: [5, 6, 7],
    });
  });

  test("leaves only the lone row where the longest neighbour reaches the bits", async () => {
    const longest = inSteps(({ lengths }) => Math.max(...lengths) >> 7);
    expect(await classesOf(longest)).toEqual({ classes: [[1]], unstable: all.slice(1) });
  });

  test("notices a class that holds for short sequences only", async () => {
    const split = inSteps(({ rows, lengths }, index) =>
      rows.length === 1 && (lengths[index] ?? 0) >= 256 ? "long" : "",
    );
    expect(await classesOf(split)).toEqual({ classes: [[1], all.slice(1)], unstable: [] });
  });

  test("finds nothing where nothing repeats", async () => {
    expect(await classesOf(({ step }) => String(step))).toEqual({ classes: [], unstable: all });
    const prompts = ({ step, rows }: FakeCall) => (rows[0]?.output ? "" : String(step));
    expect(await classesOf(prompts)).toEqual({ classes: [], unstable: all });
  });

  test("tries single rows alone where a sequence has no tail to remove", async () => {
    const found = await classesOf(() => "", false);
    expect(found).toEqual({ classes: [[1]], unstable: all.slice(1) });
  });

  test("the canary is the bits of the lane", async () => {
    const shaded = (shade: string) =>
      new FakeDecoder({ slots: 12, slotPositions: 1024, shade: () => shade });
    const sing = (shade: string) => computeCanary(optionsFor(shaded(shade)), [1, 2]);
    expect(await sing("a")).toBe(await sing("a"));
    expect(await sing("a")).not.toBe(await sing("b"));
  });
});

describe("the choice of a lane", () => {
  test("takes the class that serves few and many cheapest", () => {
    expect(chooseLane([all], 8)).toEqual({ lane: all, rows: 8 });
    expect(chooseLane([[1], all.slice(1)], 8)).toEqual({ lane: all.slice(1), rows: 8 });
    expect(chooseLane([[1]], 8)).toEqual({ lane: [1], rows: 8 });
    expect(chooseLane([], 8)).toBeNull();
  });

  test("uses as many slots as whole calls cover", () => {
    expect(chooseLane([[4, 8]], 6)).toEqual({ lane: [4, 8], rows: 4 });
    expect(chooseLane([[4, 8]], 3)).toBeNull();
  });

  test("covers every active slot with consecutive rows, each in one call", () => {
    for (const lane of [[1], [2, 3], [1, 2, 4], [4, 8], all]) {
      for (let mask = 0; mask < 256; mask++) {
        const active = [...Array(8).keys()].filter((slot) => (mask >> slot) & 1);
        const calls = planCalls(lane, active, 8, (count) => 4 + count);
        const covered = calls.flatMap(({ first, rows }) =>
          Array.from({ length: rows }, (_, index) => first + index),
        );
        expect(covered.length).toBe(new Set(covered).size);
        expect(active.filter((slot) => !covered.includes(slot))).toEqual([]);
        expect(calls.every(({ rows }) => lane.includes(rows))).toBe(true);
      }
    }
  });
});

describe("the stored result", () => {
  const selfTestDir = mkdtempSync(join(tmpdir(), "svc-self-test-"));
  afterAll(() => rmSync(selfTestDir, { recursive: true }));
  const start = async () => {
    const messages: string[] = [];
    const log = (message: string) => messages.push(message);
    const engine = await openTestEngine("svc-tiny", {
      ...{ selfTestDir, rows: 2, contextTokens: 256 },
      log,
    });
    const info = engine.tiers.get("svc-tier-a");
    await engine.close();
    const [file = ""] = readdirSync(selfTestDir);
    return { info, path: join(selfTestDir, file), messages };
  };

  /** All but the times. */
  const found = (text: string) => {
    const { callMs, ...rest } = JSON.parse(text);
    expect(callMs).toHaveLength(2);
    expect(Math.min(...callMs)).toBeGreaterThan(0);
    return rest;
  };

  test("is made at the first start, believed while its canary holds, else made again", async () => {
    const first = await start();
    const text = readFileSync(first.path, "utf8");
    expect(first.info).toMatchObject({ deterministic: true, rows: 2 });
    expect(first.info?.fingerprint).toMatch(/^fp_[0-9a-f]{16}$/);
    expect(JSON.parse(text).classes.flat()).toContain(2);

    // A result that could not have been found shows that a second start takes it as it is.
    const stored = JSON.parse(text);
    writeFileSync(first.path, JSON.stringify({ ...stored, lengths: [7] }));
    const second = await start();
    expect(second.info).toEqual(first.info);
    expect(JSON.parse(readFileSync(first.path, "utf8")).lengths).toEqual([7]);

    writeFileSync(first.path, JSON.stringify({ ...stored, canary: "0".repeat(64) }));
    const third = await start();
    expect(third.info).toEqual(first.info);
    expect(third.messages.join("\n")).toContain("does not fit what this engine computes now");
    expect(found(readFileSync(first.path, "utf8"))).toEqual(found(text));

    writeFileSync(first.path, text.slice(0, 40));
    expect((await start()).info).toEqual(first.info);
    expect(found(readFileSync(first.path, "utf8"))).toEqual(found(text));
  }, 20_000);

  test("is done without where it cannot be written", async () => {
    const messages: string[] = [];
    const file = join(temporaryDirectory(), "file");
    writeFileSync(file, "");
    const engine = await openTestEngine("svc-tiny", {
      ...{ selfTestDir: file, rows: 1, contextTokens: 256 },
      log: (message) => messages.push(message),
    });
    expect(engine.tiers.get("svc-tier-a")?.deterministic).toBe(true);
    await engine.close();
    expect(messages.join("\n")).toContain("the self-test was not kept");
  });
});
