/**
 * A whole gateway in one process: data directory, ledger, engine and routes wired together. Serving
 * it on a port is `src/cli`; calling it without one is `src/testing.ts`.
 */

import { randomFillSync } from "node:crypto";
import { uptime } from "node:os";
import { join } from "node:path";
import { type AnchorConfig, NO_ANCHORS } from "./anchor/anchor-config.ts";
import { timeOrderedId } from "./bytes/base32.ts";
import { ConsoleAssets } from "./console/assets.ts";
import { checkpointCron } from "./cron/checkpoint-cron.ts";
import type { Grammar } from "./grammar/grammar.ts";
import { type App, createApp } from "./http/app.ts";
import type { RequestInfo } from "./http/door.ts";
import type { MetricsAccess } from "./http/metrics-routes.ts";
import type { Log } from "./ledger/clock.ts";
import { lockOf } from "./mask/lock-of.ts";
import { loadVocabulary } from "./mask/vocabulary.ts";
import { Metrics } from "./ops/metrics.ts";
import { metricsSources } from "./ops/metrics-sources.ts";
import type { ProcessEngine } from "./process/definition.ts";
import { PROCESS_ENGINES } from "./process/processes.ts";
import type { Registry } from "./process/registry.ts";
import { startProcesses } from "./process/start.ts";
import { buildRev, VERSION } from "./rev.ts";
import { type Engine, type EngineOptions, startEngine } from "./runtime/engine.ts";
import { MANIFEST_PATH } from "./runtime/manifest.ts";
import type { TierName } from "./runtime/request.ts";
import { Admin } from "./service/admin.ts";
import { Audit } from "./service/audit.ts";
import { type ChatDeps, completeChat, streamChat } from "./service/chat.ts";
import { clientAddressOf } from "./service/client-address.ts";
import { createEmbeddings } from "./service/embeddings.ts";
import { FailedAttempts } from "./service/failed-attempts.ts";
import { assertLimits, DEFAULT_LIMITS, type Limits } from "./service/limits.ts";
import { Locks } from "./service/locks.ts";
import { MatterState } from "./service/matter-state.ts";
import { Meter } from "./service/metered-call.ts";
import { openSearch, type SearchConfig, type SearchPort } from "./service/open-search.ts";
import { openTrust, type Trust } from "./service/open-trust.ts";
import { openProcessRunner, type ProcessRunner } from "./service/process-thread.ts";
import { Processes, type ProcessesDeps } from "./service/processes.ts";
import { Searches } from "./service/search.ts";
import { SignUpDesk } from "./service/sign-up.ts";
import { SigningKeys } from "./service/signing-keys.ts";
import { System } from "./service/system.ts";
import { type UsageQuery, usageOf } from "./service/usage.ts";
import { Nonces } from "./tenant/nonces.ts";
import { Payments } from "./tenant/payments.ts";
import { SignUps } from "./tenant/sign-up.ts";
import { type SignableRequest, SignedRequests } from "./tenant/signed-request.ts";
import { SignerRegistry } from "./tenant/signer-registry.ts";
import { StoredAnswers } from "./tenant/stored-answers.ts";
import type { Identity } from "./tenant/tenants.ts";

export interface GatewayConfig {
  /** Made on first use; one process at a time. */
  readonly dataDir: string;
  /** Per tier: a name of the manifest, or the absolute path of a GGUF. */
  readonly tiers: Readonly<Record<TierName, string>>;
  /** Of `/v1/embeddings`, in the same way; null: there are none. */
  readonly embeddings: string | null;
  readonly manifestPath: string;
  /** Use no GPU even where there is one. */
  readonly forceCpu: boolean;
  /** Null takes what the manifest says, else one per real core. */
  readonly threads: number | null;
  /** Tokens of one sequence; null takes what the manifest or the model says. */
  readonly contextTokens: number | null;
  /** Answers that run at the same time. */
  readonly rows: number;
  /** Requests that may wait for a row. */
  readonly queueMax: number;
  /** Whether processes run on a thread of their own. */
  readonly processThread: boolean;
  /** 64 hex digits each; null keeps the key in a file of the data directory. */
  readonly masterKey: string | null;
  readonly masterKeyNext: string | null;
  readonly rootKey: string | null;
  /** What X-Admin-Key must be; null: nobody is let in. */
  readonly adminKey: string | null;
  /** Who may read `/metrics`. */
  readonly metricsAccess: MetricsAccess;
  /** Of the payment provider's webhook; none: no event is genuine. */
  readonly stripeWebhookSecrets: readonly string[];
  /** For a checkout that does not say what it sold. */
  readonly checkoutPackage: string | null;
  /** Proxies of the operator's own, whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Names by which clients may address the server, lower case, no port; null: any. */
  readonly hosts: readonly string[] | null;
  /** Which timestamping services checkpoints are submitted to; none by default. */
  readonly anchors: AnchorConfig;
  /** Where search results come from; by default the data directory's index, if there is one. */
  readonly search: SearchConfig;
  readonly limits: Limits;
}

