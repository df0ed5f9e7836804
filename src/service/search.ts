/** Search, and answers that rest on it: each call is one row with one receipt. */
import { timeOrderedId } from "../bytes/base32.ts";
import type { JsonValue } from "../bytes/canonical-json.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import type { Receipt } from "../receipt/receipt.ts";
import { type GroundedPrompt, type GroundedRun, runGrounded } from "../search/grounded.ts";
import { parseGroundedRequest } from "../search/grounded-request.ts";
import { parseSearchRequest, runSearch } from "../search/search.ts";
import { type ChatDeps, decodeChat } from "./chat.ts";
import { type ChatRequest, modelNamed } from "./chat-request.ts";
import type { Caller, Meter, RecordedBody, Work } from "./metered-call.ts";
import type { SearchPort } from "./open-search.ts";

export interface SearchesDeps {
  readonly chat: ChatDeps;
  readonly meter: Meter;
  readonly search: SearchPort;
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** How rows name the two. */
const SEARCH_ENGINE = "svc-search/1";
const GROUNDED_ENGINE = "svc-grounded/1";

export class Searches {
  readonly #deps: SearchesDeps;

  constructor(deps: SearchesDeps) {
    this.#deps = deps;
  }

  /** @throws ProcessInputError, SearchError: then nothing is billed. */
  search(caller: Caller, body: JsonValue): Promise<RecordedBody> {
    const { meter, nowMs, search } = this.#deps;
    const request = parseSearchRequest(body);
    return meter.run(caller.identity, async (admitted) => {
      const deps = { provider: search.provider(), nowMs };
      const run = await runSearch(deps, request, caller.signal);
      const ms = Math.max(0, nowMs() - caller.startedMs);
      const receipt: Receipt = {
        request_id: caller.requestId,
        ms,
        deterministic_hash: run.deterministicHash,
        output_hash: run.outputHash,
      };
      const work: Work = {
        outputHash: run.outputHash,
        // The same words find something else tomorrow.
        deterministic: false,
        engine: SEARCH_ENGINE,
        model: null,
        promptTokens: 0,
        completionTokens: 0,
        ms,
      };
      const bytes = utf8Encode(JSON.stringify({ ...run.output, receipt }));
      return meter.recordBody(admitted, caller, work, bytes);
    });
  }

  /** @throws ProcessInputError, ApiError, EngineError: then nothing is billed. */
  grounded(caller: Caller, body: JsonValue): Promise<RecordedBody> {
    const { chat, meter, nowMs, search, randomBytes } = this.#deps;
    const request = parseGroundedRequest(body);
    // A model that is not there is refused before anything is searched.
    modelNamed(request.model);
    return meter.run(caller.identity, async (admitted) => {
      const run = await runGrounded(
        {
          provider: search.provider(),
          nowMs,
          searchRequestId: `req_${timeOrderedId(nowMs(), randomBytes)}`,
          complete: (prompt) => decodeChat(chat, caller, chatRequestOf(prompt)),
        },
        request,
        caller.signal,
      );
      const ms = Math.max(0, nowMs() - caller.startedMs);
      const bytes = utf8Encode(JSON.stringify(groundedBody(run, caller.requestId, ms)));
      return meter.recordBody(admitted, caller, groundedWork(run, ms), bytes);
    });
  }
}

/** A chat that answers with one JSON string under the citation lock. */
function chatRequestOf(prompt: GroundedPrompt): ChatRequest {
  return {
    model: modelNamed(prompt.model),
    messages: prompt.messages,
    temperature: prompt.temperature,
    topP: 1,
    maxTokens: prompt.maxTokens,
    n: 1,
    seed: null,
    stop: [],
    presencePenalty: 0,
    frequencyPenalty: 0,
    logitBias: new Map(),
    topLogprobs: null,
    format: { kind: "schema", schema: prompt.schema, strict: true, param: "query" },
    // The schema is a pattern of citation marks; the prompt says it in words.
    schemaInPrompt: false,
    tools: [],
    toolChoice: { kind: "none" },
    stream: false,
    includeUsage: false,
    traced: false,
    stored: false,
    ignored: [],
  };
}

function groundedBody(run: GroundedRun, requestId: string, ms: number): object {
  const receipt: Receipt = {
    request_id: requestId,
    ms,
    deterministic_hash: run.deterministicHash,
    output_hash: run.outputHash,
    verify_verdict: run.verifyVerdict,
    evidence_chain: run.evidenceChain,
  };
  return { ...run.output, receipt };
}

function groundedWork({ outputHash, completion }: GroundedRun, ms: number): Work {
  const { model, promptTokens, completionTokens } = completion;
  const counts = { promptTokens, completionTokens, ms };
  return { outputHash, deterministic: false, engine: GROUNDED_ENGINE, model, ...counts };
}
