/**
 * Hourly checkpoints: every chain head, in one globally chained and signed record.
 *
 * The order of effects, and what a crash after each step means:
 *   1. tree, record and note are made in one transaction.  Nothing happened.
 *   2. COMMIT returns; anchors are queued with it.         The commit point.
 *   3. record and note are published as files.             The next start writes missing ones.
 * Run again in the same hour, it finds the hour's checkpoint and does nothing. A missed hour stays
 * missed; the next checkpoint continues the chain. While the clock is behind, the hour is still
 * that of the newest record.
 */
import { asc, desc, gte, lte } from "drizzle-orm";
import { toHex } from "../bytes/hex.ts";
import { sha256 } from "../crypto/hash.ts";
import { signNote } from "../crypto/signed-note.ts";
import type { Store } from "../store/store.ts";
import type { AttestationKeys } from "./attestation-keys.ts";
import {
  type Checkpoint,
  checkpointNoteText,
  checkpointRecord,
  hourOf,
} from "./checkpoint-record.ts";
import { assertContinues } from "./checkpoint-startup.ts";
import { HeadTree } from "./checkpoint-tree.ts";
import type { ChainState } from "./heads.ts";
import type { Ledger } from "./ledger.ts";
import { PublishedCheckpoints } from "./published-checkpoints.ts";
import { ZERO_HASH } from "./row.ts";
import { checkpointTable } from "./tables.ts";

export interface CheckpointsDeps {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly keys: AttestationKeys;
  /** The build that signs. */
  readonly rev: string;
  /** Queues anchors for a checkpoint that has new rows; runs inside its transaction. */
  readonly queueAnchors: (checkpointN: number) => void;
}

/** More than a hundred years of hours. */
const CHECKPOINTS_MAX = 1_000_000;

export class Checkpoints {
  readonly tree: HeadTree;
  readonly #deps: CheckpointsDeps;
  readonly #published: PublishedCheckpoints;
  /** Heights that have a leaf, by chain id. */
  readonly #leafHeights: Map<number, number>;
  #latest: Checkpoint | null;

  /** @throws LedgerError `rolled_back` when the database does not continue what was published. */
  constructor(deps: CheckpointsDeps) {
    const { store, ledger } = deps;
    this.#deps = deps;
    this.tree = new HeadTree(store);
    this.#published = new PublishedCheckpoints(store.dataDir);
    this.#latest = newestCheckpoint(store);
    if (this.#latest !== null) ledger.clock.observe(this.#latest.captureTs);
    const leaves = this.tree.newestLeaves();
    assertContinues({ ledger, leaves, published: this.#published, checkpoints: this });
    this.#leafHeights = new Map([...leaves].map(([chainId, leaf]) => [chainId, leaf.height]));
    for (const missing of this.from(this.#published.newest() + 1, CHECKPOINTS_MAX)) {
      this.#publish(missing);
    }
  }

  /**
   * Makes the checkpoint of this hour.
   * @returns it, and whether this call made it.
   * @throws LedgerError `clock_behind`; StoreError: then there is none.
   */
  run(): { readonly checkpoint: Checkpoint; readonly isNew: boolean } {
    const { ledger, store } = this.#deps;
    const captureTs = ledger.clock.stamp();
    const latest = this.#latest;
    if (latest !== null && hourOf(latest.captureTs) >= hourOf(captureTs)) {
      return { checkpoint: latest, isNew: false };
    }
    const moved = this.#movedHeads();
    const checkpoint = store.transact(() => this.#insert(captureTs, latest, moved));
    this.#latest = checkpoint;
    ledger.clock.observe(captureTs);
    for (const { chain, position } of moved) this.#leafHeights.set(chain.id, position.seq);
    this.#publish(checkpoint);
    return { checkpoint, isNew: true };
  }

  latest(): Checkpoint | null {
    return this.#latest;
  }

  /** The newest checkpoint captured at this time or before, Unix milliseconds. */
  at(ms: number): Checkpoint | null {
    const found = this.#deps.store.reads
      .select()
      .from(checkpointTable)
      .where(lte(checkpointTable.captureTs, ms))
      .orderBy(desc(checkpointTable.n))
      .get();
    return found ?? null;
  }

  /** Up to `limit` checkpoints from this number on, ascending. */
  from(n: number, limit: number): Checkpoint[] {
    return this.#deps.store.reads
      .select()
      .from(checkpointTable)
      .where(gte(checkpointTable.n, n))
      .orderBy(asc(checkpointTable.n))
      .limit(limit)
      .all();
  }

  /** The newest checkpoint's hash, hex; 64 zeros before the first. */
  globalHead(): string {
    return this.#latest === null ? ZERO_HASH : toHex(this.#latest.recordHash);
  }

  /** Heads that no leaf has yet, in the order in which leaves are added. */
  #movedHeads(): ChainState[] {
    return [...this.#deps.ledger.heads.all()]
      .filter(({ chain, position }) => position.seq > (this.#leafHeights.get(chain.id) ?? 0))
      .sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  }

  #insert(captureTs: number, latest: Checkpoint | null, moved: readonly ChainState[]): Checkpoint {
    const { keys, ledger, rev, store } = this.#deps;
    for (const state of moved) this.tree.append(state);
    const n = (latest?.n ?? 0) + 1;
    const treeSize = this.tree.size;
    const treeRoot = this.tree.root(treeSize);
    const record = Buffer.from(
      checkpointRecord({
        n,
        captureTs,
        prev: latest === null ? ZERO_HASH : toHex(latest.recordHash),
        partitions: [...ledger.heads.all()].filter(({ position }) => position.seq > 0).length,
        treeSize,
        treeRoot: toHex(treeRoot),
        keys: keys.chainHead(),
        kid: keys.current.kid,
        origin: keys.origin,
        rev,
      }),
    );
    const recordHash = Buffer.from(sha256(record));
    const { origin } = keys;
    const text = checkpointNoteText({
      origin,
      treeSize,
      treeRoot,
      n,
      recordHash: toHex(recordHash),
    });
    const note = signNote(keys.current, origin, text);
    const checkpoint = { n, captureTs, treeSize, record, recordHash, note };
    store.db
      .insert(checkpointTable)
      .values({ ...checkpoint, hour: hourOf(captureTs) })
      .run();
    // An idle hour is recorded and not anchored.
    if (moved.length > 0) this.#deps.queueAnchors(n);
    return checkpoint;
  }

  #publish({ n, record, note }: Checkpoint): void {
    this.#published.publish(n, record, note);
  }
}

function newestCheckpoint(store: Store): Checkpoint | null {
  return store.reads.select().from(checkpointTable).orderBy(desc(checkpointTable.n)).get() ?? null;
}

/** A space sorts before every character of an app id, so tenants stay together. */
function sortKey({ chain }: ChainState): string {
  return `${chain.tenantId} ${chain.appId}`;
}
