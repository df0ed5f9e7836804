import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { GgufError } from "../../src/gguf/cursor.ts";
import { readGguf } from "../../src/gguf/read.ts";
import {
  type GgufElement,
  type GgufType,
  type GgufValue,
  TENSOR_TYPES,
} from "../../src/gguf/types.ts";
import { writeGguf } from "../../src/gguf/write.ts";
import { vocabulariesAvailable, vocabularyPath } from "../helpers/vocabularies.ts";

const directory = mkdtempSync(join(tmpdir(), "svc-gguf-"));
afterAll(() => rmSync(directory, { recursive: true }));

let files = 0;
const newPath = (): string => join(directory, `${++files}.gguf`);

function fileOf(bytes: Uint8Array): string {
  const path = newPath();
  writeFileSync(path, bytes);
  return path;
}

/** The code `readGguf` fails with, or "ok". */
async function outcome(bytes: Uint8Array): Promise<string> {
  try {
    await readGguf(fileOf(bytes));
    return "ok";
  } catch (error) {
    if (error instanceof GgufError) return error.code;
    throw error;
  }
}

const u32 = (value: number): number[] => [...new Uint8Array(new Uint32Array([value]).buffer)];
const u64 = (value: bigint): number[] => [...new Uint8Array(new BigUint64Array([value]).buffer)];
const text = (value: string): number[] => [
  ...u64(BigInt(Buffer.byteLength(value))),
  ...Buffer.from(value),
];
/** Magic, version, tensor count, metadata count, then what is given (format: gguf.md). */
const file = (tensors: bigint, entries: bigint, ...rest: number[][]): Uint8Array =>
  new Uint8Array(
    [..."GGUF"].map((c) => c.charCodeAt(0)).concat(u32(3), u64(tensors), u64(entries), ...rest),
  );

