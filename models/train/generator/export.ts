/**
 * Writes a trained model as GGUF: `bun generator/export.ts WEIGHTS.f32 MODEL.gguf SHAPE [TYPE]`, the
 * shape as the trainer takes it (vocabulary,width,layers,heads,feed_forward).
 */
import { readFileSync } from "node:fs";
import { type QuantizedType, quantize } from "../../../src/gguf/quantize.ts";
import type { GgufValue } from "../../../src/gguf/types.ts";
import { type TensorSource, writeGguf } from "../../../src/gguf/write.ts";
import { CHAT_TEMPLATE } from "./prompt.ts";
import { readMerges } from "./shards.ts";
import { CONTROL, type Merge, Tokenizer } from "./tokenizer.ts";
import { headWidth, type Part, type Shape, splitWeights } from "./weights.ts";

const CONTEXT = 1024;
/** As trainer/model.py has it. The heads of the first runs were 56 wide, with a base of 10,000. */
const ROPE_BASE = 10_000 ** (64 / 56);
const NORMAL = 1;
const CONTROL_TYPE = 3;
const UNUSED = 5;
/** `general.file_type` (llama.cpp, `llama_ftype`). */
const FILE_TYPES: Readonly<Partial<Record<QuantizedType, number>>> = { F32: 0, F16: 1, Q8_0: 7 };

function metadataOf(
  shape: Shape,
  merges: readonly Merge[],
  type: QuantizedType,
): Map<string, GgufValue> {
  const tokenizer = new Tokenizer(merges);
  const named = tokenizer.tokens.length;
  const unused = Array.from({ length: shape.vocabulary - named }, (_, i) => `<|unused${i}|>`);
  const types = tokenizer.tokens.map((_, id) =>
    id < named - CONTROL.length ? NORMAL : CONTROL_TYPE,
  );
  const text = (value: string): GgufValue => ({ type: "string", value });
  const whole = (value: number): GgufValue => ({ type: "uint32", value });
  const float = (value: number): GgufValue => ({ type: "float32", value });
  const no: GgufValue = { type: "bool", value: false };
  const strings = (value: readonly string[]): GgufValue => ({ type: "array", of: "string", value });
  return new Map<string, GgufValue>([
    ["general.architecture", text("llama")],
    ["general.name", text("svc-tiny")],
    ["general.license", text("mit")],
    ["general.file_type", whole(FILE_TYPES[type] ?? 0)],
    ["llama.context_length", whole(CONTEXT)],
    ["llama.embedding_length", whole(shape.width)],
    ["llama.block_count", whole(shape.layers)],
    ["llama.feed_forward_length", whole(shape.feedForward)],
    ["llama.attention.head_count", whole(shape.heads)],
    ["llama.attention.head_count_kv", whole(shape.heads)],
    ["llama.attention.key_length", whole(headWidth(shape))],
    ["llama.attention.value_length", whole(headWidth(shape))],
    // A prompt is read in both directions (trainer/kernels.c); of an answer a call has one token.
    ["llama.attention.causal", no],
    ["llama.rope.dimension_count", whole(headWidth(shape))],
    ["llama.rope.freq_base", float(ROPE_BASE)],
    ["llama.attention.layer_norm_rms_epsilon", float(1e-5)],
    ["llama.vocab_size", whole(shape.vocabulary)],
    ["tokenizer.ggml.model", text("gpt2")],
    ["tokenizer.ggml.pre", text("gpt-2")],
    ["tokenizer.ggml.tokens", strings([...tokenizer.tokens, ...unused])],
    [
      "tokenizer.ggml.token_type",
      { type: "array", of: "int32", value: [...types, ...unused.map(() => UNUSED)] },
    ],
    ["tokenizer.ggml.merges", strings(merges.map(([left, right]) => `${left} ${right}`))],
    ["tokenizer.ggml.bos_token_id", whole(tokenizer.control("<|endoftext|>"))],
    ["tokenizer.ggml.eos_token_id", whole(tokenizer.control("<|end|>"))],
    ["tokenizer.ggml.padding_token_id", whole(tokenizer.control("<|endoftext|>"))],
    ["tokenizer.ggml.add_bos_token", no],
    ["tokenizer.ggml.add_eos_token", no],
    ["tokenizer.chat_template", text(CHAT_TEMPLATE)],
  ]);
}

/** The embedding, more than half of the model, bears fewer bits; norms stay as they are. */
function typeOf({ name, rows }: Part, type: QuantizedType): QuantizedType {
  if (rows === 1) return "F32";
  return name === "token_embd.weight" && type === "Q8_0" ? "Q5_0" : type;
}

/** Matrices in `type`, at Q8_0 the embedding in Q5_0. */
export function exportModel(
  path: string,
  shape: Shape,
  weights: Float32Array,
  type: QuantizedType,
): void {
  const tensors = [...splitWeights(shape, weights)].map((part): TensorSource => {
    const { name, rows, columns, values } = part;
    const own = typeOf(part, type);
    const dimensions = rows === 1 ? [columns] : [columns, rows];
    return { name, type: own, dimensions, data: () => [quantize(own, values)] };
  });
  writeGguf(path, { metadata: metadataOf(shape, readMerges(), type), tensors });
}

if (import.meta.main) {
  const [from, to, sizes, type = "Q8_0"] = Bun.argv.slice(2);
  if (from === undefined || to === undefined || sizes === undefined) {
    throw new Error("usage: export.ts WEIGHTS.f32 MODEL.gguf SHAPE [F32|F16|Q8_0]");
  }
  const [vocabulary = 0, width = 0, layers = 0, heads = 0, feedForward = 0] = sizes
    .split(",")
    .map(Number);
  const weights = new Float32Array(new Uint8Array(readFileSync(from)).buffer);
  exportModel(
    to,
    { vocabulary, width, layers, heads, feedForward },
    weights,
    type as QuantizedType,
  );
}
