import { expect, test } from "bun:test";
import { fromHex, toHex } from "../../src/bytes/hex.ts";
import { signingKeyFromSeed } from "../../src/crypto/ed25519.ts";
import { sha256 } from "../../src/crypto/hash.ts";
import {
  appendLeaf,
  consistencyProof,
  inclusionProof,
  leafHash,
  type NodeStore,
  nodeHash,
  treeRoot,
} from "../../src/crypto/merkle.ts";
import { signNote, verifierKey } from "../../src/crypto/signed-note.ts";

function treeOf(leaves: readonly Uint8Array[]): NodeStore {
  const nodes = new Map<string, Uint8Array>();
  const store: NodeStore = {
    get: (level, index) => {
      const hash = nodes.get(`${level}/${index}`);
      if (hash === undefined) throw new Error(`no node ${level}/${index}`);
      return hash;
    },
    put: (level, index, hash) => {
      if (nodes.has(`${level}/${index}`)) throw new Error("a node was written twice");
      nodes.set(`${level}/${index}`, hash);
    },
  };
  for (const [index, leaf] of leaves.entries()) appendLeaf(store, index, leafHash(leaf));
  return store;
}

// The leaves and roots of the certificate-transparency project's reference tests (merkletree).
const LEAVES = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
];
const ROOTS = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

test("tree roots reproduce the reference values of certificate transparency", () => {
  const nodes = treeOf(LEAVES.map((hex) => fromHex(hex) ?? new Uint8Array()));
  expect(ROOTS.map((_, size) => toHex(treeRoot(nodes, size)))).toEqual(ROOTS);
});

/** RFC 6962 section 2.1, word for word, over a plain list. */
const mth = (d: readonly Uint8Array[]): Uint8Array => {
  if (d.length === 0) return sha256("");
  if (d.length === 1) return leafHash(d[0] as Uint8Array);
  const k = split(d.length);
  return nodeHash(mth(d.slice(0, k)), mth(d.slice(k)));
};
const path = (m: number, d: readonly Uint8Array[]): Uint8Array[] => {
  if (d.length === 1) return [];
  const k = split(d.length);
  return m < k
    ? [...path(m, d.slice(0, k)), mth(d.slice(k))]
    : [...path(m - k, d.slice(k)), mth(d.slice(0, k))];
};
const subproof = (m: number, d: readonly Uint8Array[], b: boolean): Uint8Array[] => {
  if (m === d.length) return b ? [] : [mth(d)];
  const k = split(d.length);
  return m <= k
    ? [...subproof(m, d.slice(0, k), b), mth(d.slice(k))]
    : [...subproof(m - k, d.slice(k), false), mth(d.slice(0, k))];
};
const split = (n: number): number => 2 ** Math.floor(Math.log2(n - 1));

test("roots and proofs are those of RFC 6962 for every tree of up to 33 leaves", () => {
  const leaves = Array.from({ length: 33 }, (_, i) => Uint8Array.of(i));
  const nodes = treeOf(leaves);
  for (let size = 0; size <= leaves.length; size++) {
    const list = leaves.slice(0, size);
    expect(treeRoot(nodes, size)).toEqual(mth(list));
    for (let m = 0; m < size; m++) expect(inclusionProof(nodes, m, size)).toEqual(path(m, list));
    for (let m = 1; m <= size; m++) {
      expect(consistencyProof(nodes, m, size)).toEqual(subproof(m, list, true));
    }
    expect(consistencyProof(nodes, 0, size)).toEqual([]);
    expect(() => inclusionProof(nodes, size, size)).toThrow("in the tree");
  }
  expect(() => consistencyProof(nodes, 3, 2)).toThrow("does not shrink");
});

// The example of golang.org/x/mod/sumdb/note's documentation: key, text and signature.
test("a verifier key is spelled as C2SP's reference implementation spells it", () => {
  const publicKey = Buffer.from(
    "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
      .split("+")
      .slice(2)
      .join("+"),
    "base64",
  );
  expect(publicKey[0]).toBe(1);
  expect(verifierKey("PeterNeumann", publicKey.subarray(1))).toBe(
    "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
  );
});

test("a note's form is checked before it is signed", () => {
  const key = signingKeyFromSeed(new Uint8Array(32).fill(1));
  expect(signNote(key, "a/b", "text\n")).toMatch(/^text\n\n— a\/b [A-Za-z0-9+/]{91}=\n$/);
  expect(() => signNote(key, "a/b", "text")).toThrow("another form");
  expect(() => signNote(key, "a/b", "a\n\nb\n")).toThrow("another form");
  expect(() => signNote(key, "a b", "text\n")).toThrow("a space");
});
