/**
 * What can begin at a place, whatever stands around it: tokens that stay inside the value, and the
 * nodes of the trie where the value may be whole, behind which the surroundings decide. Worked out
 * once per place, however often that place comes up.
 */
import type { SchemaGrammar } from "../grammar/compile.ts";
import type { Place } from "../grammar/place.ts";
import { RootCell } from "./cell.ts";
import { firstBytes } from "./first-bytes.ts";
import { JsonMachine } from "./json-machine.ts";
import { COLON } from "./registers.ts";
import { addToken, type TokenWords, tokenWords } from "./token-set.ts";
import { TrieWalk } from "./trie-walk.ts";
import type { Vocabulary } from "./vocabulary.ts";

export interface Start {
  /** Tokens after which the value goes on, or is whole. Long lists as bits. */
  readonly tokens: Int32Array;
  readonly words: TokenWords | null;
  readonly exits: Int32Array;
}

export interface TailStart {
  /** By tail: 1 for those that stay inside the value, or end with it. */
  readonly accepted: Uint8Array;
  readonly exits: Int32Array;
}

/** Lists below this many tokens are kept as lists. */
const LIST_MAX = 1000;
/** Starts kept at once: up to 16 KB each. */
const KEPT_MAX = 1024;

export class StartMasks {
  readonly #vocabulary: Vocabulary;
  readonly #starts = new Map<Place, Start>();
  readonly #tails = new Map<Place, TailStart>();

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** Before the first byte of a value, or of the white space before it. */
  value(grammar: SchemaGrammar, place: Place): Start {
    const known = this.#starts.get(place);
    if (known) return known;
    const { trie, content, size } = this.#vocabulary;
    const machine = new JsonMachine(grammar, new RootCell(place, true));
    const tokens: number[] = [];
    const exits: number[] = [];
    new TrieWalk(machine, trie, content).fromRoot(
      firstBytes(machine),
      (token) => tokens.push(token),
      (node) => exits.push(node),
    );
    const isLong = tokens.length >= LIST_MAX;
    const words = isLong ? tokenWords(size) : null;
    if (words) for (const token of tokens) addToken(words, token);
    const start = {
      tokens: Int32Array.from(isLong ? [] : tokens),
      words,
      exits: Int32Array.from(exits),
    };
    return keep(this.#starts, place, start);
  }

  /** Behind the closing quote of a key whose value stands at the place. */
  tails(grammar: SchemaGrammar, place: Place): TailStart {
    const known = this.#tails.get(place);
    if (known) return known;
    const { content } = this.#vocabulary;
    const machine = new JsonMachine(grammar, new RootCell(place, true));
    machine.phase = COLON;
    const accepted = new Uint8Array(content.tailCount);
    const exits: number[] = [];
    accepted[0] = 1;
    new TrieWalk(machine, content.tails, null).fromRoot(
      firstBytes(machine),
      (tail) => {
        accepted[tail] = 1;
      },
      (node) => exits.push(node),
    );
    return keep(this.#tails, place, { accepted, exits: Int32Array.from(exits) });
  }
}

function keep<T>(kept: Map<Place, T>, place: Place, value: T): T {
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(place, value);
  return value;
}
