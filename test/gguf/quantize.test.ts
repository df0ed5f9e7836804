import { expect, test } from "bun:test";
import fc from "fast-check";
import { toHex } from "../../src/bytes/hex.ts";
import { quantize } from "../../src/gguf/quantize.ts";

/** 32 values on both sides of zero, all exact in a half. */
const SAMPLE = Float32Array.from({ length: 32 }, (_, i) => (((i * 37) % 64) - 31) / 16);

// Expected bytes: gguf-py of llama.cpp v0.5.0, `quants.quantize(SAMPLE, type)`.
test("Q8_0 gives the bytes of llama.cpp's own quantizer", () => {
  expect(toHex(quantize("Q8_0", SAMPLE))).toBe(
    "08248518ad40d467fc9124b94be073089d30c457ec7f14a93cd063f88d20b547dc6f",
  );
});

test("Q4_0 gives the bytes of llama.cpp's own quantizer", () => {
  expect(toHex(quantize("Q4_0", SAMPLE))).toBe("00b4cf379d047be248bf269df36ad148ae15");
});

test("F16 and F32 keep values that they can hold", () => {
  expect(toHex(quantize("F16", new Float32Array([1, -2, 0.5])))).toBe("003c00c00038");
  expect(toHex(quantize("F32", new Float32Array([1, -2])))).toBe("0000803f000000c0");
});

test("rows that are no whole blocks are refused", () => {
  expect(() => quantize("Q8_0", new Float32Array(31))).toThrow("whole blocks");
  expect(() => quantize("Q4_K", new Float32Array(32))).toThrow("whole blocks");
});

/** The format's definition of a value: `ggml-quants.c`, `dequantize_row_q5_0`. */
function readQ5(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer);
  const fifths = view.getUint32(2, true);
  return Array.from({ length: 32 }, (_, index) => {
    const byte = bytes[6 + (index % 16)] ?? 0;
    const low = index < 16 ? byte & 15 : byte >> 4;
    return view.getFloat16(0, true) * ((low | (((fifths >>> index) & 1) << 4)) - 16);
  });
}

test("Q5_0 values come back within half a step, the extreme one as it was", () => {
  const value = fc.float({ min: -4, max: 4, noNaN: true });
  fc.assert(
    fc.property(fc.array(value, { minLength: 32, maxLength: 32 }), (values) => {
      const input = new Float32Array(values);
      const output = readQ5(quantize("Q5_0", input));
      const sizes = [...input].map(Math.abs);
      const extreme = Math.max(...sizes);
      for (const [index, got] of output.entries()) {
        const off = Math.abs(got - (input[index] ?? 0));
        // What lies a whole extreme on the other side of zero is one step short: 31 is the last level.
        const isFar = (input[index] ?? 0) * (input[sizes.indexOf(extreme)] ?? 0) < 0;
        expect(off).toBeLessThanOrEqual(extreme / (isFar ? 16 : 32) + extreme / 500 + 1e-6);
      }
      expect(Math.abs(output[sizes.indexOf(extreme)] ?? 0)).toBeCloseTo(extreme, 2);
    }),
  );
});

/** The format's definition of a value: `ggml-quants.c`, `dequantize_row_q4_K`. */
function readQ4K(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer);
  const packed = bytes.subarray(4, 16);
  const at = (index: number): number => packed[index] ?? 0;
  const values: number[] = [];
  for (let sub = 0; sub < 8; sub++) {
    const scale = sub < 4 ? at(sub) & 63 : (at(sub + 4) & 15) | ((at(sub - 4) >> 6) << 4);
    const low = sub < 4 ? at(sub + 4) & 63 : (at(sub + 4) >> 4) | ((at(sub) >> 6) << 4);
    for (let index = 0; index < 32; index++) {
      const byte = bytes[16 + Math.floor(sub / 2) * 32 + index] ?? 0;
      const level = sub % 2 === 0 ? byte & 15 : byte >> 4;
      values.push(view.getFloat16(0, true) * scale * level - view.getFloat16(2, true) * low);
    }
  }
  return values;
}

test("Q4_K values come back within a step of the widest sub-block", () => {
  const value = fc.float({ min: -4, max: 4, noNaN: true });
  fc.assert(
    fc.property(fc.array(value, { minLength: 256, maxLength: 256 }), (values) => {
      const input = new Float32Array(values);
      const output = readQ4K(quantize("Q4_K", input));
      const range = Math.max(0, ...input) - Math.min(0, ...input);
      const worst = Math.max(...output.map((got, index) => Math.abs(got - (input[index] ?? 0))));
      expect(worst).toBeLessThanOrEqual(range / 15 + range / 63 + 1e-3);
    }),
  );
});
