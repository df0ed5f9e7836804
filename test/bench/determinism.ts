/**
 * Asks the same requests alone, in crowds, after a restart and as another tenant, and compares every
 * answer byte for byte, in the configuration that `svc serve` has by default.
 *
 *   bun test/bench/determinism.ts [--model FILE.gguf] [--weights Q8_0|F16|Q4_K|Q4_0|Q6_K]
 *     [--architecture llama|qwen2] [--vocabulary NAME] [--requests N] [--words N] [--threads N] [--gpu]
 *
 * Without --model one with random weights over a whole vocabulary is made. The last line is JSON;
 * exit code 1 means that answers differ.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { GATEWAY_DEFAULTS } from "../../src/gateway.ts";
import { createTestGateway } from "../../src/testing.ts";
import { proofRequests, prove } from "../helpers/determinism.ts";
import { type RandomWeights, randomModelPath, SMALL } from "../helpers/random-model.ts";
import type { VocabularyName } from "../helpers/vocabularies.ts";

const { values: args } = parseArgs({
  options: {
    model: { type: "string" },
    weights: { type: "string", default: "Q8_0" },
    architecture: { type: "string", default: "llama" },
    vocabulary: { type: "string" },
    requests: { type: "string", default: "200" },
    words: { type: "string", default: "300" },
    threads: { type: "string" },
    gpu: { type: "boolean", default: false },
  },
});
const architecture = args.architecture === "qwen2" ? "qwen2" : "llama";
const vocabulary = args.vocabulary ?? (architecture === "qwen2" ? "qwen2" : SMALL.vocabulary);
const model =
  args.model ??
  (await randomModelPath({
    ...SMALL,
    weights: args.weights as RandomWeights,
    architecture,
    vocabulary: vocabulary as VocabularyName,
  }));
const dataDir = mkdtempSync(join(tmpdir(), "svc-determinism-"));
const started = performance.now();
const proof = await prove(
  () =>
    createTestGateway({
      dataDir,
      tiers: { "svc-tier-a": model, "svc-tier-b": model },
      forceCpu: !args.gpu,
      threads: args.threads === undefined ? null : Number(args.threads),
      rows: GATEWAY_DEFAULTS.rows,
    }),
  proofRequests(Number(args.requests), Number(args.words)),
  (way) => process.stderr.write(`${((performance.now() - started) / 1000).toFixed(0)} s: ${way}\n`),
);
rmSync(dataDir, { recursive: true });
const { answers, differences, ...rest } = proof;
for (const each of differences.slice(0, 3)) process.stderr.write(`${JSON.stringify(each)}\n`);
const report = {
  model: args.model ?? `${architecture} ${args.weights} ${vocabulary}`,
  requests: answers.length,
  different_answers: new Set(answers).size,
  ...rest,
  differences: differences.length,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(differences.length === 0 ? 0 : 1);
