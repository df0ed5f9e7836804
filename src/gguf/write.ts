/**
 * Writes GGUF files (version 3, little endian): what `read.ts` reads, and tensor data. Used to make
 * models: test models with random weights, and the export of trained ones.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { assert } from "../bytes/assert.ts";
import {
  GGUF_TYPES,
  type GgufElement,
  type GgufType,
  type GgufValue,
  TENSOR_TYPES,
  type TensorTypeName,
  tensorBytes,
} from "./types.ts";

export interface TensorSource {
  readonly name: string;
  readonly type: TensorTypeName;
  /** Elements per dimension, the row length first. */
  readonly dimensions: readonly number[];
  /**
   * The data in pieces, in order; together exactly as many bytes as type and dimensions say. Made
   * when it is its turn to be written, so that a model never has to be in memory whole.
   */
  readonly data: () => Iterable<Uint8Array>;
}

export interface GgufSource {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly TensorSource[];
}

const VERSION = 3;
const ALIGNMENT = 32;

/**
 * Writes a new file, replacing one that is there; `general.alignment` is written by this function
 * alone. After a crash the file may be there in part: write beside the place and rename.
 */
export function writeGguf(path: string, source: GgufSource): void {
  const file = openSync(path, "w");
  try {
    writeHead(file, source);
    for (const tensor of source.tensors) {
      let bytes = 0;
      for (const piece of tensor.data()) {
        writeAll(file, piece);
        bytes += piece.length;
      }
      assert(bytes === bytesOf(tensor), `tensor ${tensor.name} has as much data as its shape says`);
      writeAll(file, new Uint8Array(paddingOf(bytes)));
    }
  } finally {
    closeSync(file);
  }
}

function writeHead(file: number, source: GgufSource): void {
  const metadata = new Map(source.metadata);
  metadata.set("general.alignment", { type: "uint32", value: ALIGNMENT });
  const out = new ByteWriter();
  out.raw(Buffer.from("GGUF"));
  out.scalar("uint32", VERSION);
  out.scalar("uint64", BigInt(source.tensors.length));
  out.scalar("uint64", BigInt(metadata.size));
  for (const [key, value] of metadata) {
    out.scalar("string", key);
    out.typed(value);
  }
  let offset = 0;
  for (const tensor of source.tensors) {
    out.scalar("string", tensor.name);
    out.scalar("uint32", tensor.dimensions.length);
    for (const dimension of tensor.dimensions) out.scalar("uint64", BigInt(dimension));
    out.scalar("uint32", TENSOR_TYPES[tensor.type].id);
    out.scalar("uint64", BigInt(offset));
    const bytes = bytesOf(tensor);
    offset += bytes + paddingOf(bytes);
  }
  const head = out.bytes();
  writeAll(file, head);
  writeAll(file, new Uint8Array(paddingOf(head.length)));
}

const paddingOf = (bytes: number): number => (ALIGNMENT - (bytes % ALIGNMENT)) % ALIGNMENT;

function bytesOf(tensor: TensorSource): number {
  const bytes = tensorBytes(tensor.type, tensor.dimensions);
  assert(bytes !== null, `rows of tensor ${tensor.name} are whole blocks of ${tensor.type}`);
  return bytes;
}

function writeAll(file: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(file, bytes, written);
}

/** A growing buffer of GGUF values. */
class ByteWriter {
  #buffer = Buffer.allocUnsafe(1 << 16);
  #length = 0;

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  raw(bytes: Uint8Array): void {
    const start = this.#reserve(bytes.length);
    this.#buffer.set(bytes, start);
  }

  /** A value with its type number in front. */
  typed(value: GgufValue): void {
    this.#type(value.type);
    this.#value(value);
  }

  scalar(type: Exclude<GgufType, "array">, value: Exclude<GgufElement, object>): void {
    switch (type) {
      case "string": {
        assert(
          typeof value === "string" && value.isWellFormed(),
          "a string can be written as UTF-8",
        );
        const bytes = Buffer.from(value);
        this.scalar("uint64", BigInt(bytes.length));
        this.raw(bytes);
        break;
      }
      case "uint64":
      case "int64": {
        const start = this.#reserve(8);
        if (type === "uint64") this.#buffer.writeBigUInt64LE(BigInt(value), start);
        else this.#buffer.writeBigInt64LE(BigInt(value), start);
        break;
      }
      case "bool":
        this.#number("uint8", value === true ? 1 : 0);
        break;
      default:
        this.#number(type, Number(value));
    }
  }

  #type(type: GgufType): void {
    this.scalar("uint32", GGUF_TYPES.indexOf(type));
  }

  #value(value: GgufValue): void {
    if (value.type !== "array") {
      this.scalar(value.type, value.value);
      return;
    }
    this.#type(value.of);
    this.scalar("uint64", BigInt(value.value.length));
    for (const element of value.value) this.#element(value.of, element);
  }

  #element(of: GgufType, element: GgufElement): void {
    if (of === "array") {
      assert(typeof element === "object", "an element of a nested array is a whole value");
      this.#value(element);
    } else {
      assert(typeof element !== "object", "an element of an array is a bare value");
      this.scalar(of, element);
    }
  }

  /** @throws RangeError for a number that the type cannot hold. */
  #number(
    type: "uint8" | "int8" | "uint16" | "int16" | "uint32" | "int32" | "float32" | "float64",
    value: number,
  ): void {
    const start = this.#reserve(8);
    const buffer = this.#buffer;
    const end = {
      uint8: () => buffer.writeUInt8(value, start),
      int8: () => buffer.writeInt8(value, start),
      uint16: () => buffer.writeUInt16LE(value, start),
      int16: () => buffer.writeInt16LE(value, start),
      uint32: () => buffer.writeUInt32LE(value, start),
      int32: () => buffer.writeInt32LE(value, start),
      float32: () => buffer.writeFloatLE(value, start),
      float64: () => buffer.writeDoubleLE(value, start),
    }[type]();
    this.#length = end;
  }

  /** Makes room for `bytes` more bytes and returns where they start. */
  #reserve(bytes: number): number {
    const start = this.#length;
    if (start + bytes > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, start + bytes));
      grown.set(this.#buffer.subarray(0, start));
      this.#buffer = grown;
    }
    this.#length = start + bytes;
    return start;
  }
}
