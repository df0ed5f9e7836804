/**
 * Measures svc-tiny on the blind set: `bun test/bench/tiny.ts [--manifest FILE] [--verbose]`.
 * Another manifest than the program's may say which file `svc-tiny` is. Greedy and locked, as a strict request runs, and once more unlocked to see how much the lock has
 * to do. The last line is JSON.
 */
import { parseArgs } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import { compileSchema, type SchemaGrammar } from "../../src/grammar/compile.ts";
import { compileToolCall, type ToolCallGrammar } from "../../src/grammar/tool-call.ts";
import { lockOf } from "../../src/mask/lock-of.ts";
import { loadVocabulary } from "../../src/mask/vocabulary.ts";
import type { ChatTurn, ToolDefinition } from "../../src/runtime/chat.ts";
import { type Engine, startEngine } from "../../src/runtime/engine.ts";
import { MANIFEST_PATH } from "../../src/runtime/manifest.ts";
import { readAnswer, request } from "../helpers/engine.ts";
import {
  count,
  isGrounded,
  matches,
  newScore,
  type Score,
  scoreExtraction,
  share,
} from "../models/blind-score.ts";

type Grammar = SchemaGrammar | ToolCallGrammar;

interface BlindCase {
  readonly id: string;
  readonly task: "extract" | "classify" | "tool" | "grounded" | "chat";
  readonly user: string;
  readonly schema?: unknown;
  readonly tools?: readonly ToolDefinition[];
  readonly snippets?: readonly { readonly title: string; readonly text: string }[];
  readonly expected?: unknown;
  readonly contains?: string | readonly string[] | null;
  readonly contains_any?: readonly string[];
  readonly cites?: readonly number[];
}

const MAX_TOKENS = 400;

const BASE = request<Grammar>("", { maxTokens: MAX_TOKENS });

async function openEngine(manifestPath: string): Promise<Engine<Grammar>> {
  const engine = startEngine<Grammar>({
    tiers: { "svc-tier-a": "svc-tiny", "svc-tier-b": "svc-tiny" },
    manifestPath,
    forceCpu: true,
    threads: 1,
    contextTokens: null,
    rows: 1,
    queueMax: 8,
    loadVocabulary,
    createLock: lockOf,
    log: () => {},
  });
  await engine.whenReady;
  return engine;
}

function turnsOf({ user, snippets }: BlindCase): ChatTurn[] {
  const turns: ChatTurn[] = [{ role: "user", content: user }];
  if (snippets === undefined) return turns;
  const lines = snippets.map(({ title, text }, i) => `[${i + 1}] ${title}: ${text}`);
  return [{ role: "system", content: lines.join("\n") }, ...turns];
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

interface Run {
  readonly engine: Engine<Grammar>;
  readonly score: Score;
  readonly unlocked: { right: number; of: number };
  readonly log: (line: string) => void;
}

/** The lock of a strict request; with tools the model may call one or answer in words. */
function grammarOf(schema: unknown, tools: readonly ToolDefinition[]): Grammar | null {
  if (schema !== undefined) return compileSchema(schema);
  if (tools.length === 0) return null;
  const specs = tools.map(({ name, parameters }) => ({ name, parameters, strict: true }));
  return compileToolCall(specs, { allowText: true });
}

/** One case, locked where it has a schema or tools. */
async function runCase(run: Run, blind: BlindCase): Promise<void> {
  const { schema, tools = [], task } = blind;
  const base = { ...BASE, messages: turnsOf(blind), tools, schema: schema ?? null };
  if (schema !== undefined) {
    const free = (await readAnswer(await run.engine.complete(base))).text;
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    count(run.unlocked, ajv.validate(schema as object, parse(free)));
  }
  const { text } = await readAnswer(
    await run.engine.complete({ ...base, grammar: grammarOf(schema, tools) }),
  );
  const isRight = scoreCase(run.score, blind, text);
  run.log(`${isRight ? "ok " : "BAD"} ${blind.id} ${task}: ${text}`);
  if (!isRight) run.log(`        ${JSON.stringify(blind.expected ?? blind.contains ?? "")}`);
}

function scoreCase(score: Score, blind: BlindCase, text: string): boolean {
  const { expected } = blind;
  let isRight: boolean;
  switch (blind.task) {
    case "extract":
      return scoreExtraction(score, expected, parse(text));
    case "classify":
      isRight = matches(expected, parse(text));
      count(score.classes, isRight);
      return isRight;
    case "tool":
      isRight = expected === null ? !text.startsWith("{") : matches(expected, parse(text));
      count(score.tools, isRight);
      return isRight;
    case "grounded":
      isRight = isGrounded([blind.contains ?? []].flat(), blind.cites ?? [], text);
      count(score.grounded, isRight);
      return isRight;
    case "chat":
      isRight = (blind.contains_any ?? []).some((word) => text.toLowerCase().includes(word));
      count(score.chat, isRight);
      return isRight;
  }
}

/** Tokens a second of a lone free answer, and milliseconds to its first token; best of a few. */
async function measureSpeed(engine: Engine<Grammar>): Promise<{ rate: number; firstMs: number }> {
  const words = Array.from({ length: 12 }, (_, i) => `Item ${i} costs ${i}.50 euros in town. `);
  let [rate, firstMs] = [0, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 5; round++) {
    const content = `${round} ${words.join("")}`.slice(0, 330);
    const properties = Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [`field_${i}`, { type: "string" }]),
    );
    const started = performance.now();
    const completion = await engine.complete({
      ...BASE,
      messages: [{ role: "user", content }],
      schema: round % 2 === 0 ? null : { type: "object", properties },
    });
    let first = 0;
    let tokens = 0;
    for await (const event of completion) {
      if (first === 0) first = performance.now();
      if (event.kind === "end") tokens = event.completionTokens;
    }
    const seconds = (performance.now() - first) / 1000;
    if (round % 2 === 0) firstMs = Math.min(firstMs, first - started);
    if (tokens > 30) rate = Math.max(rate, (tokens - 1) / seconds);
  }
  return { rate: Math.round(rate), firstMs: Math.round(firstMs) };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      manifest: { type: "string", default: MANIFEST_PATH },
      verbose: { type: "boolean", default: false },
      only: { type: "string", default: "" },
    },
  });
  const path = new URL("../vectors/tiny-blind.jsonl", import.meta.url).pathname;
  const lines = (await Bun.file(path).text()).trimEnd().split("\n");
  const cases = lines.map((line) => JSON.parse(line) as BlindCase);
  const engine = await openEngine(values.manifest);
  const write = (line: string) => void process.stdout.write(`${line}\n`);
  const log = values.verbose ? write : () => {};
  const run: Run = { engine, score: newScore(), unlocked: { right: 0, of: 0 }, log };
  for (const blind of cases.filter(({ id }) => id.startsWith(values.only))) {
    await runCase(run, blind);
  }
  const { rate, firstMs } = await measureSpeed(engine);
  await engine.close();
  const tallies = { ...run.score, unlocked_valid: run.unlocked };
  const shares = Object.entries(tallies).map(([name, tally]) => [name, share(tally)]);
  const report = { ...Object.fromEntries(shares), tokens_per_s: rate, first_token_ms: firstMs };
  write(
    Object.entries(tallies)
      .map(([name, { right, of }]) => `${name} ${right}/${of}`)
      .join(", "),
  );
  write(JSON.stringify(report));
}

if (import.meta.main) await main();
