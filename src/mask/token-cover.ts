/** The fewest tokens that spell a text. */
import type { TokenTrie } from "./token-trie.ts";

/** @returns token ids, fewest first by count; null where some byte is no token and in none. */
export function tokenCover(text: Uint8Array, trie: TokenTrie): number[] | null {
  const size = text.length;
  // From the back: tokens needed from each offset on, and the first of them.
  const counts = new Float64Array(size + 1).fill(Number.POSITIVE_INFINITY);
  const firsts = new Int32Array(size + 1).fill(-1);
  const lengths = new Int32Array(size + 1);
  counts[size] = 0;
  for (let at = size - 1; at >= 0; at--) {
    let node = trie.roots[text[at] as number] as number;
    for (let end = at + 1; node >= 0; end++) {
      const token = trie.tokens[node] as number;
      const count = 1 + (counts[end] as number);
      if (token >= 0 && count < (counts[at] as number)) {
        counts[at] = count;
        firsts[at] = token;
        lengths[at] = end - at;
      }
      if (end === size) break;
      node = trie.child(node, text[end] as number);
    }
  }
  if (!Number.isFinite(counts[0] as number)) return null;
  const tokens: number[] = [];
  for (let at = 0; at < size; at += lengths[at] as number) tokens.push(firsts[at] as number);
  return tokens;
}
