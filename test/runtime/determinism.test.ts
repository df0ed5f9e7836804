/**
 * Promise 2 on real engines, through the API: what a request is answered at temperature 0, or with
 * a seed, does not depend on what else runs, on what ran before, on cached prefixes, nor on the
 * process.
 *
 * Here a few requests to the embedded model; with SLOW=1 200 of them at temperature 0, and to random
 * weights over 128,256 and 151,936 tokens too: two architectures, four weight types.
 */
import { describe, expect, test } from "bun:test";
import { GATEWAY_DEFAULTS } from "../../src/gateway.ts";
import { createTestGateway } from "../../src/testing.ts";
import { type Asked, proofRequests, prove } from "../helpers/determinism.ts";
import { type RandomModel, randomModelPath, SMALL } from "../helpers/random-model.ts";
import { vocabulariesAvailable } from "../helpers/vocabularies.ts";
import { onFileEnd, temporaryDirectory } from "../trust-kit.ts";

const isSlow = process.env["SLOW"] === "1";

async function expectTheSame(model: string, asked: readonly Asked[]): Promise<void> {
  const dataDir = temporaryDirectory(onFileEnd);
  const tiers = { "svc-tier-a": model, "svc-tier-b": model };
  const { rows } = GATEWAY_DEFAULTS;
  // More threads would wait for each other where other tests run too.
  const proof = await prove(() => createTestGateway({ dataDir, tiers, rows, threads: 1 }), asked);
  expect(proof.differences).toEqual([]);
  expect(proof.deterministic).toBe(true);
  // Proves little where answers are all alike, or nobody left.
  expect(new Set(proof.answers).size).toBeGreaterThan(asked.length * 0.7);
  expect(proof.left).toBeGreaterThan(asked.length / 4);
  expect(proof.compared).toBe(3 * asked.length);
}

describe("the same request gets the same bytes", () => {
  test("from the embedded model, alone and in every crowd", async () => {
    await expectTheSame("svc-tiny", proofRequests(isSlow ? 200 : 8, 30));
  }, 600_000);

  const models: readonly Partial<RandomModel>[] = [
    { weights: "Q8_0" },
    { weights: "F16" },
    { weights: "Q4_K" },
    { weights: "Q8_0", architecture: "qwen2", vocabulary: "qwen2" },
    { weights: "Q4_0", architecture: "qwen2", vocabulary: "qwen2" },
  ];
  for (const change of models) {
    const name = `${change.architecture ?? "llama"} ${change.weights}`;
    test.skipIf(!isSlow || !vocabulariesAvailable)(
      `from random weights: ${name}`,
      async () => {
        await expectTheSame(
          await randomModelPath({ ...SMALL, ...change }),
          proofRequests(200, 200),
        );
      },
      1_800_000,
    );
  }
});
