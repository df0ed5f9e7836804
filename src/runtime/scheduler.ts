/**
 * Runs the answers of one context: admits them to slots, computes prompts chunk by chunk between
 * the steps of running answers, steps these together, samples, and lets go of what was cancelled.
 *
 * One loop owns the decoder. It changes slots, decodes and samples in turn; everything else (new
 * requests, cancellations) waits for the gap between two phases.
 *
 * The bits of an answer depend on its own tokens alone:
 * - a prompt is computed in calls of its own, cut at fixed positions;
 * - forced tokens are computed in calls of their own, cut where the answer's own text cuts them;
 * - sampled tokens are computed in calls whose row counts belong to one class (`lane.ts`).
 */
import { assert } from "../bytes/assert.ts";
import type { Decoder, StepRow } from "./decoder.ts";
import type { DeviceLock } from "./device-lock.ts";
import { EngineError } from "./errors.ts";
import type { Generation } from "./generation.ts";
import { type Call, CallPlanner, type Lane } from "./lane.ts";
import type { TokenTable } from "./lock.ts";
import { chunkKeys, SlotPrefixes } from "./prefixes.ts";
import { RowSampler } from "./sampling.ts";

export interface Job {
  readonly tenantId: string;
  /** Prompt and budget fit the context. */
  readonly prompt: readonly number[];
  readonly generation: Generation;
  readonly seed: number;
  /** Asked between phases. */
  readonly isCancelled: () => boolean;
  readonly onEnd: (cachedTokens: number) => void;
  readonly onError: (error: unknown) => void;
}

export interface SchedulerOptions {
  readonly decoder: Decoder;
  readonly table: TokenTable;
  readonly device: DeviceLock;
  readonly lane: Lane;
  /** Slots that can decode; the decoder's others keep prefixes. */
  readonly rows: number;
  readonly chunkTokens: number;
  readonly queueMax: number;
}

/** Since the start. */
export interface SchedulerStats {
  readonly sampledTokens: number;
  /** Of these, tokens whose first candidate the lock refused. */
  readonly refusedTokens: number;
  /** Candidates that a lock refused. */
  readonly refusals: number;
  readonly masks: number;
  /** Time spent on them. */
  readonly maskMs: number;
  /** Of prompts that were answered, and what cached prefixes saved of them. */
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** As of now: requests that wait, answers that run, answers that could. */
  readonly queued: number;
  readonly rowsUsed: number;
  readonly rows: number;
  /** Calls of the network, prompts and forced tokens included. */
  readonly calls: number;
}

/** Forced tokens that are worth a call of their own; fewer take part in the steps of all. */
const JUMP_TOKENS_MIN = 2;

/** A filler's token; any will do. */
const FILLER_TOKEN = 0;

/** An answer that has a slot. */
interface Row {
  readonly job: Job;
  readonly slot: number;
  readonly keys: readonly string[];
  /** Not computed yet. The last of them gives the logits to sample from. */
  pending: number[];
  /** Prompt tokens that are computed, or were taken over. */
  prefilled: number;
  /** The prompt is done, but for its last token, which is the first of the pending ones. */
  isDecoding: boolean;
  cachedTokens: number;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #decoder: Decoder;
  readonly #prefixes: SlotPrefixes;
  readonly #samplers: readonly RowSampler[];
  readonly #planner: CallPlanner;
  readonly #queue: Job[] = [];
  readonly #rows = new Map<number, Row>();
  #lastPrefilledSlot = -1;
  #sampledTokens = 0;
  #calls = 0;
  #promptTokens = 0;
  #cachedTokens = 0;
  #loop: Promise<void> | null = null;
  #closed = false;

