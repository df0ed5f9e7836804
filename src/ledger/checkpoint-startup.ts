/**
 * What a start checks before anything is served: that the database continues every checkpoint that
 * left it. An old backup put back is internally sound; only this finds it.
 */
import { toHex } from "../bytes/hex.ts";
import type { Checkpoint } from "./checkpoint-record.ts";
import type { HeadLeaf } from "./checkpoint-tree.ts";
import type { Ledger } from "./ledger.ts";
import { LedgerError } from "./ledger-error.ts";
import type { PublishedCheckpoints } from "./published-checkpoints.ts";

export interface StartupFacts {
  readonly ledger: Ledger;
  /** The newest leaf of every chain, by chain id. */
  readonly leaves: ReadonlyMap<number, HeadLeaf>;
  readonly published: PublishedCheckpoints;
  readonly checkpoints: {
    latest(): Checkpoint | null;
    from(n: number, limit: number): Checkpoint[];
  };
}

/** @throws LedgerError `rolled_back`, saying what contradicts what. */
export function assertContinues(facts: StartupFacts): void {
  const newest = facts.published.newest();
  const stored = facts.checkpoints.latest()?.n ?? 0;
  if (newest > stored) {
    const message =
      `checkpoint ${newest} was published, but the database ends at ${stored}: ` +
      "it is an older copy of itself";
    throw new LedgerError("rolled_back", message);
  }
  const record = newest === 0 ? null : facts.published.record(newest);
  const same = facts.checkpoints.from(newest, 1)[0];
  if (record !== null && same !== undefined && Buffer.compare(record, same.record) !== 0) {
    throw new LedgerError("rolled_back", `checkpoint ${newest} is not the one that was published`);
  }
  for (const state of facts.ledger.heads.all()) assertReaches(facts, state.chain);
}

function assertReaches(
  facts: StartupFacts,
  chain: { readonly id: number; readonly tenantId: string; readonly appId: string },
): void {
  const leaf = facts.leaves.get(chain.id);
  if (leaf === undefined) return;
  const row = facts.ledger.reader.rowsFrom(chain.id, leaf.height, 1)[0];
  const expected = toHex(leaf.headHash);
  const found = row?.seq === leaf.height ? toHex(row.rowHash) : "no row";
  if (found === expected) return;
  const message =
    `row ${leaf.height} of ${chain.tenantId}/${chain.appId} is in a checkpoint ` +
    `with hash ${expected}, but the database has ${found}`;
  throw new LedgerError("rolled_back", message);
}
