/**
 * What the model is trained on against what the server has it do: another token in one of the two,
 * and the training would be for nothing.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerText } from "../../models/train/generator/answer.ts";
import { readGeneratorData } from "../../models/train/generator/data-files.ts";
import { exportModel } from "../../models/train/generator/export.ts";
import { Rng } from "../../models/train/generator/rng.ts";
import { drawSample, type Sample, SHARES } from "../../models/train/generator/sample.ts";
import { encodeAnswer, encodePrompt, readTokenizer } from "../../models/train/generator/shards.ts";
import { weightParts } from "../../models/train/generator/weights.ts";
import { readGguf } from "../../src/gguf/read.ts";
import { compileSchema } from "../../src/grammar/compile.ts";
import { compileToolCall } from "../../src/grammar/tool-call.ts";
import { lockOf } from "../../src/mask/lock-of.ts";
import { loadVocabulary, type Vocabulary } from "../../src/mask/vocabulary.ts";
import { openRuntime } from "../../src/runtime/addon.ts";
import { PromptBuilder } from "../../src/runtime/prompt-builder.ts";
import { readShape } from "../../src/runtime/shape.ts";
import { printSketch } from "../../src/runtime/sketch.ts";
import { request } from "../helpers/engine.ts";

const tokenizer = readTokenizer();
const samples: Sample[] = [];
let folder: string;
let prompts: PromptBuilder;
let vocabulary: Vocabulary;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-tiny-prompts-"));
  const path = join(folder, "model.gguf");
  const shape = { vocabulary: 21_312, width: 32, layers: 1, heads: 2, feedForward: 32 };
  const size = weightParts(shape).reduce((sum, { rows, columns }) => sum + rows * columns, 0);
  exportModel(path, shape, new Float32Array(size).fill(0.01), "F32");
  const runtime = await openRuntime({ forceCpu: true, threads: 1, log: () => {} });
  const entry = {
    path,
    name: "svc-tiny",
    kind: null,
    sha256: null,
    licence: null,
    notes: null,
    contextTokens: null,
    threads: 1,
    chatTemplate: null,
    schemaPrompt: "sketch",
    lora: null,
  } as const;
  prompts = new PromptBuilder(
    await runtime.loadModel(path),
    entry,
    readShape(await readGguf(path)),
  );
  vocabulary = await loadVocabulary(path);
  const data = readGeneratorData();
  const [rng, domains] = [new Rng(11), [...data.templates.keys()]];
  while (samples.length < 150) samples.push(drawSample(rng, data, { shares: SHARES, domains }));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("the server's prompt is the one of training, token for token", () => {
  for (const sample of samples) {
    const { schema, tools, user } = sample;
    // The server puts the sketch in front of what the system says.
    const sketch = schema === null ? "" : printSketch(schema);
    const system = sample.system.slice(sketch.length).trimStart();
    const turns = system === "" ? [] : [{ role: "system" as const, content: system }];
    const messages = [...turns, { role: "user" as const, content: user }];
    const { tokens } = prompts.build({ ...request(""), messages, tools, schema });
    expect(tokens).toEqual(encodePrompt(tokenizer, sample));
  }
});

test("the lock allows every token of an answer, and forces none that training has otherwise", () => {
  for (const { schema, tools, answer } of samples) {
    const isCall = tools.length > 0 && answerText(answer).startsWith("{");
    if (schema === null && !isCall) continue;
    const specs = tools.map(({ name, parameters }) => ({ name, parameters, strict: true }));
    const grammar = isCall ? compileToolCall(specs, { allowText: true }) : compileSchema(schema);
    const lock = lockOf(grammar, vocabulary);
    const { tokens } = encodeAnswer(tokenizer, answer);
    for (let at = 0; at < tokens.length; at++) {
      const forced = lock.forcedTokens();
      expect(forced).toEqual(tokens.slice(at, at + forced.length));
      expect(lock.accept(tokens[at] ?? -1)).toBe(true);
    }
  }
});
