/**
 * MaskBench (https://github.com/guidance-ai/jsonschemabench): compile a schema, then for each token of
 * each instance compute the mask and accept the token; at the end, end of generation must be allowed
 * exactly for the valid instances. Rows once, in order, in one process, no warm-up.
 *
 *   bun test/bench/maskbench.ts --rows FILE.jsonl[.zst] --vocabulary FILE.gguf [--limit N]
 *     [--only ID] [--every N] [--failures FILE] [--peer xgrammar]
 *
 * The last line is JSON. Compile times include what makes a lock ready for its first token. With a
 * peer, each row is run by both, ours first, and the line has the ratios.
 */
import { createReadStream } from "node:fs";
import { parseArgs } from "node:util";
import { createZstdDecompress } from "node:zlib";
import { loadVocabulary } from "../../src/mask/vocabulary.ts";
import { llamaTokenizer } from "../helpers/llama.ts";
import {
  type BenchEngine,
  type BenchLock,
  ourEngine,
  xgrammarEngine,
} from "./maskbench-engines.ts";

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
    peer: { type: "string" },
  },
});
if (!args.rows || !args.vocabulary || (args.peer && args.peer !== "xgrammar")) {
  process.stderr.write("usage: maskbench.ts --rows FILE.jsonl[.zst] --vocabulary FILE.gguf\n");
  process.exit(2);
}

type Verdict = "passing" | "compile_errors" | "validation_errors" | "invalidation_errors";

/** What one engine did with all rows. */
class Tally {
  readonly compileUs: number[] = [];
  readonly maskUs: number[] = [];
  readonly rowUs: number[] = [];
  readonly slow: [number, string][] = [];
  readonly failures: string[] = [];
  readonly counts: Record<Verdict, number> = {
    passing: 0,
    compile_errors: 0,
    validation_errors: 0,
    invalidation_errors: 0,
  };
  /** Tokens that the mask allowed and `accept` refused: a bug. */
  disagreements = 0;

  add(row: Row, verdict: Verdict, reason: string): void {
    this.counts[verdict] += 1;
    if (verdict !== "passing") this.failures.push(`${verdict} ${row.id} ${reason}`);
  }

  get summary(): Record<string, unknown> {
    return {
      ...this.counts,
      mask_us: summary(this.maskUs, [50, 99]),
      compile_us: summary(this.compileUs, [50, 90, 99]),
      row_us: summary(this.rowUs, [99]),
      tokens: this.maskUs.length,
      disagreements: this.disagreements,
    };
  }
}

const last = args.limit ? Number(args.limit) : Number.POSITIVE_INFINITY;
const vocabulary = await loadVocabulary(args.vocabulary);
const tokenize = await llamaTokenizer(args.vocabulary);
const end = vocabulary.endTokens[0] as number;

const engines: [BenchEngine, Tally][] = [[ourEngine(vocabulary), new Tally()]];
if (args.peer) engines.push([await xgrammarEngine(args.vocabulary, vocabulary), new Tally()]);
let at = -1;
let count = 0;
// One row at a time: what the bench holds would count as memory of the engine.
for await (const line of readLines(args.rows)) {
  at += 1;
  if (at % Number(args.every) !== 0 || count >= last) continue;
  const row = JSON.parse(line) as Row;
  if (args.only && row.id !== args.only) continue;
  count += 1;
  const texts = row.tests.map((test) => tokenize(test.text));
  for (const [engine, tally] of engines) await runRow(engine, tally, row, texts);
  // A turn of the event loop each, as in a server: what collects garbage waits for that.
  await Bun.sleep(0);
}

const [[, own], [peer, theirs] = []] = engines as [[BenchEngine, Tally], [BenchEngine, Tally]?];
if (args.failures) await Bun.write(args.failures, own.failures.join("\n"));
own.slow.sort((a, b) => b[0] - a[0]);
for (const [us, id] of own.slow.slice(0, 10)) {
  process.stderr.write(`row ${id}: ${Math.round(us)} µs\n`);
}
process.stdout.write(
  `${JSON.stringify({
    schemas: count,
    ...own.summary,
    ...(peer && theirs ? { [peer.name]: theirs.summary, ratios: ratios(own, theirs) } : {}),
    cpu_s: round(process.cpuUsage().user / 1e6),
    rss_mib: rssMib(),
    rss_collected_mib: await collectedMib(),
  })}\n`,
);
process.exit(0);

async function runRow(
  engine: BenchEngine,
  tally: Tally,
  row: Row,
  texts: readonly (readonly number[])[],
): Promise<void> {
  const start = performance.now();
  let lock: BenchLock;
  try {
    const compiled = engine.compile(row.schema);
    lock = compiled instanceof Promise ? await compiled : compiled;
  } catch (error) {
    tally.add(row, "compile_errors", String(error));
    return;
  } finally {
    tally.compileUs.push(1000 * (performance.now() - start));
  }
  let verdict: Verdict = "passing";
  let reason = "";
  const before = tally.maskUs.length;
  for (const [index, test] of row.tests.entries()) {
    const { accepted, at } = await runTest(lock, tally, texts[index] ?? []);
    if (accepted === test.valid) continue;
    verdict = accepted ? "invalidation_errors" : "validation_errors";
    reason = `at token ${at}: ${test.text.slice(0, 300)}`;
    if (accepted) break;
  }
  lock.dispose();
  const masks = tally.maskUs.slice(before).reduce((sum, us) => sum + us, 0);
  const rowUs = (tally.compileUs.at(-1) as number) + masks;
  tally.rowUs.push(rowUs);
  tally.slow.push([rowUs, row.id]);
  tally.add(row, verdict, reason);
}

async function runTest(
  lock: BenchLock,
  tally: Tally,
  tokens: readonly number[],
): Promise<{ readonly accepted: boolean; readonly at: number }> {
  lock.reset();
  for (const [at, token] of tokens.entries()) {
    const start = performance.now();
    const computed = lock.mask();
    const mask = computed instanceof Promise ? await computed : computed;
    const allowed = has(mask, token);
    const accepted = allowed && lock.accept(token);
    tally.maskUs.push(1000 * (performance.now() - start));
    if (allowed && !accepted) tally.disagreements += 1;
    if (!accepted) return { accepted: false, at };
  }
  return { accepted: has(await lock.mask(), end), at: tokens.length };
}

function has(mask: Uint32Array | Int32Array, token: number): boolean {
  return (((mask[token >> 5] as number) >> (token & 31)) & 1) === 1;
}

function rssMib(): number {
  return Math.round(process.memoryUsage.rss() / 2 ** 20);
}

/** What is still in use, without what a collection would free. */
async function collectedMib(): Promise<number> {
  Bun.gc(true);
  // The allocator gives pages back a little later.
  await Bun.sleep(500);
  return rssMib();
}

/** How many times as long the peer took on average: masks and rows over those that it compiled. */
function ratios(own: Tally, theirs: Tally): Record<string, number> {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return {
    mask: round(mean(theirs.maskUs) / mean(own.maskUs)),
    compile: round(mean(theirs.compileUs) / mean(own.compileUs)),
    row: round(mean(theirs.rowUs) / mean(own.rowUs)),
  };
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

/** The lines that are not empty, one at a time. */
async function* readLines(path: string): AsyncGenerator<string> {
  const bytes = createReadStream(path);
  const plain = path.endsWith(".zst") ? bytes.pipe(createZstdDecompress()) : bytes;
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of plain) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield line;
  }
  if (rest !== "") yield rest;
}
