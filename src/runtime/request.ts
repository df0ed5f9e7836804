/** What the engine is asked for and what it gives back. */
import type { ChatTurn, ToolDefinition } from "./chat.ts";

export type TierName = "svc-tier-a" | "svc-tier-b";

/** @typeParam G what a lock is made from. */
export interface CompletionRequest<G = unknown> {
  readonly tier: TierName;
  /** Cached prefixes are never shared between tenants. */
  readonly tenantId: string;
  readonly messages: readonly ChatTurn[];
  readonly tools: readonly ToolDefinition[];
  /** Null leaves the answer free. */
  readonly grammar: G | null;
  /** Put into the prompt in the form the model wants, unless `schemaInPrompt` is false. */
  readonly schema: unknown;
  readonly schemaInPrompt: boolean;
  /** Null is limited by the context alone. */
  readonly maxTokens: number | null;
  /** Of a locked answer only text that is no JSON object can be cut (`tool_choice: auto`). */
  readonly stop: readonly string[];
  /** Null at temperature 0, where no number is drawn. */
  readonly seed: number | null;
  readonly temperature: number;
  readonly topP: number;
  readonly presencePenalty: number;
  readonly frequencyPenalty: number;
  readonly logitBias: ReadonlyMap<number, number>;
  /** How many alternatives to report per token; null reports no probabilities at all. */
  readonly topLogprobs: number | null;
  /** Tell of each token how it came about. */
  readonly traced: boolean;
  readonly signal: AbortSignal;
}

export interface Alternative {
  /** As text; a token that is part of a code point reads as U+FFFD. */
  readonly token: string;
  readonly bytes: readonly number[];
  /** Natural logarithm, of the model's own distribution: before temperature, bias and lock. */
  readonly logprob: number;
}

export interface TokenLogprob extends Alternative {
  readonly top: readonly Alternative[];
}

export interface TracedToken {
  /** What it completed: a token that ends inside a code point gives nothing yet. */
  readonly text: string;
  /** The lock left no choice: nothing was sampled. */
  readonly forced: boolean;
  /** Microseconds that the lock took since the token before. */
  readonly maskUs: number;
}

/** With `trace`: the tokens since the last event; empty unless asked for. */
export type CompletionEvent =
  | {
      readonly kind: "text";
      /** Whole code points. */
      readonly text: string;
      /** Empty unless probabilities were asked for. */
      readonly tokens: readonly TokenLogprob[];
      readonly trace: readonly TracedToken[];
    }
  | {
      readonly kind: "reasoning";
      readonly text: string;
      readonly trace: readonly TracedToken[];
    }
  | {
      readonly kind: "end";
      readonly finishReason: "stop" | "length";
      /** Sampled and forced tokens, reasoning and end of generation included. */
      readonly completionTokens: number;
      /** Prompt tokens that a cached prefix saved. */
      readonly cachedTokens: number;
      readonly forcedTokens: number;
      readonly budgetLimited: boolean;
      readonly trace: readonly TracedToken[];
    };

/** A running answer. Leaving the iteration cancels it. */
export interface Completion extends AsyncIterable<CompletionEvent> {
  readonly promptTokens: number;
  /** So far. */
  readonly completionTokens: number;
  /** Requests in front of this one; 0 once it has a row. */
  readonly queuePosition: number;
}
