/** Merkle tree proofs, checked as RFC 9162 sections 2.1.3.2 and 2.1.4.2 say. */
import { concat, equalBytes } from "./encoding.ts";
import type { Hashing } from "./primitives.ts";

export function leafHash(hashing: Hashing, data: Uint8Array): Uint8Array {
  return hashing.sha256(concat(Uint8Array.of(0), data));
}

/** Whether the leaf is at this index of the tree with this size and root. */
export function verifyInclusion(
  hashing: Hashing,
  leaf: { readonly hash: Uint8Array; readonly index: number },
  tree: { readonly size: number; readonly root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  if (leaf.index < 0 || leaf.index >= tree.size) return false;
  let position = leaf.index;
  let last = tree.size - 1;
  let hash = leaf.hash;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isOdd(position) || position === last) {
      hash = nodeHash(hashing, sibling, hash);
      while (!isOdd(position) && position !== 0) {
        position = half(position);
        last = half(last);
      }
    } else {
      hash = nodeHash(hashing, hash, sibling);
    }
    position = half(position);
    last = half(last);
  }
  return last === 0 && equalBytes(hash, tree.root);
}

/** Whether the second tree begins with the whole first one, which has at least one leaf. */
export function verifyConsistency(
  hashing: Hashing,
  first: { readonly size: number; readonly root: Uint8Array },
  second: { readonly size: number; readonly root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  if (first.size < 1 || first.size >= second.size) return false;
  // A whole first tree is a node of the second: its root stands for the missing first hash.
  const path = isPowerOfTwo(first.size) ? [first.root, ...proof] : proof;
  let position = first.size - 1;
  let last = second.size - 1;
  while (isOdd(position)) {
    position = half(position);
    last = half(last);
  }
  const [start, ...siblings] = path;
  if (start === undefined) return false;
  let firstHash = start;
  let secondHash = start;
  for (const sibling of siblings) {
    if (last === 0) return false;
    if (isOdd(position) || position === last) {
      firstHash = nodeHash(hashing, sibling, firstHash);
      secondHash = nodeHash(hashing, sibling, secondHash);
      while (!isOdd(position) && position !== 0) {
        position = half(position);
        last = half(last);
      }
    } else {
      secondHash = nodeHash(hashing, secondHash, sibling);
    }
    position = half(position);
    last = half(last);
  }
  return last === 0 && equalBytes(firstHash, first.root) && equalBytes(secondHash, second.root);
}

function nodeHash(hashing: Hashing, left: Uint8Array, right: Uint8Array): Uint8Array {
  return hashing.sha256(concat(Uint8Array.of(1), left, right));
}

const isOdd = (value: number): boolean => value % 2 === 1;
const half = (value: number): number => Math.floor(value / 2);
const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));
