/**
 * The same schema answer after answer: what a lock costs once its masks are known.
 *
 *   bun test/bench/warm-lock.ts --vocabulary FILE.gguf [--answers N]
 *
 * Per answer a new matcher, a mask before every token, and the token accepted. The last line is
 * JSON: milliseconds of the first answer, and the median of those after it.
 */
import { parseArgs } from "node:util";
import { compileSchema } from "../../src/grammar/compile.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { loadVocabulary } from "../../src/mask/vocabulary.ts";

const { values: args } = parseArgs({
  options: { vocabulary: { type: "string" }, answers: { type: "string", default: "20" } },
});
if (!args.vocabulary) {
  process.stderr.write("usage: warm-lock.ts --vocabulary FILE.gguf [--answers N]\n");
  process.exit(2);
}

const vocabulary = await loadVocabulary(args.vocabulary);
const grammar = compileSchema({
  type: "object",
  properties: {
    id: { type: "string", pattern: "^[A-Z]{2}-\\d{3,5}$" },
    mail: { type: "string", format: "email" },
    count: { type: "integer", minimum: 0, maximum: 100 },
    tags: { type: "array", items: { enum: ["x", "y"] } },
  },
  required: ["id", "mail", "count", "tags"],
  additionalProperties: false,
});
const text = '{"id":"AB-1234","mail":"someone@example.com","count":42,"tags":["x","y"]}';
const tokens = vocabulary.encoder?.encode(text) ?? [...Buffer.from(text)];

const times: number[] = [];
for (let answer = 0; answer < Number(args.answers); answer++) {
  const start = performance.now();
  const matcher = new Matcher(grammar, vocabulary);
  for (const token of tokens) {
    matcher.computeMask();
    if (!matcher.accept(token)) throw new Error(`token ${token} was refused`);
  }
  times.push(performance.now() - start);
}
const [first = 0, ...later] = times;
later.sort((a, b) => a - b);
const median = later[Math.floor(later.length / 2)] ?? first;
const round = (ms: number): number => Math.round(100 * ms) / 100;
process.stdout.write(
  `${JSON.stringify({ tokens: tokens.length, first_ms: round(first), later_ms: round(median) })}\n`,
);
