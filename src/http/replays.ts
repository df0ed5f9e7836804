/**
 * Idempotency keys: a request sent again under its `Idempotency-Key` gets the first one's answer,
 * with a fresh seal, and costs nothing, after a restart too. While the first is being answered, the
 * others wait for it. A stream under a key is a buffered one.
 */
import { assert } from "../bytes/assert.ts";
import { sha256 } from "../crypto/hash.ts";
import { ApiError, badRequest } from "../service/api-error.ts";
import type { Caller } from "../service/metered-call.ts";
import type { AnswerName, StoredAnswers, WrittenAnswer } from "../tenant/stored-answers.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";

export interface ReplaysDeps {
  readonly stored: Pick<StoredAnswers, "find" | "write">;
  /** How long an answer is kept. */
  readonly keptMs: number;
  readonly nowMs: () => number;
}

/** A request that is being answered. */
interface Running {
  readonly requestHash: Uint8Array;
  /** Resolves when it is over, however it ended. */
  readonly over: Promise<void>;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

export class Replays {
  readonly #deps: ReplaysDeps;
  /** By tenant and name. */
  readonly #running = new Map<string, Running>();

  constructor(deps: ReplaysDeps) {
    this.#deps = deps;
  }

  /**
   * Answers a billable call once.
   * @param answer records the call as the caller that it gets: that one keeps the answer.
   * @throws ApiError 422 for another request under the key; what `answer` throws.
   */
  async once(
    call: Call,
    caller: Caller,
    answer: (caller: Caller) => Promise<Answer>,
  ): Promise<Answer> {
    const key = call.headers.get("idempotency-key");
    if (key === null) return answer(caller);
    if (!KEY.test(key)) {
      throw badRequest(
        "invalid_value",
        null,
        "an Idempotency-Key has 1 to 255 printable characters",
      );
    }
    const { appId, tenantId } = caller.identity;
    const name: AnswerName = { tenantId, nameHash: sha256(`${appId}\n${key}`) };
    const requestHash = requestHashOf(call);
    const place = `${tenantId} ${appId} ${key}`;
    for (;;) {
      const known = this.#deps.stored.find(name);
      if (known !== null) {
        assertSame(known.requestHash, requestHash);
        const headers = { "idempotent-replayed": "true" };
        return { status: 200, ...known.answer, headers, row: null };
      }
      const running = this.#running.get(place);
      if (running === undefined) break;
      assertSame(running.requestHash, requestHash);
      // Where it failed, nothing was billed, and one of those that waited takes its place.
      await running.over;
    }
    const over = Promise.withResolvers<void>();
    this.#running.set(place, { requestHash, over: over.promise });
    try {
      return await this.#first(name, requestHash, caller, answer);
    } finally {
      this.#running.delete(place);
      over.resolve();
    }
  }

  async #first(
    name: AnswerName,
    requestHash: Uint8Array,
    caller: Caller,
    answer: (caller: Caller) => Promise<Answer>,
  ): Promise<Answer> {
    const { keptMs, nowMs, stored } = this.#deps;
    const expiresTs = nowMs() + keptMs;
    const written: WrittenAnswer[] = [];
    const keep: Caller["keep"] = (kept) => {
      written.push(stored.write(name, { requestHash, expiresTs }, kept));
    };
    const made = await answer({ ...caller, keep });
    assert(written.length === 1, "an answer under an Idempotency-Key was not kept once");
    for (const { publish } of written) publish();
    return made;
  }
}

/** Everything that the answer depends on. */
function requestHashOf({ bodyHash, headers, method, path, query }: Call): Uint8Array {
  const condition = headers.get("if-match") ?? "";
  return sha256([method, path, query, bodyHash, condition].join("\n"));
}

function assertSame(known: Uint8Array, asked: Uint8Array): void {
  if (Buffer.compare(known, asked) === 0) return;
  throw new ApiError("this Idempotency-Key came with another request", {
    status: 422,
    type: "invalid_request_error",
    code: "idempotency_key_reused",
    param: null,
  });
}
