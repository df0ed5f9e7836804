/** The trust parts wired together as the service does, with a clock and randomness of one's own. */
import { createHash } from "node:crypto";
import { appendCall } from "../src/ledger/append.ts";
import { AttestationKeys } from "../src/ledger/attestation-keys.ts";
import { Checkpoints } from "../src/ledger/checkpoints.ts";
import { Ledger } from "../src/ledger/ledger.ts";
import type { CallRow } from "../src/ledger/row.ts";
import type { AppendedRow } from "../src/ledger/row-writer.ts";
import { openStore, type Store, type StoreDeps } from "../src/store/store.ts";
import { Tenants } from "../src/tenant/tenants.ts";

/** Reproducible bytes: SHA-256 of a name and a counter. */
export function countingBytes(name = "test"): (count: number) => Uint8Array {
  let counter = 0;
  return (count) => {
    const blocks: Buffer[] = [];
    for (let length = 0; length < count; length += 32) {
      blocks.push(createHash("sha256").update(`${name} ${counter++}`).digest());
    }
    return new Uint8Array(Buffer.concat(blocks).subarray(0, count));
  };
}

export interface Lab {
  readonly dataDir: string;
  readonly store: Store;
  readonly tenants: Tenants;
  readonly ledger: Ledger;
  readonly keys: AttestationKeys;
  readonly checkpoints: Checkpoints;
  /** Checkpoints for which anchors were queued. */
  readonly anchored: number[];
  readonly clock: { nowMs: number };
  readonly logged: string[];
  readonly fatal: string[];
  /** Closes everything, as a clean stop does. */
  close(): void;
}

export interface LabOptions {
  readonly dataDir: string;
  readonly nowMs?: number;
  readonly randomBytes?: (count: number) => Uint8Array;
  readonly wrapTransactions?: StoreDeps["wrapTransactions"];
  readonly freeBytes?: () => number;
}

const REV = "0123456789ab";
export const START_MS = Date.UTC(2026, 10, 20, 12);

/** Opens a data directory as a start of the service does. */
export function openLab(options: LabOptions): Lab {
  const { dataDir } = options;
  const clock = { nowMs: options.nowMs ?? START_MS };
  const logged: string[] = [];
  const fatal: string[] = [];
  const { wrapTransactions } = options;
  const store = openStore(dataDir, {
    onFatal: (error) => fatal.push(error.message),
    ...(wrapTransactions && { wrapTransactions }),
  });
  try {
    return openOn(store, { options, clock, logged, fatal });
  } catch (error) {
    store.close();
    throw error;
  }
}

function openOn(
  store: Store,
  facts: Pick<Lab, "clock" | "logged" | "fatal"> & { readonly options: LabOptions },
): Lab {
  const { clock, logged, fatal } = facts;
  const nowMs = (): number => clock.nowMs;
  const randomBytes = facts.options.randomBytes ?? countingBytes();
  const { dataDir } = store;
  const keyDeps = { store, randomBytes, configured: null, configuredNext: null };
  const tenants = new Tenants({ ...keyDeps, nowMs });
  const log = (_level: string, event: string): void => void logged.push(event);
  const { freeBytes } = facts.options;
  const ledgerDeps = { store, secrets: tenants, nowMs, randomBytes, log };
  const ledger = new Ledger({ ...ledgerDeps, ...(freeBytes && { freeBytes }) });
  const close = (): void => {
    ledger.close();
    store.close();
  };
  const keyFacts = { store, clock: ledger.clock, randomBytes, configuredRoot: null, rev: REV };
  const keys = new AttestationKeys(keyFacts);
  const anchored: number[] = [];
  const queueAnchors = (n: number): void => void anchored.push(n);
  const checkpoints = new Checkpoints({ store, ledger, keys, rev: REV, queueAnchors });
  const parts = { dataDir, store, tenants, ledger, keys, checkpoints };
  return { ...parts, anchored, clock, logged, fatal, close };
}

let calls = 0;

/** A call of a tenant's app, with a request id that no other call has. */
export function callOf(tenantId: string, changes: Partial<CallRow> = {}): CallRow {
  calls += 1;
  const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
  return {
    tenantId,
    appId: "default",
    keyId: "k_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    requestId: `req_${String(calls).padStart(10, "0")}`,
    method: "POST",
    path: "/v1/chat/completions",
    status: 200,
    requestBodyHash: hash(`request ${calls}`),
    responseBodyHash: hash(`response ${calls}`),
    outputHash: hash(`output ${calls}`),
    deterministic: true,
    engine: "svc-tiny@0123456789abcdef",
    model: "svc-tier-b",
    promptTokens: 50,
    completionTokens: 12,
    ms: 7,
    rev: REV,
    ...changes,
  };
}

/** Appends calls that arrive in one turn of the event loop. */
export function appendAll(ledger: Ledger, rows: readonly CallRow[]): Promise<AppendedRow[]> {
  return Promise.all(rows.map((row) => appendCall(ledger, row)));
}

/** A row of a slice, as its reader parses it. */
export type SeenRow = Readonly<Record<string, string | number | boolean | null>>;

export function rowsIn({ rows }: { readonly rows: readonly string[] }): SeenRow[] {
  return rows.map((row) => JSON.parse(row) as SeenRow);
}
