/**
 * Tokens per second with and without a schema lock, on weights that know nothing: outside strings
 * random weights have nearly every choice refused, which is the worst case for a lock.
 *
 *   bun test/bench/decode.ts [--model FILE.gguf] [--clients N] [--tokens N] [--rounds N] [--gpu]
 *     [--peer URL] [--prefix] [--threads N] [--schemas NAMES]
 *
 * Without --model a model with random Q8_0 weights over 128,256 tokens is made. Rates count sampled
 * tokens only; free and locked runs take turns, so that a busy machine slows both. --peer measures a
 * running llama-server in the same way. The last line is JSON.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compileSchema } from "../../src/grammar/compile.ts";
import type { Grammar } from "../../src/grammar/grammar.ts";
import { lockOf } from "../../src/mask/lock-of.ts";
import { loadVocabulary } from "../../src/mask/vocabulary.ts";
import { type Engine, startEngine } from "../../src/runtime/engine.ts";
import type { CompletionRequest } from "../../src/runtime/request.ts";
import { request } from "../helpers/engine.ts";
import { randomModelPath, SMALL } from "../helpers/random-model.ts";
import { DECODE_SCHEMAS, LOCKED_TOKENS_MAX, type SchemaName } from "./decode-schemas.ts";
import { measurePeer } from "./llama-server.ts";

const { values: args } = parseArgs({
  options: {
    model: { type: "string" },
    clients: { type: "string", default: "1" },
    tokens: { type: "string", default: "160" },
    rounds: { type: "string", default: "3" },
    threads: { type: "string" },
    schemas: { type: "string", default: "strings,mixed,half_forced" },
    peer: { type: "string" },
    gpu: { type: "boolean", default: false },
    prefix: { type: "boolean", default: false },
  },
});
const clients = Number(args.clients);
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

const path = args.model ?? (await randomModelPath(SMALL));
const selfTestDir = mkdtempSync(join(tmpdir(), "svc-decode-"));
const engine = startEngine<Grammar>({
  tiers: { "svc-tier-a": path, "svc-tier-b": path },
  forceCpu: !args.gpu,
  threads: args.threads === undefined ? null : Number(args.threads),
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

async function run(grammar: Grammar | null, maxTokens: number, round: number): Promise<Run> {
  const refusedBefore = engine.stats("svc-tier-a")?.refusedTokens ?? 0;
  const start = performance.now();
  const all = process.cpuUsage();
  const cpu = process.threadCpuUsage();
  const ends = await Promise.all(
    Array.from({ length: clients }, (_, client) =>
      answer(engine, ask(`round ${round}, client ${client}`, grammar, maxTokens)),
    ),
  );
  const js = process.threadCpuUsage(cpu);
  const used = process.cpuUsage(all);
  const total = ends.reduce((sum, end) => sum + end.completionTokens, 0);
  const forced = ends.reduce((sum, end) => sum + end.forcedTokens, 0);
  return {
    seconds: (performance.now() - start) / 1000,
    cpuSeconds: (used.user + used.system) / 1e6,
    jsMs: (js.user + js.system) / 1000,
    sampled: total - forced,
    forced,
    refused: (engine.stats("svc-tier-a")?.refusedTokens ?? 0) - refusedBefore,
  };
}

const sum = (runs: readonly Run[], of: (each: Run) => number) =>
  runs.reduce((total, each) => total + of(each), 0);
const rate = (runs: readonly Run[]) => sum(runs, (r) => r.sampled) / sum(runs, (r) => r.seconds);
/** Of a half-forced answer what counts is how soon all of it is there. */
const counted = (name: SchemaName, run: Run) =>
  run.sampled + (name === "half_forced" ? run.forced : 0);
const round3 = (value: number) => Number(value.toPrecision(3));

const free: Run[] = [];
const locked = new Map<SchemaName, Run[]>(names.map((name) => [name, []]));
for (let round = 0; round < rounds; round++) {
  free.push(await run(null, tokens, round));
  for (const name of names) {
    locked.get(name)?.push(await run(grammars.get(name) ?? null, LOCKED_TOKENS_MAX, round));
  }
}
const freeRate = rate(free);
const sampledFree = sum(free, (r) => r.sampled);
const cpuFree = sum(free, (r) => r.cpuSeconds);
const results = Object.fromEntries(
  names.map((name) => {
    const runs = locked.get(name) ?? [];
    const sampled = sum(runs, (r) => r.sampled);
    const forced = sum(runs, (r) => r.forced);
    const count = sum(runs, (r) => counted(name, r));
    const wall = count / sum(runs, (r) => r.seconds) / freeRate;
    const cpu = count / sum(runs, (r) => r.cpuSeconds) / (sampledFree / cpuFree);
    return [
      name,
      {
        tokens_per_s: round3(rate(runs)),
        ratio: round3(wall),
        cpu_ratio: round3(cpu),
        js_ms_per_token: round3(sum(runs, (r) => r.jsMs) / (sampled + forced)),
        forced_share: round3(forced / (sampled + forced)),
        refused_share: round3(sum(runs, (r) => r.refused) / Math.max(1, sampled)),
      },
    ];
  }),
);
const all = [...free, ...[...locked.values()].flat()];
const tier = engine.tiers.get("svc-tier-a");
const report = {
  clients,
  free_tokens_per_s: round3(freeRate),
  free_js_ms_per_token: round3(sum(free, (r) => r.jsMs) / sampledFree),
  ...results,
  js_ms_per_token: round3(sum(all, (r) => r.jsMs) / sum(all, (r) => r.sampled + r.forced)),
  ...(args.prefix ? { prefix: await measurePrefix() } : {}),
  row_class: tier?.rowClass,
  fingerprint: tier?.fingerprint,
  ...(args.peer === undefined
    ? {}
    : { peer: await measurePeer(args.peer, clients, tokens, rounds) }),
};
await engine.close();
rmSync(selfTestDir, { recursive: true });
process.stdout.write(`${JSON.stringify(report)}\n`);

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
