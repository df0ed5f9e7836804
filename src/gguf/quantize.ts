/**
 * Float weights to the block formats of ggml (`ggml-quants.c`: `quantize_row_*_ref`). Q8_0, Q5_0
 * and Q4_0 round as the reference does; Q4_K takes each block's range and searches for no better
 * scales.
 */
import { assert } from "../bytes/assert.ts";
import { TENSOR_TYPES } from "./types.ts";

/** Types that `quantize` can make. */
export type QuantizedType = "F32" | "F16" | "Q8_0" | "Q5_0" | "Q4_0" | "Q4_K";

/** @param values rows one after another; their number a multiple of the type's block. */
export function quantize(type: QuantizedType, values: Float32Array): Uint8Array {
  const { blockElements, blockBytes } = TENSOR_TYPES[type];
  assert(values.length % blockElements === 0, "values are whole blocks");
  if (type === "F32") return new Uint8Array(new Float32Array(values).buffer);
  if (type === "F16") return new Uint8Array(new Float16Array(values).buffer);
  const out = new DataView(new ArrayBuffer((values.length / blockElements) * blockBytes));
  const quantizeBlock = {
    Q8_0: quantizeQ8Block,
    Q5_0: quantizeQ5Block,
    Q4_0: quantizeQ4Block,
    Q4_K: quantizeQ4KBlock,
  };
  for (let block = 0; block * blockElements < values.length; block++) {
    const start = block * blockElements;
    quantizeBlock[type](values.subarray(start, start + blockElements), out, block * blockBytes);
  }
  return new Uint8Array(out.buffer);
}

/** A half-precision scale, then 32 signed bytes. */
function quantizeQ8Block(values: Float32Array, out: DataView, at: number): void {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Math.abs(value));
  const scale = Math.fround(largest / 127);
  const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
  out.setFloat16(at, scale, true);
  for (const [index, value] of values.entries()) {
    out.setInt8(at + 2 + index, roundAway(Math.fround(value * inverse)));
  }
}

/** C's roundf: halves away from zero. */
const roundAway = (value: number): number => Math.sign(value) * Math.round(Math.abs(value));

/** A half-precision scale, then 32 four-bit numbers counted from -8; the low halves come first. */
function quantizeQ4Block(values: Float32Array, out: DataView, at: number): void {
  const levels = levelsOf(values, 8, out, at);
  packNibbles(levels, out, at + 2);
}

/** A half-precision scale, the fifth bits of 32 numbers counted from -16, then their other four. */
function quantizeQ5Block(values: Float32Array, out: DataView, at: number): void {
  const levels = levelsOf(values, 16, out, at);
  const fifths = levels.reduce((bits, level, index) => bits | ((level >> 4) << index), 0);
  out.setUint32(at + 2, fifths >>> 0, true);
  packNibbles(levels, out, at + 6);
}

/** Writes the scale that takes the extreme value to -`half`; returns all in steps from there. */
function levelsOf(values: Float32Array, half: number, out: DataView, at: number): number[] {
  let extreme = 0;
  for (const value of values) if (Math.abs(value) > Math.abs(extreme)) extreme = value;
  const scale = Math.fround(extreme / -half);
  const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
  out.setFloat16(at, scale, true);
  return Array.from(values, (value) =>
    Math.min(2 * half - 1, Math.trunc(Math.fround(Math.fround(value * inverse) + half + 0.5))),
  );
}

/** The low four bits of 32 numbers, those of the first sixteen in the low halves. */
function packNibbles(levels: readonly number[], out: DataView, at: number): void {
  for (let index = 0; index < 16; index++) {
    const [low = 0, high = 0] = [levels[index], levels[index + 16]];
    out.setUint8(at + index, (low & 15) | ((high & 15) << 4));
  }
}

const SUB_BLOCKS = 8;
const SUB_BLOCK_ELEMENTS = 32;

/**
 * Two half-precision scales, eight pairs of six-bit (scale, minimum) in 12 bytes, then 256 four-bit
 * numbers. A value is `d * scale * number - dmin * minimum`.
 */
function quantizeQ4KBlock(values: Float32Array, out: DataView, at: number): void {
  const lows: number[] = [];
  const steps: number[] = [];
  for (let sub = 0; sub < SUB_BLOCKS; sub++) {
    const part = values.subarray(sub * SUB_BLOCK_ELEMENTS, (sub + 1) * SUB_BLOCK_ELEMENTS);
    const low = Math.min(0, ...part);
    lows.push(-low);
    steps.push((Math.max(0, ...part) - low) / 15);
  }
  out.setFloat16(at, Math.max(...steps) / 63, true);
  out.setFloat16(at + 2, Math.max(...lows) / 63, true);
  // The scales as they will be read back, so that rounding them costs no accuracy.
  const d = out.getFloat16(at, true);
  const dmin = out.getFloat16(at + 2, true);
  const scales = steps.map((step) => (d === 0 ? 0 : Math.min(63, Math.round(step / d))));
  const minima = lows.map((low) => (dmin === 0 ? 0 : Math.min(63, Math.round(low / dmin))));
  packSixBits(scales, minima, out, at + 4);
  for (let index = 0; index < values.length; index++) {
    const sub = Math.floor(index / SUB_BLOCK_ELEMENTS);
    const step = d * (scales[sub] ?? 0);
    const shifted = (values[index] ?? 0) + dmin * (minima[sub] ?? 0);
    const level = step === 0 ? 0 : Math.max(0, Math.min(15, Math.round(shifted / step)));
    // Sub-blocks 2i and 2i + 1 share 32 bytes: the first in the low halves.
    const byte = at + 16 + Math.floor(sub / 2) * SUB_BLOCK_ELEMENTS + (index % SUB_BLOCK_ELEMENTS);
    const before = sub % 2 === 0 ? 0 : out.getUint8(byte);
    out.setUint8(byte, before | (level << (sub % 2 === 0 ? 0 : 4)));
  }
}

/** Four pairs in the low six bits of eight bytes; the rest in four bytes and the high bits left. */
function packSixBits(
  scales: readonly number[],
  minima: readonly number[],
  out: DataView,
  at: number,
): void {
  for (let index = 0; index < 4; index++) {
    const scale = scales[index + 4] ?? 0;
    const minimum = minima[index + 4] ?? 0;
    out.setUint8(at + index, (scales[index] ?? 0) | ((scale >> 4) << 6));
    out.setUint8(at + 4 + index, (minima[index] ?? 0) | ((minimum >> 4) << 6));
    out.setUint8(at + 8 + index, (scale & 15) | ((minimum & 15) << 4));
  }
}
