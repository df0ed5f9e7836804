/**
 * Tokens that may reach beyond the item of an array that is being read, by what they hold of JSON's
 * structure, and where white space leads before an item. The same for every grammar.
 */
import type { TokenTrie } from "./token-trie.ts";
import type { Vocabulary } from "./vocabulary.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const CLOSING: readonly number[] = [0x5d, 0x7d];
const BLANKS: readonly number[] = [0x20, 0x09, 0x0a];

/** Tokens by what they hold of JSON's structure. */
export interface Suspects {
  /** A bracket or brace that closes something. */
  readonly closing: Int32Array;
  /** A comma and something of what comes after it. */
  readonly crossing: Int32Array;
  readonly commas: Int32Array;
}

/** Worked out once for a vocabulary. */
export class SuspectTables {
  /** Nodes of the trie that white space leads to, the root first. */
  readonly blanks: readonly number[];
  readonly outside: Suspects;
  /** Inside a string, where only what comes behind a quote can be structure. */
  readonly inText: Suspects;

  constructor(vocabulary: Vocabulary) {
    const { trie } = vocabulary;
    this.blanks = blankNodes(trie);
    const outside = new SuspectLists();
    const inText = new SuspectLists();
    for (const token of trie.tokens) {
      if (token < 0) continue;
      const bytes = vocabulary.tokenBytes(token);
      outside.add(token, bytes, 0);
      const quote = bytes.indexOf(QUOTE);
      if (quote >= 0) inText.add(token, bytes, quote + 1);
    }
    this.outside = outside.packed;
    this.inText = inText.packed;
  }
}

function blankNodes(trie: TokenTrie): number[] {
  const nodes = [0];
  for (const node of nodes) {
    for (const blank of BLANKS) {
      const child = trie.child(node, blank);
      if (child >= 0) nodes.push(child);
    }
  }
  return nodes;
}

class SuspectLists {
  readonly #closing: number[] = [];
  readonly #crossing: number[] = [];
  readonly #commas: number[] = [];

  /** @param from where structure begins. */
  add(token: number, bytes: Uint8Array, from: number): void {
    if (CLOSING.some((byte) => bytes.indexOf(byte, from) >= 0)) this.#closing.push(token);
    const comma = bytes.indexOf(COMMA, from);
    if (comma < 0) return;
    this.#commas.push(token);
    if (crosses(bytes, comma)) this.#crossing.push(token);
  }

  get packed(): Suspects {
    return {
      closing: Int32Array.from(this.#closing),
      crossing: Int32Array.from(this.#crossing),
      commas: Int32Array.from(this.#commas),
    };
  }
}

/** Behind some comma and white space comes more than a quote. */
function crosses(text: Uint8Array, comma: number): boolean {
  for (let at = comma; at >= 0; at = text.indexOf(COMMA, at + 1)) {
    let next = at + 1;
    while (BLANKS.includes(text[next] ?? -1)) next += 1;
    if (text[next] === QUOTE) next += 1;
    if (next < text.length) return true;
  }
  return false;
}
