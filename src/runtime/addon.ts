/**
 * The one owner of node-llama-cpp. Nothing else in the program imports it, and its public sequence
 * API is never used: that one schedules for throughput, while bits depend on the shape of a call.
 *
 * The addon has no locks. Changing a batch, a sequence or a sampler while a decode or a sample runs
 * crashes the process; the asserts here turn that into a bug report.
 */
import { getLlama, getModuleVersion, LlamaLogLevel } from "node-llama-cpp";
import { assert } from "../bytes/assert.ts";
import { AddonEncoder, type Encoder, wholeInput } from "./addon-encoder.ts";
import type {
  Bindings,
  NativeContext,
  NativeLora,
  NativeModel,
  NativeSampler,
} from "./bindings.ts";
import type { ContextOptions, Decoder, LogitProbe, SampleOptions, StepRow } from "./decoder.ts";
import { ModelError } from "./errors.ts";
import { threadsOfCall } from "./threads.ts";

export interface Runtime {
  /** "cpu", or the kind of GPU in use. */
  readonly device: "cpu" | "cuda" | "vulkan" | "metal";
  readonly deviceNames: readonly string[];
  /** Of node-llama-cpp. */
  readonly packageVersion: string;
  readonly llamaCppRelease: string;
  /** CPU features the loaded library was built for. */
  readonly systemInfo: string;
  /** Cores that are worth a thread each. */
  readonly mathCores: number;
  isArchitectureSupported(architecture: string): boolean;
  /** Models whose state is not a list of cells: nothing of theirs can be truncated. */
  isArchitectureRecurrent(architecture: string): boolean;
  /** Of the GPUs together; null on a CPU. */
  deviceMemory(): { readonly totalBytes: number; readonly freeBytes: number } | null;
  loadModel(path: string): Promise<Model>;
}

/**
 * Loads the native library of this machine: nothing is built, nothing is downloaded.
 * @param options.log gets what llama.cpp says at level warning and above.
 */
export async function openRuntime(options: {
  readonly forceCpu: boolean;
  readonly threads: number;
  readonly log: (message: string) => void;
}): Promise<Runtime> {
  const llama = await getLlama({
    gpu: options.forceCpu ? false : "auto",
    build: "never",
    skipDownload: true,
    progressLogs: false,
    maxThreads: options.threads,
    logLevel: LlamaLogLevel.warn,
    logger: (_level, message) => options.log(message.trim()),
  });
  // The addon is an internal member. This is the one place that reaches for it.
  const bindings = (llama as unknown as { readonly _bindings: Bindings })._bindings;
  return {
    device: llama.gpu === false ? "cpu" : llama.gpu,
    deviceNames: bindings.getGpuDeviceInfo().deviceNames,
    packageVersion: await getModuleVersion(),
    llamaCppRelease: llama.llamaCppRelease.release,
    systemInfo: bindings.systemInfo(),
    mathCores: bindings.getMathCores(),
    isArchitectureSupported: (architecture) => bindings.getIsArchSupported(architecture),
    isArchitectureRecurrent: (architecture) =>
      bindings.getIsArchRecurrent(architecture) === true ||
      bindings.getIsArchHybrid(architecture) === true,
    deviceMemory: () => {
      if (llama.gpu === false) return null;
      const { total, used } = bindings.getGpuVramInfo();
      return { totalBytes: total, freeBytes: total - used };
    },
    loadModel: async (path) => {
      const native = new bindings.AddonModel(path, {
        addonExports: bindings,
        gpuLayers: llama.gpu === false ? 0 : GPU_LAYERS_ALL,
        useMmap: true,
      });
      if (!(await native.init())) {
        throw new ModelError(`llama.cpp cannot load ${path}`, { code: "load_failed" });
      }
      return new Model(bindings, native);
    },
  };
}

/** llama.cpp puts at most the layers there are on the GPU. */
const GPU_LAYERS_ALL = 10_000;

/** Token attributes (`llama.h`, `llama_token_attr`). */
const ATTRIBUTE_CONTROL = 1 << 3;
const ATTRIBUTE_USER_DEFINED = 1 << 4;
const ATTRIBUTE_LSTRIP = 1 << 7;
const ATTRIBUTE_RSTRIP = 1 << 8;

export interface TokenAttributes {
  readonly control: boolean;
  /** Found in text before anything else, control or not. */
  readonly userDefined: boolean;
  /** Whether it swallows white space before and after itself. */
  readonly stripLeft: boolean;
  readonly stripRight: boolean;
}

