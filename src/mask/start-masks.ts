/**
 * What can begin at a place, whatever stands around it: tokens that stay inside the value, and the
 * nodes of the trie where the value may be whole, behind which the surroundings decide. Worked out
 * once per place, however often that place comes up.
 */
import type { SchemaGrammar } from "../grammar/compile.ts";
import type { Place } from "../grammar/place.ts";
import { addTokens, type TokenWords, tokenWords } from "./token-set.ts";
import { type StartPart, ValueStarts } from "./value-starts.ts";
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
const KEPT_MAX = 256;
const COLON = 0x3a;

export class StartMasks {
  readonly #vocabulary: Vocabulary;
  readonly #valueStarts: ValueStarts;
  readonly #tailStarts: ValueStarts;
  readonly #starts = new Kept<Start>();
  readonly #tails = new Kept<TailStart>();

  constructor(vocabulary: Vocabulary) {
    const { trie, content } = vocabulary;
    this.#vocabulary = vocabulary;
    this.#valueStarts = new ValueStarts(trie, content, 0);
    this.#tailStarts = new ValueStarts(content.tails, null, content.tails.roots[COLON] as number);
  }

  /** Before the first byte of a value inside others, or of the white space before it. */
  value(grammar: SchemaGrammar, place: Place): Start {
    const known = this.#starts.get(place);
    if (known) return known;
    return this.#starts.keep(place, this.#value(grammar, place, takesBlanks(grammar)));
  }

  /** Before the first byte of a whole answer. Behind its exits nothing follows. */
  root(grammar: SchemaGrammar): Start {
    return this.#value(grammar, grammar.root, false);
  }

  #value(grammar: SchemaGrammar, place: Place, withBlanks: boolean): Start {
    const parts = this.#valueStarts.of(grammar, place, withBlanks);
    const count = parts.reduce((sum, { tokens }) => sum + tokens.length, 0);
    const words = count < LIST_MAX ? null : tokenWords(this.#vocabulary.size);
    const tokens = words ? NO_TOKENS : joined(parts.map((part) => part.tokens));
    if (words) for (const part of parts) addTokens(words, part.tokens);
    return { tokens, words, exits: exitsOf(parts) };
  }

  /** Behind the closing quote of a key whose value stands at the place. */
  tails(grammar: SchemaGrammar, place: Place): TailStart {
    const known = this.#tails.get(place);
    if (known) return known;
    const parts = this.#tailStarts.of(grammar, place, takesBlanks(grammar));
    const accepted = new Uint8Array(this.#vocabulary.content.tailCount);
    accepted[0] = 1;
    for (const { tokens } of parts) for (const tail of tokens) accepted[tail] = 1;
    return this.#tails.keep(place, { accepted, exits: exitsOf(parts) });
  }
}

const NO_TOKENS = new Int32Array(0);

function takesBlanks(grammar: SchemaGrammar): boolean {
  return grammar.options.whitespace === "flexible";
}

function exitsOf(parts: readonly StartPart[]): Int32Array {
  return joined(parts.map(({ exits }) => exits));
}

function joined(lists: readonly Int32Array[]): Int32Array {
  const all = new Int32Array(lists.reduce((sum, list) => sum + list.length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}

/** By place, and no longer than it: a place holds all of its grammar. */
class Kept<T extends object> {
  #byPlace = new WeakMap<Place, T>();
  #count = 0;

  get(place: Place): T | undefined {
    return this.#byPlace.get(place);
  }

  keep(place: Place, value: T): T {
    if (this.#count >= KEPT_MAX) {
      this.#byPlace = new WeakMap();
      this.#count = 0;
    }
    this.#count += 1;
    this.#byPlace.set(place, value);
    return value;
  }
}
