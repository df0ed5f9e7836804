/** The contexts of a tier: one queue, and a scheduler for each. */
import type { Decoder } from "./decoder.ts";
import { JobQueue } from "./queue.ts";
import type { Job } from "./row.ts";
import { Scheduler, type SchedulerOptions, type SchedulerStats } from "./scheduler.ts";

export interface PoolOptions extends Omit<SchedulerOptions, "decoder" | "queue"> {
  /** One per context, all alike. */
  readonly decoders: readonly [Decoder, ...Decoder[]];
  /** Requests that can wait. */
  readonly queueMax: number;
}

/** Since the start, over all contexts. */
export interface PoolStats extends SchedulerStats {
  /** Requests that wait now. */
  readonly queued: number;
}

export class Pool {
  readonly #decoders: readonly [Decoder, ...Decoder[]];
  readonly #queue: JobQueue;
  readonly #schedulers: readonly Scheduler[];

  constructor(options: PoolOptions) {
    const { decoders, queueMax, chunkTokens } = options;
    const [{ canTruncate }] = decoders;
    const queue = new JobQueue({ queueMax, chunkTokens, canTruncate });
    this.#decoders = decoders;
    this.#queue = queue;
    this.#schedulers = decoders.map((decoder) => new Scheduler({ ...options, decoder, queue }));
  }

  /** Tokens that fit one sequence. */
  get slotPositions(): number {
    return this.#decoders[0].slotPositions;
  }

  get stats(): PoolStats {
    const all = this.#schedulers.map(({ stats }) => stats);
    const sum = (key: keyof SchedulerStats) => all.reduce((total, each) => total + each[key], 0);
    return {
      sampledTokens: sum("sampledTokens"),
      refusedTokens: sum("refusedTokens"),
      refusals: sum("refusals"),
      masks: sum("masks"),
      maskMs: sum("maskMs"),
      promptTokens: sum("promptTokens"),
      cachedTokens: sum("cachedTokens"),
      rowsUsed: sum("rowsUsed"),
      rows: sum("rows"),
      calls: sum("calls"),
      queued: this.#queue.size,
    };
  }

  /** @throws EngineError `queue_full`, `closed`. */
  submit(job: Job): void {
    this.#queue.submit(job);
  }

  /** Requests in front of a job; 0 once it has a slot. */
  queuePosition(job: Job): number {
    return this.#queue.position(job);
  }

  /** Ends every answer with an error, waits until the contexts are at rest, and frees them. */
  async close(): Promise<void> {
    this.#queue.close();
    for (const scheduler of this.#schedulers) await scheduler.whenIdle();
    for (const decoder of this.#decoders) await decoder.dispose();
  }
}