/** A loaded model: its weights are in memory once, however many contexts use them. */
export class Model {
  readonly #bindings: Bindings;
  readonly #native: NativeModel;

  constructor(bindings: Bindings, native: NativeModel) {
    this.#bindings = bindings;
    this.#native = native;
  }

  get parameters(): number {
    return this.#native.getTotalParameters();
  }

  get bytes(): number {
    return this.#native.getModelSize();
  }

  /** @returns null where the vocabulary has none. */
  get beginToken(): number | null {
    const token = this.#native.tokenBos();
    return token < 0 ? null : token;
  }

  get endToken(): number | null {
    const token = this.#native.tokenEos();
    return token < 0 ? null : token;
  }

  get prependsBeginToken(): boolean {
    return this.#native.shouldPrependBosToken();
  }

  /** @param special whether the text of a control token becomes that token. */
  tokenize(text: string, special: boolean): number[] {
    return [...this.#native.tokenize(text, special)];
  }

  /** As an encoder reads a text: between the tokens that begin and end one. */
  tokenizeInput(text: string): number[] {
    return wholeInput(this.#native, this.tokenize(text, false));
  }

  /** Computes a text in one call. @throws ModelError `not_enough_memory`. */
  async openEncoder(contextTokens: number, threads: number): Promise<Encoder> {
    const native = new this.#bindings.AddonContext(this.#native, {
      contextSize: contextTokens,
      batchSize: contextTokens,
      sequences: 1,
      flashAttention: false,
      threads,
      swaFullCache: true,
      embeddings: true,
    });
    const message = `no memory for a text of ${contextTokens} tokens`;
    if (!(await native.init())) throw new ModelError(message, { code: "not_enough_memory" });
    return new AddonEncoder(native, this.#native.getEmbeddingVectorSize());
  }

  tokenText(token: number): string {
    return this.#native.getTokenString(token);
  }

  tokenAttributes(token: number): TokenAttributes {
    const bits = this.#native.getTokenAttributes(token);
    return {
      control: (bits & ATTRIBUTE_CONTROL) !== 0,
      userDefined: (bits & ATTRIBUTE_USER_DEFINED) !== 0,
      stripLeft: (bits & ATTRIBUTE_LSTRIP) !== 0,
      stripRight: (bits & ATTRIBUTE_RSTRIP) !== 0,
    };
  }

  isEndOfGeneration(token: number): boolean {
    return this.#native.isEogToken(token);
  }

  /**
   * @throws ModelError `not_enough_memory` where the cells cannot be allocated. (On Linux an
   *   allocation beyond memory may succeed and kill the process later: `memory.ts` checks before.)
   */
  async openContext(options: ContextOptions): Promise<Decoder> {
    const native = new this.#bindings.AddonContext(this.#native, {
      contextSize: options.slots * options.slotPositions,
      batchSize: options.batchTokensMax,
      sequences: options.slots,
      flashAttention: options.flashAttention,
      threads: options.threads,
      swaFullCache: options.slidingWindow,
    });
    if (!(await native.init())) {
      throw new ModelError(
        `no memory for ${options.slots} sequences of ${options.slotPositions} tokens`,
        { code: "not_enough_memory" },
      );
    }
    assert(
      native.getContextSize() === options.slots * options.slotPositions,
      "the context has the size that was asked for",
    );
    const lora = options.lora === null ? null : await this.#loadLora(options.lora.path);
    if (lora !== null) native.setLoras([lora], [options.lora?.scale ?? 1]);
    return new AddonDecoder(
      native,
      options,
      this.bytes,
      () => new this.#bindings.AddonSampler(this.#native),
    );
  }

  async #loadLora(path: string): Promise<NativeLora> {
    const lora = new this.#bindings.AddonModelLora(this.#native, path);
    try {
      await this.#native.loadLora(lora);
    } catch (cause) {
      throw new ModelError(`llama.cpp cannot load the adapter ${path}`, {
        code: "load_failed",
        cause,
      });
    }
    return lora;
  }

  async dispose(): Promise<void> {
    await this.#native.dispose();
  }
}

/** A slot's tokens are in its cells 0..length-1, in order: only a tail is ever removed. */
class AddonDecoder implements Decoder {
  readonly slots: number;
  readonly slotPositions: number;
  readonly batchTokensMax: number;
  readonly canTruncate: boolean;
  readonly #native: NativeContext;
  readonly #weightsBytes: number;
  readonly #threadsMax: number;
  readonly #newSampler: () => NativeSampler;
  readonly #lengths: number[];
  /** Per slot; a sampler works for one row at a time. */
  readonly #samplers = new Map<number, NativeSampler>();
  /** Per slot, never configured: argmax over the model's own logits. */
  readonly #probes = new Map<number, NativeSampler>();
  /** Slots whose logits are being sampled. */
  readonly #sampling = new Set<number>();
  #decoding = false;

