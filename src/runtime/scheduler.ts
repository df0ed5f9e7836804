/**
 * Runs the answers of one context: takes them from the queue, computes prompts chunk by chunk
 * between the steps of running answers, steps these together, samples, and lets go of what was
 * cancelled.
 *
 * One loop owns the decoder. It changes slots, decodes and samples in turn; everything else (new
 * requests, cancellations) waits for the gap between two phases.
 *
 * The bits of an answer depend on its own tokens alone:
 * - a prompt is computed in calls of its own, cut at fixed positions, with what the lock forces at
 *   once behind it;
 * - forced tokens are computed in calls of their own, cut where the answer's own text cuts them,
 *   with the sampled token before them;
 * - other sampled tokens are computed in calls whose row counts belong to one class (`lane.ts`).
 *
 * In a model that reads both ways the tokens of a call see each other. Its prompts are one chunk,
 * and of an answer each token is stepped, forced or not: there it was trained to see what is before
 * it alone.
 */
import { assert } from "../bytes/assert.ts";
import type { Decoder, StepRow } from "./decoder.ts";
import { EngineError } from "./errors.ts";
import type { Call, CallCost, Lane } from "./lane.ts";
import type { TokenTable } from "./lock.ts";
import { SlotPrefixes } from "./prefixes.ts";
import type { JobQueue, Taker } from "./queue.ts";
import { type Row, Rows, STEP_TOKENS_MAX } from "./row.ts";
import { RowSampler } from "./sampling.ts";

export interface SchedulerOptions {
  readonly decoder: Decoder;
  readonly queue: JobQueue;
  readonly table: TokenTable;
  readonly lane: Lane;
  readonly costOf: CallCost;
  /** Slots that can decode; the decoder's others keep prefixes. */
  readonly rows: number;
  /** A whole sequence where the model reads both ways. */
  readonly chunkTokens: number;
  readonly readsBothWays: boolean;
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
  /** As of now: answers that run, answers that could. */
  readonly rowsUsed: number;
  readonly rows: number;
  /** Calls of the network, prompts and forced tokens included. */
  readonly calls: number;
}

/** A filler's token; any will do. */
const FILLER_TOKEN = 0;

export class Scheduler implements Taker {
  readonly #options: SchedulerOptions;
  readonly #decoder: Decoder;
  readonly #prefixes: SlotPrefixes;
  readonly #samplers: readonly RowSampler[];
  readonly #queue: JobQueue;
  readonly #rows: Rows;
  #lastPrefilledSlot = -1;
  #sampledTokens = 0;
  #calls = 0;
  #promptTokens = 0;
  #cachedTokens = 0;
  #loop: Promise<void> = Promise.resolve();
  /** Set before the loop has a promise: what it does first may wake it again. */
  #isRunning = false;