describe("reading", () => {
  test("a file written by hand from the format's description reads as described", async () => {
    const bytes = file(
      1n,
      3n,
      [...text("a.string"), ...u32(8), ...text("héllo")],
      [...text("a.number"), ...u32(5), ...u32(0xffffffff)],
      [...text("some.bools"), ...u32(9), ...u32(7), ...u64(2n), 1, 0],
      [...text("w"), ...u32(2), ...u64(2n), ...u64(3n), ...u32(0), ...u64(0n)],
    );
    const padded = new Uint8Array(Math.ceil(bytes.length / 32) * 32 + 24);
    padded.set(bytes);
    const gguf = await readGguf(fileOf(padded));
    expect([...gguf.metadata]).toEqual([
      ["a.string", { type: "string", value: "héllo" }],
      ["a.number", { type: "int32", value: -1 }],
      ["some.bools", { type: "array", of: "bool", value: [true, false] }],
    ]);
    const offset = Math.ceil(bytes.length / 32) * 32;
    expect(gguf.tensors).toEqual([
      { name: "w", type: "F32", dimensions: [2, 3], offset, bytes: 24 },
    ]);
    // One byte less, and the tensor's data is cut.
    expect(await outcome(padded.subarray(0, -1))).toBe("truncated");
  });

  test.skipIf(!vocabulariesAvailable)(
    "a real vocabulary reads whole, and without what is skipped",
    async () => {
      const path = vocabularyPath("llama-bpe");
      const whole = await readGguf(path);
      const tokens = whole.metadata.get("tokenizer.ggml.tokens");
      expect(tokens?.type === "array" && tokens.value.length).toBe(128_256);
      expect(tokens?.type === "array" && tokens.value[128_009]).toBe("<|eot_id|>");
      const lean = await readGguf(path, { skip: (key) => key === "tokenizer.ggml.merges" });
      expect(lean.metadata.has("tokenizer.ggml.merges")).toBe(false);
      expect(lean.metadata.get("tokenizer.ggml.eos_token_id")).toEqual({
        type: "uint32",
        value: 128_001,
      });
    },
  );

  test("what is not a GGUF file is refused with its reason", async () => {
    expect(await outcome(new Uint8Array())).toBe("not_gguf");
    expect(await outcome(Buffer.from("GG"))).toBe("not_gguf");
    expect(await outcome(Buffer.from("ggml model"))).toBe("not_gguf");
    expect(await outcome(new Uint8Array([...Buffer.from("GGUF"), ...u32(1)]))).toBe(
      "unsupported_version",
    );
    // Big endian: the version reads as 50,331,648.
    expect(await outcome(new Uint8Array([...Buffer.from("GGUF"), 0, 0, 0, 3]))).toBe(
      "unsupported_version",
    );
    expect(await outcome(file(0n, 0n))).toBe("ok");
  });

  test("a path that cannot be read is refused, and says which", async () => {
    const missing = join(directory, "missing.gguf");
    await expect(readGguf(missing)).rejects.toMatchObject({
      code: "unreadable",
      name: "GgufError",
    });
    await expect(readGguf(directory)).rejects.toMatchObject({ code: "unreadable" });
  });

  test("lengths beyond the file are refused without being believed", async () => {
    const huge = 2n ** 63n;
    expect(await outcome(file(huge, 0n))).toBe("too_large");
    expect(await outcome(file(0n, huge))).toBe("too_large");
    expect(await outcome(file(0n, 1n, u64(huge)))).toBe("truncated");
    expect(await outcome(file(0n, 1n, text("k"), u32(8), u64(huge)))).toBe("truncated");
    const array = (...head: number[][]) => file(0n, 1n, text("k"), u32(9), ...head);
    expect(await outcome(array(u32(8), u64(2n ** 40n)))).toBe("truncated");
    expect(await outcome(array(u32(0), u64(1n)))).toBe("truncated");
    expect(await outcome(array(u32(0), u64(1n), [7]))).toBe("ok");
    const nested = Array.from({ length: 1000 }, () => [...u32(9), ...u64(1n)]);
    expect(await outcome(array(...nested))).toBe("too_large");
  });

  test("unknown types are refused by name", async () => {
    expect(await outcome(file(0n, 1n, text("k"), u32(13), u64(0n)))).toBe("unknown_type");
    expect(await outcome(file(0n, 1n, text("k"), u32(9), u32(99), u64(0n)))).toBe("unknown_type");
    const tensor = (type: number) => file(1n, 0n, text("w"), u32(1), u64(32n), u32(type), u64(0n));
    expect(await outcome(tensor(4))).toBe("unknown_type");
    expect(await outcome(tensor(8))).toBe("truncated");
  });

  test("malformed descriptions are refused", async () => {
    const entry = [...text("k"), ...u32(7), 1];
    expect(await outcome(file(0n, 2n, entry, entry))).toBe("malformed");
    expect(await outcome(file(0n, 1n, [...u64(1n), 0xff], u32(7), [1]))).toBe("malformed");
    const align = (value: number) => file(0n, 1n, text("general.alignment"), u32(4), u32(value));
    expect(await outcome(align(0))).toBe("malformed");
    expect(await outcome(align(48))).toBe("malformed");
    expect(await outcome(align(64))).toBe("ok");
    const tensor = (dimensions: bigint[], type: number, offset: bigint) =>
      file(
        1n,
        0n,
        text("w"),
        u32(dimensions.length),
        dimensions.flatMap(u64),
        u32(type),
        u64(offset),
      );
    expect(await outcome(tensor([33n], 8, 0n))).toBe("malformed");
    expect(await outcome(tensor([32n], 8, 16n))).toBe("malformed");
    expect(await outcome(tensor([1n, 1n, 1n, 1n, 1n], 0, 0n))).toBe("too_large");
    expect(await outcome(tensor([2n ** 50n, 2n ** 50n], 0, 0n))).toBe("too_large");
  });

  test("every prefix of a file is refused as truncated, never read", async () => {
    const path = newPath();
    writeGguf(path, {
      metadata: new Map<string, GgufValue>([
        ["a", { type: "array", of: "string", value: ["x", "yz"] }],
        ["b", { type: "int64", value: -3n }],
      ]),
      tensors: [{ name: "w", type: "F32", dimensions: [8], data: () => [new Uint8Array(32)] }],
    });
    const bytes = await Bun.file(path).bytes();
    for (let length = 8; length < bytes.length; length++) {
      expect([length, await outcome(bytes.subarray(0, length))]).toEqual([length, "truncated"]);
    }
    expect(await outcome(bytes)).toBe("ok");
  });
});

