/** The tree of heads in the database: leaves and inner nodes, and proofs from them. */
import { and, desc, eq, lte, max, sql } from "drizzle-orm";
import { assert } from "../bytes/assert.ts";
import {
  appendLeaf,
  consistencyProof,
  inclusionProof,
  leafHash,
  type NodeStore,
  treeRoot,
} from "../crypto/merkle.ts";
import type { Store } from "../store/store.ts";
import { headLeafData } from "./checkpoint-record.ts";
import type { ChainState } from "./heads.ts";
import { headLeafTable, headNodeTable } from "./tables.ts";

/** A chain's head as some checkpoint has it. */
export interface HeadLeaf {
  /** Index in the tree, from 0. */
  readonly leaf: number;
  readonly height: number;
  readonly headHash: Uint8Array;
}

export class HeadTree {
  readonly #store: Store;
  readonly #nodes: NodeStore;
  readonly #findNode: ReturnType<typeof prepareFindNode>;

  constructor(store: Store) {
    this.#store = store;
    this.#findNode = prepareFindNode(store);
    this.#nodes = {
      get: (level, position) => {
        const hash = this.storedNode(level, position);
        assert(hash !== null, `the tree of heads lacks node ${position} of level ${level}`);
        return hash;
      },
      put: (level, position, hash) => {
        const values = { level, position, hash: Buffer.from(hash) };
        store.db.insert(headNodeTable).values(values).run();
      },
    };
  }

  /** Leaves so far. */
  get size(): number {
    const newest = this.#store.db
      .select({ leaf: max(headLeafTable.leaf) })
      .from(headLeafTable)
      .get();
    return (newest?.leaf ?? -1) + 1;
  }

  /** Adds a leaf; call it inside a transaction, in order of (tenant_id, app_id). */
  append({ chain, position }: ChainState): void {
    const leaf = this.size;
    const headHash = Buffer.from(position.rowHash, "hex");
    const values = { leaf, chainId: chain.id, height: position.seq, headHash };
    this.#store.db.insert(headLeafTable).values(values).run();
    const { tenantId, appId } = chain;
    const data = { tenantId, appId, height: position.seq, headHash: position.rowHash };
    appendLeaf(this.#nodes, leaf, leafHash(headLeafData(data)));
  }

  /** @returns 32 bytes. */
  root(size: number): Uint8Array {
    return treeRoot(this.#nodes, size);
  }

  inclusionProof(leaf: number, size: number): Uint8Array[] {
    return inclusionProof(this.#nodes, leaf, size);
  }

  consistencyProof(oldSize: number, newSize: number): Uint8Array[] {
    return consistencyProof(this.#nodes, oldSize, newSize);
  }

  /** The hash of a complete subtree; null when it is not stored. */
  storedNode(level: number, position: number): Uint8Array | null {
    return this.#findNode.get({ level, position })?.hash ?? null;
  }

  /** A chain's newest leaf among the first `size`. */
  newestLeaf(chainId: number, size: number): HeadLeaf | null {
    const found = this.#store.reads
      .select()
      .from(headLeafTable)
      .where(and(eq(headLeafTable.chainId, chainId), lte(headLeafTable.leaf, size - 1)))
      .orderBy(desc(headLeafTable.leaf))
      .get();
    return found ?? null;
  }

  /** All leaves of a chain among the first `size`, oldest first. */
  leavesOf(chainId: number, size: number): HeadLeaf[] {
    return this.#store.reads
      .select()
      .from(headLeafTable)
      .where(and(eq(headLeafTable.chainId, chainId), lte(headLeafTable.leaf, size - 1)))
      .orderBy(headLeafTable.leaf)
      .all();
  }

  /** The newest leaf of every chain. */
  newestLeaves(): ReadonlyMap<number, HeadLeaf> {
    const rows = this.#store.reads
      .select()
      .from(headLeafTable)
      .where(
        eq(
          headLeafTable.leaf,
          sql`(SELECT max(l.leaf) FROM head_leaf AS l WHERE l.chain_id = ${headLeafTable.chainId})`,
        ),
      )
      .all();
    return new Map(rows.map((row) => [row.chainId, row]));
  }
}

function prepareFindNode(store: Store) {
  return store.db
    .select({ hash: headNodeTable.hash })
    .from(headNodeTable)
    .where(
      and(
        eq(headNodeTable.level, sql.placeholder("level")),
        eq(headNodeTable.position, sql.placeholder("position")),
      ),
    )
    .prepare();
}
