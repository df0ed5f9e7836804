/**
 * `bun generator/import.ts MODEL.gguf WEIGHTS.f32 ROWS`: weights to go on training from, their
 * embedding with as many rows as said. Where the model has another tokenizer than `data/merges.txt`,
 * a token that is new to it begins as the mean of those that it takes for the same text.
 */
import { writeFileSync } from "node:fs";
import { readTokenizer } from "./shards.ts";
import { Tokenizer } from "./tokenizer.ts";
import { readWeights, type Shape } from "./weights.ts";

/** @returns the weights with an embedding of `rows` rows, in the order of the tokens of `to`. */
export function retokenized(
  { vocabulary, width }: Shape,
  weights: Float32Array,
  from: Tokenizer,
  to: Tokenizer,
  rows: number,
): Float32Array {
  const rest = weights.subarray(vocabulary * width);
  const out = new Float32Array(rows * width + rest.length);
  for (const [id, token] of to.tokens.entries()) {
    const known = from.find(token);
    const sources = known === undefined ? from.encodeBytes([...token]) : [known];
    for (const source of sources)
      for (let i = 0; i < width; i++) {
        const at = id * width + i;
        out[at] = (out[at] ?? 0) + (weights[source * width + i] ?? 0) / sources.length;
      }
  }
  out.set(rest, rows * width);
  return out;
}

if (import.meta.main) {
  const [path, to, rows] = Bun.argv.slice(2);
  if (path === undefined || to === undefined || rows === undefined)
    throw new Error("usage: import.ts MODEL.gguf WEIGHTS.f32 ROWS");
  const { shape, weights, merges } = await readWeights(path);
  const made = retokenized(shape, weights, new Tokenizer(merges), readTokenizer(), Number(rows));
  writeFileSync(to, new Uint8Array(made.buffer));
  process.stdout.write(`${JSON.stringify({ ...shape, vocabulary: Number(rows) })}\n`);
}
