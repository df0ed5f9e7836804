/**
 * Token masks of a GBNF grammar: one walk of the vocabulary's trie for each set of stacks, kept
 * with the grammar.
 */
import type { StackSet, Stacks } from "../grammar/cfg-stacks.ts";
import { MASK_WORK_MAX } from "../grammar/gbnf-limits.ts";
import { addToken, type TokenWords, tokenWords } from "./token-set.ts";
import type { Vocabulary } from "./vocabulary.ts";

export interface CfgMask {
  /** A short one as a list. */
  readonly tokens: TokenWords | Uint32Array;
  /** Bytes of the way out after the token that makes it longest. */
  readonly needMax: number;
}

/** Masks below this many tokens are lists. */
const LIST_MAX = 1000;

type Visit = (token: number, after: StackSet) => void;

export class CfgMasks {
  readonly #stacks: Stacks;
  readonly #vocabulary: Vocabulary;
  readonly #path: StackSet[] = [];
  readonly #words: TokenWords;

  constructor(stacks: Stacks, vocabulary: Vocabulary) {
    this.#stacks = stacks;
    this.#vocabulary = vocabulary;
    this.#words = tokenWords(vocabulary.size);
  }

  /** The tokens that may come next. Valid until the next call; not to be changed. */
  compute(here: StackSet): TokenWords {
    const { tokens } = this.#of(here);
    if (!(tokens instanceof Uint32Array)) return tokens;
    this.#words.fill(0);
    for (const token of tokens) addToken(this.#words, token);
    return this.#words;
  }

  /** The same where it is kept as a list, else null. */
  few(here: StackSet): Uint32Array | null {
    const { tokens } = this.#of(here);
    return tokens instanceof Uint32Array ? tokens : null;
  }

  /** Tokens after which more than so many bytes are needed to the end. */
  needing(here: StackSet, bytes: number): readonly number[] {
    const tokens: number[] = [];
    if (this.#of(here).needMax <= bytes) return tokens;
    this.#walk(here, (token, after) => {
      if (after.need > bytes) tokens.push(token);
    });
    return tokens;
  }

  #of(here: StackSet): CfgMask {
    const known = here.memo.get(this.#vocabulary);
    if (known) return known as CfgMask;
    const tokens: number[] = [];
    let needMax = 0;
    this.#walk(here, (token, after) => {
      tokens.push(token);
      needMax = Math.max(needMax, after.need);
    });
    if (here.hasEmpty) tokens.push(...this.#vocabulary.endTokens);
    const isShort = tokens.length < LIST_MAX;
    const mask = {
      tokens: isShort ? Uint32Array.from(tokens) : this.#wordsOf(tokens),
      needMax,
    };
    this.#stacks.remember(here, this.#vocabulary, mask);
    return mask;
  }

  #wordsOf(tokens: readonly number[]): TokenWords {
    const words = tokenWords(this.#vocabulary.size);
    for (const token of tokens) addToken(words, token);
    return words;
  }

  /** Single bytes come first: they must not be missing where the walk is cut short. */
  #walk(here: StackSet, visit: Visit): void {
    const { trie } = this.#vocabulary;
    for (const node of trie.roots) {
      if (node < 0 || (trie.tokens[node] as number) < 0) continue;
      const { to } = this.#stacks.edge(here, trie.bytes[node] as number);
      if (to) this.#visit(node, to, visit);
    }
    this.#walkLonger(here, visit);
  }

  /**
   * The work that counts is that of edges seen for the first time in this walk, whoever may have
   * computed them: what a mask holds must not depend on earlier requests.
   */
  #walkLonger(here: StackSet, visit: Visit): void {
    const { bytes, depths, ends, size, tokens } = this.#vocabulary.trie;
    const stacks = this.#stacks;
    const path = this.#path;
    const walk = stacks.nextWalk();
    let work = 0;
    path[0] = here;
    for (let at = 1; at < size; ) {
      const depth = depths[at] as number;
      const edge = stacks.edge(path[depth - 1] as StackSet, bytes[at] as number);
      if (edge.walk !== walk) {
        edge.walk = walk;
        work += edge.work;
        if (work > MASK_WORK_MAX) break;
      }
      if (edge.to === null) {
        at = ends[at] as number;
        continue;
      }
      path[depth] = edge.to;
      if (depth > 1 && (tokens[at] as number) >= 0) this.#visit(at, edge.to, visit);
      at += 1;
    }
    path.length = 0;
  }

  #visit(node: number, after: StackSet, visit: Visit): void {
    for (const token of this.#vocabulary.trie.tokensAt(node)) visit(token, after);
  }
}
