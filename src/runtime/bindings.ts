/**
 * The part of node-llama-cpp's native addon that this program uses, in our words. The addon is
 * internal to that package: its exact version is pinned in package.json, and a test compares this
 * file with how it behaves.
 */

export interface Bindings {
  readonly AddonModel: new (
    path: string,
    options: {
      readonly addonExports: Bindings;
      readonly gpuLayers: number;
      readonly useMmap: boolean;
    },
  ) => NativeModel;
  readonly AddonModelLora: new (model: NativeModel, path: string) => NativeLora;
  readonly AddonContext: new (
    model: NativeModel,
    options: {
      /** Cells of all sequences together. */
      readonly contextSize: number;
      readonly batchSize: number;
      readonly sequences: number;
      readonly flashAttention: boolean;
      readonly threads: number;
      readonly swaFullCache: boolean;
      /** Compute vectors too, which `getEmbedding` takes out. */
      readonly embeddings?: boolean;
    },
  ) => NativeContext;
  readonly AddonSampler: new (model: NativeModel) => NativeSampler;
  systemInfo(): string;
  getMathCores(): number;
  getIsArchSupported(architecture: string): boolean;
  getIsArchRecurrent(architecture: string): boolean | undefined;
  getIsArchHybrid(architecture: string): boolean | undefined;
  getGpuDeviceInfo(): { readonly deviceNames: readonly string[] };
  getGpuVramInfo(): { readonly total: number; readonly used: number };
  getTypeSizeForGgmlType(type: number): number | undefined;
  getBlockSizeForGgmlType(type: number): number | undefined;
}

export interface NativeModel {
  init(): Promise<boolean>;
  loadLora(lora: NativeLora): Promise<void>;
  dispose(): Promise<void>;
  /** @param specialTokens whether text of control tokens becomes control tokens. */
  tokenize(text: string, specialTokens: boolean): Uint32Array;
  getTokenString(token: number): string;
  getTokenAttributes(token: number): number;
  isEogToken(token: number): boolean;
  tokenBos(): number;
  tokenEos(): number;
  sepToken(): number;
  shouldAppendEosToken(): boolean;
  /** Index in `none, spm, bpe, wpm, ugm, rwkv, plamo2`. */
  getVocabularyType(): number;
  getEmbeddingVectorSize(): number;
  shouldPrependBosToken(): boolean;
  getTotalParameters(): number;
  getModelSize(): number;
}

export interface NativeLora {
  dispose(): Promise<void>;
}

export interface NativeContext {
  init(): Promise<boolean>;
  dispose(): Promise<void>;
  getContextSize(): number;
  initBatch(tokens: number): void;
  /** @returns where the logits of each of `outputs` will be. */
  addToBatch(
    sequence: number,
    position: number,
    tokens: Uint32Array,
    outputs: Uint32Array,
  ): Uint32Array;
  /** Of the calls from now on. */
  setThreads(threads: number): void;
  decodeBatch(): Promise<void>;
  sampleToken(output: number, sampler: NativeSampler): Promise<number>;
  sampleToken(
    output: number,
    sampler: NativeSampler,
    probabilities: false,
    confidence: false,
    logits: WantedLogits,
    totalLogitWeight: boolean,
  ): Promise<
    readonly [number, undefined, undefined, readonly number[] | undefined, number | undefined]
  >;
  /** Of sequence 0, pooled as the model says, else of the last token. */
  getEmbedding(tokens: number): Float64Array;
  disposeSequence(sequence: number): void;
  removeTokenCellsFromSequence(sequence: number, from: number, to: number): boolean;
  copySequenceStateFromOtherSequence(to: number, from: number): Promise<number>;
  getMemoryBreakdown(): { readonly cpuRam: number; readonly gpuVram: number };
  setLoras(loras: readonly NativeLora[], scales: readonly number[]): void;
}

/** Logits to be told with a sample, as pairs of token and logit. */
type WantedLogits = readonly [
  tokens: readonly number[],
  includeMax: false,
  includeMin: false,
  includeSelected: boolean,
  top: number,
];

export interface NativeSampler {
  dispose(): void;
  applyConfig(config: SamplerConfig): void;
}

/** What is left out is off. */
export interface SamplerConfig {
  temperature: number;
  /** Only where the temperature is above 0. */
  topK?: number;
  topP?: number;
  seed?: number;
  tokenBiasKeys?: Uint32Array;
  tokenBiasValues?: Float32Array;
}
