/**
 * Opens everything of trust for a data directory: lock, database, master key, tenants, ledger,
 * attestation key, checkpoints. What a start needs, and what commands without a server need.
 */
import { type AnchorConfig, NO_ANCHORS } from "../anchor/anchor-config.ts";
import { AnchorQueue } from "../anchor/anchor-queue.ts";
import type { Fetch } from "../anchor/outbound.ts";
import { assert } from "../bytes/assert.ts";
import type { RandomBytes } from "../crypto/secret-box.ts";
import { AttestationKeys } from "../ledger/attestation-keys.ts";
import { CheckpointChainChecker } from "../ledger/checkpoint-check.ts";
import { Checkpoints } from "../ledger/checkpoints.ts";
import type { Log } from "../ledger/clock.ts";
import { exportArchive } from "../ledger/export.ts";
import { Ledger } from "../ledger/ledger.ts";
import { type AuditChainHead, signChainHead } from "../receipt/chain-head.ts";
import { openStore, type Store, type StoreDeps } from "../store/store.ts";
import type { StoreError } from "../store/store-error.ts";
import { AdmissionControl } from "../tenant/admission.ts";
import { Payments } from "../tenant/payments.ts";
import { SignUps } from "../tenant/sign-up.ts";
import { Tenants } from "../tenant/tenants.ts";

export interface TenancyOptions {
  readonly dataDir: string;
  /** 64 lowercase hex digits; null: the file `master.key`, made at the first start. */
  readonly masterKey?: string | null;
  /** While the operator moves from one configured master key to the next: the next one. */
  readonly nextMasterKey?: string | null;
  readonly nowMs?: () => number;
  readonly randomBytes?: RandomBytes;
  /** Called once when the state on disk has become unknown: the process must end. */
  readonly onFatal: (error: StoreError) => void;
  readonly wrapTransactions?: StoreDeps["wrapTransactions"];
}

export interface TrustOptions extends TenancyOptions {
  /** The build that answers: 1 to 64 of `A-Z a-z 0-9 . _ + -`. */
  readonly rev: string;
  /** The root key's seed, 64 lowercase hex digits; null: the file `root.key`, made at first. */
  readonly rootKey?: string | null;
  readonly log: Log;
  /** What a paid checkout buys that does not say it. */
  readonly defaultPackage?: string | null;
  /** Timestamping services for checkpoints; by default none: nothing is sent anywhere. */
  readonly anchors?: AnchorConfig;
  readonly fetch?: Fetch;
}

/** Keys and tenants alone: what `svc keys` needs where no server runs. */
export interface Tenancy {
  readonly store: Store;
  readonly tenants: Tenants;
  close(): void;
}

export interface Trust extends Tenancy {
  readonly ledger: Ledger;
  /** Rates and quotas: ask it before the work, release what it reserved in any case. */
  readonly admission: AdmissionControl;
  /** `keys.current` signs attestations; `keys.history()` is published. */
  readonly keys: AttestationKeys;
  /** Free keys. */
  readonly signUps: SignUps;
  /** What the payment provider's events change; `tenant/payment-event.ts` reads them. */
  readonly payments: Payments;
  readonly checkpoints: Checkpoints;
  readonly checkpointChecker: CheckpointChainChecker;
  readonly anchors: AnchorQueue;
  readonly rev: string;
  /** The signed head of a chain as of now: the response of `GET /v1/audit/head`. */
  chainHead(tenantId: string, appId: string): AuditChainHead;
  /** A tenant's export, the same bytes each time it is gone through. */
  exportOf(tenantId: string): AsyncIterable<Uint8Array>;
  /** Writes what is waiting, then closes everything. */
  close(): void;
}

/** @throws StoreError, KeyFileError, TenantError, SecretBoxError. */
export function openTenancy(options: TenancyOptions): Tenancy {
  return closingOnError(openStoreFor(options), (store) => {
    return { store, tenants: tenantsOn(store, options), close: () => store.close() };
  });
}