  constructor(options: SchedulerOptions) {
    const { decoder, lane, rows, table } = options;
    assert(rows >= 1 && rows <= decoder.slots, "some slots decode");
    this.#options = options;
    this.#decoder = decoder;
    this.#prefixes = new SlotPrefixes(decoder.slots);
    this.#planner = new CallPlanner(lane, rows);
    this.#samplers = Array.from(
      { length: rows },
      (_, slot) => new RowSampler(decoder, slot, table),
    );
  }

  get stats(): SchedulerStats {
    const sum = (of: (sampler: RowSampler) => number) =>
      this.#samplers.reduce((total, sampler) => total + of(sampler), 0);
    return {
      sampledTokens: this.#sampledTokens,
      refusedTokens: sum((sampler) => sampler.refusedTokens),
      refusals: sum((sampler) => sampler.refusals),
      masks: sum((sampler) => sampler.masks),
      maskMs: sum((sampler) => sampler.maskMs),
      promptTokens: this.#promptTokens,
      cachedTokens: this.#cachedTokens,
      queued: this.#queue.length,
      rowsUsed: this.#rows.size,
      rows: this.#options.rows,
      calls: this.#calls,
    };
  }

  /** @throws EngineError `queue_full`, `closed`. */
  submit(job: Job): void {
    if (this.#closed) throw new EngineError("the engine is closed", { code: "closed" });
    if (this.#queue.length >= this.#options.queueMax) {
      const { queueMax } = this.#options;
      throw new EngineError(`${queueMax} requests are waiting already`, {
        code: "queue_full",
        details: { queueMax },
      });
    }
    this.#queue.push(job);
    this.#loop ??= this.#run().finally(() => {
      this.#loop = null;
    });
  }

  /** Requests in front of a job; 0 once it has a slot. */
  queuePosition(job: Job): number {
    return this.#queue.indexOf(job) + 1;
  }

  /** Ends every answer with an error and waits until the decoder is at rest. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0 || this.#rows.size > 0) {
      try {
        await this.#options.device.hold(() => this.#round());
      } catch (error) {
        // A bug, or a library in a state nobody knows: no answer can go on.
        for (const job of this.#queue.splice(0)) job.onError(error);
        for (const row of [...this.#rows.values()]) this.#leave(row, error);
      }
      // Lets requests, cancellations and other contexts in.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** One turn of everything: at most one chunk of a prompt, one step of every answer. */
  async #round(): Promise<void> {
    this.#dropCancelled();
    await this.#admit();
    const next = this.#nextPrefill();
    if (next !== null) {
      await this.#guard({ first: next.slot, rows: 1 }, () => this.#prefillChunk(next));
    }
    for (const row of this.#decoding()) {
      if (row.pending.length <= JUMP_TOKENS_MIN) continue;
      await this.#guard({ first: row.slot, rows: 1 }, () => this.#jump(row));
    }
    for (const call of this.#planner.plan(this.#decoding().map(({ slot }) => slot))) {
      await this.#guard(call, () => this.#step(call));
    }
  }

  #dropCancelled(): void {
    const isOver = (job: Job): boolean => this.#closed || job.isCancelled();
    for (const job of this.#queue.filter(isOver)) {
      this.#queue.splice(this.#queue.indexOf(job), 1);
      job.onError(this.#reasonToEnd());
    }
    for (const row of this.#rows.values()) {
      if (isOver(row.job)) this.#leave(row, this.#reasonToEnd());
    }
  }

  #reasonToEnd(): EngineError {
    return this.#closed
      ? new EngineError("the engine is closed", { code: "closed" })
      : new EngineError("the request was cancelled", { code: "cancelled" });
  }

  async #admit(): Promise<void> {
    for (let slot = 0; slot < this.#options.rows && this.#queue.length > 0; slot++) {
      if (this.#rows.has(slot)) continue;
      const job = this.#queue.shift();
      assert(job !== undefined, "the queue is not empty");
      const prompt = job.prompt.slice(0, -1);
      const { canTruncate } = this.#decoder;
      const keys = canTruncate ? chunkKeys(job.tenantId, prompt, this.#options.chunkTokens) : [];
      this.#rows.set(slot, {
        job,
        slot,
        keys,
        pending: job.prompt.slice(-1),
        prefilled: 0,
        isDecoding: false,
        cachedTokens: 0,
      });
      await this.#keepPrefix(slot, keys);
      this.#samplers[slot]?.begin(job.seed);
    }
  }

  /** What a free slot still holds is kept for others, unless its next answer begins with it. */
  async #keepPrefix(slot: number, wanted: readonly string[]): Promise<void> {
    const { chunkTokens, rows } = this.#options;
    const keeper = this.#prefixes.keeperFor(slot, wanted, rows);
    if (keeper === null) return;
    const keys = this.#prefixes.keys(slot);
    await this.#decoder.copy(slot, keeper);
    this.#decoder.truncate(keeper, keys.length * chunkTokens);
    this.#prefixes.set(keeper, keys);
  }

  /** Prompts take turns, so that a long one does not keep short ones waiting. */
  #nextPrefill(): Row | null {
    const { rows } = this.#options;
    for (let turn = 1; turn <= rows; turn++) {
      const row = this.#rows.get((this.#lastPrefilledSlot + turn) % rows);
      if (row === undefined || row.isDecoding) continue;
      this.#lastPrefilledSlot = row.slot;
      return row;
    }
    return null;
  }

  async #prefillChunk(row: Row): Promise<void> {
    const { chunkTokens } = this.#options;
    const total = row.job.prompt.length - 1;
    await this.#takePrefix(row);
    if (row.prefilled < total) {
      const end = Math.min(row.prefilled + chunkTokens, total);
      const tokens = row.job.prompt.slice(row.prefilled, end);
      await this.#decoder.step([{ slot: row.slot, tokens, output: false }]);
      row.prefilled = end;
    }
    // Only whole chunks: what a shorter call computed may have other bits.
    this.#prefixes.set(row.slot, row.keys.slice(0, Math.floor(row.prefilled / chunkTokens)));
    if (row.prefilled < total) return;
    row.isDecoding = true;
    row.pending.push(...row.job.generation.takeForced());
    if (row.job.generation.finish !== null) this.#leave(row, null);
  }

  /** Takes over whole chunks that some slot holds and this one does not. */
  async #takePrefix(row: Row): Promise<void> {
    const { chunkTokens } = this.#options;
    const match = this.#prefixes.find(row.keys, row.slot);
    const tokens = (match?.chunks ?? 0) * chunkTokens;
    if (match !== null && tokens > row.prefilled) {
      if (match.slot !== row.slot) await this.#decoder.copy(match.slot, row.slot);
      this.#prefixes.touch(match.slot);
      row.cachedTokens += tokens - row.prefilled;
      row.prefilled = tokens;
    }
    this.#decoder.truncate(row.slot, row.prefilled);
  }

  #decoding(): Row[] {
    const rows: Row[] = [];
    for (let slot = 0; slot < this.#options.rows; slot++) {
      const row = this.#activeRow(slot);
      if (row !== null) rows.push(row);
    }
    return rows;
  }

  /** Computes all pending tokens but the last, chunk by chunk; nothing is sampled from them. */
  async #jump(row: Row): Promise<void> {
    while (row.pending.length > 1) {
      const tokens = row.pending.slice(
        0,
        Math.min(row.pending.length - 1, this.#options.chunkTokens),
      );
      await this.#decoder.step([{ slot: row.slot, tokens, output: false }]);
      row.pending = row.pending.slice(tokens.length);
    }
  }

  /** One token of every row of a call, then a sample where it was a row's last. */
  async #step(call: Call): Promise<void> {
    const rows: StepRow[] = [];
    const fillers: { readonly slot: number; readonly length: number }[] = [];
    for (let slot = call.first; slot < call.first + call.rows; slot++) {
      const row = this.#activeRow(slot);
      const length = this.#decoder.length(slot);
      if (row === null) {
        // A full slot has no room for a filler; what it keeps goes.
        if (length === this.#decoder.slotPositions) this.#forget(slot);
        fillers.push({ slot, length: this.#decoder.length(slot) });
      }
      rows.push({ slot, tokens: [row?.pending[0] ?? FILLER_TOKEN], output: true });
    }
    const outputs = await this.#decoder.step(rows);
    for (const { slot, length } of fillers) this.#decoder.truncate(slot, length);
    await Promise.all(
      rows.map(async ({ slot }, index) => {
        const row = this.#activeRow(slot);
        const output = outputs[index];
        assert(output !== undefined, "every row of a step has an output");
        if (row !== null) await this.#sample(row, output);
      }),
    );
    for (const { slot } of rows) {
      const row = this.#activeRow(slot);
      if (row !== null && row.job.generation.finish !== null) this.#leave(row, null);
    }
  }

  /** A slot's answer, if it is past its prompt. */
  #activeRow(slot: number): Row | null {
    const row = this.#rows.get(slot);
    return row?.isDecoding ? row : null;
  }

  async #sample(row: Row, output: number): Promise<void> {
    row.pending.shift();
    if (row.pending.length > 0) return;
    const { generation } = row.job;
    const sampler = this.#samplers[row.slot];
    assert(sampler !== undefined, "a decoding slot has a sampler");
    try {
      const token = await sampler.sampleInto(generation, output);
      this.#sampledTokens += 1;
      if (generation.finish === null) row.pending.push(token, ...generation.takeForced());
    } catch (error) {
      this.#leave(row, error);
    }
  }

  /** Frees a row's slot; the whole chunks of its prompt stay there for others. */
  #leave(row: Row, error: unknown): void {
    this.#rows.delete(row.slot);
    this.#promptTokens += row.job.prompt.length;
    this.#cachedTokens += row.cachedTokens;
    if (error === null) row.job.onEnd(row.cachedTokens);
    else row.job.onError(error);
  }

  #forget(slot: number): void {
    this.#prefixes.clear(slot);
    this.#decoder.truncate(slot, 0);
  }

  /**
   * A failed call ends the answers that were in it, and no others. A prompt that only lent its slot
   * to a filler starts over.
   */
  async #guard(call: Call, work: () => Promise<void>): Promise<void> {
    this.#calls += 1;
    try {
      await work();
    } catch (cause) {
      const error = new EngineError("the model failed to compute", {
        code: "decode_failed",
        cause,
      });
      for (let slot = call.first; slot < call.first + call.rows; slot++) {
        this.#forget(slot);
        const row = this.#rows.get(slot);
        if (row === undefined) continue;
        if (row.isDecoding || call.rows === 1) this.#leave(row, error);
        else Object.assign(row, { prefilled: 0, cachedTokens: 0 });
      }
    }
  }
}