  constructor(options: SchedulerOptions) {
    const { decoder, queue, lane, rows, table, costOf, chunkTokens, readsBothWays } = options;
    assert(rows >= 1 && rows <= decoder.slots, "some slots decode");
    assert(!readsBothWays || chunkTokens >= decoder.slotPositions, "a prompt is read whole");
    this.#options = options;
    this.#queue = queue;
    this.#decoder = decoder;
    this.#prefixes = new SlotPrefixes(decoder.slots);
    const stepTokensMax = readsBothWays ? Number.POSITIVE_INFINITY : STEP_TOKENS_MAX;
    this.#rows = new Rows(lane, rows, costOf, stepTokensMax);
    this.#samplers = Array.from(
      { length: rows },
      (_, slot) => new RowSampler(decoder, slot, table),
    );
    queue.join(this);
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
      rowsUsed: this.#rows.size,
      rows: this.#options.rows,
      calls: this.#calls,
    };
  }

  get rowsUsed(): number {
    return this.#rows.size;
  }

  get hasRoom(): boolean {
    return this.#rows.size < this.#options.rows;
  }

  /** Chunks of a prompt that some slot holds. */
  knownChunks(keys: readonly string[]): number {
    return this.#prefixes.find(keys, 0)?.chunks ?? 0;
  }

  /** Starts the loop where there is something to do. */
  wake(): void {
    if (!this.#isRunning && this.#hasWork) this.#loop = this.#run();
  }

  async whenIdle(): Promise<void> {
    await this.#loop;
  }

  get #hasWork(): boolean {
    return this.#rows.size > 0 || this.#queue.isNextOf(this);
  }

  /** Requests, cancellations and other contexts come in while the decoder works. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#hasWork) {
      try {
        await this.#round();
      } catch (error) {
        // A bug, or a library in a state nobody knows: no answer can go on.
        this.#queue.fail(error);
        for (const row of this.#rows.all()) this.#leave(row, error);
      }
    }
    // With nothing in between: a request that came later would find nobody.
    this.#isRunning = false;
  }

  /** One turn of everything: at most one chunk of a prompt, one step of every answer. */
  async #round(): Promise<void> {
    this.#dropCancelled();
    await this.#admit();
    const next = this.#nextPrefill();
    if (next !== null) {
      await this.#guard({ first: next.slot, rows: 1 }, this.#prefillChunk(next));
    }
    for (const row of this.#rows.decoding) {
      if (!this.#rows.isSteady(row))
        await this.#guard({ first: row.slot, rows: 1 }, this.#jump(row));
    }
    for (const call of this.#rows.stepCalls()) await this.#guard(call, this.#step(call));
  }

  #dropCancelled(): void {
    this.#queue.dropCancelled();
    for (const row of this.#rows.all()) {
      const reason = this.#queue.endOf(row.job);
      if (reason !== null) this.#leave(row, reason);
    }
  }

  async #admit(): Promise<void> {
    for (let slot = 0; slot < this.#options.rows; slot++) {
      if (this.#rows.get(slot) !== undefined) continue;
      const next = this.#queue.take(this);
      if (next === null) return;
      this.#rows.add(next.job, slot, next.keys);
      // The next one may be another context's.
      this.#queue.wake();
      await this.#keepPrefix(slot, next.keys);
      this.#samplers[slot]?.begin(next.job.seed);
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
    if (this.#rows.decoding.length === this.#rows.size) return null;
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
    await this.#takePrefix(row);
    if (row.prefilled + chunkTokens >= row.prompt.length && !this.#open(row)) return;
    const { prompt, slot } = row;
    const end = Math.min(row.prefilled + chunkTokens, prompt.length);
    const isLast = end === prompt.length;
    // Where something is forced behind it, nothing is sampled from a prompt.
    const output = isLast && row.pending.length === 0;
    const tokens = prompt.slice(row.prefilled, end);
    const outputs = await this.#compute([{ slot, tokens, output }], output ? [row] : []);
    row.prefilled = end;
    // Only whole chunks: what a shorter call computed may have other bits.
    this.#prefixes.set(slot, row.keys.slice(0, Math.floor(end / chunkTokens)));
    if (!isLast) return;
    this.#rows.beginDecoding(row);
    if (output) await this.#sample(row, outputs);
  }

  /** @returns false where the lock leaves no choice at all: the answer is done. */
  #open(row: Row): boolean {
    if (row.isOpened) return true;
    row.isOpened = true;
    const { generation } = row.job;
    const opening: number[] = [];
    generation.takeForced(opening);
    if (this.#options.readsBothWays) row.pending = opening;
    else if (opening.length > 0) row.prompt = [...row.prompt, ...opening];
    if (generation.finish === null) return true;
    this.#leave(row, null);
    return false;
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

  /** Computes all pending tokens, chunk by chunk, and samples. */
  async #jump(row: Row): Promise<void> {
    const { chunkTokens } = this.#options;
    let outputs: readonly number[] = [];
    while (row.pending.length > 0) {
      const tokens = row.pending.splice(0, chunkTokens);
      const output = row.pending.length === 0;
      outputs = await this.#compute([{ slot: row.slot, tokens, output }], output ? [row] : []);
    }
    await this.#sample(row, outputs);
  }

  /** One token of every row of a call, then a sample where it was a row's last. */
  async #step(call: Call): Promise<void> {
    const rows: StepRow[] = [];
    const sampled: Row[] = [];
    const fillers: { readonly slot: number; readonly length: number }[] = [];
    for (let slot = call.first; slot < call.first + call.rows; slot++) {
      const row = this.#rows.steady(slot);
      const length = this.#decoder.length(slot);
      if (row === null) {
        // A full slot has no room for a filler; what it keeps goes.
        if (length === this.#decoder.slotPositions) this.#forget(slot);
        fillers.push({ slot, length: this.#decoder.length(slot) });
      }
      if (row?.pending.length === 1) sampled.push(row);
      rows.push({ slot, tokens: [row?.pending[0] ?? FILLER_TOKEN], output: true });
    }
    const outputs = await this.#compute(rows, sampled);
    for (const { slot, length } of fillers) this.#decoder.truncate(slot, length);
    const samples: Promise<void>[] = [];
    for (let index = 0; index < rows.length; index++) {
      const row = this.#rows.steady(call.first + index);
      row?.pending.shift();
      if (row?.pending.length === 0) samples.push(this.#sample(row, outputs, index));
    }
    await (samples.length === 1 ? samples[0] : Promise.all(samples));
  }

  /**
   * One call of the network. While it computes, readers get what there is, and the samplers of the
   * rows whose logits will be looked at are set.
   */
  #compute(rows: readonly StepRow[], sampled: readonly Row[]): Promise<readonly number[]> {
    const outputs = this.#decoder.step(rows);
    for (const { job, slot } of sampled) {
      try {
        this.#samplers[slot]?.prepare(job.generation);
      } catch {
        // It comes up again where the token is sampled: this call has to be waited for first.
      }
    }
    for (const { job } of this.#rows.all()) job.deliver();
    return outputs;
  }

  /** @param outputs of the call that computed the row's last token, its own at `index`. */
  async #sample(row: Row, outputs: readonly number[], index = 0): Promise<void> {
    const { generation } = row.job;
    const sampler = this.#samplers[row.slot];
    const output = outputs[index];
    assert(sampler !== undefined, "a decoding slot has a sampler");
    assert(output !== undefined, "every row of a step has an output");
    try {
      row.pending.push(await sampler.sampleInto(generation, output));
      this.#sampledTokens += 1;
      generation.takeForced(row.pending);
    } catch (error) {
      this.#leave(row, error);
      return;
    }
    if (generation.finish !== null) this.#leave(row, null);
  }

  /** Frees a row's slot; the whole chunks of its prompt stay there for others. */
  #leave(row: Row, error: unknown): void {
    this.#rows.remove(row);
    this.#promptTokens += row.job.prompt.length;
    this.#cachedTokens += row.cachedTokens;
    if (error === null) row.job.onEnd(row.cachedTokens);
    else row.job.onError(error);
    this.#queue.wake();
  }

  #forget(slot: number): void {
    this.#prefixes.clear(slot);
    this.#decoder.truncate(slot, 0);
  }

  /**
   * A failed call ends the answers that were in it, and no others. A prompt that only lent its slot
   * to a filler starts over.
   */
  async #guard(call: Call, work: Promise<void>): Promise<void> {
    this.#calls += 1;
    try {
      await work;
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
