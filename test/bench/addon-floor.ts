/**
 * What node-llama-cpp's addon costs the thread that runs JavaScript: a loop of nothing but its two
 * calls a token, each of which wakes a thread and is woken by it.
 */
import { getLlama } from "node-llama-cpp";
import type { Bindings } from "../../src/runtime/bindings.ts";

const TOKENS = 400;

/** Milliseconds of that thread per token. */
export async function addonFloorMs(modelPath: string): Promise<number> {
  const llama = await getLlama({ gpu: false, build: "never", skipDownload: true });
  const bindings = (llama as unknown as { readonly _bindings: Bindings })._bindings;
  const loading = { addonExports: bindings, gpuLayers: 0, useMmap: true };
  const model = new bindings.AddonModel(modelPath, loading);
  if (!(await model.init())) throw new Error("the model is not loaded");
  const context = new bindings.AddonContext(model, {
    ...{ contextSize: 1024, batchSize: 64, sequences: 1, threads: 1 },
    ...{ flashAttention: false, swaFullCache: false },
  });
  if (!(await context.init())) throw new Error("the context is not opened");
  const sampler = new bindings.AddonSampler(model);
  sampler.applyConfig({ temperature: 0 });
  const [tokens, wanted] = [new Uint32Array(1), Uint32Array.of(0)];
  const run = async (from: number, to: number): Promise<void> => {
    for (let position = from; position < to; position++) {
      context.initBatch(1);
      const output = context.addToBatch(0, position, tokens, wanted)[0] ?? 0;
      await context.decodeBatch();
      tokens[0] = await context.sampleToken(output, sampler);
    }
  };
  await run(0, TOKENS);
  const before = process.threadCpuUsage();
  await run(TOKENS, 2 * TOKENS);
  const { user, system } = process.threadCpuUsage(before);
  await context.dispose();
  await model.dispose();
  return (user + system) / 1000 / TOKENS;
}
