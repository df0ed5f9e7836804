import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseJson } from "../../src/http/wire/json.ts";

const limits = { depthMax: 20, tokensMax: 200 };
const read = (text: string) => parseJson(new TextEncoder().encode(text), limits);

describe("the scan agrees with JSON.parse", () => {
  test("on every value, in any spacing", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }).filter((value) => !JSON.stringify(value).includes("\\ud")),
        fc.constantFrom("", " ", "\n\t"),
        (value, space) => {
          const text = space + JSON.stringify(value, null, space) + space;
          if (text.length < 400) expect(read(text)).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("on what is no JSON: damaged at any place, both refuse or both read the same", () => {
    const seed = '{"a":[1,-2.5e+3,true,false,null,"x\\n\\u00e9\\ud83d\\ude00"],"b":{"c":{}} }';
    const characters = [...'{}[]",:0123456789.eE+-tfn\\u \n\u0000x'];
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(seed.length), fc.constantFrom(...characters), fc.nat(2)), {
          minLength: 1,
          maxLength: 3,
        }),
        (edits) => {
          let text = seed;
          for (const [place, character, removed] of edits) {
            text = text.slice(0, place) + character + text.slice(place + removed);
          }
          expect(outcome(() => read(text))).toEqual(outcome(() => JSON.parse(text)));
        },
      ),
      { numRuns: 5000 },
    );
  });
});

/** The value, or that there is none; what only this parser refuses counts as none on both sides. */
function outcome(parse: () => unknown): unknown {
  try {
    const text = JSON.stringify(parse());
    // JSON.parse takes half pairs and doubled names; see the tests below.
    return /\\ud[89a-f]/.test(text) || hasLostNames(text) ? "refused" : text;
  } catch {
    return "refused";
  }
}

/** The seed's three names: an edit that makes two of one object equal loses one. */
function hasLostNames(text: string): boolean {
  return (text.match(/":/g)?.length ?? 0) < 3;
}

const refusal = (text: string): string => {
  try {
    read(text);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
};

describe("refusals name the place", () => {
  for (const [text, message] of [
    ["", "expected a value, found the end at line 1, column 1"],
    ['{"a":1,}', 'expected a name in double quotes, found "}" at line 1, column 8'],
    ["{'a':1}", `expected a name in double quotes, found "'" at line 1, column 2`],
    ['{\n"a" 1}', 'expected ":", found "1" at line 2, column 5'],
    ["[1 2]", 'expected "," or "]", found "2" at line 1, column 4'],
    ["[01]", 'expected "," or "]", found "1" at line 1, column 3'],
    ["[1.]", 'expected a digit, found "]" at line 1, column 4'],
    ["[tru]", 'expected a value, found "tru" at line 1, column 2'],
    ['["a', "a string has no end"],
    ['["\\x"]', "no such escape"],
    ['["\\ud800"]', "an escape is half of a surrogate pair"],
    ['["\\ud800\\ud800"]', "an escape is half of a surrogate pair"],
    ["1 1", 'expected the end, found "1" at line 1, column 3'],
    ['{"a":{"b":1,"b":2}}', 'the name "b" occurs twice in one object, at line 1, column 13'],
    ["[".repeat(21), "nested deeper than 20 levels (line 1, column 21)"],
    [`[${"1,".repeat(150)}1]`, "more than 200 JSON tokens"],
  ] as const) {
    test(JSON.stringify(text.slice(0, 30)), () => {
      expect(refusal(text)).toContain(message);
    });
  }
});

test("names that objects have anyway are names like others", () => {
  const value = read('{"__proto__":{"a":1},"constructor":2}') as object;
  expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});
