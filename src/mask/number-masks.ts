/**
 * The part of a mask that depends on the number being read alone: tokens that stay inside it, and
 * nodes of the trie where it may end within a token.
 */
import { NUMBER_COLUMN } from "../automaton/number-columns.ts";
import type { NumberLanguage } from "../grammar/number-view.ts";
import type { TokenTrie } from "./token-trie.ts";

export interface NumberMask {
  /** Another number for each mask. */
  readonly serial: number;
  readonly tokens: Int32Array;
  /** Nodes at which the number may be over, with something other than a number below. */
  readonly exits: Int32Array;
}

const STARTS = Buffer.from("0123456789.-+eE");

export class NumberMasks {
  readonly #trie: TokenTrie;
  readonly #kept = new WeakMap<object, Map<number, NumberMask>>();
  readonly #states: Int32Array;
  #serial = 0;

  constructor(trie: TokenTrie) {
    this.#trie = trie;
    this.#states = new Int32Array(trie.depthMax + 1);
  }

  of(automaton: NumberLanguage["automaton"], state: number): NumberMask {
    const masks = this.#kept.get(automaton) ?? new Map<number, NumberMask>();
    this.#kept.set(automaton, masks);
    const known = masks.get(state);
    if (known) return known;
    const mask = this.#compute(automaton, state);
    masks.set(state, mask);
    return mask;
  }

  #compute(automaton: NumberLanguage["automaton"], state: number): NumberMask {
    const tokens: number[] = [];
    const exits: number[] = [];
    this.#states[0] = state;
    for (const byte of STARTS) {
      const node = this.#trie.roots[byte] as number;
      if (node >= 0) this.#walk(automaton, node, tokens, exits);
    }
    this.#serial += 1;
    return {
      serial: this.#serial,
      tokens: Int32Array.from(tokens),
      exits: Int32Array.from(exits),
    };
  }

  #walk(
    automaton: NumberLanguage["automaton"],
    root: number,
    tokens: number[],
    exits: number[],
  ): void {
    const { bytes, depths, ends } = this.#trie;
    const states = this.#states;
    for (let at = root; at < (ends[root] as number); ) {
      const depth = depths[at] as number;
      const column = NUMBER_COLUMN[bytes[at] as number] as number;
      const next = column < 0 ? -1 : automaton.step(states[depth - 1] as number, column);
      if (next < 0) {
        at = ends[at] as number;
        continue;
      }
      states[depth] = next;
      for (const token of this.#trie.tokensAt(at)) tokens.push(token);
      if (automaton.accepts(next) && this.#hasOther(at)) exits.push(at);
      at += 1;
    }
  }

  /** Some child of the node is no character of a number. */
  #hasOther(node: number): boolean {
    const { bytes, ends } = this.#trie;
    for (let at = node + 1; at < (ends[node] as number); at = ends[at] as number) {
      if ((NUMBER_COLUMN[bytes[at] as number] as number) < 0) return true;
    }
    return false;
  }
}