  constructor(
    native: NativeContext,
    options: ContextOptions,
    weightsBytes: number,
    newSampler: () => NativeSampler,
  ) {
    this.slots = options.slots;
    this.slotPositions = options.slotPositions;
    this.batchTokensMax = options.batchTokensMax;
    this.canTruncate = options.canTruncate;
    this.#native = native;
    this.#weightsBytes = weightsBytes;
    this.#threadsMax = options.threads;
    this.#newSampler = newSampler;
    this.#lengths = new Array<number>(options.slots).fill(0);
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
    const outputs = this.#fillBatch(rows);
    this.#decoding = true;
    try {
      await this.#native.decodeBatch();
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

  #fillBatch(rows: readonly StepRow[]): number[] {
    const count = rows.reduce((sum, row) => sum + row.tokens.length, 0);
    assert(count > 0 && count <= this.batchTokensMax, "a call has from one token to its most");
    this.#native.setThreads(threadsOfCall(count, this.#weightsBytes, this.#threadsMax));
    this.#native.initBatch(count);
    const outputs: number[] = [];
    let previousSlot = -1;
    for (const { slot, tokens, output } of rows) {
      const length = this.length(slot);
      assert(slot > previousSlot, "rows are in the order of their slots");
      // llama.cpp does not reject a position past the context.
      assert(length + tokens.length <= this.slotPositions, "positions stay inside the context");
      previousSlot = slot;
      const wanted = output ? Uint32Array.of(tokens.length - 1) : new Uint32Array();
      const [index] = this.#native.addToBatch(slot, length, Uint32Array.from(tokens), wanted);
      if (index !== undefined) outputs.push(index);
    }
    return outputs;
  }

  configure(slot: number, options: SampleOptions): void {
    assert(!this.#decoding && !this.#sampling.has(slot), "a sampler is not changed while it works");
    const { temperature, topP, seed, biasTokens, biasValues } = options;
    this.#samplerOf(this.#samplers, slot).applyConfig({
      temperature,
      ...(temperature > 0 ? { seed, ...(topP < 1 ? { topP } : {}) } : {}),
      // Empty arrays would mean no bias at all, which is what leaving them out says.
      ...(biasTokens.length > 0 ? { tokenBiasKeys: biasTokens, tokenBiasValues: biasValues } : {}),
    });
  }

  async sample(slot: number, output: number): Promise<number> {
    const sampler = this.#samplerOf(this.#samplers, slot);
    return await this.#whileSampling(slot, () => this.#native.sampleToken(output, sampler));
  }

  async probe(
    slot: number,
    output: number,
    tokens: readonly number[],
    top: number,
  ): Promise<LogitProbe> {
    const sampler = this.#samplerOf(this.#probes, slot);
    const [best, , , pairs, weight] = await this.#whileSampling(slot, () =>
      this.#native.sampleToken(
        output,
        sampler,
        false,
        false,
        [tokens, false, false, true, top],
        true,
      ),
    );
    const logits = new Map<number, number>();
    for (let index = 0; index + 1 < (pairs?.length ?? 0); index += 2) {
      logits.set(pairs?.[index] ?? 0, pairs?.[index + 1] ?? 0);
    }
    return { best, logits, weight };
  }

  #samplerOf(samplers: Map<number, NativeSampler>, slot: number): NativeSampler {
    assert(slot >= 0 && slot < this.slots, "the slot exists");
    const known = samplers.get(slot);
    if (known !== undefined) return known;
    const sampler = this.#newSampler();
    sampler.applyConfig({ temperature: 0 });
    samplers.set(slot, sampler);
    return sampler;
  }

  async #whileSampling<T>(slot: number, sample: () => Promise<T>): Promise<T> {
    assert(!this.#decoding && !this.#sampling.has(slot), "a row is sampled once, between decodes");
    this.#sampling.add(slot);
    try {
      return await sample();
    } finally {
      this.#sampling.delete(slot);
    }
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
    for (const sampler of [...this.#samplers.values(), ...this.#probes.values()]) {
      sampler.dispose();
    }
    await this.#native.dispose();
  }

  #assertIdle(): void {
    assert(!this.#decoding && this.#sampling.size === 0, "nothing changes while the addon works");
  }
}
