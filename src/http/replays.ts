/**
 * Idempotency keys: a request sent again under its `Idempotency-Key` gets the first one's answer,
 * with a fresh seal, and costs nothing. Answers are kept in memory alone: no text of an answer
 * reaches the disk. After a restart, a key is new again. A stream under a key is a buffered one.
 */
import { sha256Hex } from "../crypto/hash.ts";
import { ApiError, badRequest } from "../service/api-error.ts";
import type { Caller } from "../service/metered-call.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";

export interface ReplaysDeps {
  readonly bytesMax: number;
  /** How long an answer is kept. */
  readonly keptMs: number;
  readonly nowMs: () => number;
}

interface Kept {
  /** Of everything that the answer depends on. */
  readonly requestHash: string;
  readonly expiresMs: number;
  /** Null while the first request is being answered. */
  readonly answer: Pick<Answer, "body" | "contentType"> | null;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

export class Replays {
  readonly #deps: ReplaysDeps;
  /** By tenant, app and key; oldest first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(deps: ReplaysDeps) {
    this.#deps = deps;
  }

  /**
   * Answers a billable call once.
   * @throws ApiError 409 while the first is being answered, 422 for another request under the key.
   */
  async once(call: Call, caller: Caller, answer: () => Promise<Answer>): Promise<Answer> {
    const key = call.headers.get("idempotency-key");
    if (key === null) return answer();
    if (!KEY.test(key)) {
      throw badRequest(
        "invalid_value",
        null,
        "an Idempotency-Key has 1 to 255 printable characters",
      );
    }
    const { tenantId, appId } = caller.identity;
    const name = `${tenantId}/${appId}/${key}`;
    const requestHash = sha256Hex([call.method, call.path, call.query, call.bodyHash].join("\n"));
    const known = this.#find(name);
    if (known !== null) return replay(known, requestHash);
    const expiresMs = this.#deps.nowMs() + this.#deps.keptMs;
    this.#kept.set(name, { requestHash, expiresMs, answer: null });
    try {
      const made = await answer();
      this.#keep(name, { requestHash, expiresMs, answer: made });
      return made;
    } catch (error) {
      // Nothing was billed: the key may be used again.
      this.#kept.delete(name);
      throw error;
    }
  }

  #find(name: string): Kept | null {
    const nowMs = this.#deps.nowMs();
    for (const [oldest, { expiresMs }] of this.#kept) {
      if (expiresMs > nowMs) break;
      this.#drop(oldest);
    }
    return this.#kept.get(name) ?? null;
  }

  #keep(name: string, kept: Kept): void {
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    this.#bytes += kept.answer?.body.byteLength ?? 0;
    for (const [oldest, { answer }] of this.#kept) {
      if (this.#bytes <= this.#deps.bytesMax) break;
      if (answer !== null) this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name);
    this.#bytes -= kept?.answer?.body.byteLength ?? 0;
    this.#kept.delete(name);
  }
}

function replay({ requestHash, answer }: Kept, asked: string): Answer {
  if (requestHash !== asked) {
    throw refusal(422, "idempotency_key_reused", "this Idempotency-Key came with another request");
  }
  if (answer === null) {
    const message = "the first request under this Idempotency-Key is still being answered";
    throw refusal(409, "idempotency_key_in_use", message);
  }
  const headers = { "idempotent-replayed": "true" };
  return { status: 200, ...answer, headers, row: null };
}

function refusal(status: number, code: string, message: string): ApiError {
  const headers = status === 409 ? { "retry-after": "1" } : {};
  return new ApiError(message, {
    status,
    type: "invalid_request_error",
    code,
    param: null,
    headers,
  });
}