/**
 * Opens a data directory to serve from it, making it on first use. Records this start's attestation
 * key: nothing was signed with it if the caller gives up.
 * @throws StoreError, LedgerError, KeyFileError, TenantError, SecretBoxError; then all is closed.
 */
export function openTrust(options: TrustOptions): Trust {
  return closingOnError(openStoreFor(options), (store) => openOn(store, options));
}

function openOn(store: Store, options: TrustOptions): Trust {
  const { log, rev } = options;
  const { nowMs, randomBytes } = sourcesOf(options);
  const tenants = tenantsOn(store, options);
  const ledger = new Ledger({ store, secrets: tenants, nowMs, randomBytes, log });
  const configuredRoot = options.rootKey ?? null;
  const keys = new AttestationKeys({
    store,
    clock: ledger.clock,
    randomBytes,
    configuredRoot,
    rev,
  });
  const anchors: AnchorQueue = new AnchorQueue({
    store,
    config: options.anchors ?? NO_ANCHORS,
    fetch: options.fetch ?? fetch,
    randomBytes,
    nowMs,
    digestOf: (n) => recordHashOf(checkpoints, n),
    log,
  });
  const queueAnchors = (n: number): void => anchors.queue(n);
  const checkpoints: Checkpoints = new Checkpoints({ store, ledger, keys, rev, queueAnchors });
  const checkpointChecker = new CheckpointChainChecker({ store, keys, checkpoints });
  const signHead = (head: Parameters<typeof signChainHead>[1]): AuditChainHead =>
    signChainHead(keys.current, head);
  const anchorFiles = (n: number): ReadonlyMap<string, Uint8Array> => anchors.files(n);
  const admission = new AdmissionControl({
    limitsOf: (tenantId) => tenants.limitsOf(tenantId),
    countSince: (tenantId, sinceMs) => ledger.countSince(tenantId, sinceMs),
    nowMs: () => ledger.clock.nowMs(),
  });
  const signUps = new SignUps({ store, tenants, randomBytes, nowMs });
  const defaultPackage = options.defaultPackage ?? null;
  const payments = new Payments({ store, tenants, nowMs, defaultPackage });
  return {
    store,
    tenants,
    ledger,
    admission,
    signUps,
    payments,
    keys,
    checkpoints,
    checkpointChecker,
    anchors,
    rev,
    chainHead: (tenantId, appId) =>
      signHead({ tenantId, ...ledger.head(tenantId, appId), asOfMs: ledger.clock.nowMs() }),
    exportOf: (tenantId) =>
      exportArchive({ ledger, keys, checkpoints, signHead, anchorFiles }, tenantId),
    close: () => {
      anchors.close();
      ledger.close();
      store.close();
    },
  };
}

function recordHashOf(checkpoints: Checkpoints, n: number): Uint8Array {
  const checkpoint = checkpoints.from(n, 1)[0];
  assert(checkpoint?.n === n, `there is no checkpoint ${n}`);
  return checkpoint.recordHash;
}

function openStoreFor(options: TenancyOptions): Store {
  const { onFatal, wrapTransactions } = options;
  return openStore(options.dataDir, { onFatal, ...(wrapTransactions && { wrapTransactions }) });
}

function tenantsOn(store: Store, options: TenancyOptions): Tenants {
  const configured = options.masterKey ?? null;
  const configuredNext = options.nextMasterKey ?? null;
  return new Tenants({ store, ...sourcesOf(options), configured, configuredNext });
}

function sourcesOf(options: TenancyOptions) {
  const secure: RandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));
  return { nowMs: options.nowMs ?? Date.now, randomBytes: options.randomBytes ?? secure };
}

function closingOnError<T>(store: Store, open: (store: Store) => T): T {
  try {
    return open(store);
  } catch (error) {
    store.close();
    throw error;
  }
}
