/** An embedding model with random weights over BERT's vocabulary: a few megabytes, real tokenizer. */
import { readGguf } from "../../src/gguf/read.ts";
import type { GgufValue } from "../../src/gguf/types.ts";
import { type TensorSource, writeGguf } from "../../src/gguf/write.ts";
import { cached, vocabularyPath } from "./vocabularies.ts";

/** How many numbers its vectors have. */
export const BERT_WIDTH = 64;
/** The longest text, in tokens. */
export const BERT_CONTEXT = 256;

const LAYERS = 2;
const FEED_FORWARD = 128;
const POOLING_MEAN = 1;

/** @returns the path of the model, made on first use. */
export async function randomBertPath(): Promise<string> {
  const vocabulary = await readGguf(vocabularyPath("bert-bge"));
  const metadata = new Map<string, GgufValue>();
  metadata.set("general.architecture", { type: "string", value: "bert" });
  metadata.set("general.name", { type: "string", value: "random bert" });
  const counts = {
    context_length: BERT_CONTEXT,
    embedding_length: BERT_WIDTH,
    block_count: LAYERS,
    feed_forward_length: FEED_FORWARD,
    "attention.head_count": 4,
    pooling_type: POOLING_MEAN,
  };
  for (const [key, value] of Object.entries(counts)) {
    metadata.set(`bert.${key}`, { type: "uint32", value });
  }
  metadata.set("bert.attention.causal", { type: "bool", value: false });
  metadata.set("bert.attention.layer_norm_epsilon", { type: "float32", value: 1e-12 });
  for (const [key, value] of vocabulary.metadata) {
    if (key.startsWith("tokenizer.")) metadata.set(key, value);
  }
  const tokens = metadata.get("tokenizer.ggml.tokens");
  const size = tokens?.type === "array" ? tokens.value.length : 0;
  return cached("random-bert-1.gguf", (path) =>
    writeGguf(path, { metadata, tensors: tensorsOf(size) }),
  );
}

function tensorsOf(vocabularySize: number): TensorSource[] {
  const tensors: TensorSource[] = [];
  const add = (name: string, ...dimensions: number[]): void => {
    const seed = tensors.length + 1;
    const elements = dimensions.reduce((product, each) => product * each, 1);
    const data = (): Iterable<Uint8Array> => [
      randomFloats(elements, seed, /norm.weight$/.test(name)),
    ];
    tensors.push({ name, type: "F32", dimensions, data });
  };
  const norm = (name: string): void => {
    add(`${name}.weight`, BERT_WIDTH);
    add(`${name}.bias`, BERT_WIDTH);
  };
  const linear = (name: string, from: number, to: number): void => {
    add(`${name}.weight`, from, to);
    add(`${name}.bias`, to);
  };
  add("token_embd.weight", BERT_WIDTH, vocabularySize);
  add("position_embd.weight", BERT_WIDTH, BERT_CONTEXT);
  add("token_types.weight", BERT_WIDTH, 2);
  norm("token_embd_norm");
  for (let layer = 0; layer < LAYERS; layer++) {
    const block = `blk.${layer}`;
    for (const part of ["q", "k", "v", "output"]) {
      linear(`${block}.attn_${part}`, BERT_WIDTH, BERT_WIDTH);
    }
    norm(`${block}.attn_output_norm`);
    linear(`${block}.ffn_up`, BERT_WIDTH, FEED_FORWARD);
    linear(`${block}.ffn_down`, FEED_FORWARD, BERT_WIDTH);
    norm(`${block}.layer_output_norm`);
  }
  return tensors;
}

/** Uniform, or all ones. */
function randomFloats(count: number, seed: number, ones: boolean): Uint8Array {
  let state = seed * 2_654_435_761;
  const values = Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return ones ? 1 : (state / 2 ** 32 - 0.5) / 2;
  });
  return new Uint8Array(values.buffer);
}
