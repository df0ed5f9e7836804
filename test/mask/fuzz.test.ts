/**
 * Random schemas against a validator that we did not write: what the lock lets through is valid,
 * what is valid gets through, and the fast mask is what asking for each token gives.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { compileSchema, type SchemaGrammar } from "../../src/grammar/compile.ts";
import { JsonMachine } from "../../src/mask/json-machine.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { WaysOut } from "../../src/mask/way-out.ts";
import { SchemaError } from "../../src/schema/schema-error.ts";
import { compiled, expectRightMask, random, SMALL, sample, tokensOf } from "./kit.ts";
import { type Validator, validator } from "./oracle.ts";
import { schema, value } from "./random-schema.ts";
import { SCHEMAS } from "./schemas.ts";

setDefaultTimeout(600_000);

const isSlow = process.env["SLOW"] === "1";
/** New ground in the long run only: elsewhere a failure is to mean that something was changed. */
const RUNS = isSlow ? { numRuns: 20_000 } : { numRuns: 60, seed: 20_261_122 };

/** Null for `$ref` loops without a keyword between, which Ajv follows until the stack is full. */
function judgeOf(of: object): Validator | null {
  const judge = validator(of);
  try {
    judge(null);
    judge({});
    judge([]);
  } catch {
    return null;
  }
  return judge;
}

function accepts(grammar: SchemaGrammar, of: JsonValue): boolean {
  const machine = new JsonMachine(grammar);
  return [...Buffer.from(JSON.stringify(of))].every((byte) => machine.step(byte)) && machine.canEnd;
}

describe("random schemas", () => {
  test("let through, in any order of keys, exactly the values that are valid", () => {
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 5, maxLength: 20 }), (of, values) => {
        const judge = judgeOf(of);
        const grammar = judge && compiled(of, "open");
        if (!grammar) return;
        for (const each of values)
          expect([each, accepts(grammar, each)]).toEqual([each, judge(each)]);
      }),
      RUNS,
    );
  });

  test("that are closed let through nothing that is not valid", () => {
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 5, maxLength: 20 }), (of, values) => {
        const judge = judgeOf(of);
        const grammar = judge && compiled(of, "closed");
        if (!grammar) return;
        for (const each of values) {
          if (accepts(grammar, each)) expect([each, judge(each)]).toEqual([each, true]);
        }
      }),
      RUNS,
    );
  });

  test("that are refused as unsatisfiable have no value among those that we try", () => {
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 20, maxLength: 40 }), (of, values) => {
        const judge = judgeOf(of);
        if (!judge) return;
        try {
          compileSchema(of, { objects: "open" });
        } catch (error) {
          if (!(error instanceof SchemaError) || error.code !== "unsatisfiable") return;
          expect(values.filter(judge)).toEqual([]);
        }
      }),
      RUNS,
    );
  });

  test("know a way out wherever a text of theirs may stand", () => {
    fc.assert(
      fc.property(schema, fc.constantFrom("open", "closed"), fc.nat(), (of, objects, seed) => {
        const grammar = compiled(of, objects);
        if (!grammar) return;
        const need = new Matcher(grammar, SMALL).needTokens();
        if (need > 100) return;
        const options = { budget: need + 30, eagerness: 0.3 };
        checkWaysOut(grammar, sample(grammar, SMALL, random(seed), options).text);
      }),
      RUNS,
    );
  });

  test("give texts that are valid, token by token from masks that are right", () => {
    fc.assert(
      fc.property(schema, fc.constantFrom("open", "closed"), fc.nat(), (of, objects, seed) => {
        const judge = judgeOf(of);
        const grammar = judge && compiled(of, objects);
        if (!grammar) return;
        const need = new Matcher(grammar, SMALL).needTokens();
        if (need > 300) return;
        const draw = random(seed);
        const { text, tokens } = sample(grammar, SMALL, draw, {
          budget: need + 30,
          eagerness: 0.3,
        });
        expect([text, judge(JSON.parse(text))]).toEqual([text, true]);
        checkMasks(grammar, tokens);
      }),
      RUNS,
    );
  });
});

test("the schemas of every keyword know a way out wherever a text of theirs may stand", () => {
  for (const [name, of] of Object.entries(SCHEMAS)) {
    for (const objects of ["open", "closed"] as const) {
      const grammar = compileSchema(of, { objects });
      const need = new Matcher(grammar, SMALL).needTokens();
      const options = { budget: need + 40, eagerness: 0.2 };
      const { text } = sample(grammar, SMALL, random(name.length), options);
      checkWaysOut(grammar, text);
    }
  }
});

/** Looked for anew at each byte, as where a model goes on in another way than the one known. */
function checkWaysOut(grammar: SchemaGrammar, text: string): void {
  const machine = new JsonMachine(grammar);
  const waysOut = new WaysOut(grammar);
  for (const [at, byte] of Buffer.from(text).entries()) {
    const rest = waysOut.from(machine);
    expect([text.slice(0, at), rest]).not.toEqual([text.slice(0, at), null]);
    machine.step(byte);
  }
}

function checkMasks(grammar: SchemaGrammar, tokens: readonly number[]): void {
  const matcher = new Matcher(grammar, SMALL);
  for (const token of tokens.slice(0, 12)) {
    expectRightMask(matcher, SMALL);
    expect(matcher.accept(token)).toBe(true);
  }
}

test("a text means the same in whatever tokens it comes", () => {
  fc.assert(
    fc.property(schema, value, fc.nat(), (of, each, seed) => {
      const grammar = compiled(of, "open");
      if (!grammar) return;
      const bytes = Buffer.from(JSON.stringify(each));
      const draw = random(seed);
      const whole = new Matcher(grammar, SMALL);
      const split = new Matcher(grammar, SMALL);
      const byByte = [...bytes].every((byte) => whole.accept(byte));
      expect(randomTokens(bytes, draw).every((token) => split.accept(token))).toBe(byByte);
      if (!byByte) return;
      expect(split.isComplete).toBe(whole.isComplete);
      expect(tokensOf(split.computeMask(), SMALL.size)).toEqual(
        tokensOf(whole.computeMask(), SMALL.size),
      );
    }),
    RUNS,
  );
});

/** Any way to spell the bytes with the tokens of the vocabulary: its first 256 are the bytes. */
function randomTokens(bytes: Uint8Array, draw: () => number): number[] {
  const tokens: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const fitting: number[] = [];
    for (let token = 0; token < SMALL.size; token++) {
      const text = SMALL.tokenBytes(token);
      const part = bytes.subarray(at, at + text.length);
      if (text.length > 0 && Buffer.compare(text, part) === 0) fitting.push(token);
    }
    const token = fitting[Math.floor(draw() * fitting.length)] as number;
    tokens.push(token);
    at += SMALL.tokenBytes(token).length;
  }
  return tokens;
}
