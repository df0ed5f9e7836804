/** `bun generator/import.ts MODEL.gguf WEIGHTS.f32`: weights to go on training from. */
import { writeFileSync } from "node:fs";
import { readWeights } from "./weights.ts";

const [from, to] = Bun.argv.slice(2);
if (from === undefined || to === undefined)
  throw new Error("usage: import.ts MODEL.gguf WEIGHTS.f32");
const { shape, weights } = await readWeights(from);
writeFileSync(to, new Uint8Array(weights.buffer));
process.stdout.write(`${JSON.stringify(shape)}\n`);