/** What a gateway takes from the world around it. */
export interface GatewayDeps {
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  /** When the machine started, Unix milliseconds. */
  readonly bootedMs: number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Facts without secrets. */
  readonly log: Log;
  /** The state on disk has become unknown: the process must end. */
  readonly onFatal: (error: Error) => void;
  readonly startEngine: (options: EngineOptions<Grammar>) => Engine<Grammar>;
  readonly processEngines: readonly ProcessEngine[];
}

export interface Gateway extends Omit<Trust, "close"> {
  /** Answers any request; never throws, and every response is sealed. */
  fetch(request: Request, info?: RequestInfo): Promise<Response>;
  /** Resolves once every tier can decode; rejects where a model cannot be loaded. */
  readonly whenReady: Promise<void>;
  readonly version: string;
  /** Every route of the API. */
  readonly routes: App["routes"];
  readonly engine: Pick<Engine, "tiers" | "ready" | "embedder">;
  /** Ends running answers, writes what waits, and frees the data directory. */
  close(): Promise<void>;
}

/** The embedded model for both tiers. The data directory has no default. */
export const GATEWAY_DEFAULTS: Omit<GatewayConfig, "dataDir"> = {
  tiers: { "svc-tier-a": "svc-tiny", "svc-tier-b": "svc-tiny" },
  embeddings: null,
  manifestPath: MANIFEST_PATH,
  forceCpu: false,
  threads: null,
  contextTokens: null,
  rows: 8,
  queueMax: 64,
  processThread: false,
  masterKey: null,
  masterKeyNext: null,
  rootKey: null,
  adminKey: null,
  metricsAccess: "closed",
  stripeWebhookSecrets: [],
  checkoutPackage: null,
  trustedProxies: [],
  hosts: null,
  anchors: NO_ANCHORS,
  search: { kind: "local", path: null },
  limits: DEFAULT_LIMITS,
};

/** What the process itself offers. */
const PROCESS_DEPS: GatewayDeps = {
  nowMs: Date.now,
  bootedMs: Date.now() - uptime() * 1000,
  randomBytes: (count) => randomFillSync(new Uint8Array(count)),
  log: () => {},
  onFatal: (error) => {
    process.stderr.write(`${error.message}\n`);
    // What is on disk can be read by a new process only.
    process.exit(70);
  },
  startEngine: (options) => startEngine(options),
  processEngines: PROCESS_ENGINES,
};

/** For programs that embed a gateway: a data directory is enough. */
export function createGateway(
  config: Pick<GatewayConfig, "dataDir"> & Partial<GatewayConfig>,
): Pick<Gateway, "fetch" | "whenReady" | "tenants" | "close"> {
  return openGateway({ ...GATEWAY_DEFAULTS, ...config });
}

/**
 * Opens the data directory and starts loading the models.
 * @throws StoreError, LedgerError, TenantError, KeyFileError where the directory cannot be opened.
 */
