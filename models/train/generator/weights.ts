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

/**
 * Heads are exported 64 wide, with zeros behind what was trained: llama.cpp's fast kernels take rows
 * of a multiple of 32, and a head of 56 made attention most of the time of a token.
 */
const HEAD_STEP = 64;

export const trainedHead = ({ width, heads }: Shape): number => width / heads;
export const exportedHead = (shape: Shape): number =>
  Math.ceil(trainedHead(shape) / HEAD_STEP) * HEAD_STEP;

/** A GGUF tensor: its name, rows and columns; a vector has one row. */
export interface Part {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
}

/** In the trainer's order; query, key and value lie one after the other there, as do gate and up. */
export function weightParts({ vocabulary, width, layers, feedForward }: Shape): Part[] {
  const parts: Part[] = [{ name: "token_embd.weight", rows: vocabulary, columns: width }];
  const add = (name: string, rows: number, columns: number) => parts.push({ name, rows, columns });
  for (let i = 0; i < layers; i++) {
    for (const name of ["q", "k", "v", "output"]) add(`blk.${i}.attn_${name}.weight`, width, width);
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

/** A part with heads of another width: what is new is zero, what no longer fits is left out. */
export function resizeHeads(
  shape: Shape,
  { name, rows, columns, values }: Part & { readonly values: Float32Array },
  from: number,
  to: number,
): Part & { readonly values: Float32Array } {
  const kind = /\.attn_(q|k|v|output)\.weight$/.exec(name)?.[1];
  if (kind === undefined || from === to) return { name, rows, columns, values };
  const byColumns = kind === "output";
  const size = shape.heads * to;
  const out = { name, rows: byColumns ? rows : size, columns: byColumns ? size : columns };
  const resized = new Float32Array(out.rows * out.columns);
  // The network divides by the root of the width that it is told.
  const factor = kind === "q" ? Math.sqrt(to / from) : 1;
  const kept = Math.min(from, to);
  for (let head = 0; head < shape.heads; head++) {
    for (let i = 0; i < kept; i++) {
      for (let j = 0; j < shape.width; j++) {
        const [row, column] = byColumns ? [j, head * to + i] : [head * to + i, j];
        const [oldRow, oldColumn] = byColumns ? [j, head * from + i] : [head * from + i, j];
        const value = values[oldRow * columns + oldColumn] ?? 0;
        resized[row * out.columns + column] = factor * value;
      }
    }
  }
  return { ...out, values: resized };
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
  const head = file.metadata.has("llama.attention.key_length")
    ? whole("attention.key_length")
    : trainedHead(shape);
  const parts = weightParts(shape).map(({ name }) => {
    const tensor = file.tensors.find((one) => one.name === name);
    if (tensor === undefined) throw new Error(`${path} has no tensor ${name}`);
    const [columns = 0, rows = 1] = tensor.dimensions;
    const values = dequantize(bytes.subarray(tensor.offset), tensor.type, rows * columns);
    return resizeHeads(shape, { name, rows, columns, values }, head, trainedHead(shape)).values;
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

/** Q8_0 has blocks of a half-precision scale and 32 signed bytes; Q5_0 is described in src/gguf/quantize.ts. */
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
