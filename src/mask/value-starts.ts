/**
 * How the texts of a trie begin a value: white space, the value's first byte, and what stays inside
 * the value. What begins like a string, a number, an object and so on is worked out apart: places
 * that take the same strings, say, share that part, in one schema or in many.
 */
import type { SchemaGrammar } from "../grammar/compile.ts";
import type { Place } from "../grammar/place.ts";
import { NO_BLANKS, walkBlanks } from "./blank-walk.ts";
import { RootCell } from "./cell.ts";
import { CONSTANTS } from "./constants.ts";
import type { ContentTables } from "./content-tables.ts";
import { JsonMachine } from "./json-machine.ts";
import type { TokenTrie } from "./token-trie.ts";
import { TrieWalk } from "./trie-walk.ts";

/** Of the values of one kind, or of white space alone. */
export interface StartPart {
  /** Tokens after which the value goes on, or is whole. */
  readonly tokens: Int32Array;
  /** Nodes where the value may be whole, with others below. */
  readonly exits: Int32Array;
}

interface Openings {
  readonly blanks: StartPart;
  /** By first byte of a value: the nodes that stand for it. */
  readonly nodes: ReadonlyMap<number, readonly number[]>;
}

/** What a part is kept under, and the first bytes of its values. */
type Kind = readonly [object, readonly number[]];

const NONE = new Int32Array(0);
const STRING_STARTS = [0x22];
const NUMBER_STARTS = [...Buffer.from("-0123456789")];
const OBJECT_STARTS = [0x7b];
const ARRAY_STARTS = [0x5b];

export class ValueStarts {
  readonly #trie: TokenTrie;
  readonly #content: ContentTables | null;
  readonly #start: number;
  readonly #openings = new Map<boolean, Openings>();
  readonly #parts = {
    blanks: new WeakMap<object, StartPart>(),
    none: new WeakMap<object, StartPart>(),
  };

  /**
   * @param content set for the vocabulary's own trie.
   * @param start node behind which the value is due.
   */
  constructor(trie: TokenTrie, content: ContentTables | null, start: number) {
    this.#trie = trie;
    this.#content = content;
    this.#start = start;
  }

  /** @param takesBlanks white space may come before the value. */
  of(grammar: SchemaGrammar, place: Place, takesBlanks: boolean): StartPart[] {
    const openings = this.#openings.get(takesBlanks) ?? this.#open(takesBlanks);
    this.#openings.set(takesBlanks, openings);
    const kept = takesBlanks ? this.#parts.blanks : this.#parts.none;
    const parts = [openings.blanks];
    for (const [key, bytes] of kindsAt(grammar, place)) {
      const part = kept.get(key) ?? this.#part(grammar, place, bytes, openings);
      kept.set(key, part);
      parts.push(part);
    }
    return parts;
  }

  #part(
    grammar: SchemaGrammar,
    place: Place,
    bytes: readonly number[],
    openings: Openings,
  ): StartPart {
    const trie = this.#trie;
    const machine = new JsonMachine(grammar, new RootCell(place, true));
    const walk = new TrieWalk(machine, trie, this.#content);
    const before = machine.save();
    const tokens: number[] = [];
    const exits: number[] = [];
    const allow = (token: number): void => {
      tokens.push(token);
    };
    const end = (node: number): void => {
      exits.push(node);
    };
    for (const byte of bytes) {
      for (const node of openings.nodes.get(byte) ?? []) {
        machine.undo(before);
        if (!machine.step(byte)) break;
        tokens.push(...trie.tokensAt(node));
        if (trie.ends[node] === node + 1) continue;
        if (machine.canEnd) exits.push(node);
        walk.fromNode(node, allow, end);
      }
    }
    return { tokens: Int32Array.from(tokens), exits: Int32Array.from(exits) };
  }

  #open(takesBlanks: boolean): Openings {
    const trie = this.#trie;
    const start = this.#start;
    if (start < 0) return { blanks: { tokens: NONE, exits: NONE }, nodes: new Map() };
    const { tokens, nodes } = walkBlanks(trie, start, takesBlanks ? 0 : NO_BLANKS);
    const before = start > 0 ? trie.tokensAt(start) : [];
    return { blanks: { tokens: Int32Array.from([...before, ...tokens]), exits: NONE }, nodes };
  }
}

/** The kinds of values that may stand at a place. */
function kindsAt(grammar: SchemaGrammar, place: Place): Kind[] {
  const { compilation } = grammar;
  const { strings, numbers, object, array } = compilation.views(place);
  const kinds: Kind[] = [];
  if (strings) kinds.push([strings.kind === "list" ? strings : strings.reader, STRING_STARTS]);
  if (numbers) kinds.push([numbers.kind === "list" ? numbers : numbers.automaton, NUMBER_STARTS]);
  if (object?.completion) kinds.push([object, OBJECT_STARTS]);
  if (array?.completion) kinds.push([array, ARRAY_STARTS]);
  for (const constant of CONSTANTS) {
    if (compilation.constant(place, constant.type) === null) continue;
    kinds.push([constant, [constant.text.charCodeAt(0)]]);
  }
  return kinds;
}
