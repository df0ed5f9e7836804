/** A chat, in any of its forms: a request, admitted, answered by a tier, and recorded. */
import { assert } from "../bytes/assert.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import type { Grammar } from "../grammar/grammar.ts";
import type { Engine, TierInfo } from "../runtime/engine.ts";
import { EngineError } from "../runtime/errors.ts";
import type { Completion, CompletionRequest, TierName } from "../runtime/request.ts";
import { ApiError, badRequest } from "./api-error.ts";
import { type ChoiceEnd, choiceEvents, collectChoice } from "./chat-choice.ts";
import type { ChatForm } from "./chat-form.ts";
import type { ChatRequest, ToolSpec } from "./chat-request.ts";
import type { ChatFacts } from "./chat-response.ts";
import type { ChatPiece, Chunk, StreamHead } from "./chat-stream.ts";
import type { Lock, Locks } from "./locks.ts";
import type { Caller, Meter, Recorded, RecordedBody, Work } from "./metered-call.ts";

export interface ChatDeps {
  readonly engine: Pick<Engine<Grammar>, "tiers" | "complete">;
  readonly locks: Locks;
  readonly meter: Meter;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly nowMs: () => number;
}

/** A chat that has been looked at: what will run, and what is said about it. */
interface Plan {
  readonly request: ChatRequest;
  readonly caller: Caller;
  readonly lock: Lock;
  readonly tierName: TierName;
  readonly tier: TierInfo;
  /** Null at temperature 0. */
  readonly seed: number | null;
}

/** @throws ApiError, EngineError, LedgerError, StoreError: then nothing is billed. */
export async function completeChat(
  deps: ChatDeps,
  caller: Caller,
  request: ChatRequest,
  form: ChatForm,
): Promise<RecordedBody> {
  const plan = planChat(deps, caller, request);
  return deps.meter.run(caller.identity, async (admitted) => {
    const completions = await startChoices(deps, plan);
    const choices = await Promise.all(
      completions.map((completion) =>
        collectChoice(choiceEvents(completion, mayCall(plan)), request.topLogprobs !== null),
      ),
    );
    const facts = chatFacts(deps, plan, choices);
    const body = utf8Encode(JSON.stringify(form.body(facts, choices)));
    return deps.meter.recordBody(admitted, caller, workOf(plan, facts), body);
  });
}

