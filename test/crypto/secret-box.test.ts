import { expect, test } from "bun:test";
import fc from "fast-check";
import { BASE32_128, timeOrderedId, toBase32 } from "../../src/bytes/base32.ts";
import { fromHex, toHex } from "../../src/bytes/hex.ts";
import { hkdfSha256 } from "../../src/crypto/hkdf.ts";
import { MasterKey } from "../../src/crypto/secret-box.ts";
import { countingBytes } from "../trust-lab.ts";

const key = (fill: number): MasterKey => new MasterKey(new Uint8Array(32).fill(fill));

test("a sealed secret opens under its key and purpose, and under nothing else", () => {
  const secret = new TextEncoder().encode("secret");
  const blob = key(1).seal(secret, "a", countingBytes());
  expect(blob.byteLength).toBe(1 + 8 + 12 + 6 + 16);
  expect(key(1).open(blob, "a")).toEqual(secret);
  expect(() => key(2).open(blob, "a")).toThrow("another master key");
  expect(() => key(1).open(blob, "b")).toThrow("does not open");
  expect(() => key(1).open(blob.subarray(1), "a")).toThrow("no known form");
});

test("a sealed secret with any bit changed does not open", () => {
  const blob = key(1).seal(new Uint8Array(32), "a", countingBytes());
  for (let bit = 0; bit < blob.byteLength * 8; bit++) {
    const changed = blob.slice();
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(() => key(1).open(changed, "a")).toThrow();
  }
});

// RFC 5869 appendix A.3: no salt, no info, of which the first 32 of 42 bytes.
test("HKDF reproduces RFC 5869", () => {
  const okm = hkdfSha256(fromHex("0b".repeat(22)) ?? new Uint8Array(), "");
  expect(toHex(okm)).toBe("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d");
});

// The ULID specification's largest value, and its example's time part.
test("base32 ids have the ULID form and sort by time", () => {
  expect(toBase32(new Uint8Array(16).fill(255))).toBe("7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
  expect(toBase32(new Uint8Array(16))).toBe("0".repeat(26));
  expect(timeOrderedId(1469918176385, countingBytes()).slice(0, 10)).toBe("01ARYZ6S41");
  fc.assert(
    fc.property(fc.nat(2 ** 40), fc.nat(1000), (ms, later) => {
      const id = timeOrderedId(ms, countingBytes());
      expect(id).toMatch(BASE32_128);
      expect(timeOrderedId(ms + later + 1, countingBytes()) > id).toBe(true);
    }),
  );
});
