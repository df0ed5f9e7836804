/** Canonical JSON, written by programs that are not ours: npm canonicalize, and Python's json. */
import { expect, test } from "bun:test";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { canonicalJson, type JsonValue } from "../../src/bytes/canonical-json.ts";

const wellFormed = fc.string({ unit: "binary", maxLength: 12 });
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    wellFormed,
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(wellFormed, tie("value"), { maxKeys: 5 }),
  ),
}));

test("any value has the text that the npm package canonicalize gives it", () => {
  fc.assert(
    fc.property(value, (each) => {
      expect(canonicalJson(each)).toBe(canonicalize(each) ?? "");
    }),
    { numRuns: 500 },
  );
});

/** Reads JSON texts, one a line, and writes each as Python's own json does with sorted keys. */
const PYTHON = `
import json, sys
for line in sys.stdin:
    value = json.loads(line)
    print(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
`;

const hasPython = Bun.which("python3") !== null;

test.skipIf(!hasPython)("rows and records have the text that Python's json gives them", () => {
  // What Python prints alike: no fractions (1e21, 1E+21), keys in the basic plane (its order there
  // is that of UTF-16), no control characters (\\u007f) in strings.
  const plain = fc.string({ unit: "grapheme-ascii", maxLength: 20 });
  const record = fc.dictionary(plain, fc.oneof(fc.integer(), fc.boolean(), plain, fc.array(plain)));
  const records = fc.sample(record, 300);
  const input = records.map((each) => `${JSON.stringify(each)}\n`).join("");
  const run = Bun.spawnSync(["python3", "-c", PYTHON], { stdin: Buffer.from(input) });
  expect(run.exitCode).toBe(0);
  const lines = run.stdout.toString().trimEnd().split("\n");
  expect(records.map((each) => canonicalJson(each))).toEqual(lines);
});
