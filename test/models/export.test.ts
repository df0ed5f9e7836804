import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportModel } from "../../models/train/generator/export.ts";
import { retokenized } from "../../models/train/generator/import.ts";
import { meanOf } from "../../models/train/generator/mean.ts";
import { Tokenizer } from "../../models/train/generator/tokenizer.ts";
import { readWeights, weightParts } from "../../models/train/generator/weights.ts";
import { readGguf } from "../../src/gguf/read.ts";
import { MANIFEST_PATH, readManifest, resolveModel } from "../../src/runtime/manifest.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-tiny-export-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const shape = { vocabulary: 21_312, width: 32, layers: 2, heads: 2, feedForward: 64 };

function someWeights(): Float32Array {
  const size = weightParts(shape).reduce((sum, part) => sum + part.rows * part.columns, 0);
  return Float32Array.from({ length: size }, (_, i) => Math.sin(i) / 4);
}

test("exported weights read back as they were, in half a step of their type", async () => {
  const path = join(folder, "model.gguf");
  const weights = someWeights();
  exportModel(path, shape, weights, "Q8_0");
  const back = await readWeights(path);
  expect(back.shape).toEqual(shape);
  const errors = weights.map((value, i) => Math.abs(value - (back.weights[i] ?? 0)));
  const worst = (part: Float32Array) => part.reduce((a, b) => Math.max(a, b));
  const embedding = shape.vocabulary * shape.width;
  // Q5_0 has one level less on one side of zero.
  expect(worst(errors.subarray(0, embedding))).toBeLessThan(1.01 * (0.25 / 16));
  expect(worst(errors.subarray(embedding))).toBeLessThan(0.25 / 127);
});

test("weights for another tokenizer: known tokens keep their row, a new one is the mean of its pieces", () => {
  const [from, to] = [
    new Tokenizer([["a", "b"]]),
    new Tokenizer([
      ["a", "b"],
      ["ab", "c"],
    ]),
  ];
  const small = { vocabulary: from.tokens.length, width: 2, layers: 0, heads: 1, feedForward: 0 };
  const weights = Float32Array.from({ length: 2 * small.vocabulary + 2 }, (_, i) => i);
  const rows = to.tokens.length + 3;
  const made = retokenized(small, weights, from, to, rows);
  const row = (all: Float32Array, id = -1) => [...all.subarray(2 * id, 2 * id + 2)];
  for (const token of from.tokens)
    expect(row(made, to.find(token))).toEqual(row(weights, from.find(token)));
  const [[x = 0, y = 0], [u = 0, v = 0]] = [from.find("ab"), from.find("c")].map((id) =>
    row(weights, id),
  ) as [number[], number[]];
  expect(row(made, to.find("abc"))).toEqual([(x + u) / 2, (y + v) / 2]);
  expect(row(made, rows - 1)).toEqual([0, 0]);
  expect([...made.subarray(2 * rows)]).toEqual([...weights.subarray(2 * small.vocabulary)]);
});

test("a file has weights for every token and a template that opens the answer", async () => {
  const path = join(folder, "again.gguf");
  exportModel(path, shape, someWeights(), "F32");
  const { metadata } = await readGguf(path);
  const tokens = metadata.get("tokenizer.ggml.tokens");
  expect(tokens?.type === "array" && tokens.value.length).toBe(shape.vocabulary);
  expect(metadata.get("tokenizer.chat_template")?.value).toMatch(/<\|assistant\|>/);
});

test("heads are as wide as fast kernels want, with nothing in what was added", async () => {
  const path = join(folder, "heads.gguf");
  const weights = someWeights();
  exportModel(path, shape, weights, "F32");
  const { metadata, tensors } = await readGguf(path);
  expect(metadata.get("llama.attention.key_length")?.value).toBe(64);
  const dimensions = (name: string) =>
    tensors.find((tensor) => tensor.name === `blk.0.attn_${name}.weight`)?.dimensions;
  expect(["q", "k", "v"].map(dimensions)).toEqual([
    [32, 128],
    [32, 128],
    [32, 128],
  ]);
  expect(dimensions("output")).toEqual([128, 32]);
  // Pair 3 of a trained head of 16 turns as fast as before.
  const base = Number(metadata.get("llama.rope.freq_base")?.value);
  expect(base ** (-6 / 64)).toBeCloseTo(10_000 ** (-6 / 16), 6);
  const back = await readWeights(path);
  const errors = weights.map((value, i) => Math.abs(value - (back.weights[i] ?? 0)));
  expect(errors.reduce((a, b) => Math.max(a, b))).toBeLessThan(1e-6);
});

test("a mean counts each model by its share, whatever the shares add up to", () => {
  const [one, other] = [Float32Array.of(1, -2, 0.5), Float32Array.of(3, 2, 0.5)];
  const mean = meanOf([
    { share: 3, weights: one },
    { share: 1, weights: other },
  ]);
  expect([...mean]).toEqual([1.5, -1, 0.5]);
  expect(() => meanOf([])).toThrow("needs weights");
  expect(() => meanOf([{ share: 0, weights: one }])).toThrow("needs weights");
  const short = { share: 1, weights: Float32Array.of(1) };
  expect(() => meanOf([{ share: 1, weights: one }, short])).toThrow("1 numbers, those before 3");
});

test("weights of another shape are refused", () => {
  const path = join(folder, "wrong.gguf");
  expect(() => exportModel(path, shape, new Float32Array(10), "F32")).toThrow("10 numbers");
});

test("the embedded model is 8 MB at most, and has the digest of the manifest", async () => {
  const { path, sha256, schemaPrompt } = resolveModel(
    await readManifest(MANIFEST_PATH),
    "svc-tiny",
  );
  expect(statSync(path).size).toBeLessThanOrEqual(8_000_000);
  expect(createHash("sha256").update(readFileSync(path)).digest("hex")).toBe(sha256 ?? "");
  expect(schemaPrompt).toBe("sketch");
});
