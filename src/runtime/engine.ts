/**
 * The engine: two tiers, each a model with a context, loaded side by side. Tiers that name the same
 * model share everything; tiers with the same file share its weights.
 */
import { assert } from "../bytes/assert.ts";
import { type Model, openRuntime } from "./addon.ts";
import { DeviceLock } from "./device-lock.ts";
import { type Embedder, loadEmbedder } from "./embedder.ts";
import { EngineError } from "./errors.ts";
import type { TokenLock, TokenTable } from "./lock.ts";
import { assertKind, MANIFEST_PATH, readManifest, resolveModel } from "./manifest.ts";
import type { PoolStats } from "./pool.ts";
import type { Completion, CompletionRequest, TierName } from "./request.ts";
import { NO_SELF_TESTS, selfTestsIn } from "./self-test-store.ts";
import { realCores } from "./threads.ts";
import {
  type CheckedModel,
  checkModel,
  closeTiers,
  loadTier,
  type Tier,
  type TierInfo,
} from "./tier.ts";

export type { TierInfo } from "./tier.ts";

export interface EngineOptions<G> {
  /** Per tier: a name of the manifest or the path of a GGUF. */
  readonly tiers: Readonly<Record<TierName, string>>;
  /** Likewise, of the model that makes vectors; none without it. */
  readonly embeddings?: string | null;
  readonly manifestPath?: string;
  readonly forceCpu: boolean;
  /** Null takes what the manifest says, else one per real core. */
  readonly threads: number | null;
  readonly contextTokens: number | null;
  /** Answers that can run at the same time, where memory allows. */
  readonly rows: number;
  /** Requests that can wait. */
  readonly queueMax: number;
  /** Where self-tests keep their results; without it every start tests again. */
  readonly selfTestDir?: string;
  readonly loadVocabulary: (path: string) => Promise<TokenTable>;
  readonly createLock: (grammar: G, vocabulary: TokenTable) => TokenLock;
  readonly log: (message: string) => void;
}

export interface Engine<G = unknown> {
  /** Empty until the engine is ready. */
  readonly tiers: ReadonlyMap<TierName, TierInfo>;
  readonly ready: boolean;
  /** Null until the engine is ready, and where no embedding model is configured. */
  readonly embedder: Embedder | null;
  /** Rejects with a ModelError or GgufError where a tier cannot be loaded. */
  readonly whenReady: Promise<void>;
  /** @throws EngineError before the first token; later failures come out of the iteration. */
  complete(request: CompletionRequest<G>): Promise<Completion>;
  /** Null until the engine is ready. Tiers of the same model share one. */
  stats(tier: TierName): PoolStats | null;
  close(): Promise<void>;
}

/** Starts loading; the engine answers once `whenReady` resolves. */
export function startEngine<G>(options: EngineOptions<G>): Engine<G> {
  const tiers = new Map<TierName, Tier>();
  const infos = new Map<TierName, TierInfo>();
  let isReady = false;
  let embedder: Embedder | null = null;
  let close: () => Promise<void> = async () => {};
  const whenReady = loadTiers(options).then((loaded) => {
    close = loaded.close;
    embedder = loaded.embedder;
    for (const [name, tier] of loaded.tiers) {
      tiers.set(name, tier);
      infos.set(name, tier.info);
    }
    isReady = true;
  });
  // Who does not ask is told by `complete`.
  whenReady.catch(() => {});
  return {
    tiers: infos,
    get ready() {
      return isReady;
    },
    get embedder() {
      return embedder;
    },
    whenReady,
    async complete(request) {
      const tier = tiers.get(request.tier);
      if (tier === undefined) {
        throw new EngineError("the model is still loading", { code: "not_ready" });
      }
      const { grammar } = request;
      return tier.host.complete(
        request,
        grammar === null ? null : options.createLock(grammar, tier.table),
      );
    },
    stats: (tier) => tiers.get(tier)?.host.stats ?? null,
    async close() {
      isReady = false;
      await whenReady.catch(() => {});
      await close();
    },
  };
}

const TIER_NAMES: readonly TierName[] = ["svc-tier-a", "svc-tier-b"];

interface Loaded {
  readonly tiers: Map<TierName, Tier>;
  readonly embedder: Embedder | null;
  readonly close: () => Promise<void>;
}

async function loadTiers<G>(options: EngineOptions<G>): Promise<Loaded> {
  const manifest = await readManifest(options.manifestPath ?? MANIFEST_PATH);
  const { forceCpu, log, loadVocabulary, selfTestDir } = options;
  const threads = options.threads ?? realCores();
  // What is wrong with the files is said before anything is loaded.
  const checked = new Map<string, CheckedModel>();
  const keys = new Map<TierName, string>();
  for (const name of TIER_NAMES) {
    const entry = resolveModel(manifest, options.tiers[name]);
    assertKind(entry, "chat");
    const key = JSON.stringify(entry);
    keys.set(name, key);
    if (!checked.has(key)) checked.set(key, await checkModel(entry));
  }
  const embedding = options.embeddings == null ? null : resolveModel(manifest, options.embeddings);
  if (embedding !== null) assertKind(embedding, "embedding");
  const embeddingModel = embedding === null ? null : await checkModel(embedding);
  const models = new Map<string, Model>();
  const runtime = await openRuntime({ forceCpu, threads, log });
  const deps = {
    runtime,
    models,
    device: new DeviceLock(runtime.device === "cpu" ? threads : 1),
    selfTests: selfTestDir === undefined ? NO_SELF_TESTS : selfTestsIn(selfTestDir),
    memory: { reservedBytes: 0 },
    loadVocabulary,
    log,
  };
  const loaded = new Map<string, Tier>();
  let embedder: Embedder | null = null;
  const close = async () => {
    await embedder?.close();
    await closeTiers(loaded.values(), models);
  };
  try {
    for (const [key, model] of checked) loaded.set(key, await loadTier(deps, model, options));
    if (embeddingModel !== null) embedder = await loadEmbedder(deps, embeddingModel, options);
  } catch (error) {
    await close();
    throw error;
  }
  const tiers = new Map<TierName, Tier>();
  for (const [name, key] of keys) {
    const tier = loaded.get(key);
    assert(tier !== undefined, "every tier's model is loaded");
    tiers.set(name, tier);
  }
  return { tiers, embedder, close };
}
