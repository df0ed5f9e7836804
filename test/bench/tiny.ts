/**
 * Measures svc-tiny on the blind set: `bun test/bench/tiny.ts [--manifest FILE] [--again] [--verbose]`,
 * or with `--set test/vectors/tiny-dev.jsonl` on the one whose answers may be read while one works on
 * the model. Another manifest than the program's may say which file `svc-tiny` is. Greedy and locked, as a
 * strict request runs, and once more unlocked to see how much the lock has to do; with `--again`
 * each locked answer twice, to compare the bytes. The last line is JSON.
 */
import { parseArgs } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import { median } from "simple-statistics";
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
  type Tally,
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

const BLIND_SET = new URL("../vectors/tiny-blind.jsonl", import.meta.url).pathname;
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
  readonly unlocked: Tally;
  /** Answers that a second run gave byte for byte. */
  readonly same: Tally;
  readonly again: boolean;
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
  const locked = { ...base, grammar: grammarOf(schema, tools) };
  const { text } = await readAnswer(await run.engine.complete(locked));
  if (run.again) {
    count(run.same, (await readAnswer(await run.engine.complete(locked))).text === text);
  }
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

const PROMPT_TOKENS = 150;

/** A text that makes a prompt of 150 tokens; `round` stands first, so that no prefix is remembered. */
async function promptOf150(engine: Engine<Grammar>, round: number): Promise<string> {
  for (let items = 1; ; items++) {
    const words = Array.from({ length: items }, (_, i) => `part ${i} of ${round}, `);
    const content = `${round} ${words.join("")}`;
    const messages: ChatTurn[] = [{ role: "user", content }];
    const completion = await engine.complete({ ...BASE, messages, maxTokens: 1 });
    await readAnswer(completion);
    // Another first character: what was just computed must not help.
    if (completion.promptTokens >= PROMPT_TOKENS) return `${9 - round}${content.slice(1)}`;
  }
}

/** Milliseconds from asking to the first text of an answer to 150 tokens; the middle of nine. */
async function measureFirst(engine: Engine<Grammar>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 9; round++) {
    const messages: ChatTurn[] = [
      { role: "user", content: await promptOf150(engine, round === 4 ? 0 : round) },
    ];
    const started = performance.now();
    const completion = await engine.complete({ ...BASE, messages, maxTokens: 4 });
    let first: number | null = null;
    for await (const _event of completion) first ??= performance.now();
    times.push((first ?? started) - started);
  }
  return median(times);
}

/** Tokens a second of a lone free answer of ten fields, first token aside; the middle of five. */
async function measureRate(engine: Engine<Grammar>): Promise<number> {
  const properties = Object.fromEntries(
    Array.from({ length: 10 }, (_, i) => [`field_${i}`, { type: "string" }]),
  );
  const rates: number[] = [];
  for (let round = 0; round < 5; round++) {
    const content = `${round}: the vendor is Acme, the city is Rome, and the total comes to 5.00 euros.`;
    const completion = await engine.complete({
      ...BASE,
      messages: [{ role: "user", content }],
      schema: { type: "object", properties },
    });
    let [first, tokens] = [0, 0];
    for await (const event of completion) {
      if (first === 0) first = performance.now();
      if (event.kind === "end") tokens = event.completionTokens;
    }
    rates.push((1000 * (tokens - 1)) / (performance.now() - first));
  }
  return median(rates);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      manifest: { type: "string", default: MANIFEST_PATH },
      verbose: { type: "boolean", default: false },
      again: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      set: { type: "string", default: BLIND_SET },
    },
  });
  const lines = (await Bun.file(values.set).text()).trimEnd().split("\n");
  const cases = lines.map((line) => JSON.parse(line) as BlindCase);
  const engine = await openEngine(values.manifest);
  const write = (line: string) => void process.stdout.write(`${line}\n`);
  const log = values.verbose ? write : () => {};
  const run: Run = {
    engine,
    score: newScore(),
    unlocked: { right: 0, of: 0 },
    same: { right: 0, of: 0 },
    again: values.again,
    log,
  };
  for (const blind of cases.filter(({ id }) => id.startsWith(values.only))) {
    await runCase(run, blind);
  }
  const speed = {
    tokens_per_s: Math.round(await measureRate(engine)),
    first_token_ms: Math.round(10 * (await measureFirst(engine))) / 10,
  };
  await engine.close();
  const same = run.again ? { same_bytes: run.same } : {};
  const tallies = { ...run.score, unlocked_valid: run.unlocked, ...same };
  const shares = Object.entries(tallies).map(([name, tally]) => [name, share(tally)]);
  const report = { ...Object.fromEntries(shares), ...speed };
  write(
    Object.entries(tallies)
      .map(([name, { right, of }]) => `${name} ${right}/${of}`)
      .join(", "),
  );
  write(JSON.stringify(report));
}

if (import.meta.main) await main();
