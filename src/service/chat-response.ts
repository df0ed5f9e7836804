/** The response of a chat, in OpenAI's shape with the extension block `svc`. */
import type { Alternative, TokenLogprob } from "../runtime/request.ts";
import type { Choice } from "./chat-choice.ts";
import type { Lock } from "./locks.ts";

/** What a response says besides its choices. */
export interface ChatFacts {
  readonly requestId: string;
  readonly createdMs: number;
  readonly model: string;
  readonly fingerprint: string;
  readonly latencyMs: number;
  readonly deterministic: boolean;
  readonly seed: number | null;
  readonly lock: Lock;
  readonly ignored: readonly string[];
  readonly usage: {
    readonly promptTokens: number;
    readonly completionTokens: number;
    readonly cachedTokens: number;
  };
  readonly budgetLimited: boolean;
  /** What was asked for as a schema was enforced on the answer, whole. */
  readonly schemaEnforced: boolean;
}

export function completionBody(facts: ChatFacts, choices: readonly Choice[]): object {
  return {
    id: completionId(facts.requestId),
    object: "chat.completion",
    created: createdSeconds(facts),
    model: facts.model,
    choices: choices.map((choice, index) => ({
      index,
      message: {
        role: "assistant",
        content: choice.call === null ? choice.content : null,
        refusal: null,
        ...(choice.call === null ? {} : { tool_calls: [callBody(facts, index, choice.call)] }),
        ...(choice.reasoning === "" ? {} : { reasoning_content: choice.reasoning }),
      },
      logprobs: choice.logprobs === null ? null : logprobsBody(choice.logprobs),
      finish_reason: choice.finishReason,
    })),
    usage: usageBody(facts.usage),
    system_fingerprint: facts.fingerprint,
    svc: svcBody(facts),
  };
}

function callBody(
  { requestId }: ChatFacts,
  choice: number,
  { name, arguments: text }: NonNullable<Choice["call"]>,
): object {
  return { id: callId(requestId, choice), type: "function", function: { name, arguments: text } };
}

/** One call per answer, so request and answer name it. */
export function callId(requestId: string, choice: number): string {
  return `call_${requestId.replace(/^req_/, "")}_${choice}`;
}

export function completionId(requestId: string): string {
  return `chatcmpl-${requestId.replace(/^req_/, "")}`;
}

/** Unix seconds, as OpenAI counts. */
export function createdSeconds({ createdMs }: { readonly createdMs: number }): number {
  return Math.floor(createdMs / 1000);
}

export function usageBody({ promptTokens, completionTokens, cachedTokens }: ChatFacts["usage"]) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}

/** What was really done. Lists appear only where there is something to say. */
export function svcBody(facts: ChatFacts): object {
  const { annotations, unenforced } = facts.lock;
  return {
    schema_enforced: facts.schemaEnforced,
    latency_ms: facts.latencyMs,
    request_id: facts.requestId,
    deterministic: facts.deterministic,
    budget_limited: facts.budgetLimited,
    ...(facts.seed === null ? {} : { seed: facts.seed }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(unenforced.length === 0 ? {} : { unenforced }),
    ...(facts.ignored.length === 0 ? {} : { ignored: facts.ignored }),
  };
}

export function logprobsBody(tokens: readonly TokenLogprob[]): object {
  return { content: tokens.map(tokenBody), refusal: null };
}

export function tokenBody(token: TokenLogprob): object {
  return { ...alternativeBody(token), top_logprobs: token.top.map(alternativeBody) };
}

function alternativeBody({ token, logprob, bytes }: Alternative): object {
  return { token, logprob, bytes };
}
