/**
 * MaskBench (https://github.com/guidance-ai/jsonschemabench): compile a schema, then for each token of
 * each instance compute the mask and accept the token; at the end, end of generation must be allowed
 * exactly for the valid instances. Rows once, in order, in one process, no warm-up.
 *
 *   bun test/bench/maskbench.ts --rows FILE.jsonl[.zst] --vocabulary FILE.gguf [--limit N]
 *     [--only ID] [--every N] [--failures FILE]
 *
 * The last line is JSON. Its compile times are those of `compileSchema` and `new Matcher`.
 */
import { parseArgs } from "node:util";
import { compileSchema } from "../../src/grammar/compile.ts";
import { Languages } from "../../src/grammar/languages.ts";
import { Matcher } from "../../src/mask/matcher.ts";
import { loadVocabulary } from "../../src/mask/vocabulary.ts";
import { llamaTokenizer } from "../helpers/llama.ts";

interface Row {
  readonly id: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly valid: boolean; readonly text: string }[];
}

const { values: args } = parseArgs({
  options: {
    rows: { type: "string" },
    vocabulary: { type: "string" },
    limit: { type: "string" },
    only: { type: "string" },
    every: { type: "string", default: "1" },
    failures: { type: "string" },
  },
});
if (!args.rows || !args.vocabulary) {
  process.stderr.write("usage: maskbench.ts --rows FILE.jsonl[.zst] --vocabulary FILE.gguf\n");
  process.exit(2);
}

const rows = (await readRows(args.rows))
  .filter((row, at) => (args.only ? row.id === args.only : at % Number(args.every) === 0))
  .slice(0, args.limit ? Number(args.limit) : undefined);
const vocabulary = await loadVocabulary(args.vocabulary);
const tokenize = await llamaTokenizer(args.vocabulary);

const languages = new Languages();

const compileUs: number[] = [];
const maskUs: number[] = [];
const rowUs: number[] = [];
const slow: [number, string][] = [];
const failures: string[] = [];
/** Tokens that the mask allowed and `accept` refused: a bug. */
let disagreements = 0;
const counts = { passing: 0, compile_errors: 0, validation_errors: 0, invalidation_errors: 0 };

for (const row of rows) {
  const texts = row.tests.map((test) => tokenize(test.text));
  const before = disagreements;
  const outcome = runRow(row, texts);
  if (disagreements > before) failures.push(`disagreement ${row.id}`);
  counts[outcome.verdict] += 1;
  if (outcome.verdict !== "passing")
    failures.push(`${outcome.verdict} ${row.id} ${outcome.reason}`);
}

if (args.failures) await Bun.write(args.failures, failures.join("\n"));
slow.sort((a, b) => b[0] - a[0]);
for (const [us, id] of slow.slice(0, 10)) {
  process.stderr.write(`row ${id}: ${Math.round(us)} µs\n`);
}
process.stdout.write(
  `${JSON.stringify({
    schemas: rows.length,
    ...counts,
    mask_us: summary(maskUs, [50, 99]),
    compile_us: summary(compileUs, [50, 90, 99]),
    row_us: summary(rowUs, [99]),
    tokens: maskUs.length,
    disagreements,
    cpu_s: round(process.cpuUsage().user / 1e6),
    rss_mib: Math.round(process.memoryUsage.rss() / 2 ** 20),
  })}\n`,
);
process.exit(0);

type Verdict = keyof typeof counts;

function runRow(
  row: Row,
  texts: readonly (readonly number[])[],
): { readonly verdict: Verdict; readonly reason: string } {
  const start = performance.now();
  let matcher: Matcher;
  try {
    const grammar = compileSchema(
      row.schema,
      { objects: "open", whitespace: "flexible" },
      languages,
    );
    matcher = new Matcher(grammar, vocabulary);
  } catch (error) {
    return { verdict: "compile_errors", reason: String(error) };
  } finally {
    compileUs.push(1000 * (performance.now() - start));
  }
  let verdict: Verdict = "passing";
  let reason = "";
  const before = maskUs.length;
  for (const [index, test] of row.tests.entries()) {
    const { accepted, at } = runTest(matcher, texts[index] ?? []);
    if (accepted === test.valid) continue;
    verdict = accepted ? "invalidation_errors" : "validation_errors";
    reason = `at token ${at}: ${test.text.slice(0, 300)}`;
    if (accepted) break;
  }
  const masks = maskUs.slice(before).reduce((sum, us) => sum + us, 0);
  rowUs.push((compileUs.at(-1) as number) + masks);
  slow.push([rowUs.at(-1) as number, row.id]);
  return { verdict, reason };
}

function runTest(
  matcher: Matcher,
  tokens: readonly number[],
): { readonly accepted: boolean; readonly at: number } {
  matcher.reset();
  for (const [at, token] of tokens.entries()) {
    const start = performance.now();
    const mask = matcher.computeMask();
    const allowed = (((mask[token >> 5] as number) >> (token & 31)) & 1) === 1;
    const accepted = allowed && matcher.accept(token);
    maskUs.push(1000 * (performance.now() - start));
    if (allowed && !accepted) disagreements += 1;
    if (allowed !== accepted && args.only)
      process.stderr.write(`token ${at} (${token}): mask ${allowed}\n`);
    if (!accepted) return { accepted: false, at };
  }
  const mask = matcher.computeMask();
  const end = vocabulary.endTokens[0] as number;
  const complete = (((mask[end >> 5] as number) >> (end & 31)) & 1) === 1;
  return { accepted: complete, at: tokens.length };
}

function summary(values: number[], percentiles: readonly number[]): Record<string, number> {
  const sorted = Float64Array.from(values).sort();
  const at = (p: number): number =>
    round(sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? 0);
  const avg = round(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));
  return {
    avg,
    ...Object.fromEntries(percentiles.map((p) => [`p${p}`, at(p)])),
    max: round(sorted.at(-1) ?? 0),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

async function readRows(path: string): Promise<Row[]> {
  const bytes = await Bun.file(path).bytes();
  const plain = path.endsWith(".zst") ? Bun.zstdDecompressSync(bytes) : bytes;
  return new TextDecoder()
    .decode(plain)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
}
