/** Engines and requests for tests. */
import { join } from "node:path";
import { type Engine, type EngineOptions, startEngine } from "../../src/runtime/engine.ts";
import type { Completion, CompletionEvent, CompletionRequest } from "../../src/runtime/request.ts";
import { type PartGrammar, PartLock } from "./part-lock.ts";
import { loadTokenTable } from "./token-table.ts";
import { cacheDirectory } from "./vocabularies.ts";

/** An engine whose lock is the tests' own; both tiers have the same model. */
export async function openTestEngine(
  model: string,
  options: Partial<EngineOptions<PartGrammar>> = {},
): Promise<Engine<PartGrammar>> {
  const engine = startEngine<PartGrammar>({
    tiers: { "svc-tier-a": model, "svc-tier-b": model },
    forceCpu: true,
    // More would wait for each other where other tests run too.
    threads: 1,
    contextTokens: null,
    rows: 8,
    queueMax: 64,
    // Shared by all tests: the self-test has tests of its own.
    selfTestDir: join(cacheDirectory(), "self-tests"),
    loadVocabulary: loadTokenTable,
    createLock: (grammar, table) => new PartLock(grammar, table),
    log: () => {},
    ...options,
  });
  await engine.whenReady;
  return engine;
}

/** A greedy, free, unlimited request that says `text`, changed by `changes`. */
export function request<G = PartGrammar>(
  text: string,
  changes: Partial<CompletionRequest<G>> = {},
): CompletionRequest<G> {
  return {
    tier: "svc-tier-a",
    tenantId: "tenant",
    messages: [{ role: "user", content: text }],
    tools: [],
    grammar: null,
    schema: null,
    schemaInPrompt: true,
    maxTokens: 48,
    stop: [],
    seed: null,
    temperature: 0,
    topP: 1,
    presencePenalty: 0,
    frequencyPenalty: 0,
    logitBias: new Map(),
    topLogprobs: null,
    traced: false,
    signal: new AbortController().signal,
    ...changes,
  };
}

export interface WholeAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly events: readonly CompletionEvent[];
  readonly end: Extract<CompletionEvent, { kind: "end" }>;
}

export async function readAnswer(completion: Completion): Promise<WholeAnswer> {
  const events: CompletionEvent[] = [];
  for await (const event of completion) events.push(event);
  const textOf = (kind: "text" | "reasoning"): string =>
    events.map((event) => (event.kind === kind ? event.text : "")).join("");
  const end = events.find((event) => event.kind === "end");
  if (end === undefined) throw new Error("the answer has no end");
  return { text: textOf("text"), reasoning: textOf("reasoning"), events, end };
}
