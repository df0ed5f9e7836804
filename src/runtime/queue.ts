/**
 * Requests that wait for a slot of any context: the context with the fewest answers takes the next
 * one, of several such the one that knows most of its prompt.
 */
import { EngineError } from "./errors.ts";
import { chunkKeys } from "./prefixes.ts";
import type { Job } from "./row.ts";

export interface Waiting {
  readonly job: Job;
  /** Of the prompt's whole chunks. */
  readonly keys: readonly string[];
}

/** A context, as the queue sees it. */
export interface Taker {
  /** Whether it has a slot for one more. */
  readonly hasRoom: boolean;
  readonly rowsUsed: number;
  /** Chunks of a prompt that it need not compute. */
  knownChunks(keys: readonly string[]): number;
  /** Takes what is its, now or when its call is done. */
  wake(): void;
}

export interface QueueOptions {
  readonly queueMax: number;
  readonly chunkTokens: number;
  /** False where beginnings of prompts cannot be kept. */
  readonly canTruncate: boolean;
}

export class JobQueue {
  readonly #options: QueueOptions;
  readonly #takers: Taker[] = [];
  readonly #waiting: Waiting[] = [];
  #closed = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  join(taker: Taker): void {
    this.#takers.push(taker);
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** @throws EngineError `queue_full`, `closed`. */
  submit(job: Job): void {
    if (this.#closed) throw this.#reasonToEnd();
    const { queueMax, chunkTokens, canTruncate } = this.#options;
    if (this.#waiting.length >= queueMax) {
      throw new EngineError(`${queueMax} requests are waiting already`, {
        code: "queue_full",
        details: { queueMax },
      });
    }
    // The last token is computed each time: its logits are needed.
    const known = canTruncate ? job.prompt.slice(0, -1) : [];
    this.#waiting.push({ job, keys: chunkKeys(job.tenantId, known, chunkTokens) });
    this.wake();
  }

  /** Requests in front of a job; 0 once it has a slot. */
  position(job: Job): number {
    return this.#waiting.findIndex((waiting) => waiting.job === job) + 1;
  }

  /** Whether the next request is for this context. */
  isNextOf(taker: Taker): boolean {
    return this.#nextTaker() === taker;
  }

  /** The next request, if it is for this context. */
  take(taker: Taker): Waiting | null {
    return this.isNextOf(taker) ? (this.#waiting.shift() ?? null) : null;
  }

  /** To be called where another context may be the next one's now. */
  wake(): void {
    if (this.#waiting.length === 0) return;
    for (const taker of this.#takers) taker.wake();
  }

  dropCancelled(): void {
    const before = this.#waiting.length;
    for (let at = before - 1; at >= 0; at--) {
      const job = this.#waiting[at]?.job;
      const reason = job === undefined ? null : this.endOf(job);
      if (job === undefined || reason === null) continue;
      this.#waiting.splice(at, 1);
      job.onError(reason);
    }
    if (this.#waiting.length < before) this.wake();
  }

  /** Why a job does not go on; null where it does. */
  endOf(job: Job): EngineError | null {
    return this.#closed || job.isCancelled() ? this.#reasonToEnd() : null;
  }

  /** Nothing that waits can go on. */
  fail(error: unknown): void {
    for (const { job } of this.#waiting.splice(0)) job.onError(error);
  }

  close(): void {
    this.#closed = true;
    this.dropCancelled();
  }

  #reasonToEnd(): EngineError {
    return this.#closed
      ? new EngineError("the engine is closed", { code: "closed" })
      : new EngineError("the request was cancelled", { code: "cancelled" });
  }

  #nextTaker(): Taker | null {
    const [next] = this.#waiting;
    if (next === undefined) return null;
    let best: Taker | null = null;
    for (const taker of this.#takers) {
      if (taker.hasRoom && (best === null || isBetter(taker, best, next))) best = taker;
    }
    return best;
  }
}

function isBetter(taker: Taker, than: Taker, { keys }: Waiting): boolean {
  if (taker.rowsUsed !== than.rowsUsed) return taker.rowsUsed < than.rowsUsed;
  return taker.knownChunks(keys) > than.knownChunks(keys);
}
