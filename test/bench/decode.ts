/**
 * Tokens per second with and without a schema lock, on weights that know nothing: outside strings
 * random weights have nearly every choice refused, which is the worst case for a lock.
 *
 *   bun test/bench/decode.ts [--model FILE.gguf] [--clients N] [--tokens N] [--rounds N] [--gpu]
 *     [--peer URL] [--prefix] [--streams] [--threads N] [--schemas NAMES]
 *
 * Without --model a model with random Q8_0 weights over 128,256 tokens is made. Rates count sampled
 * tokens only. Each locked run is followed by a free one in which every client gets as many tokens,
 * so that a busy machine slows both, and calls have as many rows; ratios are the median of such
 * pairs. What the addon's two calls a token cost the thread of JavaScript by themselves is part of
 * its milliseconds, and printed beside them. --peer measures a running llama-server in turn with
 * it. The last line is JSON.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { median } from "simple-statistics";
import { compileSchema } from "../../src/grammar/compile.ts";
import type { Grammar } from "../../src/grammar/grammar.ts";
import { lockOf } from "../../src/mask/lock-of.ts";
import { loadVocabulary } from "../../src/mask/vocabulary.ts";
import { type Engine, startEngine } from "../../src/runtime/engine.ts";
import type { CompletionRequest } from "../../src/runtime/request.ts";
import { request } from "../helpers/engine.ts";
import { randomModelPath, SMALL } from "../helpers/random-model.ts";
import { addonFloorMs } from "./addon-floor.ts";
import { DECODE_SCHEMAS, LOCKED_TOKENS_MAX, type SchemaName } from "./decode-schemas.ts";
import { streamedJsMs } from "./decode-streams.ts";
import { LlamaServer } from "./llama-server.ts";

const { values: args } = parseArgs({
  options: {
    model: { type: "string" },
    clients: { type: "string", default: "1" },
    tokens: { type: "string", default: "160" },
    rounds: { type: "string", default: "9" },
    threads: { type: "string" },
    schemas: { type: "string", default: "strings,mixed,half_forced" },
    peer: { type: "string" },
    gpu: { type: "boolean", default: false },
    prefix: { type: "boolean", default: false },
    streams: { type: "boolean", default: false },
  },
});
const clients = Number(args.clients);
const threads = args.threads === undefined ? null : Number(args.threads);
const tokens = Number(args.tokens);
const rounds = Number(args.rounds);
const names = Object.keys(DECODE_SCHEMAS).filter((name): name is SchemaName =>
  args.schemas.split(",").includes(name),
);
const say = (message: string) => process.stderr.write(`${message}\n`);

/** What a run of all clients took. */
interface Run {
  readonly seconds: number;
  /** Of all threads: what a busy machine does not change as much. */
  readonly cpuSeconds: number;
  /** Of the thread that runs JavaScript. */
  readonly jsMs: number;
  readonly sampled: number;
  readonly forced: number;
  readonly refused: number;
}

/** Of the size at which DESIGN section 5 measured llama-server. */
const MODEL = { ...SMALL, width: 512, heads: 8, kvHeads: 4, feedForward: 1024 };
const path = args.model ?? (await randomModelPath(MODEL));
const selfTestDir = mkdtempSync(join(tmpdir(), "svc-decode-"));
const engine = startEngine<Grammar>({
  tiers: { "svc-tier-a": path, "svc-tier-b": path },
  forceCpu: !args.gpu,
  threads,
  contextTokens: null,
  rows: 8,
  queueMax: 64,
  selfTestDir,
  loadVocabulary,
  createLock: lockOf,
  log: say,
});
await engine.whenReady;
const grammars = new Map(names.map((name) => [name, compileSchema(DECODE_SCHEMAS[name])]));

function ask(text: string, grammar: Grammar | null, maxTokens: number) {
  return request<Grammar>(text, { grammar, maxTokens, schemaInPrompt: false });
}

async function answer(of: Engine<Grammar>, asked: CompletionRequest<Grammar>) {
  for await (const event of await of.complete(asked)) {
    if (event.kind === "end") return event;
  }
  throw new Error("the answer has no end");
}

/** @param counts tokens that each client may have, at most. */
async function run(grammar: Grammar | null, counts: readonly number[], round: number) {
  const refusedBefore = engine.stats("svc-tier-a")?.refusedTokens ?? 0;
  const start = performance.now();
  const all = process.cpuUsage();
  const cpu = process.threadCpuUsage();
  const ends = await Promise.all(
    counts.map((count, client) =>
      answer(engine, ask(`round ${round}, client ${client}`, grammar, count)),
    ),
  );
  const js = process.threadCpuUsage(cpu);
  const used = process.cpuUsage(all);
  const total = ends.reduce((sum, end) => sum + end.completionTokens, 0);
  const forced = ends.reduce((sum, end) => sum + end.forcedTokens, 0);
  const taken: Run = {
    seconds: (performance.now() - start) / 1000,
    cpuSeconds: (used.user + used.system) / 1e6,
    jsMs: (js.user + js.system) / 1000,
    sampled: total - forced,
    forced,
    refused: (engine.stats("svc-tier-a")?.refusedTokens ?? 0) - refusedBefore,
  };
  return { taken, ends };
}

