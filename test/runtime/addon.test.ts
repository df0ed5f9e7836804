import { afterAll, expect, test } from "bun:test";
import { type Model, openRuntime } from "../../src/runtime/addon.ts";
import { DeviceLock } from "../../src/runtime/device-lock.ts";
import { MANIFEST_PATH, readManifest, resolveModel } from "../../src/runtime/manifest.ts";

const models: Model[] = [];
afterAll(async () => {
  for (const model of models) await model.dispose();
});

test("the best tokens are those that the model's logits rank first", async () => {
  const runtime = await openRuntime({ forceCpu: true, threads: 1, log: () => {} });
  const { path } = resolveModel(await readManifest(MANIFEST_PATH), "svc-tiny");
  const model = await runtime.loadModel(path);
  models.push(model);
  const options = {
    ...{ slots: 1, slotPositions: 256, batchTokensMax: 64, threads: 1, stepThreads: 1 },
    ...{ flashAttention: false, canTruncate: true, slidingWindow: false, lora: null },
  };
  const decoder = await model.openContext(options, new DeviceLock(1));
  for (const text of ["The invoice of", "a", "{", "12 March 2026, to"]) {
    const [output = -1] = await decoder.step([
      { slot: 0, tokens: model.tokenize(text, false), output: true },
    ]);
    const ranked = await decoder.ranked(0, output);
    const { best, logits } = await decoder.probe(0, output, [], 200);
    const byLogit = [...logits].sort(([a, x], [b, y]) => y - x || a - b).map(([token]) => token);
    expect(ranked.length).toBeGreaterThan(8);
    expect(ranked).toEqual(byLogit.slice(0, ranked.length));
    expect(ranked[0]).toBe(best);
  }
  await decoder.dispose();
});