const scalar: fc.Arbitrary<GgufValue> = fc.oneof(
  fc.integer({ min: 0, max: 255 }).map((value) => ({ type: "uint8", value }) as const),
  fc.integer({ min: -128, max: 127 }).map((value) => ({ type: "int8", value }) as const),
  fc.integer({ min: 0, max: 65_535 }).map((value) => ({ type: "uint16", value }) as const),
  fc.integer({ min: -32_768, max: 32_767 }).map((value) => ({ type: "int16", value }) as const),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }).map((value) => ({ type: "uint32", value }) as const),
  fc.integer().map((value) => ({ type: "int32", value }) as const),
  fc.float({ noNaN: true }).map((value) => ({ type: "float32", value }) as const),
  fc.double({ noNaN: true }).map((value) => ({ type: "float64", value }) as const),
  fc.boolean().map((value) => ({ type: "bool", value }) as const),
  fc.string({ unit: "grapheme" }).map((value) => ({ type: "string", value }) as const),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => ({ type: "uint64", value }) as const),
  fc
    .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    .map((value) => ({ type: "int64", value }) as const),
);

const array: fc.Arbitrary<GgufValue> = fc
  .tuple(scalar, fc.integer({ min: 0, max: 4 }), fc.boolean())
  .map(([value, length, nested]) => {
    const of: GgufType = value.type;
    const flat: GgufElement[] = Array.from({ length }, () => value.value as GgufElement);
    const inner: GgufValue = { type: "array", of, value: flat };
    return nested ? { type: "array", of: "array", value: [inner, inner] } : inner;
  });

describe("writing", () => {
  test("what was written is what is read, for every type of value", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.oneof(scalar, array)), async (entries) => {
        const metadata = new Map(Object.entries(entries));
        metadata.delete("general.alignment");
        const path = newPath();
        writeGguf(path, { metadata, tensors: [] });
        const read = new Map((await readGguf(path)).metadata);
        expect(read.get("general.alignment")).toEqual({ type: "uint32", value: 32 });
        read.delete("general.alignment");
        expect(read).toEqual(metadata);
      }),
    );
  });

  test("tensor data lies where the description says", async () => {
    const path = newPath();
    const data = (fill: number, bytes: number) => new Uint8Array(bytes).fill(fill);
    writeGguf(path, {
      metadata: new Map(),
      tensors: [
        { name: "a", type: "F16", dimensions: [3], data: () => [data(1, 6)] },
        { name: "b", type: "Q8_0", dimensions: [32, 2], data: () => [data(2, 34), data(3, 34)] },
      ],
    });
    const gguf = await readGguf(path);
    const bytes = await Bun.file(path).bytes();
    const [a, b] = gguf.tensors;
    expect(a && bytes.subarray(a.offset, a.offset + a.bytes)).toEqual(data(1, 6));
    expect(b && [...bytes.subarray(b.offset, b.offset + b.bytes)]).toEqual([
      ...data(2, 34),
      ...data(3, 34),
    ]);
    expect(b && b.offset % 32).toBe(0);
  });

  test("data that does not fill its shape is refused", () => {
    const tensor = { name: "a", type: "F32", dimensions: [2] } as const;
    const write = (bytes: number) => () =>
      writeGguf(newPath(), {
        metadata: new Map(),
        tensors: [{ ...tensor, data: () => [new Uint8Array(bytes)] }],
      });
    expect(write(7)).toThrow("as much data");
    expect(write(9)).toThrow("as much data");
    expect(write(8)).not.toThrow();
  });

  test("numbers that their type cannot hold are refused", () => {
    const write = (value: GgufValue) => () =>
      writeGguf(newPath(), { metadata: new Map([["k", value]]), tensors: [] });
    expect(write({ type: "uint8", value: 256 })).toThrow(RangeError);
    expect(write({ type: "uint64", value: -1n })).toThrow(RangeError);
    expect(write({ type: "string", value: "\ud800" })).toThrow("UTF-8");
    expect(write({ type: "uint8", value: 255 })).not.toThrow();
  });
});

test("the table of tensor types has no number twice", () => {
  const ids = Object.values(TENSOR_TYPES).map((type) => type.id);
  expect(new Set(ids).size).toBe(ids.length);
});
