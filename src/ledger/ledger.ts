/** The ledger of a data directory: append-only chains of rows, one per tenant and app. */
import { statfsSync } from "node:fs";
import { assert } from "../bytes/assert.ts";
import type { RandomBytes } from "../crypto/secret-box.ts";
import { metaTable } from "../store/meta.ts";
import type { Store } from "../store/store.ts";
import { LedgerClock, type Log } from "./clock.ts";
import { type Heads, loadHeads } from "./heads.ts";
import { LedgerError } from "./ledger-error.ts";
import { MacKeys, type Secrets } from "./mac.ts";
import { type AuditSlice, readSlice, type SliceQuery } from "./read-slice.ts";
import { ZERO_HASH } from "./row.ts";
import { RowReader } from "./row-reader.ts";
import { RowWriter } from "./row-writer.ts";
import { WindowCounts } from "./window-counts.ts";

export interface LedgerDeps {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly nowMs: () => number;
  readonly randomBytes: RandomBytes;
  readonly log: Log;
  /** Bytes left for the data directory; by default what the file system says. */
  readonly freeBytes?: () => number;
}

/** Below this, calls are refused before work is done: rows need about 1 KiB each. */
const FREE_BYTES_MIN = 64 * 2 ** 20;
/** How long an answer of the file system is good. */
const FREE_BYTES_MS = 1000;

export class Ledger {
  /** Only `append.ts` pushes to it. */
  readonly writer: RowWriter;
  readonly heads: Heads;
  readonly reader: RowReader;
  /** The time of all records: rows, keys, checkpoints. */
  readonly clock: LedgerClock;
  readonly #macKeys: MacKeys;
  readonly #counts: WindowCounts;
  readonly #dataDir: string;
  readonly #nowMs: () => number;
  readonly #freeBytes: () => number;
  #free = { bytes: Number.POSITIVE_INFINITY, askedMs: Number.NEGATIVE_INFINITY };

  /**
   * Loads and checks the heads, and takes the ledger over from whoever wrote it before.
   * @throws LedgerError `damaged`; StoreError.
   */
  constructor(deps: LedgerDeps) {
    const { store } = deps;
    this.#dataDir = store.dataDir;
    this.#nowMs = deps.nowMs;
    this.#freeBytes = deps.freeBytes ?? (() => freeBytesAt(store.dataDir));
    this.reader = new RowReader(store);
    this.#macKeys = new MacKeys(deps.secrets);
    this.heads = loadHeads(this.reader, this.#macKeys);
    this.clock = new LedgerClock(deps.nowMs, deps.log);
    for (const { position } of this.heads.all()) this.clock.observe(position.ts);
    this.#counts = new WindowCounts(this);
    this.writer = new RowWriter({
      store,
      randomBytes: deps.randomBytes,
      clock: this.clock,
      macKeys: this.#macKeys,
      heads: this.heads,
      checkFence: takeOver(store),
    });
  }

  /** Before any row: height 0 and 64 zeros. */
  head(tenantId: string, appId: string): { readonly height: number; readonly headHash: string } {
    const position = this.heads.get(tenantId, appId)?.position;
    return { height: position?.seq ?? 0, headHash: position?.rowHash ?? ZERO_HASH };
  }

  readSlice(query: SliceQuery): AuditSlice {
    const deps = { reader: this.reader, heads: this.heads, macKeys: this.#macKeys };
    return readSlice(deps, query);
  }

  /** Rows of a tenant with `ts >= sinceMs`: what quotas count. */
  countSince(tenantId: string, sinceMs: number): number {
    return this.#counts.countSince(tenantId, sinceMs);
  }

  /**
   * Call before doing work that will have to be recorded.
   * @throws LedgerError `ledger_busy`, `clock_behind`, `disk_nearly_full`.
   */
  assertReady(): void {
    if (this.writer.isFull) {
      throw new LedgerError("ledger_busy", "too many calls wait to be recorded");
    }
    this.clock.stamp();
    const nowMs = this.#nowMs();
    if (Math.abs(nowMs - this.#free.askedMs) >= FREE_BYTES_MS) {
      this.#free = { bytes: this.#freeBytes(), askedMs: nowMs };
    }
    if (this.#free.bytes >= FREE_BYTES_MIN) return;
    const left = `${Math.floor(this.#free.bytes / 2 ** 20)} MiB`;
    const message = `the disk of ${this.#dataDir} has ${left} left; make room for the ledger`;
    throw new LedgerError("disk_nearly_full", message);
  }

  /** Writes what is waiting; the store stays open. */
  close(): void {
    this.writer.close();
  }
}

function freeBytesAt(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

const WRITER_EPOCH = "writer_epoch";

/**
 * Marks this process as the writer. The directory's lock keeps others out; where a file system
 * does not honour locks, whoever came first finds out at its next write.
 * @returns a check to run inside each transaction.
 */
function takeOver(store: Store): () => void {
  const read = store.writer.query<{ value: Uint8Array }, [string]>(
    "SELECT value FROM meta WHERE name = ?",
  );
  const epochNow = (): number => {
    const stored = read.get(WRITER_EPOCH)?.value;
    return stored === undefined ? 0 : Number(new TextDecoder().decode(stored));
  };
  const epoch = store.transact(() => {
    const mine = epochNow() + 1;
    assert(Number.isSafeInteger(mine), "the writer's epoch is not a number");
    const value = Buffer.from(String(mine));
    store.db
      .insert(metaTable)
      .values({ name: WRITER_EPOCH, value })
      .onConflictDoUpdate({ target: metaTable.name, set: { value } })
      .run();
    return mine;
  });
  return () => {
    const found = epochNow();
    if (found === epoch) return;
    throw new LedgerError("fenced", `writer ${found} has taken over from writer ${epoch}`);
  };
}