/** An answer that is part of a larger call, which records it. */
export interface DecodedChat {
  readonly text: string;
  /** The alias that the request resolved to. */
  readonly model: TierName;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** @throws as `completeChat`. */
export async function decodeChat(
  deps: ChatDeps,
  caller: Caller,
  request: ChatRequest,
): Promise<DecodedChat> {
  const plan = planChat(deps, caller, request);
  const [completion] = await startChoices(deps, plan);
  assert(completion !== undefined, "one answer was asked for");
  const { content, promptTokens, completionTokens } = await collectChoice(
    choiceEvents(completion, false),
    false,
  );
  return { text: content, model: plan.tierName, promptTokens, completionTokens };
}

/** A chat that is being written. One of `record` and `release` ends it. */
export interface ChatStream {
  readonly pieces: AsyncIterable<ChatPiece>;
  /** Requests in front of this one; 0 once it is being answered. */
  queuePosition(): number;
  /** Of a stream that has ended: its row. @param alongside runs in its transaction. */
  record(facts: ChatFacts, bodyHash: string, alongside?: () => void): Promise<Recorded>;
  /** Of a stream that the caller left after its first token: billable as far as it came. */
  recordLeft(bodyHash: string): Promise<Recorded>;
  /** Of a stream that failed, or that the caller left before its first token. */
  release(): void;
  /** Null where a failure is an error body like any other. */
  errorChunk(error: ApiError): Chunk | null;
}

/** @throws as `completeChat`, before anything is sent. */
export async function streamChat(
  deps: ChatDeps,
  caller: Caller,
  request: ChatRequest,
  form: ChatForm,
): Promise<ChatStream> {
  const plan = planChat(deps, caller, request);
  const admitted = deps.meter.admit(caller.identity);
  try {
    const completions = await startChoices(deps, plan);
    const choices = completions.map((each) => choiceEvents(each, mayCall(plan)));
    const facts = (ends: readonly ChoiceEnd[]) => chatFacts(deps, plan, ends);
    const sent = (status: number, bodyHash: string, known: ChatFacts, alongside?: () => void) =>
      deps.meter.record(admitted, caller, workOf(plan, known), { status, bodyHash }, alongside);
    return {
      pieces: form.pieces(streamHead(plan), choices, facts),
      queuePosition: () => Math.max(...completions.map((each) => each.queuePosition)),
      record: (known, bodyHash, alongside) => sent(200, bodyHash, known, alongside),
      recordLeft: (bodyHash) => sent(499, bodyHash, facts(completions.map(endSoFar))),
      release: admitted.release,
      errorChunk: form.errorChunk,
    };
  } catch (error) {
    admitted.release();
    throw error;
  }
}

function endSoFar({ promptTokens, completionTokens }: Completion): ChoiceEnd {
  const rest = { cachedTokens: 0, budgetLimited: false };
  return { finishReason: "stop", promptTokens, completionTokens, ...rest };
}

function streamHead(plan: Plan): StreamHead {
  const { caller, request, tierName, tier } = plan;
  return {
    requestId: caller.requestId,
    createdMs: caller.startedMs,
    model: tierName,
    fingerprint: tier.fingerprint,
    includeUsage: request.includeUsage,
    hasLogprobs: request.topLogprobs !== null,
    mayCall: mayCall(plan),
  };
}

function planChat(deps: ChatDeps, caller: Caller, request: ChatRequest): Plan {
  const { tiers } = deps.engine;
  const { identity } = caller;
  const lock = deps.locks.of(identity.tenantId, request);
  const tierName = routeModel(request, lock);
  if (!identity.allowedModelTiers.includes(tierName)) throw tierNotAllowed(tierName);
  const tier = tiers.get(tierName);
  if (tier === undefined) {
    throw new EngineError("the model is still loading", { code: "not_ready" });
  }
  checkLogitBias(request, tier.vocabularySize);
  const seed = request.temperature === 0 ? null : (request.seed ?? randomSeed(deps));
  return { request, caller, lock, tierName, tier, seed };
}

/** Short answers and schemas go to B; the alias that was asked for is honoured as given. */
function routeModel({ model, maxTokens, toolChoice }: ChatRequest, lock: Lock): TierName {
  if (model !== "svc-auto") return model;
  const isShort = maxTokens !== null && maxTokens <= 64;
  const isLocked = lock.grammar?.kind === "schema" || toolChoice.kind === "required";
  const isExtraction = isLocked || toolChoice.kind === "function";
  return isShort || isExtraction ? "svc-tier-b" : "svc-tier-a";
}

function tierNotAllowed(tier: TierName): ApiError {
  return new ApiError(`this key may not use ${tier}`, {
    status: 403,
    type: "permission_error",
    code: "model_not_allowed",
    param: "model",
  });
}

function checkLogitBias({ logitBias }: ChatRequest, vocabularySize: number): void {
  for (const token of logitBias.keys()) {
    if (token < vocabularySize) continue;
    const message = `logit_bias names token ${token}; the vocabulary has ${vocabularySize} tokens`;
    throw badRequest("invalid_value", `logit_bias.${token}`, message);
  }
}

/** Below 2³¹, so that every client can send it back as it is. */
function randomSeed({ randomBytes }: ChatDeps): number {
  return new DataView(randomBytes(4).buffer).getUint32(0) >>> 1;
}

/** Starts `n` answers; where one is refused, the others are let go of. */
async function startChoices(deps: ChatDeps, plan: Plan): Promise<Completion[]> {
  const stop = new AbortController();
  const signal = AbortSignal.any([plan.caller.signal, stop.signal]);
  const starts = Array.from({ length: plan.request.n }, (_, index) =>
    deps.engine.complete(engineRequest(plan, index, signal)),
  );
  try {
    return await Promise.all(starts);
  } catch (error) {
    stop.abort();
    throw error;
  }
}

function engineRequest(
  { request, caller, lock, tierName, seed }: Plan,
  choice: number,
  signal: AbortSignal,
): CompletionRequest<Grammar> {
  return {
    tier: tierName,
    tenantId: caller.identity.tenantId,
    messages: request.messages,
    tools: offeredTools(request),
    grammar: lock.grammar,
    schema: lock.schema,
    schemaInPrompt: request.schemaInPrompt,
    maxTokens: request.maxTokens,
    stop: request.stop,
    // Each choice is what a request of its own with the next seed would get.
    seed: seed === null ? null : seed + choice,
    temperature: request.temperature,
    topP: request.topP,
    presencePenalty: request.presencePenalty,
    frequencyPenalty: request.frequencyPenalty,
    logitBias: request.logitBias,
    topLogprobs: request.topLogprobs,
    traced: request.traced,
    signal,
  };
}

const mayCall = ({ lock }: Plan): boolean => lock.grammar?.kind === "tool-call";

/** Tools that may not be called are not shown to the model. */
function offeredTools({ tools, toolChoice }: ChatRequest): readonly ToolSpec[] {
  if (toolChoice.kind === "none") return [];
  if (toolChoice.kind !== "function") return tools;
  return tools.filter(({ name }) => name === toolChoice.name);
}

function chatFacts(deps: ChatDeps, plan: Plan, choices: readonly ChoiceEnd[]): ChatFacts {
  const { caller, request, lock, tier } = plan;
  return {
    requestId: caller.requestId,
    createdMs: caller.startedMs,
    model: plan.tierName,
    fingerprint: tier.fingerprint,
    latencyMs: Math.max(0, deps.nowMs() - caller.startedMs),
    deterministic: request.temperature === 0 && tier.deterministic,
    seed: plan.seed,
    lock,
    ignored: ignoredBy(request, lock),
    usage: {
      promptTokens: choices[0]?.promptTokens ?? 0,
      completionTokens: choices.reduce((sum, choice) => sum + choice.completionTokens, 0),
      cachedTokens: choices[0]?.cachedTokens ?? 0,
    },
    budgetLimited: choices.some(({ budgetLimited }) => budgetLimited),
    schemaEnforced:
      lock.enforced &&
      (!mayCall(plan) || choices.every(({ finishReason }) => finishReason === "tool_calls")),
  };
}

/** A lock's answer is whole: nothing in it is a stop. */
function ignoredBy({ ignored, stop }: ChatRequest, { grammar }: Lock): readonly string[] {
  return grammar !== null && stop.length > 0 ? [...ignored, "stop"] : ignored;
}

function workOf({ tier, tierName }: Plan, facts: ChatFacts): Work {
  return {
    outputHash: null,
    deterministic: facts.deterministic,
    engine: engineName(tier),
    model: tierName,
    promptTokens: facts.usage.promptTokens,
    completionTokens: facts.usage.completionTokens,
    ms: facts.latencyMs,
  };
}

/** As rows have it: model and fingerprint, in the characters that a row can hold. */
function engineName({ model, fingerprint }: TierInfo): string {
  const name = model.replaceAll(/[^A-Za-z0-9._-]/g, "-").slice(0, 80);
  return `${name}@${fingerprint}`;
}
