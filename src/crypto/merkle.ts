/**
 * Merkle trees of RFC 6962 (section 2.1), as C2SP logs use them. Frozen: signed checkpoints contain
 * roots of these trees.
 */
import { assert } from "../bytes/assert.ts";
import { sha256 } from "./hash.ts";

/** Where the hashes of complete subtrees are kept. */
export interface NodeStore {
  /** The hash over the leaves [index * 2^level, (index + 1) * 2^level). */
  get(level: number, index: number): Uint8Array;
  put(level: number, index: number, hash: Uint8Array): void;
}

export function leafHash(data: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([Uint8Array.of(0), data]));
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([Uint8Array.of(1), left, right]));
}

/** Adds the leaf with this index, which is the tree's size so far. */
export function appendLeaf(nodes: NodeStore, index: number, hash: Uint8Array): void {
  nodes.put(0, index, hash);
  let level = 0;
  let position = index;
  let right = hash;
  // An odd position completes the subtree one level up.
  while (position % 2 === 1) {
    right = nodeHash(nodes.get(level, position - 1), right);
    level += 1;
    position = (position - 1) / 2;
    nodes.put(level, position, right);
  }
}

/** The root over the first `size` leaves; of none, the hash of nothing. */
export function treeRoot(nodes: NodeStore, size: number): Uint8Array {
  return size === 0 ? sha256("") : rangeRoot(nodes, 0, size);
}

/** The audit path of a leaf in the tree of the first `size` leaves (RFC 6962, 2.1.1). */
export function inclusionProof(nodes: NodeStore, index: number, size: number): Uint8Array[] {
  assert(index >= 0 && index < size, "an inclusion proof is of a leaf in the tree");
  const path = (low: number, high: number): Uint8Array[] => {
    if (high - low === 1) return [];
    const middle = low + splitPoint(high - low);
    return index < middle
      ? [...path(low, middle), rangeRoot(nodes, middle, high)]
      : [...path(middle, high), rangeRoot(nodes, low, middle)];
  };
  return path(0, size);
}

/** That the tree of `newSize` leaves continues the one of `oldSize` (RFC 6962, 2.1.2). */
export function consistencyProof(nodes: NodeStore, oldSize: number, newSize: number): Uint8Array[] {
  assert(oldSize >= 0 && oldSize <= newSize, "a tree does not shrink");
  if (oldSize === 0 || oldSize === newSize) return [];
  const proof = (low: number, high: number, isWhole: boolean): Uint8Array[] => {
    if (oldSize === high) return isWhole ? [] : [rangeRoot(nodes, low, high)];
    const middle = low + splitPoint(high - low);
    return oldSize <= middle
      ? [...proof(low, middle, isWhole), rangeRoot(nodes, middle, high)]
      : [...proof(middle, high, false), rangeRoot(nodes, low, middle)];
  };
  return proof(0, newSize, true);
}

function rangeRoot(nodes: NodeStore, low: number, high: number): Uint8Array {
  const count = high - low;
  const level = Math.log2(count);
  if (Number.isInteger(level) && low % count === 0) return nodes.get(level, low / count);
  const middle = low + splitPoint(count);
  return nodeHash(rangeRoot(nodes, low, middle), rangeRoot(nodes, middle, high));
}

/** The largest power of two below `count`. */
function splitPoint(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}
