import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportModel } from "../../models/train/generator/export.ts";
import { retokenized } from "../../models/train/generator/import.ts";
import { meanOf } from "../../models/train/generator/mean.ts";
import { Tokenizer } from "../../models/train/generator/tokenizer.ts";
import { readWeights, splitWeights, weightParts } from "../../models/train/generator/weights.ts";
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
  // Q5_0 has one level less on one side of zero.
  const step = { Q5_0: 1.01 * (0.25 / 16), Q8_0: 0.25 / 127, F32: 1e-9 };
  const types = new Map((await readGguf(path)).tensors.map(({ name, type }) => [name, type]));
  const read = new Map([...splitWeights(shape, back.weights)].map((one) => [one.name, one.values]));
  for (const { name, values } of splitWeights(shape, weights)) {
    const errors = values.map((value, i) => Math.abs(value - (read.get(name)?.[i] ?? Infinity)));
    const type = types.get(name) as keyof typeof step;
    expect(errors.reduce((most, error) => Math.max(most, error))).toBeLessThan(step[type]);
  }
  const coarse = [...types].flatMap(([name, type]) => (type === "Q5_0" ? [name] : []));
  expect(coarse).toEqual(["token_embd.weight"]);
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

test("heads are as wide as fast kernels want, and turn as slowly as the trainer turns them", async () => {
  const path = join(folder, "heads.gguf");
  const weights = someWeights();
  exportModel(path, shape, weights, "F32");
  const { metadata, tensors } = await readGguf(path);
  const whole = (key: string) => metadata.get(`llama.${key}`)?.value;
  expect(whole("attention.key_length")).toBe(64);
  expect(whole("rope.dimension_count")).toBe(64);
  const dimensions = (name: string) =>
    tensors.find((tensor) => tensor.name === `blk.0.attn_${name}.weight`)?.dimensions;
  for (const name of ["q", "k", "v"]) expect(dimensions(name)).toEqual([32, 128]);
  expect(dimensions("output")).toEqual([128, 32]);
  // As ROPE_BASE of models/train/trainer/model.py.
  expect(Number(whole("rope.freq_base"))).toBeCloseTo(37_275.937, 2);
  expect((await readWeights(path)).weights).toEqual(weights);
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

test("the embedded model, read as weights and exported again, has the same bytes", async () => {
  const { path } = resolveModel(await readManifest(MANIFEST_PATH), "svc-tiny");
  const again = join(folder, "embedded.gguf");
  const { shape: has, weights } = await readWeights(path);
  exportModel(again, has, weights, "Q8_0");
  expect(readFileSync(again).equals(readFileSync(path))).toBe(true);
});
