/** One answer of a chat, from the engine's events to what a client is told. */
import type { Completion, CompletionEvent, TokenLogprob, TracedToken } from "../runtime/request.ts";
import { ToolCallText } from "./tool-call-text.ts";

/**
 * What an answer consists of, in order, each with the tokens since the one before: none unless
 * asked for. A tool call's frame is among them, though no client is told its text.
 */
export type ChoiceEvent = ChoicePart & { readonly trace: readonly TracedToken[] };

type ChoicePart =
  | {
      readonly kind: "content";
      readonly text: string;
      /** Empty unless probabilities were asked for. */
      readonly logprobs: readonly TokenLogprob[];
    }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "call"; readonly name: string }
  /** A piece of the call's arguments, JSON once all are there. */
  | { readonly kind: "arguments"; readonly text: string }
  | ({ readonly kind: "end" } & ChoiceEnd);

export interface ChoiceEnd {
  readonly finishReason: "stop" | "length" | "tool_calls";
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Prompt tokens that a cached prefix saved. */
  readonly cachedTokens: number;
  readonly budgetLimited: boolean;
}

export interface Choice extends ChoiceEnd {
  readonly content: string;
  /** What a reasoning model thought; empty where it did not. */
  readonly reasoning: string;
  readonly call: { readonly name: string; readonly arguments: string } | null;
  /** Null unless probabilities were asked for. */
  readonly logprobs: readonly TokenLogprob[] | null;
}

/**
 * @param mayCall whether the answer is locked to a tool call, or may be one.
 * @throws EngineError where decoding fails or the caller has left.
 */
export async function* choiceEvents(
  completion: Completion,
  mayCall: boolean,
): AsyncGenerator<ChoiceEvent, void> {
  const reader = mayCall ? new ToolCallText() : null;
  let trace: readonly TracedToken[] = [];
  for await (const event of completion) {
    if (event.trace.length > 0) trace = [...trace, ...event.trace];
    if (event.kind === "text" && reader === null) {
      // Nearly every event of most answers.
      yield { kind: "content", text: event.text, logprobs: event.tokens, trace };
      trace = [];
      continue;
    }
    for (const part of partsOf(event, completion.promptTokens, reader)) {
      yield { ...part, trace };
      trace = [];
    }
  }
}

function* partsOf(
  event: CompletionEvent,
  promptTokens: number,
  reader: ToolCallText | null,
): Generator<ChoicePart, void> {
  if (event.kind === "reasoning") {
    yield { kind: "reasoning", text: event.text };
  } else if (event.kind === "text") {
    const { text, tokens: logprobs } = event;
    for (const piece of reader?.push(text) ?? []) {
      if (piece.kind === "text") yield { kind: "content", text: piece.text, logprobs };
      else yield piece;
    }
  } else {
    const { completionTokens, cachedTokens, budgetLimited } = event;
    const isCall = reader?.isCall === true && event.finishReason === "stop";
    const finishReason = isCall ? "tool_calls" : event.finishReason;
    const counts = { promptTokens, completionTokens, cachedTokens };
    yield { kind: "end", finishReason, ...counts, budgetLimited };
  }
}

/** The whole answer. @param hasLogprobs whether probabilities were asked for. */
export async function collectChoice(
  events: AsyncIterable<ChoiceEvent>,
  hasLogprobs: boolean,
): Promise<Choice> {
  const texts = { content: "", reasoning: "", arguments: "" };
  let name: string | null = null;
  const logprobs: TokenLogprob[] = [];
  for await (const event of events) {
    if (event.kind === "end") {
      const { kind: _, trace: __, ...end } = event;
      const { content, reasoning } = texts;
      const call = name === null ? null : { name, arguments: texts.arguments };
      return { ...end, content, reasoning, call, logprobs: hasLogprobs ? logprobs : null };
    }
    if (event.kind === "call") name = event.name;
    else texts[event.kind] += event.text;
    if (event.kind === "content") logprobs.push(...event.logprobs);
  }
  throw new RangeError("an answer ended without saying so");
}
