/**
 * Loads what stands behind a model's name: weights, context, prompts, and the class of calls that
 * keeps its answers the same.
 */
import { readFileSync } from "node:fs";
import { readGguf } from "../gguf/read.ts";
import type { Model, Runtime } from "./addon.ts";
import type { Decoder } from "./decoder.ts";
import type { DeviceLock } from "./device-lock.ts";
import { ModelError } from "./errors.ts";
import { findLane } from "./find-lane.ts";
import {
  ENGINE_VERSION,
  type EngineParts,
  type FingerprintParts,
  fingerprintOf,
} from "./fingerprint.ts";
import { Host } from "./host.ts";
import type { Lane } from "./lane.ts";
import type { TokenTable } from "./lock.ts";
import { checkDigest, type ModelEntry } from "./manifest.ts";
import { assertFree, type ContextPlan, machineMemory, planContext } from "./memory.ts";
import { Pool } from "./pool.ts";
import { PromptBuilder } from "./prompt-builder.ts";
import type { SelfTestStore } from "./self-test-store.ts";
import { type ModelShape, readShape } from "./shape.ts";
import { contextsFor, realCores } from "./threads.ts";

export interface TierInfo {
  readonly model: string;
  readonly path: string;
  /** SHA-256 of the file, 64 lowercase hex digits. */
  readonly digest: string;
  readonly contextTokens: number;
  readonly vocabularySize: number;
  readonly rows: number;
  /** Contexts that share the rows. */
  readonly contexts: number;
  readonly device: string;
  readonly threads: number;
  readonly weightsBytes: number;
  readonly cellsBytes: number;
  /** Row counts of the calls that answers are computed in. */
  readonly rowClass: Lane;
  readonly fingerprint: string;
  /** What the fingerprint is the hash of. */
  readonly fingerprintParts: FingerprintParts;
  /** Whether temperature 0 gives the same bytes whatever else runs. */
  readonly deterministic: boolean;
}

export interface Tier {
  readonly info: TierInfo;
  readonly host: Host;
  readonly table: TokenTable;
}

/** What all tiers of an engine share. */
export interface TierDeps {
  readonly runtime: Runtime;
  /** By path: weights are in memory once. */
  readonly models: Map<string, Model>;
  readonly device: DeviceLock;
  readonly selfTests: SelfTestStore;
  readonly memory: { reservedBytes: number };
  readonly loadVocabulary: (path: string) => Promise<TokenTable>;
  readonly log: (message: string) => void;
}

export interface TierWishes {
  /** Null takes what the manifest says, else one per real core. */
  readonly threads: number | null;
  readonly contextTokens: number | null;
  readonly rows: number;
  readonly queueMax: number;
}

/** A model's files, looked at and not loaded. */
export interface CheckedModel {
  readonly entry: ModelEntry;
  readonly shape: ModelShape;
  /** SHA-256 of the GGUF. */
  readonly digest: string;
}

/**
 * @throws ModelError for a file that is not what the manifest says, GgufError for one that is no
 *   GGUF.
 */
export async function checkModel(entry: ModelEntry): Promise<CheckedModel> {
  // The header first: it tells what is wrong with a file before gigabytes are hashed.
  const shape = readShape(await readGguf(entry.path, { skip: isMerges }));
  const digest = await checkDigest(entry.path, entry.sha256);
  if (entry.lora !== null) await checkDigest(entry.lora.path, entry.lora.sha256);
  return { entry, shape, digest };
}

/** @throws ModelError for a model that cannot be used, and what `loadVocabulary` throws. */
export async function loadTier(
  deps: TierDeps,
  { entry, shape, digest }: CheckedModel,
  wishes: TierWishes,
): Promise<Tier> {
  const { runtime, log } = deps;
  if (!runtime.isArchitectureSupported(shape.architecture)) {
    throw new ModelError(
      `${entry.path}: llama.cpp ${runtime.llamaCppRelease} does not know the architecture ` +
        shape.architecture,
      { code: "unsupported_architecture" },
    );
  }
  const isShared = deps.models.has(entry.path);
  const threads = wishes.threads ?? entry.threads ?? realCores();
  const { plan, model, chunkTokens } = await loadWeights(deps, entry, shape, {
    ...wishes,
    threads,
  });
  const prompts = new PromptBuilder(model, entry, shape);
  const table = await deps.loadVocabulary(entry.path);
  // On a CPU plain attention keeps a lone row in the class of many (README, measured).
  const flashAttention = runtime.device !== "cpu";
  const rows = plan.rows / plan.contexts;
  const contextOptions = {
    slots: rows + plan.keepers,
    slotPositions: plan.contextTokens,
    batchTokensMax: Math.max(chunkTokens, rows),
    flashAttention,
    threads,
    stepThreads: Math.floor(threads / plan.contexts),
    canTruncate: !runtime.isArchitectureRecurrent(shape.architecture),
    slidingWindow: shape.hasSlidingWindow,
    lora: entry.lora,
  };
  const open = () => model.openContext(contextOptions, deps.device);
  const decoders: [Decoder, ...Decoder[]] = [await open()];
  while (decoders.length < plan.contexts) decoders.push(await open());
  const parts: EngineParts = {
    ...engineParts(runtime),
    model: digest,
    lora: entry.lora === null ? null : `${entry.lora.sha256} ${entry.lora.scale}`,
    threads,
    flash_attention: flashAttention,
    kv_types: "f16 f16",
    chunk_tokens: chunkTokens,
    context_tokens: plan.contextTokens,
    sequences: contextOptions.slots,
  };
  const { lane, canary, costOf, ...found } = await findLane(deps, parts, decoders, {
    vocabularySize: shape.vocabularySize,
    chunkTokens,
    rows,
    parameters: model.parameters,
    // Rows that share an expert share its call, whatever the test happens to see.
    serialOnly: shape.hasExperts,
  });
  const { queueMax } = wishes;
  const pool = new Pool({
    ...{ decoders, table, chunkTokens, queueMax, readsBothWays: shape.readsBothWays },
    ...{ lane, costOf, rows: found.rows },
  });
  const fingerprintParts = { ...parts, row_class: canary === null ? [] : lane, canary };
  const info: TierInfo = {
    model: entry.name,
    path: entry.path,
    digest,
    contextTokens: plan.contextTokens,
    vocabularySize: table.size,
    rows: found.rows * plan.contexts,
    contexts: plan.contexts,
    device: parts.device,
    threads,
    weightsBytes: model.bytes,
    cellsBytes: plan.cellsBytes,
    rowClass: lane,
    fingerprint: fingerprintOf(fingerprintParts),
    fingerprintParts,
    deterministic: canary !== null,
  };
  log(describe(info, plan, isShared));
  return { info, host: new Host({ prompts, table, pool }), table };
}

