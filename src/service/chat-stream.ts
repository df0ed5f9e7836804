/**
 * A chat as it is written: OpenAI's chunks, one JSON value each. The last ones are kept back until
 * the call is recorded, so that nobody holds a whole answer that is not.
 */
import type { TokenLogprob, TracedToken } from "../runtime/request.ts";
import type { ChoiceEnd, ChoiceEvent } from "./chat-choice.ts";
import {
  type ChatFacts,
  callId,
  completionId,
  createdSeconds,
  logprobsBody,
  svcBody,
  usageBody,
} from "./chat-response.ts";
import { mergeIndexed } from "./merge.ts";

/** What is known of a stream before its first token. */
export interface StreamHead {
  readonly requestId: string;
  readonly createdMs: number;
  readonly model: string;
  readonly fingerprint: string;
  readonly includeUsage: boolean;
  readonly hasLogprobs: boolean;
  /** The answers are tool calls, or may be. */
  readonly mayCall: boolean;
}

/** One event of a stream; `type`, where it has one, is the event's name too. */
export interface Chunk {
  readonly type?: string;
}

export type ChatPiece =
  | {
      readonly kind: "chunk";
      readonly chunk: Chunk;
      /** Whether it carries something that was generated. */
      readonly hasToken: boolean;
    }
  | { readonly kind: "end"; readonly chunks: readonly Chunk[]; readonly facts: ChatFacts };

/** @param factsOf what is said of the answers once all have ended. */
export async function* chatPieces(
  head: StreamHead,
  choices: readonly AsyncIterable<ChoiceEvent>[],
  factsOf: (ends: readonly ChoiceEnd[]) => ChatFacts,
): AsyncGenerator<ChatPiece, void> {
  for (const index of choices.keys()) {
    const delta = { role: "assistant", content: head.mayCall ? null : "" };
    yield { kind: "chunk", chunk: choiceChunk(head, { index, delta }), hasToken: false };
  }
  const ends: Extract<ChoiceEvent, { kind: "end" }>[] = [];
  for await (const { index, value } of mergeIndexed(choices)) {
    if (value.kind === "end") ends[index] = value;
    else yield { kind: "chunk", chunk: eventChunk(head, index, value), hasToken: true };
  }
  const facts = factsOf(ends);
  const last = ends.map(({ finishReason, trace }, index) =>
    choiceChunk(head, { index, delta: {}, finishReason, trace }),
  );
  if (head.includeUsage) last.push({ ...chunk(head, []), usage: usageBody(facts.usage) });
  // What was really done stands in the last chunk, whichever that is.
  const chunks = last.map((each, index) =>
    index < last.length - 1 ? each : { ...each, svc: { ...each.svc, ...svcBody(facts) } },
  );
  yield { kind: "end", chunks, facts };
}

function eventChunk(
  head: StreamHead,
  index: number,
  event: Exclude<ChoiceEvent, { kind: "end" }>,
): ChatChunk {
  const { trace } = event;
  if (event.kind === "reasoning") {
    return choiceChunk(head, { index, delta: { reasoning_content: event.text }, trace });
  }
  if (event.kind === "call") {
    const called = { name: event.name, arguments: "" };
    const call = {
      index: 0,
      id: callId(head.requestId, index),
      type: "function",
      function: called,
    };
    return choiceChunk(head, { index, delta: { tool_calls: [call] }, trace });
  }
  if (event.kind === "arguments") {
    // Clients take a repeated id or name for another call.
    const call = { index: 0, function: { arguments: event.text } };
    return choiceChunk(head, { index, delta: { tool_calls: [call] }, trace });
  }
  const { text, logprobs } = event;
  return choiceChunk(head, { index, delta: { content: text }, logprobs, trace });
}

function choiceChunk(
  head: StreamHead,
  choice: {
    readonly index: number;
    readonly delta: object;
    readonly logprobs?: readonly TokenLogprob[];
    readonly finishReason?: ChoiceEnd["finishReason"];
    readonly trace?: readonly TracedToken[];
  },
): ChatChunk {
  const { index, delta, logprobs, finishReason, trace = [] } = choice;
  const probabilities = head.hasLogprobs && logprobs !== undefined ? logprobsBody(logprobs) : null;
  const body = chunk(head, [
    { index, delta, logprobs: probabilities, finish_reason: finishReason ?? null },
  ]);
  return trace.length === 0 ? body : { ...body, svc: { tokens: trace.map(tracedBody) } };
}

/** To a tenth of a microsecond: a clock says no more. */
function tracedBody({ text, forced, maskUs }: TracedToken): object {
  return { text, forced, mask_us: Math.round(maskUs * 10) / 10 };
}

interface ChatChunk extends Chunk {
  readonly id: string;
  readonly object: "chat.completion.chunk";
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
  readonly choices: readonly object[];
  readonly usage?: object | null;
  readonly svc?: object;
}

function chunk(head: StreamHead, choices: readonly object[]): ChatChunk {
  return {
    id: completionId(head.requestId),
    object: "chat.completion.chunk",
    created: createdSeconds(head),
    model: head.model,
    system_fingerprint: head.fingerprint,
    choices,
    ...(head.includeUsage ? { usage: null } : {}),
  };
}
