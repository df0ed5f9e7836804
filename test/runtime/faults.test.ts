/** What a start refuses, and says about it; and that none of it reaches for a network. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readGguf } from "../../src/gguf/read.ts";
import type { GgufValue } from "../../src/gguf/types.ts";
import { writeGguf } from "../../src/gguf/write.ts";
import { MANIFEST_PATH } from "../../src/runtime/manifest.ts";
import { planContext } from "../../src/runtime/memory.ts";
import { readShape } from "../../src/runtime/shape.ts";
import { openTestEngine, readAnswer, request } from "../helpers/engine.ts";

const directory = mkdtempSync(join(tmpdir(), "svc-faults-"));
afterAll(() => rmSync(directory, { recursive: true }));
const tiny = join(MANIFEST_PATH, "..", "svc-tiny.gguf");

/** The embedded model with other metadata and without its weights: the header is read first. */
async function withMetadata(
  name: string,
  change: (metadata: Map<string, GgufValue>) => void,
): Promise<string> {
  const { metadata } = await readGguf(tiny);
  const changed = new Map(metadata);
  change(changed);
  const path = join(directory, name);
  writeGguf(path, { metadata: changed, tensors: [] });
  return path;
}

async function manifestWith(entry: Readonly<Record<string, unknown>>): Promise<string> {
  const path = join(directory, "manifest.json");
  writeFileSync(path, JSON.stringify({ model: entry }));
  return path;
}

describe("a start is refused", () => {
  test("for a file with another digest, naming both", async () => {
    writeFileSync(join(directory, "copy.gguf"), readFileSync(tiny));
    const expected = "0".repeat(64);
    const manifestPath = await manifestWith({
      file: "copy.gguf",
      sha256: expected,
      licence: "MIT",
    });
    const actual = new Bun.CryptoHasher("sha256").update(readFileSync(tiny)).digest("hex");
    await expect(openTestEngine("model", { manifestPath })).rejects.toMatchObject({
      code: "digest_mismatch",
      message: `${join(directory, "copy.gguf")} has the SHA-256 ${actual}, the manifest says ${expected}`,
    });
  });

  test("for a file that is cut off, wherever the cut is", async () => {
    const whole = readFileSync(tiny);
    for (const length of [0, 3, 20, 5000, 100_000]) {
      const path = join(directory, "cut.gguf");
      writeFileSync(path, whole.subarray(0, length));
      await expect(openTestEngine(path)).rejects.toMatchObject({ name: "GgufError" });
    }
    const path = join(directory, "cut.gguf");
    writeFileSync(path, whole.subarray(0, whole.length - 1000));
    const error = await openTestEngine(path).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toContain("cut.gguf");
  }, 30_000);

  test("for an architecture that llama.cpp does not know, named", async () => {
    const path = await withMetadata("odd.gguf", (metadata) => {
      metadata.set("general.architecture", { type: "string", value: "oddball" });
      for (const [key, value] of [...metadata]) {
        if (key.startsWith("llama.")) metadata.set(key.replace("llama.", "oddball."), value);
      }
    });
    await expect(openTestEngine(path)).rejects.toMatchObject({
      code: "unsupported_architecture",
      message: expect.stringContaining("does not know the architecture oddball"),
    });
  }, 30_000);

  test("for cells that no memory has room for, and what was loaded is let go of", async () => {
    await expect(openTestEngine("svc-tiny", { contextTokens: 2e9 })).rejects.toMatchObject({
      code: "not_enough_memory",
      message: expect.stringMatching(/needs \d+ MiB of memory, \d+ MiB are there/),
    });
  });

  test("for a name that is no model, without fetching anything", async () => {
    for (const model of ["llama-3", "https://example.com/model.gguf", "hf:user/model"]) {
      await expect(openTestEngine(model)).rejects.toMatchObject({ code: "unknown_model" });
    }
    const missing = join(directory, "missing.gguf");
    await expect(openTestEngine(missing)).rejects.toMatchObject({
      message: expect.stringContaining("missing.gguf"),
    });
  });

  test("for a manifest that is wrong, naming entry and member", async () => {
    const entry = { file: "copy.gguf", sha256: "0".repeat(64) };
    for (const [change, words] of [
      [{ sha256: "abc" }, "model sha256 is not 64 lowercase hex digits"],
      [{ file: "../other.gguf" }, "model file is not the name of a .gguf file"],
      [{ colour: "red" }, "model has an unknown member colour"],
      [{ threads: 0 }, "model threads is not a whole number above 0"],
    ] as const) {
      const manifestPath = await manifestWith({ ...entry, ...change });
      await expect(openTestEngine("model", { manifestPath })).rejects.toMatchObject({
        code: "invalid_manifest",
        message: expect.stringContaining(words),
      });
    }
  });
});

