/**
 * The types of a GGUF file: metadata values and tensor elements. Numbers as in llama.cpp v0.5.0
 * (`gguf.h`, `ggml.h`); a test compares the tensor table with the library that runs the models.
 */

/** Types of metadata values; the index is the number in the file. */
export const GGUF_TYPES = [
  "uint8",
  "int8",
  "uint16",
  "int16",
  "uint32",
  "int32",
  "float32",
  "bool",
  "string",
  "array",
  "uint64",
  "int64",
  "float64",
] as const;

export type GgufType = (typeof GGUF_TYPES)[number];

/** A value with the type it has in the file, so that what was read can be written unchanged. */
export type GgufValue =
  | { readonly type: "uint64" | "int64"; readonly value: bigint }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: GgufNumberType; readonly value: number }
  | { readonly type: "array"; readonly of: GgufType; readonly value: readonly GgufElement[] };

type GgufNumberType = Exclude<GgufType, "uint64" | "int64" | "bool" | "string" | "array">;

/** An element of an array: the bare value, or a whole value where arrays are nested. */
export type GgufElement = number | bigint | boolean | string | GgufValue;

/** Bytes of a metadata value; for strings and arrays the fewest they can take. */
export const GGUF_TYPE_BYTES: Readonly<Record<GgufType, number>> = {
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  uint32: 4,
  int32: 4,
  float32: 4,
  bool: 1,
  string: 8,
  array: 12,
  uint64: 8,
  int64: 8,
  float64: 8,
};

interface TensorType {
  readonly id: number;
  /** Elements that are stored together. */
  readonly blockElements: number;
  readonly blockBytes: number;
}

const tensorType = (id: number, blockElements: number, blockBytes: number): TensorType => ({
  id,
  blockElements,
  blockBytes,
});

export const TENSOR_TYPES = {
  F32: tensorType(0, 1, 4),
  F16: tensorType(1, 1, 2),
  Q4_0: tensorType(2, 32, 18),
  Q4_1: tensorType(3, 32, 20),
  Q5_0: tensorType(6, 32, 22),
  Q5_1: tensorType(7, 32, 24),
  Q8_0: tensorType(8, 32, 34),
  Q8_1: tensorType(9, 32, 36),
  Q2_K: tensorType(10, 256, 84),
  Q3_K: tensorType(11, 256, 110),
  Q4_K: tensorType(12, 256, 144),
  Q5_K: tensorType(13, 256, 176),
  Q6_K: tensorType(14, 256, 210),
  Q8_K: tensorType(15, 256, 292),
  IQ2_XXS: tensorType(16, 256, 66),
  IQ2_XS: tensorType(17, 256, 74),
  IQ3_XXS: tensorType(18, 256, 98),
  IQ1_S: tensorType(19, 256, 50),
  IQ4_NL: tensorType(20, 32, 18),
  IQ3_S: tensorType(21, 256, 110),
  IQ2_S: tensorType(22, 256, 82),
  IQ4_XS: tensorType(23, 256, 136),
  I8: tensorType(24, 1, 1),
  I16: tensorType(25, 1, 2),
  I32: tensorType(26, 1, 4),
  I64: tensorType(27, 1, 8),
  F64: tensorType(28, 1, 8),
  IQ1_M: tensorType(29, 256, 56),
  BF16: tensorType(30, 1, 2),
  TQ1_0: tensorType(34, 256, 54),
  TQ2_0: tensorType(35, 256, 66),
  MXFP4: tensorType(39, 32, 17),
  NVFP4: tensorType(40, 64, 36),
  Q1_0: tensorType(41, 128, 18),
  Q2_0: tensorType(42, 64, 18),
} as const;

export type TensorTypeName = keyof typeof TENSOR_TYPES;

/** @returns null for a number that no current file uses. */
export function tensorTypeName(id: number): TensorTypeName | null {
  for (const [name, type] of Object.entries(TENSOR_TYPES)) {
    if (type.id === id) return name as TensorTypeName;
  }
  return null;
}

/**
 * @param dimensions elements per dimension, the row length first.
 * @returns bytes, or null where the row length is no multiple of the type's block.
 */
export function tensorBytes(type: TensorTypeName, dimensions: readonly number[]): number | null {
  const { blockElements, blockBytes } = TENSOR_TYPES[type];
  const rowElements = dimensions[0] ?? 1;
  if (rowElements % blockElements !== 0) return null;
  const elements = dimensions.reduce((product, dimension) => product * dimension, 1);
  return (elements / blockElements) * blockBytes;
}
