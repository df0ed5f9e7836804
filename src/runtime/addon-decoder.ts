/**
 * The addon's side of generation: sequences in slots, calls of rows, samples.
 *
 * The addon has no locks. Changing a batch or a sequence while a decode or a sample runs crashes
 * the process, and so does changing a sampler while it samples; the asserts here turn that into a
 * bug report. A sampler at rest may be changed during a decode, which does not know of it.
 */
import { assert } from "../bytes/assert.ts";
import type { NativeContext, NativeSampler, SamplerConfig } from "./bindings.ts";
import type { ContextOptions, Decoder, LogitProbe, SampleOptions, StepRow } from "./decoder.ts";
import type { DeviceLock } from "./device-lock.ts";
import { threadsOfCall } from "./threads.ts";

/** Best tokens that are asked for at once. */
const RANKED_COUNT = 16;

/** A slot's tokens are in its cells 0..length-1, in order: only a tail is ever removed. */
export class AddonDecoder implements Decoder {
  readonly slots: number;
  readonly slotPositions: number;
  readonly batchTokensMax: number;
  readonly canTruncate: boolean;
  readonly #native: NativeContext;
  readonly #weightsBytes: number;
  readonly #threads: number;
  readonly #stepThreads: number;
  readonly #device: DeviceLock;
  readonly #newSampler: () => NativeSampler;
  readonly #lengths: number[];
  /** Per slot; a sampler works for one row at a time. */
  readonly #samplers = new Map<number, NativeSampler>();
  /** Per slot, never configured: argmax over the model's own logits. */
  readonly #probes = new Map<number, NativeSampler>();
  /** Per slot, never configured again: the library ranks what is left of its top-k. */
  readonly #rankers = new Map<number, NativeSampler>();
  /** By slot: its logits are being sampled. */
  readonly #isSampling: boolean[];
  #samplingCount = 0;
  #decoding = false;
  /** As the addon was told last. */
  #callThreads = 0;
  /** Of a row with one token: the addon copies what it is given. */
  readonly #oneToken = new Uint32Array(1);

  constructor(
    native: NativeContext,
    options: ContextOptions,
    weightsBytes: number,
    device: DeviceLock,
    newSampler: () => NativeSampler,
  ) {
    this.slots = options.slots;
    this.slotPositions = options.slotPositions;
    this.batchTokensMax = options.batchTokensMax;
    this.canTruncate = options.canTruncate;
    this.#native = native;
    this.#weightsBytes = weightsBytes;
    this.#threads = options.threads;
    this.#stepThreads = options.stepThreads;
    this.#device = device;
    this.#newSampler = newSampler;
    this.#lengths = new Array<number>(options.slots).fill(0);
    this.#isSampling = new Array<boolean>(options.slots).fill(false);
  }

  get memoryBytes(): number {
    const { cpuRam, gpuVram } = this.#native.getMemoryBreakdown();
    return cpuRam + gpuVram;
  }

  length(slot: number): number {
    const length = this.#lengths[slot];
    assert(length !== undefined, "the slot exists");
    return length;
  }

  async step(rows: readonly StepRow[]): Promise<readonly number[]> {
    this.#assertIdle();
    let count = 0;
    for (const { tokens } of rows) count += tokens.length;
    assert(count > 0 && count <= this.batchTokensMax, "a call has from one token to its most");
    const threadsMax = count > this.slots ? this.#threads : this.#stepThreads;
    const threads = threadsOfCall(count, this.#weightsBytes, threadsMax);
    const outputs = this.#fillBatch(rows, count, threads);
    this.#decoding = true;
    try {
      await this.#device.hold(() => this.#native.decodeBatch(), threads);
    } catch (error) {
      // What was written is unknown: every sequence of the call starts over.
      this.#decoding = false;
      for (const { slot } of rows) this.truncate(slot, 0);
      throw error;
    } finally {
      this.#decoding = false;
    }
    for (const { slot, tokens } of rows) this.#lengths[slot] = this.length(slot) + tokens.length;
    return outputs;
  }

  #fillBatch(rows: readonly StepRow[], count: number, threads: number): number[] {
    if (threads !== this.#callThreads) this.#native.setThreads(threads);
    this.#callThreads = threads;
    this.#native.initBatch(count);
    const outputs: number[] = [];
    let previousSlot = -1;
    for (const { slot, tokens, output } of rows) {
      const length = this.length(slot);
      assert(slot > previousSlot, "rows are in the order of their slots");
      // llama.cpp does not reject a position past the context.
      assert(length + tokens.length <= this.slotPositions, "positions stay inside the context");
      previousSlot = slot;
      const wanted = lastOf(tokens, output);
      // Taken by its index: an iterator would cost 8 µs of cold caches a token (measured).
      const index = this.#native.addToBatch(slot, length, this.#words(tokens), wanted)[0];
      if (index !== undefined) outputs.push(index);
    }
    return outputs;
  }

  #words(tokens: readonly number[]): Uint32Array {
    if (tokens.length !== 1) return Uint32Array.from(tokens);
    this.#oneToken[0] = tokens[0] ?? 0;
    return this.#oneToken;
  }

