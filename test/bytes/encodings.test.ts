import { expect, test } from "bun:test";
import fc from "fast-check";
import { fromBase64Url, toBase64Url } from "../../src/bytes/base64url.ts";
import { canonicalJson, type JsonValue } from "../../src/bytes/canonical-json.ts";
import { fromHex, toHex } from "../../src/bytes/hex.ts";
import { utf8Decode, utf8Encode } from "../../src/bytes/utf8.ts";

test("hex and base64url give every byte string back", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(fromHex(toHex(bytes))).toEqual(bytes);
      expect(fromBase64Url(toBase64Url(bytes))).toEqual(bytes);
    }),
  );
});

test.each(["A0", "0", "0g", " 00", "00 "])("hex refuses %p", (text) => {
  expect(fromHex(text)).toBeNull();
});

// "QQ" is the byte 0x41; "QR" has stray bits in its last character, "QQ==" is padded.
test.each(["QR", "QQ==", "Q", "+/", "Q Q"])("base64url refuses %p", (text) => {
  expect(fromBase64Url(text)).toBeNull();
});

test.each([
  ["a continuation byte alone", [0x80]],
  ["an overlong slash", [0xc0, 0xaf]],
  ["a surrogate", [0xed, 0xa0, 0x80]],
  ["a cut sequence", [0xe2, 0x82]],
  ["a code point past U+10FFFF", [0xf4, 0x90, 0x80, 0x80]],
])("UTF-8 refuses %s", (_name, bytes) => {
  expect(utf8Decode(new Uint8Array(bytes))).toBeNull();
});

test("UTF-8 keeps a byte-order mark", () => {
  const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x41]);
  expect(utf8Encode(utf8Decode(bytes) ?? "")).toEqual(bytes);
});

// RFC 8785 section 3.2.3 (key order) and 3.2.2 (literals and numbers).
test("canonical JSON reproduces the examples of RFC 8785", () => {
  const value = {
    numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"/",
    literals: [null, true, false],
  };
  expect(canonicalJson(value)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
  const keys = {
    "\u20ac": 1,
    "\r": 2,
    "\ufb33": 3,
    "1": 4,
    "\u{1f600}": 5,
    "\u0080": 6,
    "\u00f6": 7,
  };
  expect(canonicalJson(keys)).toBe(
    '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
  );
});

test("canonical JSON does not depend on the order of keys", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), (record) => {
      const reversed = Object.fromEntries(Object.entries(record).reverse());
      expect(canonicalJson(reversed as JsonValue)).toBe(canonicalJson(record as JsonValue));
    }),
  );
});

/** RFC 8785, section 3.2, word for word. */
function naiveCanonicalJson(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(naiveCanonicalJson).join(",")}]`;
  const record = value as { readonly [key: string]: JsonValue };
  const keys = Object.keys(record).sort();
  return `{${keys.map((k) => `${JSON.stringify(k)}:${naiveCanonicalJson(record[k] ?? null)}`)}}`;
}

test("canonical JSON is the naive one, for keys that objects keep elsewhere too", () => {
  const key = fc.oneof(fc.string(), fc.constantFrom("10", "9", "__proto__", "\\ud800", "a", "B"));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ depthSize: "small" }, fc.jsonValue(), tie("list"), tie("record")),
    list: fc.array(tie("tree"), { maxLength: 4 }),
    record: fc
      .array(fc.tuple(key, tie("tree")), { maxLength: 5 })
      .map((members) => Object.fromEntries(members)),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      // As a parser makes it: `__proto__` is a member like any other.
      const parsed = JSON.parse(JSON.stringify(value)) as JsonValue;
      expect(canonicalJson(parsed)).toBe(naiveCanonicalJson(parsed));
    }),
  );
});

test("canonical JSON has no form for a lone surrogate or a number that is not finite", () => {
  expect(() => canonicalJson("\ud800")).toThrow("lone surrogate");
  expect(() => canonicalJson(Number.NaN)).toThrow("without a JSON form");
});
