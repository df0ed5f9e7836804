/**
 * `bun generator/mean.ts OUT.f32 SHARE:WEIGHTS ...`: the mean of weights of one shape and tokenizer, each a run's
 * `weights.f32` or a GGUF that `export.ts` wrote. The shares need not add up to 1. Runs that went on from one
 * another lie in one basin, and what each of them learned by chance cancels out (Wortsman et al., Model soups, 2022).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { readWeights } from "./weights.ts";

export interface Weighed {
  readonly share: number;
  readonly weights: Float32Array;
}

/** @throws where the weights are not equally many or the shares do not add up to more than 0. */
export function meanOf(all: readonly Weighed[]): Float32Array {
  const [first] = all;
  const sum = all.reduce((total, { share }) => total + share, 0);
  if (first === undefined || !(sum > 0)) throw new Error("a mean needs weights with a share");
  const out = new Float64Array(first.weights.length);
  for (const { share, weights } of all) {
    if (weights.length !== out.length)
      throw new Error(`the weights are ${weights.length} numbers, those before ${out.length}`);
    for (const [i, value] of weights.entries()) out[i] = (out[i] ?? 0) + (share / sum) * value;
  }
  return new Float32Array(out);
}

async function read(argument: string): Promise<Weighed> {
  const [, share, path] = /^([0-9.]+):(.+)$/.exec(argument) ?? [];
  if (share === undefined || path === undefined)
    throw new Error(`${argument}: a share, a colon and a file, as in 0.5:weights.f32`);
  if (path.endsWith(".gguf")) return { share: Number(share), ...(await readWeights(path)) };
  const { buffer } = new Uint8Array(readFileSync(path));
  return { share: Number(share), weights: new Float32Array(buffer) };
}

if (import.meta.main) {
  const [out, ...parts] = Bun.argv.slice(2);
  if (out === undefined || parts.length === 0)
    throw new Error("usage: mean.ts OUT.f32 SHARE:WEIGHTS ...");
  const mean = meanOf(await Promise.all(parts.map(read)));
  writeFileSync(out, new Uint8Array(mean.buffer));
}