export function openGateway(config: GatewayConfig, given: Partial<GatewayDeps> = {}): Gateway {
  const deps = { ...PROCESS_DEPS, ...given };
  assertLimits(config.limits);
  const trust = openTrustOf(config, deps);
  const { checkpoints, anchors } = trust;
  const schedule = checkpointCron({ checkpoints, anchors, log: deps.log });
  const selfTests = join(config.dataDir, "self-tests");
  const engine = deps.startEngine(engineOptions(config, deps.log, selfTests));
  const search = openSearch(config.search, config.dataDir);
  const locks = new Locks(config.limits.compiledSchemasMax);
  const metrics = new Metrics(
    metricsSources({ version: VERSION, nowMs: deps.nowMs, trust, engine, locks }),
  );
  const registry = soundRegistry(deps);
  const runner = openProcessRunner(registry, config.processThread);
  const parts = { trust, engine, search, locks, metrics, registry, runner };
  const app = openApp(config, deps, parts);
  const proxies = new Set(config.trustedProxies);
  return {
    async fetch(request, info = { clientAddress: null }) {
      const seen = seenThrough(proxies, request, info);
      const response = await app.fetch(request, seen);
      metrics.observeResponse(response.status);
      return response;
    },
    whenReady: engine.whenReady,
    version: VERSION,
    routes: app.routes,
    engine,
    ...trust,
    async close() {
      schedule.stop();
      await engine.close();
      await runner.close();
      search.close();
      trust.close();
    },
  };
}

function openTrustOf(config: GatewayConfig, deps: GatewayDeps): Trust {
  return openTrust({
    ...deps,
    dataDir: config.dataDir,
    masterKey: config.masterKey,
    nextMasterKey: config.masterKeyNext,
    rootKey: config.rootKey,
    anchors: config.anchors,
    rev: buildRev(),
  });
}

/** @param selfTestDir made on first use; left out, every start tests again. */
export function engineOptions(
  config: Omit<GatewayConfig, "dataDir">,
  log: Log,
  selfTestDir?: string,
): EngineOptions<Grammar> {
  return {
    tiers: config.tiers,
    embeddings: config.embeddings,
    manifestPath: config.manifestPath,
    forceCpu: config.forceCpu,
    threads: config.threads,
    contextTokens: config.contextTokens,
    rows: config.rows,
    queueMax: config.queueMax,
    ...(selfTestDir === undefined ? {} : { selfTestDir }),
    loadVocabulary,
    createLock: lockOf,
    log: (message) => log("info", "engine", { message }),
  };
}

interface Parts {
  readonly trust: Trust;
  readonly engine: Engine<Grammar>;
  readonly search: SearchPort;
  readonly locks: Locks;
  readonly metrics: Metrics;
  readonly registry: Registry;
  readonly runner: ProcessRunner;
}

function openApp(config: GatewayConfig, deps: GatewayDeps, parts: Parts): App {
  const { engine, locks, metrics, registry, runner, search, trust } = parts;
  const { limits } = config;
  const { nowMs, randomBytes, log } = deps;
  const { tenants, ledger, keys, checkpoints, rev, store } = trust;
  const { admission } = trust;
  const meter = new Meter({ ledger, admission, rev, observe: (call) => metrics.observeCall(call) });
  const chat: ChatDeps = { engine, locks, meter, randomBytes, nowMs };
  const state = new MatterState({ store, meter, nowMs });
  const recordsOf: ProcessesDeps["recordsOf"] = (identity) => state.records(identity);
  const runTask: ProcessesDeps["runTask"] = (task) => runner.run(task);
  const failed = new FailedAttempts({ perMinute: limits.failedAttemptsPerMinute, nowMs });
  return createApp({
    limits,
    seal: {
      key: keys.current,
      rev,
      hmacSecret: (tenantId) => tenants.hmacSecret(tenantId),
      chainHead: (identity) =>
        identity === null
          ? checkpoints.globalHead()
          : ledger.head(identity.tenantId, identity.appId).headHash,
      nowMs: () => ledger.clock.nowMs(),
      limitHeaders: (identity) => meter.limitHeaders(identity),
    },
    enter: (identity) => meter.enter(identity),
    countFailed: (clientAddress) => failed.count(clientAddress),
    log,
    hosts: config.hosts === null ? null : new Set(config.hosts),
    authenticate: (apiKey) => tenants.authenticateBearer(apiKey),
    ...signerParts(deps, trust),
    storage: {
      isOn: (tenantId) => tenants.storesRequests(tenantId),
      set: (tenantId, isOn) => tenants.setStorage(tenantId, isOn),
    },
    storedAnswers: new StoredAnswers({
      store,
      sealed: tenants.sealed,
      bytesMax: limits.replayBytesMax,
      nowMs,
    }),
    newRequestId: () => `req_${timeOrderedId(nowMs(), randomBytes)}`,
    nowMs,
    report: (error, requestId) => log("error", "request_failed", failureFacts(error, requestId)),
    system: new System({ engine, version: VERSION, rev, startedMs: nowMs(), nowMs }),
    attestationKey: keys.current.publicKeyPem,
    attestationKeys: () => keys.history(),
    audit: new Audit(trust, nowMs),
    completeChat: (caller, request, form) => completeChat(chat, caller, request, form),
    streamChat: (caller, request, form) => streamChat(chat, caller, request, form),
    createEmbeddings: (caller, request) =>
      createEmbeddings({ engine, meter, nowMs }, caller, request),
    processes: new Processes({ registry, runTask, meter, nowMs, recordsOf }),
    state,
    searches: new Searches({ chat, meter, search, nowMs, randomBytes }),
    consoleAssets: new ConsoleAssets(),
    metricsAccess: config.metricsAccess,
    metrics: () => metrics.text(),
    ...operatorParts(config, deps, trust, meter),
  });
}

