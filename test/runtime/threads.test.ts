import { describe, expect, test } from "bun:test";
import { realCores, threadsOfCall } from "../../src/runtime/threads.ts";

const MIB = 2 ** 20;

describe("threads of a call", () => {
  test("a small model computes rows on one thread, and a long prompt on more", () => {
    for (let rows = 1; rows <= 8; rows++) expect(threadsOfCall(rows, 4 * MIB, 8)).toBe(1);
    expect(threadsOfCall(256, 4 * MIB, 8)).toBe(3);
  });

  test("a large model computes a lone row on all", () => {
    expect(threadsOfCall(1, 7000 * MIB, 8)).toBe(8);
    expect(threadsOfCall(1, 7000 * MIB, 1)).toBe(1);
  });

  test("more tokens never mean fewer threads, and never more than there may be", () => {
    for (const weights of [4 * MIB, 82 * MIB, 1000 * MIB]) {
      const counts = [1, 2, 3, 5, 8, 128, 512].map((tokens) => threadsOfCall(tokens, weights, 4));
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      expect(counts.at(-1)).toBeLessThanOrEqual(4);
    }
  });

  test("there is at least one core", () => {
    expect(realCores()).toBeGreaterThanOrEqual(1);
  });
});
