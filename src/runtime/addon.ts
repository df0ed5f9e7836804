/**
 * The one owner of node-llama-cpp. Nothing else in the program imports it, and its public sequence
 * API is never used: that one schedules for throughput, while bits depend on the shape of a call.
 */
import { getLlama, getModuleVersion, LlamaLogLevel } from "node-llama-cpp";
import { assert } from "../bytes/assert.ts";
import { AddonDecoder } from "./addon-decoder.ts";
import { AddonEncoder, type Encoder, wholeInput } from "./addon-encoder.ts";
import type { Bindings, NativeLora, NativeModel } from "./bindings.ts";
import type { ContextOptions, Decoder } from "./decoder.ts";
import type { DeviceLock } from "./device-lock.ts";
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
    const dimensions = this.#native.getEmbeddingVectorSize();
    const threadsOf = (tokens: number) => threadsOfCall(tokens, this.bytes, threads);
    return new AddonEncoder(native, dimensions, threadsOf);
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
  async openContext(options: ContextOptions, device: DeviceLock): Promise<Decoder> {
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
      device,
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