/** The client behind the operator's own proxies. */
function seenThrough(
  proxies: ReadonlySet<string>,
  request: Request,
  info: RequestInfo,
): RequestInfo {
  const forwardedFor = request.headers.get("x-forwarded-for");
  return { ...info, clientAddress: clientAddressOf(info.clientAddress, forwardedFor, proxies) };
}

/** Keys that sign requests, and requests that were signed. */
function signerParts(
  { bootedMs, nowMs, randomBytes, log }: GatewayDeps,
  { store, tenants }: Trust,
) {
  const signed = new SignedRequests({
    signerOf: (keyId) => tenants.signerOf(keyId),
    nonces: new Nonces(store, nowMs()),
    bootedMs,
    nowMs,
  });
  const registry = new SignerRegistry({ tenants, randomBytes, nowMs });
  return {
    signingKeys: new SigningKeys({ tenants, registry }),
    async authenticateSigned(
      request: SignableRequest,
      requestId: string,
    ): Promise<Identity | null> {
      const outcome = await signed.verify(request);
      if ("keyId" in outcome) return tenants.signerIdentity(outcome.keyId);
      log("info", "signature_refused", { request_id: requestId, problem: outcome.problem });
      return null;
    },
  };
}

/** What the operator and newcomers use. */
function operatorParts(config: GatewayConfig, deps: GatewayDeps, trust: Trust, meter: Meter) {
  const { adminKey, limits } = config;
  const { nowMs, randomBytes } = deps;
  const { ledger, store, tenants } = trust;
  const signUps = new SignUps({ store, tenants, randomBytes, nowMs });
  const { signUpsPerHour: perHour, signUpsPerHourInAll: perHourInAll } = limits;
  const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  return {
    admin: new Admin({ adminKey, store, tenants, meter, nowMs }),
    usage: (query: UsageQuery) => usageOf(ledger, query),
    signUps: new SignUpDesk({ signUps, perHour, perHourInAll, nowMs, wait }),
    payments: new Payments({ store, tenants, nowMs, defaultPackage: config.checkoutPackage }),
    paymentSecrets: config.stripeWebhookSecrets,
  };
}

/** Every engine whose goldens come out as recorded; one that fails is left out, loudly. */
function soundRegistry({ log, processEngines }: GatewayDeps): Registry {
  const { registry, failures } = startProcesses(processEngines);
  for (const failure of failures) log("error", "process_self_test_failed", { ...failure });
  return registry;
}

function failureFacts(error: unknown, requestId: string): Readonly<Record<string, string>> {
  if (!(error instanceof Error)) return { request_id: requestId, message: String(error) };
  const { cause, message, name, stack = "" } = error;
  const facts = { request_id: requestId, name, message, stack };
  if (!(cause instanceof Error)) return facts;
  return { ...facts, cause: `${cause.name}: ${cause.message}`, cause_stack: cause.stack ?? "" };
}