const sum = (runs: readonly Run[], of: (each: Run) => number) =>
  runs.reduce((total, each) => total + of(each), 0);
const rate = (runs: readonly Run[]) => sum(runs, (r) => r.sampled) / sum(runs, (r) => r.seconds);
const round3 = (value: number) => Number(value.toPrecision(3));

const jsMs = (runs: readonly Run[]) =>
  round3(sum(runs, (r) => r.jsMs) / sum(runs, (r) => r.sampled + r.forced));

const every = (count: number) => new Array<number>(clients).fill(count);
const free: Run[] = [];
const locked = new Map<SchemaName, { readonly own: Run[]; readonly free: Run[] }>(
  names.map((name) => [name, { own: [], free: [] }]),
);
const peer =
  args.peer === undefined ? null : new LlamaServer(args.peer, { clients, tokens, names });

async function runRound(round: number): Promise<void> {
  free.push((await run(null, every(tokens), round)).taken);
  for (const [name, runs] of locked) {
    const own = await run(grammars.get(name) ?? null, every(LOCKED_TOKENS_MAX), round);
    runs.own.push(own.taken);
    // Of a half-forced answer what counts is how soon all of it is there.
    const counts = own.ends.map(
      (end) => end.completionTokens - (name === "half_forced" ? 0 : end.forcedTokens),
    );
    runs.free.push((await run(null, counts, round)).taken);
  }
  await peer?.runRound(round);
}

/** What the first runs compile, and the masks they keep, are no part of a server's rates. */
const WARM_UP_ROUNDS = 4;

async function warmUp(): Promise<void> {
  for (let round = -WARM_UP_ROUNDS; round < 0; round++) await runRound(round);
  free.length = 0;
  for (const runs of locked.values()) runs.own.length = runs.free.length = 0;
  peer?.forget();
}

await warmUp();
for (let round = 0; round < rounds; round++) await runRound(round);
const results = Object.fromEntries(
  [...locked].map(([name, runs]) => {
    const sampled = sum(runs.own, (r) => r.sampled);
    const total = sampled + sum(runs.own, (r) => r.forced);
    /** How many times as fast as the free run of the same pair. */
    const ratioBy = (of: (each: Run) => number) =>
      median(
        runs.own.map((own, pair) => {
          const counted = own.sampled + (name === "half_forced" ? own.forced : 0);
          const other = runs.free[pair] ?? own;
          return (counted / of(own)) * (of(other) / other.sampled);
        }),
      );
    return [
      name,
      {
        tokens_per_s: round3(rate(runs.own)),
        ratio: round3(ratioBy((r) => r.seconds)),
        cpu_ratio: round3(ratioBy((r) => r.cpuSeconds)),
        js_ms_per_token: jsMs(runs.own),
        forced_share: round3(1 - sampled / total),
        refused_share: round3(sum(runs.own, (r) => r.refused) / Math.max(1, sampled)),
      },
    ];
  }),
);
const addonFloor = round3(await addonFloorMs(path));
const all = [...free, ...[...locked.values()].flatMap((runs) => [...runs.own, ...runs.free])];
const tier = engine.tiers.get("svc-tier-a");
const report = {
  clients,
  free_tokens_per_s: round3(rate(free)),
  free_cpu_ms_per_token: round3(
    (1000 * sum(free, (r) => r.cpuSeconds)) / sum(free, (r) => r.sampled),
  ),
  free_js_ms_per_token: jsMs(free),
  ...results,
  js_ms_per_token: jsMs(all),
  addon_floor_ms_per_token: addonFloor,
  ...(args.prefix ? { prefix: await measurePrefix() } : {}),
  row_class: tier?.rowClass,
  fingerprint: tier?.fingerprint,
  ...(peer === null ? {} : { peer: peer.rates }),
};
await engine.close();
rmSync(selfTestDir, { recursive: true });
const streams = args.streams ? { streams_js_ms_per_token: await measureStreams() } : {};
process.stdout.write(`${JSON.stringify({ ...report, ...streams })}\n`);

/** Free, and locked to each schema. */
async function measureStreams(): Promise<Readonly<Record<string, number>>> {
  const asked = { clients, tokens, threads };
  const measured: Record<string, number> = {};
  measured["free"] = round3(await streamedJsMs(path, asked, {}));
  for (const name of names) {
    const json_schema = { name, strict: true, schema: DECODE_SCHEMAS[name] };
    const response_format = { type: "json_schema", json_schema };
    const change = { response_format, max_tokens: LOCKED_TOKENS_MAX };
    measured[name] = round3(await streamedJsMs(path, asked, change));
  }
  return measured;
}

/** Until the first token after 2,000 tokens, computed and taken over. */
async function measurePrefix(): Promise<Readonly<Record<string, number>>> {
  const text = Array.from({ length: 2000 }, (_, word) => ` w${word % 10}`).join("");
  const first = async (end: string) => {
    const start = performance.now();
    const { cachedTokens } = await answer(engine, ask(`${text} ${end}`, null, 1));
    return { ms: performance.now() - start, cachedTokens };
  };
  const uncached = await first("one");
  const cached = await first("two");
  return {
    uncached_ms: round3(uncached.ms),
    cached_ms: round3(cached.ms),
    cached_tokens: cached.cachedTokens,
    ratio: round3(cached.ms / uncached.ms),
  };
}