  configure(slot: number, options: SampleOptions): void {
    assert(!this.#isSampling[slot], "a sampler is not changed while it works");
    const { temperature, topP, seed, biasTokens, biasValues } = options;
    const config: SamplerConfig = { temperature };
    if (temperature > 0) {
      config.seed = seed;
      if (topP < 1) config.topP = topP;
    }
    // Empty arrays would mean no bias at all, which is what leaving them out says.
    if (biasTokens.length > 0) {
      config.tokenBiasKeys = biasTokens;
      config.tokenBiasValues = biasValues;
    }
    this.#samplerOf(this.#samplers, slot).applyConfig(config);
  }

  async sample(slot: number, output: number): Promise<number> {
    const sampler = this.#samplerOf(this.#samplers, slot);
    this.#beginSample(slot);
    try {
      return await this.#native.sampleToken(output, sampler);
    } finally {
      this.#endSample(slot);
    }
  }

  async ranked(slot: number, output: number): Promise<readonly number[]> {
    const sampler = this.#samplerOf(this.#rankers, slot, RANKING);
    this.#beginSample(slot);
    const [, , , pairs = []] = await this.#native
      .sampleToken(output, sampler, false, false, RANKED, false)
      .finally(() => this.#endSample(slot));
    const found: { readonly token: number; readonly logit: number }[] = [];
    for (let index = 0; index + 1 < pairs.length; index += 2) {
      found.push({ token: pairs[index] ?? 0, logit: pairs[index + 1] ?? 0 });
    }
    // Of the tokens that are as good as the last, some may be missing.
    const last = found.length < RANKED_COUNT ? null : found.at(-1)?.logit;
    return found
      .filter(({ logit }) => logit !== last)
      .sort((a, b) => b.logit - a.logit || a.token - b.token)
      .map(({ token }) => token);
  }

  async probe(
    slot: number,
    output: number,
    tokens: readonly number[],
    top: number,
  ): Promise<LogitProbe> {
    const sampler = this.#samplerOf(this.#probes, slot);
    const wanted = [tokens, false, false, true, top] as const;
    this.#beginSample(slot);
    const [best, , , pairs, weight] = await this.#native
      .sampleToken(output, sampler, false, false, wanted, true)
      .finally(() => this.#endSample(slot));
    assert(weight !== undefined, "the weight that was asked for is told");
    const logits = new Map<number, number>();
    for (let index = 0; index + 1 < (pairs?.length ?? 0); index += 2) {
      logits.set(pairs?.[index] ?? 0, pairs?.[index + 1] ?? 0);
    }
    return { best, logits, weight };
  }

  #samplerOf(
    samplers: Map<number, NativeSampler>,
    slot: number,
    config: SamplerConfig = { temperature: 0 },
  ): NativeSampler {
    assert(slot >= 0 && slot < this.slots, "the slot exists");
    const known = samplers.get(slot);
    if (known !== undefined) return known;
    const sampler = this.#newSampler();
    sampler.applyConfig(config);
    samplers.set(slot, sampler);
    return sampler;
  }

  #beginSample(slot: number): void {
    assert(!this.#decoding && !this.#isSampling[slot], "a row is sampled once, between decodes");
    this.#isSampling[slot] = true;
    this.#samplingCount += 1;
  }

  #endSample(slot: number): void {
    this.#isSampling[slot] = false;
    this.#samplingCount -= 1;
  }

  truncate(slot: number, length: number): void {
    this.#assertIdle();
    assert(length <= this.length(slot), "a sequence is only ever shortened");
    if (length === 0) this.#native.disposeSequence(slot);
    else if (length < this.length(slot)) {
      const removed = this.#native.removeTokenCellsFromSequence(slot, length, -1);
      assert(removed, "the tail of a sequence can be removed");
    }
    this.#lengths[slot] = length;
  }

  async copy(from: number, to: number): Promise<void> {
    this.#assertIdle();
    this.#decoding = true;
    try {
      await this.#native.copySequenceStateFromOtherSequence(to, from);
    } finally {
      this.#decoding = false;
    }
    this.#lengths[to] = this.length(from);
  }

  async dispose(): Promise<void> {
    this.#assertIdle();
    for (const samplers of [this.#samplers, this.#probes, this.#rankers]) {
      for (const sampler of samplers.values()) sampler.dispose();
    }
    await this.#native.dispose();
  }

  #assertIdle(): void {
    assert(!this.#decoding && this.#samplingCount === 0, "nothing changes while the addon works");
  }
}

/** The logits that are wanted: of the last token, or none. */
function lastOf(tokens: readonly number[], output: boolean): Uint32Array {
  if (!output) return NO_INDEXES;
  return tokens.length === 1 ? FIRST_INDEX : Uint32Array.of(tokens.length - 1);
}

/** A temperature of 1 changes no logit, and with one of 0 the library leaves top-k out. */
const RANKING: SamplerConfig = { temperature: 1, topK: RANKED_COUNT, seed: 0 };
const RANKED = [[], false, false, false, RANKED_COUNT] as const;

const NO_INDEXES = new Uint32Array();
const FIRST_INDEX = Uint32Array.of(0);