const isMerges = (key: string): boolean => key === "tokenizer.ggml.merges";

async function loadWeights(
  deps: TierDeps,
  entry: ModelEntry,
  shape: ModelShape,
  wishes: TierWishes & { readonly threads: number },
): Promise<{
  readonly plan: ContextPlan;
  readonly model: Model;
  readonly chunkTokens: number;
}> {
  const { runtime, models, memory } = deps;
  const known = models.get(entry.path);
  const weightsBytes = known === undefined ? Bun.file(entry.path).size : 0;
  const { totalBytes, freeBytes } = runtime.deviceMemory() ?? machineMemory();
  assertFree(weightsBytes, freeBytes);
  const model = known ?? (await runtime.loadModel(entry.path));
  models.set(entry.path, model);
  const contextTokens = wishes.contextTokens ?? entry.contextTokens;
  const plan = planContext(
    shape,
    memory.reservedBytes + weightsBytes,
    {
      contextTokens,
      rows: wishes.rows,
      chunkTokens: chunkTokensFor(runtime, model, shape, contextTokens ?? shape.contextTokens),
      contextsOf: (rows) =>
        runtime.device === "cpu" ? contextsFor(rows, model.bytes, wishes.threads) : 1,
    },
    totalBytes,
  );
  memory.reservedBytes += weightsBytes + plan.cellsBytes + plan.buffersBytes;
  const chunkTokens = chunkTokensFor(runtime, model, shape, plan.contextTokens);
  return { plan, model, chunkTokens };
}

/** Chunks of a prompt: others wait for one at most, so larger models get smaller ones. */
function chunkTokensFor(
  runtime: Runtime,
  model: Model,
  shape: ModelShape,
  contextTokens: number,
): number {
  if (shape.readsBothWays) return contextTokens;
  if (runtime.device !== "cpu") return 512;
  if (model.parameters < 500e6) return 128;
  return model.parameters < 2e9 ? 64 : 32;
}

export function engineParts(
  runtime: Runtime,
): Pick<
  EngineParts,
  "engine" | "node_llama_cpp" | "llama_cpp" | "platform" | "device" | "driver" | "instruction_set"
> {
  return {
    engine: ENGINE_VERSION,
    node_llama_cpp: runtime.packageVersion,
    llama_cpp: runtime.llamaCppRelease,
    platform: `${process.platform} ${process.arch}`,
    device: runtime.device === "cpu" ? "cpu" : runtime.deviceNames.join(", "),
    driver: runtime.device === "cpu" ? null : gpuDriver(),
    instruction_set: runtime.systemInfo.trim(),
  };
}

/** NVIDIA's kernel module names its version; null where there is none. */
function gpuDriver(): string | null {
  try {
    return readFileSync("/proc/driver/nvidia/version", "utf8").split("\n")[0] ?? null;
  } catch {
    return null;
  }
}

/** One line for the operator. */
function describe(info: TierInfo, plan: ContextPlan, isShared: boolean): string {
  const mib = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  const rowClass = info.deterministic
    ? `row class ${info.rowClass.join(",")}`
    : "not deterministic";
  return (
    `${info.model} on ${info.device}, ${info.threads} thread(s): ${info.rows} answers at once ` +
    `of ${info.contextTokens} tokens in ${info.contexts} context(s), memory ` +
    `${mib(info.weightsBytes)} weights${isShared ? " (shared)" : ""} + ` +
    `${mib(plan.cellsBytes)} cells + ${mib(plan.buffersBytes)} buffers, ${rowClass}, ` +
    info.fingerprint
  );
}

/** Frees what tiers hold, each model once. */
export async function closeTiers(
  tiers: Iterable<Tier>,
  models: ReadonlyMap<string, Model>,
): Promise<void> {
  for (const tier of new Set(tiers)) await tier.host.close();
  for (const model of models.values()) await model.dispose();
}
