/** A chat request as the service takes it: every default filled in, every form unified. */
import type { ChatTurn } from "../runtime/chat.ts";
import { ApiError } from "./api-error.ts";

/** `svc-auto` leaves the choice of the tier to the router. */
const MODELS = ["svc-tier-a", "svc-tier-b", "svc-auto"] as const;

/** @throws ApiError 404 `model_not_found`. */
export function modelNamed(name: string): ChatRequest["model"] {
  const model = MODELS.find((known) => known === name);
  if (model !== undefined) return model;
  throw new ApiError(`there is no model ${JSON.stringify(name)}; there are ${MODELS.join(", ")}`, {
    status: 404,
    type: "invalid_request_error",
    code: "model_not_found",
    param: "model",
  });
}

export interface ChatRequest {
  readonly model: (typeof MODELS)[number];
  readonly messages: readonly ChatTurn[];
  readonly temperature: number;
  readonly topP: number;
  /** Null is limited by the context alone. */
  readonly maxTokens: number | null;
  /** How many answers. */
  readonly n: number;
  readonly seed: number | null;
  readonly stop: readonly string[];
  readonly presencePenalty: number;
  readonly frequencyPenalty: number;
  readonly logitBias: ReadonlyMap<number, number>;
  /** Alternatives per token; null asks for no probabilities. */
  readonly topLogprobs: number | null;
  readonly format: ResponseFormat;
  /** Whether the model is told the schema in words too. */
  readonly schemaInPrompt: boolean;
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: ToolChoice;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Each token with how it came about, in a live stream: `svc.tokens`. */
  readonly traced: boolean;
  /** Request and answer are kept for `svc replay`: `store`. */
  readonly stored: boolean;
  /** Parameters that were accepted and have no effect; `svc.ignored`. */
  readonly ignored: readonly string[];
}

export type ResponseFormat =
  | { readonly kind: "text" }
  | { readonly kind: "json_object" }
  /** The request's own GBNF, from its member `grammar`. */
  | { readonly kind: "gbnf"; readonly text: string }
  | {
      readonly kind: "schema";
      readonly schema: unknown;
      /** Refuse with a 400 what cannot be enforced, instead of saying so in `svc.unenforced`. */
      readonly strict: boolean;
      /** Where the schema stands in the request. */
      readonly param: string;
    };

export interface ToolSpec {
  readonly name: string;
  readonly description: string | null;
  /** A JSON Schema. */
  readonly parameters: unknown;
  readonly strict: boolean;
  /** Where the parameters stand in the request. */
  readonly param: string;
}

export type ToolChoice =
  | { readonly kind: "none" }
  | { readonly kind: "auto" }
  | { readonly kind: "required" }
  | { readonly kind: "function"; readonly name: string };
