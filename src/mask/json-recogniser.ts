/** The back end for schemas. */
import type { SchemaGrammar } from "../grammar/compile.ts";
import type { RootCell } from "./cell.ts";
import { firstBytes } from "./first-bytes.ts";
import { JsonMachine } from "./json-machine.ts";
import { MaskCaches } from "./mask-caches.ts";
import { MaskLists } from "./mask-lists.ts";
import { Masks } from "./masks.ts";
import type { ForcedKey, Recogniser } from "./recogniser.ts";
import { KEY, Mark, NUMBER, STRING } from "./registers.ts";
import { Room } from "./room.ts";
import { tokenCover } from "./token-cover.ts";
import type { TokenWords } from "./token-set.ts";
import type { Vocabulary } from "./vocabulary.ts";
import type { WaysOut } from "./way-out.ts";

/** Content of so many code points is many tokens. */
const FREE_MIN = 3;

export class JsonRecogniser implements Recogniser<Mark> {
  readonly machine: JsonMachine;
  readonly #vocabulary: Vocabulary;
  readonly #masks: Masks;
  readonly #lists: MaskLists;
  readonly #here = new Mark();
  readonly #waysOut: WaysOut;
  readonly #room: Room;
  /** Shortest whole answers. */
  readonly #wholes: WeakMap<RootCell, { readonly tokens: readonly number[] | null }>;

  constructor(grammar: SchemaGrammar, vocabulary: Vocabulary) {
    const caches = MaskCaches.of(vocabulary);
    this.machine = new JsonMachine(grammar, caches.rootOf(grammar));
    this.#vocabulary = vocabulary;
    this.#masks = new Masks(this.machine, grammar, vocabulary);
    this.#lists = new MaskLists(this.machine, this.#masks, vocabulary);
    this.#waysOut = caches.waysOutOf(grammar);
    this.#wholes = caches.wholes;
    this.#room = new Room(this.machine, grammar.compilation);
  }

  get room(): number {
    return this.#room.needed;
  }

  computeMask(): TokenWords {
    return this.#masks.compute();
  }

  get isFree(): boolean {
    return this.machine.isInText && this.machine.freedom >= FREE_MIN;
  }

  fewTokens(): Uint32Array | null {
    return this.#lists.few();
  }

  /** Where content leaves room, only what closes the string can lead to something long. */
  suspects(left: number): Iterable<number> | null {
    const hasRoom = this.machine.phase === STRING && this.#room.neededInString + 2 <= left;
    return hasRoom ? this.#vocabulary.content.quoted : null;
  }

  closers(): Iterable<number> {
    return this.fewTokens() ?? this.#vocabulary.content.quoted;
  }

  get forcedKey(): ForcedKey | null {
    const { machine } = this;
    const { cell, phase } = machine;
    // What is kept apart and what has a length depend on more than a signature says.
    if (cell.isApart || (phase === KEY && machine.count >= 0)) return null;
    if (phase === NUMBER && !cell.isCompared && !machine.isObserved) {
      return { at: cell, state: -1 - machine.state };
    }
    const state = machine.signature(0);
    return state < 0 ? null : { at: cell, state };
  }

  nextBytes(most: number): readonly number[] | null {
    const { machine } = this;
    const candidates = firstBytes(machine);
    if (candidates === null) return null;
    const here = machine.save(this.#here);
    const found: number[] = [];
    for (let i = 0; i < candidates.length && found.length < most; i++) {
      const byte = candidates[i] as number;
      if (found.includes(byte) || !machine.step(byte)) continue;
      machine.undo(here);
      found.push(byte);
    }
    return found;
  }

  tokensOut(): readonly number[] | null {
    const { machine } = this;
    const { root } = machine;
    if (machine.length > 0) return this.#tokensOut();
    // Asked by every answer before it begins.
    const known = this.#wholes.get(root);
    if (known) return known.tokens;
    const tokens = this.#tokensOut();
    this.#wholes.set(root, { tokens });
    return tokens;
  }

  #tokensOut(): readonly number[] | null {
    const bytes = this.#waysOut.from(this.machine);
    return bytes && tokenCover(bytes, this.#vocabulary.trie);
  }
}
