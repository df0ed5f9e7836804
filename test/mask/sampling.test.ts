/** Whatever the lock lets through is valid, to a validator that we did not write. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { compileSchema } from "../../src/grammar/compile.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { random, SMALL, sample } from "./kit.ts";
import { validator } from "./oracle.ts";
import { ORDERS, SCHEMAS } from "./schemas.ts";

setDefaultTimeout(process.env["SLOW"] ? 7_200_000 : 60_000);

/** In the long run a million texts in all. */
const ALL = { ...SCHEMAS, ...ORDERS };
const ROUNDS = process.env["SLOW"] ? Math.ceil(1e6 / (4 * Object.keys(ALL).length)) : 3;
/** Every how many texts the masks themselves keep to the budget. */
const CHECKED_MASKS = process.env["SLOW"] ? 32 : 3;

for (const objects of ["closed", "open"] as const) {
  for (const whitespace of ["compact", "flexible"] as const) {
    describe(`${objects} objects, ${whitespace} white space`, () => {
      for (const [name, schema] of Object.entries(ALL)) {
        test(`sampled texts of "${name}" are valid, within any budget that fits a value`, () => {
          const compile = () => compileSchema(schema, { objects, whitespace });
          let grammar = compile();
          const isValid = validator(schema);
          const need = new Matcher(grammar, SMALL).needTokens();
          expect(need).toBeLessThan(400);
          for (let round = 0; round < ROUNDS; round++) {
            if (grammar.isOvergrown) grammar = compile();
            const draw = random(round * 7919 + 1);
            const budget = need + Math.floor(draw() ** 3 * 200);
            const budgetBy = round % CHECKED_MASKS === 0 ? "mask" : "accept";
            const options = { budget, eagerness: 0.5, budgetBy } as const;
            const { text, tokens } = sample(grammar, SMALL, draw, options);
            expect(tokens.length).toBeLessThanOrEqual(budget);
            if (!isValid(JSON.parse(text))) throw new Error(`invalid: ${text}`);
          }
        });
      }
    });
  }
}

test("a budget below what the shortest value needs is known beforehand", () => {
  const matcher = new Matcher(compileSchema({ const: "abcdef" }), SMALL);
  // `"`, `abc`, `d`, `e`, `f`, `"` and the end.
  expect(matcher.needTokens()).toBe(7);
});
