/**
 * The server's own check of the checkpoint chain, behind `GET /audit/checkpoint/verify`: every
 * record, link, note, leaf and node is derived again from what lies beneath it. Checkpoints that
 * passed are not read again unless a full check is asked for.
 */
import { and, asc, eq, gte, lt } from "drizzle-orm";
import { toHex } from "../bytes/hex.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import { verifySignature } from "../crypto/ed25519.ts";
import { sha256 } from "../crypto/hash.ts";
import { appendLeaf, leafHash, type NodeStore, treeRoot } from "../crypto/merkle.ts";
import type { Store } from "../store/store.ts";
import type { AttestationKeys } from "./attestation-keys.ts";
import { parseMembers } from "./chain-check.ts";
import { type Checkpoint, checkpointNoteText, headLeafData, hourOf } from "./checkpoint-record.ts";
import type { Checkpoints } from "./checkpoints.ts";
import { ZERO_HASH } from "./row.ts";
import { chainTable, headLeafTable, rowTable } from "./tables.ts";

/** The response of `GET /audit/checkpoint/verify`. */
export interface CheckpointChainStatus {
  readonly ok: boolean;
  readonly checkpoints: number;
  /** Hash of the newest checkpoint that was checked, hex; 64 zeros without any. */
  readonly global_head: string;
  readonly checkpoint_break: CheckpointBreak | null;
}

/** The first thing that is wrong with the checkpoint chain. */
export interface CheckpointBreak {
  readonly n: number;
  readonly reason: string;
  readonly expected: string;
  readonly found: string;
}

/** Checkpoints read at a time. */
const CHUNK = 100;

interface Progress {
  readonly n: number;
  readonly recordHash: string;
  readonly treeSize: number;
  readonly captureTs: number;
}

const NOTHING: Progress = { n: 0, recordHash: ZERO_HASH, treeSize: 0, captureTs: -3_600_000 };

export class CheckpointChainChecker {
  readonly #deps: CheckpointCheckDeps;
  #checked: Progress = NOTHING;

  constructor(deps: CheckpointCheckDeps) {
    this.#deps = deps;
  }

  /** @param isFull from the first checkpoint on, instead of from the last one that passed. */
  check(isFull: boolean): CheckpointChainStatus {
    let progress = isFull ? NOTHING : this.#checked;
    const publicKeys = new Map(
      this.#deps.keys.history().keys.map((key) => [key.kid, Buffer.from(key.public_key, "hex")]),
    );
    for (;;) {
      const chunk = this.#deps.checkpoints.from(progress.n + 1, CHUNK);
      for (const checkpoint of chunk) {
        const result = this.#checkOne(checkpoint, progress, publicKeys);
        if ("reason" in result) return status(progress, result);
        progress = result;
      }
      if (chunk.length < CHUNK) break;
    }
    this.#checked = progress;
    return status(progress, null);
  }

  #checkOne(
    checkpoint: Checkpoint,
    before: Progress,
    publicKeys: ReadonlyMap<string, Uint8Array>,
  ): Progress | CheckpointBreak {
    const { n, captureTs, record } = checkpoint;
    const broken = (reason: string, expected: unknown, found: unknown): CheckpointBreak => ({
      n: before.n + 1,
      reason,
      expected: String(expected),
      found: String(found),
    });
    if (n !== before.n + 1) return broken("n", before.n + 1, n);
    const recordHash = toHex(sha256(record));
    if (recordHash !== toHex(checkpoint.recordHash)) {
      return broken("record_hash", recordHash, toHex(checkpoint.recordHash));
    }
    const members = parseMembers(record) ?? {};
    const { treeSize } = checkpoint;
    const columns = { n, capture_ts: captureTs, prev: before.recordHash, tree_size: treeSize };
    for (const [name, value] of Object.entries(columns)) {
      if (members[name] !== value) return broken(name, value, members[name]);
    }
    if (hourOf(captureTs) <= hourOf(before.captureTs)) {
      return broken("hour", `after ${hourOf(before.captureTs)}`, hourOf(captureTs));
    }
    const leaf = this.#firstBadLeaf(before.treeSize, treeSize);
    if (leaf !== null) return broken("leaf", "a leaf that its chain and the tree agree with", leaf);
    const root = treeRoot(this.#storedNodes(), treeSize);
    if (members["tree_root"] !== toHex(root)) {
      return broken("tree_root", toHex(root), members["tree_root"]);
    }
    const origin = this.#deps.keys.origin;
    const text = checkpointNoteText({ origin, treeSize, treeRoot: root, n, recordHash });
    const kid = String(members["kid"]);
    if (!isSigned(checkpoint.note, text, publicKeys.get(kid))) {
      return broken("note", `a note that key ${kid} signed`, JSON.stringify(checkpoint.note));
    }
    return { n, recordHash, treeSize, captureTs };
  }

  /** Derives the leaves [from, to) and the nodes above them. @returns the first that differs. */
  #firstBadLeaf(from: number, to: number): number | null {
    const leaves = this.#deps.store.reads
      .select({ leaf: headLeafTable, chain: chainTable, rowHash: rowTable.rowHash })
      .from(headLeafTable)
      .innerJoin(chainTable, eq(chainTable.id, headLeafTable.chainId))
      .leftJoin(
        rowTable,
        and(
          eq(rowTable.chainId, headLeafTable.chainId),
          eq(rowTable.seq, headLeafTable.height),
          eq(rowTable.rowHash, headLeafTable.headHash),
        ),
      )
      .where(and(gte(headLeafTable.leaf, from), lt(headLeafTable.leaf, to)))
      .orderBy(asc(headLeafTable.leaf))
      .all();
    const nodes = this.#storedNodes();
    let isSame = true;
    const comparing: NodeStore = {
      get: nodes.get,
      put: (level, position, hash) => {
        isSame &&= Buffer.compare(nodes.get(level, position), hash) === 0;
      },
    };
    for (let index = from; index < to; index++) {
      const found = leaves[index - from];
      if (found === undefined || found.leaf.leaf !== index || found.rowHash === null) return index;
      const { tenantId, appId } = found.chain;
      const headHash = toHex(found.leaf.headHash);
      const data = headLeafData({ tenantId, appId, height: found.leaf.height, headHash });
      appendLeaf(comparing, index, leafHash(data));
      if (!isSame) return index;
    }
    return null;
  }

  /** The stored nodes, as they are: a missing one reads as zeros, which no derived hash is. */
  #storedNodes(): NodeStore {
    const { tree } = this.#deps.checkpoints;
    return {
      get: (level, position) => tree.storedNode(level, position) ?? new Uint8Array(32),
      put: () => undefined,
    };
  }
}

export interface CheckpointCheckDeps {
  readonly store: Store;
  readonly keys: AttestationKeys;
  readonly checkpoints: Checkpoints;
}

function isSigned(note: string, text: string, publicKey: Uint8Array | undefined): boolean {
  if (publicKey === undefined || !note.startsWith(`${text}\n— `)) return false;
  const blob = Buffer.from(note.trimEnd().split(" ").at(-1) ?? "", "base64");
  return verifySignature(publicKey, utf8Encode(text), blob.subarray(4));
}

function status(progress: Progress, broken: CheckpointBreak | null): CheckpointChainStatus {
  return {
    ok: broken === null,
    checkpoints: progress.n,
    global_head: progress.recordHash,
    checkpoint_break: broken,
  };
}
