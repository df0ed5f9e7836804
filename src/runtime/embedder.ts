/**
 * Vectors of texts. Each text is one call of its own, so its vector depends on nothing but the text
 * and the engine; the device is shared with the tiers, a call at a time.
 */
import { sha256Hex } from "../crypto/hash.ts";
import type { Encoder } from "./addon-encoder.ts";
import type { DeviceLock } from "./device-lock.ts";
import { EngineError } from "./errors.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { assertFree, machineMemory, planContext } from "./memory.ts";
import { realCores } from "./threads.ts";
import { type CheckedModel, engineParts, type TierDeps } from "./tier.ts";

export interface EmbedderInfo {
  readonly model: string;
  /** SHA-256 of the file, 64 lowercase hex digits. */
  readonly digest: string;
  readonly dimensions: number;
  /** The longest text. */
  readonly contextTokens: number;
  readonly device: string;
  readonly fingerprint: string;
  /** Whether the same text gives the same bytes, whatever ran before it. */
  readonly deterministic: boolean;
}

export interface Embeddings {
  /** Of length 1 each, in the order of the texts. */
  readonly vectors: readonly Float32Array[];
  readonly promptTokens: number;
}

export interface EmbedderParts {
  readonly info: EmbedderInfo;
  readonly encoder: Encoder;
  readonly tokenize: (text: string) => number[];
  readonly device: DeviceLock;
  /** Requests that can wait. */
  readonly queueMax: number;
}

export class Embedder {
  readonly #parts: EmbedderParts;
  #waiting = 0;
  #isClosed = false;

  constructor(parts: EmbedderParts) {
    this.#parts = parts;
  }

  get info(): EmbedderInfo {
    return this.#parts.info;
  }

  /**
   * @throws EngineError `context_length_exceeded` with the text's `index` before anything runs;
   *   `queue_full`, `cancelled`, `closed`.
   */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<Embeddings> {
    const inputs = texts.map((text, index) => this.#tokensOf(text, index));
    if (this.#waiting > this.#parts.queueMax) {
      throw new EngineError("too many requests wait for embeddings", { code: "queue_full" });
    }
    this.#waiting += 1;
    try {
      const vectors: Float32Array[] = [];
      for (const tokens of inputs) {
        vectors.push(await this.#parts.device.hold(() => this.#encode(tokens, signal)));
      }
      return { vectors, promptTokens: inputs.reduce((sum, { length }) => sum + length, 0) };
    } finally {
      this.#waiting -= 1;
    }
  }

  #tokensOf(text: string, index: number): number[] {
    const { contextTokens } = this.#parts.info;
    const tokens = this.#parts.tokenize(text);
    if (tokens.length <= contextTokens) return tokens;
    throw new EngineError(
      `the text has ${tokens.length} tokens, the model reads ${contextTokens} at most`,
      { code: "context_length_exceeded", details: { index } },
    );
  }

  async #encode(tokens: readonly number[], signal: AbortSignal): Promise<Float32Array> {
    if (this.#isClosed) throw new EngineError("the server is stopping", { code: "closed" });
    if (signal.aborted) throw new EngineError("the caller has left", { code: "cancelled" });
    try {
      return unit(await this.#parts.encoder.encode(tokens));
    } catch (cause) {
      throw new EngineError("the vector could not be computed", { code: "decode_failed", cause });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#parts.device.hold(() => this.#parts.encoder.dispose());
  }
}

/** Longer texts need a `contextTokens` in the manifest: a call's memory grows with their square. */
const CONTEXT_DEFAULT_MAX = 2048;

/** @throws ModelError where the model cannot be loaded or does not fit. */
export async function loadEmbedder(
  deps: Omit<TierDeps, "selfTests" | "loadVocabulary">,
  { entry, shape, digest }: CheckedModel,
  wishes: { readonly threads: number | null; readonly queueMax: number },
): Promise<Embedder> {
  const { runtime, models, memory, device } = deps;
  const weightsBytes = Bun.file(entry.path).size;
  const { totalBytes, freeBytes } = runtime.deviceMemory() ?? machineMemory();
  assertFree(weightsBytes, freeBytes);
  const wanted = entry.contextTokens ?? Math.min(shape.contextTokens, CONTEXT_DEFAULT_MAX);
  const plan = planContext(
    shape,
    memory.reservedBytes + weightsBytes,
    { contextTokens: wanted, rows: 1, chunkTokens: wanted },
    totalBytes,
  );
  memory.reservedBytes += weightsBytes + plan.cellsBytes + plan.buffersBytes;
  const model = models.get(entry.path) ?? (await runtime.loadModel(entry.path));
  models.set(entry.path, model);
  const threads = wishes.threads ?? entry.threads ?? realCores();
  const encoder = await model.openEncoder(plan.contextTokens, threads);
  const tokenize = (text: string): number[] => model.tokenizeInput(text);
  const canary = await device.hold(() => canaryOf(encoder, tokenize));
  const parts = {
    ...engineParts(runtime),
    model: digest,
    lora: null,
    threads,
    flash_attention: false,
    kv_types: "f16 f16",
    chunk_tokens: plan.contextTokens,
    context_tokens: plan.contextTokens,
    sequences: 1,
    row_class: canary === null ? [] : [1],
    canary,
  };
  const info: EmbedderInfo = {
    model: entry.name,
    digest,
    dimensions: encoder.dimensions,
    contextTokens: plan.contextTokens,
    device: parts.device,
    fingerprint: fingerprintOf(parts),
    deterministic: canary !== null,
  };
  deps.log(`${entry.name}: vectors of ${info.dimensions} numbers, ${info.contextTokens} tokens`);
  return new Embedder({ info, encoder, tokenize, device, queueMax: wishes.queueMax });
}

/** The bits of two texts, each before and after the other; null where they do not repeat. */
async function canaryOf(
  encoder: Encoder,
  tokenize: (text: string) => number[],
): Promise<string | null> {
  const texts = [
    "A short text.",
    "A longer one, of several words, to be read in between. ".repeat(4),
  ];
  const seen: string[] = [];
  for (const text of [...texts, ...texts]) {
    seen.push(sha256Hex(new Uint8Array(unit(await encoder.encode(tokenize(text))).buffer)));
  }
  const [first, second, firstAgain, secondAgain] = seen;
  const repeats = first === firstAgain && second === secondAgain;
  return repeats ? sha256Hex(`${first} ${second}`) : null;
}

/** To length 1, so that a dot product is the similarity. */
function unit(vector: Float64Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const scale = squares === 0 ? 0 : 1 / Math.sqrt(squares);
  return Float32Array.from(vector, (value) => value * scale);
}
