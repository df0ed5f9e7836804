/** The trainer's weights (`weights.f32`, in the order of trainer/model.py) as tensors of a GGUF. */
import { readFileSync } from "node:fs";
import { readGguf } from "../../../src/gguf/read.ts";
import { type Merge, mergeOf } from "./tokenizer.ts";

export interface Shape {
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly feedForward: number;
}

/** Heads are 64 wide, or a multiple of it: llama.cpp's fast kernels take rows of a multiple of 32. */
const HEAD_STEP = 64;

export const headWidth = ({ width, heads }: Shape): number =>
  Math.ceil(width / heads / HEAD_STEP) * HEAD_STEP;

/** A GGUF tensor: its name, rows and columns; a vector has one row. */
export interface Part {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
}

/** In the trainer's order; query, key and value lie one after the other there, as do gate and up. */
export function weightParts(shape: Shape): Part[] {
  const { vocabulary, width, layers, heads, feedForward } = shape;
  const inner = heads * headWidth(shape);
  const parts: Part[] = [{ name: "token_embd.weight", rows: vocabulary, columns: width }];
  const add = (name: string, rows: number, columns: number) => parts.push({ name, rows, columns });
  for (let i = 0; i < layers; i++) {
    for (const name of ["q", "k", "v"]) add(`blk.${i}.attn_${name}.weight`, inner, width);
    add(`blk.${i}.attn_output.weight`, width, inner);
    for (const name of ["gate", "up"]) add(`blk.${i}.ffn_${name}.weight`, feedForward, width);
    add(`blk.${i}.ffn_down.weight`, width, feedForward);
  }
  for (let i = 0; i < layers; i++) {
    for (const name of ["attn", "ffn"]) add(`blk.${i}.${name}_norm.weight`, 1, width);
  }
  add("output_norm.weight", 1, width);
  return parts;
}

/** Every part's values, in order; the buffer has as many as the shape says. */
export function* splitWeights(
  shape: Shape,
  weights: Float32Array,
): Generator<Part & { readonly values: Float32Array }> {
  let at = 0;
  for (const part of weightParts(shape)) {
    const size = part.rows * part.columns;
    yield { ...part, values: weights.subarray(at, at + size) };
    at += size;
  }
  if (at !== weights.length)
    throw new Error(`the weights are ${weights.length} numbers, not ${at}`);
}

/** The weights of a model that `export.ts` wrote, in the trainer's order, and its tokenizer's merges. */
export async function readWeights(path: string): Promise<{
  readonly shape: Shape;
  readonly weights: Float32Array;
  readonly merges: readonly Merge[];
}> {
  const file = await readGguf(path);
  const whole = (key: string): number => {
    const value = file.metadata.get(`llama.${key}`);
    if (typeof value?.value !== "number") throw new Error(`${path} has no llama.${key}`);
    return value.value;
  };
  const [tokens, merges] = ["tokens", "merges"].map((key) => {
    const value = file.metadata.get(`tokenizer.ggml.${key}`);
    if (value?.type !== "array") throw new Error(`${path} has no ${key}`);
    return value.value.map(String);
  }) as [string[], string[]];
  const shape: Shape = {
    vocabulary: tokens.length,
    width: whole("embedding_length"),
    layers: whole("block_count"),
    heads: whole("attention.head_count"),
    feedForward: whole("feed_forward_length"),
  };
  const bytes = readFileSync(path);
  const parts = weightParts(shape).map(({ name, rows, columns }) => {
    const tensor = file.tensors.find((one) => one.name === name);
    if (tensor === undefined) throw new Error(`${path} has no tensor ${name}`);
    const [has = 0, rowCount = 1] = tensor.dimensions;
    if (has !== columns || rowCount !== rows)
      throw new Error(`${path}: ${name} is ${rowCount} by ${has}, not ${rows} by ${columns}`);
    return dequantize(bytes.subarray(tensor.offset), tensor.type, rows * columns);
  });
  const weights = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    weights.set(part, at);
    at += part.length;
  }
  return { shape, weights, merges: merges.map(mergeOf) };
}

const BLOCK = 32;

/** Q8_0 has blocks of a half-precision scale and 32 signed bytes; Q5_0: src/gguf/quantize.ts. */
function dequantize(bytes: Uint8Array, type: string, count: number): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = { F32: readF32, Q8_0: readQ8, Q5_0: readQ5 }[type];
  if (read === undefined) throw new Error(`cannot read weights of type ${type}`);
  return Float32Array.from({ length: count }, (_, i) =>
    read(view, Math.floor(i / BLOCK), i % BLOCK),
  );
}

type ReadElement = (view: DataView, block: number, index: number) => number;

const readF32: ReadElement = (view, block, index) =>
  view.getFloat32(4 * (BLOCK * block + index), true);

const readQ8: ReadElement = (view, block, index) =>
  view.getFloat16(34 * block, true) * view.getInt8(34 * block + 2 + index);

const readQ5: ReadElement = (view, block, index) => {
  const at = 22 * block;
  const fifth = (view.getUint32(at + 2, true) >>> index) & 1;
  const four = (view.getUint8(at + 6 + (index % 16)) >> (index < 16 ? 0 : 4)) & 15;
  return view.getFloat16(at, true) * (four + 16 * fifth - 16);
};
