/** The white space with which texts of a trie begin, and what comes behind it. */
import { afterBlank } from "./blanks.ts";
import type { TokenTrie } from "./token-trie.ts";

/** Instead of white space just read: none may come. */
export const NO_BLANKS = -1;

export interface BlankWalk {
  /** Tokens of white space alone. */
  readonly tokens: readonly number[];
  /** By byte that is none: the nodes that stand for it. */
  readonly nodes: ReadonlyMap<number, readonly number[]>;
}

/**
 * @param start node to begin below.
 * @param blanks white space just read, as `afterBlank` counts it, or `NO_BLANKS`.
 */
export function walkBlanks(trie: TokenTrie, start: number, blanks: number): BlankWalk {
  const tokens: number[] = [];
  const nodes = new Map<number, number[]>();
  const follow = (from: number, read: number): void => {
    for (let at = from + 1; at < (trie.ends[from] as number); at = trie.ends[at] as number) {
      const byte = trie.bytes[at] as number;
      const next = read === NO_BLANKS ? -1 : afterBlank(read, byte);
      if (next < 0) {
        nodes.set(byte, [...(nodes.get(byte) ?? []), at]);
        continue;
      }
      tokens.push(...trie.tokensAt(at));
      follow(at, next);
    }
  };
  follow(start, blanks);
  return { tokens, nodes };
}
