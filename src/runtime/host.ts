/** One loaded model: everything between a request and the jobs of its contexts. */
import { assert } from "../bytes/assert.ts";
import { Answer } from "./answer.ts";
import { EngineError } from "./errors.ts";
import { Generation } from "./generation.ts";
import type { TokenLock, TokenTable } from "./lock.ts";
import type { Pool, PoolStats } from "./pool.ts";
import type { PromptBuilder } from "./prompt-builder.ts";
import type { Completion, CompletionRequest } from "./request.ts";

export interface HostParts {
  readonly prompts: Pick<PromptBuilder, "build" | "reasoning">;
  readonly table: TokenTable;
  readonly pool: Pool;
}

export class Host {
  readonly #parts: HostParts;

  constructor(parts: HostParts) {
    this.#parts = parts;
  }

  get stats(): PoolStats {
    return this.#parts.pool.stats;
  }

  /**
   * @param lock of the answer, fresh.
   * @throws EngineError of the request's own codes; nothing has run then.
   */
  complete(request: CompletionRequest, lock: TokenLock | null): Completion {
    const { prompts, pool, table } = this.#parts;
    assertShort(request, pool.slotPositions);
    const { tokens, startsThinking } = prompts.build(request);
    const left = pool.slotPositions - tokens.length;
    if (tokens.length === 0 || left < 1) throw tooLong(tokens.length, pool.slotPositions);
    const budgetTokens = Math.min(request.maxTokens ?? left, left);
    if (lock !== null) assertBudget(lock, budgetTokens, startsThinking ? 1 : 0, tokens.length);
    let readerLeft = false;
    const generation = new Generation({
      request,
      lock,
      vocabulary: table,
      budgetTokens,
      reasoning: prompts.reasoning,
      startsThinking,
      emit: (event) => answer.push(event),
    });
    const job = {
      tenantId: request.tenantId,
      prompt: tokens,
      generation,
      seed: request.seed ?? 0,
      isCancelled: () => readerLeft || request.signal.aborted,
      deliver: () => answer.deliver(),
      onEnd: (cachedTokens: number) => answer.push(generation.endEvent(cachedTokens)),
      onError: (error: unknown) => answer.fail(error),
    };
    const answer = new Answer(
      tokens.length,
      {
        completionTokens: () => generation.completionTokens,
        position: () => pool.queuePosition(job),
      },
      () => {
        readerLeft = true;
      },
    );
    pool.submit(job);
    return answer;
  }

  async close(): Promise<void> {
    await this.#parts.pool.close();
  }
}

/** No token of any known vocabulary is longer. */
const TOKEN_BYTES_MAX = 1024;

/** Refuses what cannot fit whatever its tokens are, before any work is done on it. */
function assertShort(request: CompletionRequest, contextTokens: number): void {
  const units = request.messages.reduce((sum, turn) => sum + turn.content.length, 0);
  const tokensAtLeast = Math.ceil(units / TOKEN_BYTES_MAX);
  if (tokensAtLeast > contextTokens) throw tooLong(tokensAtLeast, contextTokens);
}

function tooLong(promptTokens: number, contextTokens: number): EngineError {
  return new EngineError(
    `the prompt has ${promptTokens} tokens, which leaves no room for an answer in a context of ` +
      `${contextTokens}`,
    { code: "context_length_exceeded", details: { promptTokens, contextTokens } },
  );
}

/** A locked answer is always whole: a limit that no value fits is refused before decoding. */
function assertBudget(
  lock: TokenLock,
  budgetTokens: number,
  thinkingTokens: number,
  promptTokens: number,
): void {
  const neededTokens = lock.needTokens() + thinkingTokens;
  assert(neededTokens > 0, "an answer takes at least its end");
  if (neededTokens <= budgetTokens) return;
  throw new EngineError(
    `the shortest answer takes ${neededTokens} tokens, ${budgetTokens} are allowed`,
    { code: "budget_too_small", details: { neededTokens, budgetTokens, promptTokens } },
  );
}
