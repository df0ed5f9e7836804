/**
 * Models with random weights over a real vocabulary: full-size token tables at the price of a small
 * network. They know nothing, which is what makes them the worst case for a schema lock.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readGguf } from "../../src/gguf/read.ts";
import { type GgufValue, TENSOR_TYPES, tensorBytes } from "../../src/gguf/types.ts";
import { type TensorSource, writeGguf } from "../../src/gguf/write.ts";
import { cacheDirectory, cached, type VocabularyName, vocabularyPath } from "./vocabularies.ts";

export interface RandomModel {
  readonly architecture: "llama" | "qwen2";
  readonly vocabulary: VocabularyName;
  /** The type of every weight matrix; norms and biases are F32. */
  readonly weights: RandomWeights;
  /** A multiple of 256 for Q4_K and of 32 otherwise. */
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly feedForward: number;
  readonly contextLength: number;
  readonly seed: number;
  /** Jinja; null leaves the model without one. */
  readonly chatTemplate: string | null;
}

export type RandomWeights = "F16" | "Q8_0" | "Q4_0" | "Q4_K" | "Q6_K";

/** Small enough to be made in a fraction of a second; 128k tokens all the same. */
export const SMALL: RandomModel = {
  architecture: "llama",
  vocabulary: "llama-bpe",
  weights: "Q8_0",
  width: 256,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  feedForward: 512,
  contextLength: 4096,
  seed: 1,
  chatTemplate:
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n" +
    "{{ m.content }}<|eot_id|>{% endfor %}" +
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}",
};

/** @returns the path of the model, made on first use. */
export async function randomModelPath(model: RandomModel): Promise<string> {
  const digest = createHash("sha256").update(JSON.stringify(model)).update("2").digest("hex");
  const name = `${model.architecture}-${model.weights}-${digest.slice(0, 16)}.gguf`;
  const known = join(cacheDirectory(), name);
  if (existsSync(known)) return known;
  const vocabulary = await readGguf(vocabularyPath(model.vocabulary));
  return cached(name, (path) => {
    const metadata = modelMetadata(model, vocabulary.metadata);
    const tokens = metadata.get("tokenizer.ggml.tokens");
    const vocabularySize = tokens?.type === "array" ? tokens.value.length : 0;
    writeGguf(path, { metadata, tensors: modelTensors(model, vocabularySize) });
  });
}

function modelMetadata(
  model: RandomModel,
  vocabulary: ReadonlyMap<string, GgufValue>,
): Map<string, GgufValue> {
  const metadata = new Map<string, GgufValue>();
  const text = (key: string, value: string) => metadata.set(key, { type: "string", value });
  const whole = (key: string, value: number) =>
    metadata.set(`${model.architecture}.${key}`, { type: "uint32", value });
  text("general.architecture", model.architecture);
  text("general.name", `random ${model.weights}`);
  whole("context_length", model.contextLength);
  whole("embedding_length", model.width);
  whole("block_count", model.layers);
  whole("feed_forward_length", model.feedForward);
  whole("attention.head_count", model.heads);
  whole("attention.head_count_kv", model.kvHeads);
  whole("rope.dimension_count", model.width / model.heads);
  metadata.set(`${model.architecture}.attention.layer_norm_rms_epsilon`, {
    type: "float32",
    value: 1e-5,
  });
  metadata.set(`${model.architecture}.rope.freq_base`, { type: "float32", value: 10_000 });
  for (const [key, value] of vocabulary) {
    if (key.startsWith("tokenizer.") && key !== "tokenizer.chat_template") metadata.set(key, value);
  }
  if (model.chatTemplate !== null) text("tokenizer.chat_template", model.chatTemplate);
  return metadata;
}