describe("chat templates", () => {
  const startWith = async (chatTemplate: string | null) => {
    const { metadata, tensors } = await readGguf(tiny);
    const changed = new Map(metadata);
    changed.delete("tokenizer.chat_template");
    const path = join(directory, "template.gguf");
    const bytes = readFileSync(tiny);
    writeGguf(path, {
      metadata: changed,
      tensors: tensors.map(({ name, type, dimensions, offset, bytes: size }) => ({
        ...{ name, type, dimensions },
        data: function* () {
          yield bytes.subarray(offset, offset + size);
        },
      })),
    });
    const sha256 = new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
    const manifestPath = await manifestWith({ file: "template.gguf", sha256, chatTemplate });
    return await openTestEngine("model", { manifestPath, contextTokens: 256, rows: 1 });
  };

  test("are asked for where neither file nor manifest has one", async () => {
    await expect(startWith(null)).rejects.toMatchObject({
      code: "no_chat_template",
      message: expect.stringContaining("models/manifest.json"),
    });
  }, 30_000);

  test("are refused where they do not parse, or cannot run", async () => {
    for (const template of ["{% for %}", "{{ 1 + nothing.at.all }}"]) {
      await expect(startWith(template)).rejects.toMatchObject({ code: "invalid_chat_template" });
    }
  }, 30_000);

  test("come from the manifest where the file has none", async () => {
    const template =
      "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>";
    const engine = await startWith(template);
    const answer = await readAnswer(await engine.complete(request("Hello")));
    expect(answer.text.length).toBeGreaterThan(3);
    await engine.close();
  }, 30_000);
});

test("memory decides about rows and context, and says what is missing", async () => {
  const shape = readShape(await readGguf(tiny));
  const mib = 2 ** 20;
  const plan = (totalMib: number, contextTokens: number | null = null, rows = 8) =>
    planContext(shape, 4 * mib, { contextTokens, rows, chunkTokens: 128 }, totalMib * mib);
  expect(plan(1000)).toMatchObject({ rows: 8, keepers: 4, contextTokens: 1024 });
  // 6,144 bytes a token: 12 sequences of 1,024 take 72 MiB.
  expect(plan(1000).cellsBytes).toBe(12 * 1024 * 6144);
  expect(plan(110)).toMatchObject({ rows: 4, contextTokens: 1024 });
  expect(plan(90)).toMatchObject({ rows: 2, contextTokens: 1024 });
  expect(plan(1000, 700)).toMatchObject({ contextTokens: 512 });
  expect(() => plan(30)).toThrow(
    expect.objectContaining({ code: "not_enough_memory", message: expect.stringContaining("MiB") }),
  );
});

test("two tiers share a file's weights, and no socket is opened", () => {
  const script = new URL("../helpers/two-tiers.ts", import.meta.url).pathname;
  const run = Bun.spawnSync([process.execPath, script]);
  const { answers, sockets, messages } = JSON.parse(run.stdout.toString());
  expect(answers[0]).toStartWith("Hello!");
  // Without a schema the prompt is the same.
  expect(answers[1]).toBe(answers[0]);
  expect(sockets).toEqual([]);
  const weights = messages.flatMap(
    (line: string) => line.match(/\d MiB weights( \(shared\))?/)?.[0],
  );
  expect(weights).toEqual(["7 MiB weights", "7 MiB weights (shared)"]);
}, 60_000);
