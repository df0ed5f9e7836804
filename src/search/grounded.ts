/**
 * A grounded answer: decide, search, ask the model under the citation lock, check, bind. The model
 * is called through a port; recording and sealing are the service's work.
 */
import { canonicalJson, type JsonValue } from "../bytes/canonical-json.ts";
import { sha256Hex } from "../crypto/hash.ts";
import { answerSchema } from "./citations.ts";
import { groundedMessages, type PromptMessage } from "./grounded-prompt.ts";
import { type GroundedRequest, type SkipReason, wantsSearch } from "./grounded-request.ts";
import { SearchError } from "./provider.ts";
import type { SearchResult } from "./result.ts";
import { runSearch, type SearchDeps, type SearchRun } from "./search.ts";
import { type Verification, type VerifyVerdict, verifyAnswer } from "./verify-answer.ts";

/** What the model is asked; its answer must be a JSON string of this schema. */
export interface GroundedPrompt {
  readonly messages: readonly PromptMessage[];
  readonly schema: JsonValue;
  readonly model: string;
  readonly temperature: number;
  readonly maxTokens: number;
}

interface GroundedCompletion {
  /** The JSON text that the lock let through. */
  readonly text: string;
  /** The alias that the request resolved to. */
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface GroundedDeps extends SearchDeps {
  /** Failures of the model end the call: nothing is billed. */
  readonly complete: (prompt: GroundedPrompt, signal: AbortSignal) => Promise<GroundedCompletion>;
  /** For the evidence chain; the search is part of this call and has no row of its own. */
  readonly searchRequestId: string;
}

export interface GroundedRun {
  /** The whole answer without its receipt. */
  readonly output: {
    readonly answer: string;
    readonly citations: readonly SearchResult[];
    readonly search_used: boolean;
    readonly search_skip_reason: SkipReason;
    readonly model: string;
    readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
    readonly verification: Verification["sentences"];
  };
  readonly verifyVerdict: VerifyVerdict;
  readonly evidenceChain: {
    readonly search_request_id: string;
    readonly search_provider: string;
    readonly search_output_hash: string;
    readonly search_ms: number;
    readonly chat_ms: number;
  };
  readonly inputHash: string;
  /** Binds answer and citations together. */
  readonly outputHash: string;
  readonly deterministicHash: string;
  readonly completion: GroundedCompletion;
}

export async function runGrounded(
  deps: GroundedDeps,
  request: GroundedRequest,
  signal: AbortSignal,
): Promise<GroundedRun> {
  const { search, skipReason } = await searchFor(deps, request, signal);
  const citations = search?.output.results ?? [];
  const startedMs = deps.nowMs();
  const completion = await deps.complete(
    {
      messages: groundedMessages(request.query, citations),
      schema: answerSchema(citations.length),
      model: request.model,
      temperature: request.temperature,
      maxTokens: request.max_tokens,
    },
    signal,
  );
  const chatMs = Math.max(0, deps.nowMs() - startedMs);
  const answer = JSON.parse(completion.text) as string;
  const { verdict, sentences } = verifyAnswer(answer, citations);
  const output = {
    answer,
    citations,
    search_used: citations.length > 0,
    search_skip_reason: skipReason,
    model: completion.model,
    usage: {
      prompt_tokens: completion.promptTokens,
      completion_tokens: completion.completionTokens,
    },
    verification: sentences,
  };
  const inputHash = sha256Hex(canonicalJson({ ...request }));
  const outputHash = sha256Hex(canonicalJson(output as unknown as JsonValue));
  return {
    output,
    verifyVerdict: verdict,
    evidenceChain: {
      search_request_id: search === null ? "" : deps.searchRequestId,
      search_provider: search === null ? "none" : search.output.provider,
      search_output_hash: search?.outputHash ?? "",
      search_ms: search?.ms ?? 0,
      chat_ms: chatMs,
    },
    inputHash,
    outputHash,
    deterministicHash: sha256Hex(["svc-grounded/1", inputHash, outputHash].join("\n")),
    completion,
  };
}

/** A search that fails does not fail the answer: the reason says that it was not used. */
async function searchFor(
  deps: GroundedDeps,
  request: GroundedRequest,
  signal: AbortSignal,
): Promise<{ readonly search: SearchRun | null; readonly skipReason: SkipReason }> {
  const decision = wantsSearch(request);
  if (decision !== "search") return { search: null, skipReason: decision };
  if (deps.provider.name === "none") return { search: null, skipReason: "no_search_provider" };
  try {
    const { query, max_results } = request;
    const search = await runSearch(deps, { query, max_results }, signal);
    return { search, skipReason: search.output.results.length === 0 ? "no_results" : "" };
  } catch (error) {
    if (!(error instanceof SearchError)) throw error;
    return { search: null, skipReason: "search_failed" };
  }
}