function modelTensors(model: RandomModel, vocabularySize: number): TensorSource[] {
  const { width, feedForward, weights } = model;
  const kvWidth = (width / model.heads) * model.kvHeads;
  const tensors: TensorSource[] = [];
  const add = (name: string, type: RandomWeights | "F32", dimensions: readonly number[]) => {
    const seed = (model.seed * 1_000_003 + tensors.length * 7919) >>> 0;
    const data = () => randomTensor(type, dimensions, name.endsWith("norm.weight"), seed);
    tensors.push({ name, type, dimensions, data });
  };
  add("token_embd.weight", weights, [width, vocabularySize]);
  add("output_norm.weight", "F32", [width]);
  for (let layer = 0; layer < model.layers; layer++) {
    const block = `blk.${layer}`;
    add(`${block}.attn_norm.weight`, "F32", [width]);
    add(`${block}.attn_q.weight`, weights, [width, width]);
    add(`${block}.attn_k.weight`, weights, [width, kvWidth]);
    add(`${block}.attn_v.weight`, weights, [width, kvWidth]);
    add(`${block}.attn_output.weight`, weights, [width, width]);
    if (model.architecture === "qwen2") {
      add(`${block}.attn_q.bias`, "F32", [width]);
      add(`${block}.attn_k.bias`, "F32", [kvWidth]);
      add(`${block}.attn_v.bias`, "F32", [kvWidth]);
    }
    add(`${block}.ffn_norm.weight`, "F32", [width]);
    add(`${block}.ffn_gate.weight`, weights, [width, feedForward]);
    add(`${block}.ffn_up.weight`, weights, [width, feedForward]);
    add(`${block}.ffn_down.weight`, weights, [feedForward, width]);
  }
  return tensors;
}

/** Pieces of this many bytes at most are made at a time. */
const PIECE_BYTES_MAX = 8 << 20;

function* randomTensor(
  type: RandomWeights | "F32",
  dimensions: readonly number[],
  ones: boolean,
  seed: number,
): Generator<Uint8Array> {
  const total = tensorBytes(type, dimensions) ?? 0;
  const { blockBytes } = TENSOR_TYPES[type];
  if (type === "F32") {
    const random = new Random(seed);
    const values = Float32Array.from({ length: total / 4 }, () =>
      ones ? 1 : (random.next() / 2 ** 32 - 0.5) / 8,
    );
    yield new Uint8Array(values.buffer);
    return;
  }
  const random = new Random(seed);
  const piece = Math.floor(PIECE_BYTES_MAX / blockBytes / 4) * blockBytes * 4;
  for (let done = 0; done < total; done += piece) {
    const bytes = random.bytes(Math.min(piece, total - done));
    shapeBlocks(type, bytes, dimensions[0] ?? 1);
    yield bytes;
  }
}

/**
 * Turns random bytes into weights of mean 0 and a standard deviation near 1 / sqrt(row length): the
 * numbers stay random, the scales are set, a little different from block to block.
 */
function shapeBlocks(type: RandomWeights, bytes: Uint8Array, rowElements: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const deviation = 1 / Math.sqrt(rowElements);
  const { blockBytes } = TENSOR_TYPES[type];
  for (let at = 0; at < bytes.length; at += blockBytes) {
    const vary = 0.75 + (view.getUint8(at) / 255) * 0.5;
    switch (type) {
      case "F16": {
        const uniform = view.getInt16(at, true) / 32_768;
        view.setFloat16(at, uniform * deviation * Math.sqrt(3), true);
        break;
      }
      case "Q8_0":
        // Signed bytes, uniform: their deviation is 74.
        view.setFloat16(at, (deviation * vary) / 74, true);
        break;
      case "Q4_0":
        // Numbers -8..7: deviation 4.6.
        view.setFloat16(at, (deviation * vary) / 4.6, true);
        break;
      case "Q4_K":
        // Scale and minimum of every sub-block 32, so that 7.5 steps and the minimum cancel.
        view.setFloat16(at, (deviation * vary) / 4.6 / 32, true);
        view.setFloat16(at + 2, ((deviation * vary) / 4.6 / 32) * 7.5, true);
        for (let index = 0; index < 4; index++) {
          view.setUint8(at + 4 + index, 0b10_100000);
          view.setUint8(at + 8 + index, 0b10_100000);
          view.setUint8(at + 12 + index, 0);
        }
        break;
      case "Q6_K":
        // 16 signed scales before the half at the end; numbers -32..31: deviation 18.5.
        for (let index = 0; index < 16; index++) view.setInt8(at + 192 + index, 64);
        view.setFloat16(at + 208, (deviation * vary) / 18.5 / 64, true);
        break;
    }
  }
}

/** xorshift32, four lanes at a time: speed matters more than quality here. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed === 0 ? 1 : seed;
    for (let warm = 0; warm < 8; warm++) this.next();
  }

  /** 0..2³²-1 */
  next(): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return x >>> 0;
  }

  /** @param length a multiple of 2. */
  bytes(length: number): Uint8Array {
    const words = new Uint32Array(Math.ceil(length / 4));
    for (let index = 0; index < words.length; index++) words[index] = this.next();
    return new Uint8Array(words.buffer, 0, length);
  }
}
