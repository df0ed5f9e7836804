/** The back end for schemas. */
import type { SchemaGrammar } from "../grammar/compile.ts";
import { firstBytes } from "./first-bytes.ts";
import { JsonMachine } from "./json-machine.ts";
import { MaskCaches } from "./mask-caches.ts";
import { Masks } from "./masks.ts";
import type { Recogniser } from "./recogniser.ts";
import { type Mark, STRING } from "./registers.ts";
import { Room } from "./room.ts";
import { tokenCover } from "./token-cover.ts";
import type { TokenWords } from "./token-set.ts";
import type { Vocabulary } from "./vocabulary.ts";
import type { WaysOut } from "./way-out.ts";

export class JsonRecogniser implements Recogniser<Mark> {
  readonly machine: JsonMachine;
  readonly #vocabulary: Vocabulary;
  readonly #masks: Masks;
  readonly #waysOut: WaysOut;
  readonly #room: Room;

  constructor(grammar: SchemaGrammar, vocabulary: Vocabulary) {
    const caches = MaskCaches.of(vocabulary);
    this.machine = new JsonMachine(grammar, caches.rootOf(grammar));
    this.#vocabulary = vocabulary;
    this.#masks = new Masks(this.machine, grammar, vocabulary);
    this.#waysOut = caches.waysOutOf(grammar);
    this.#room = new Room(this.machine, grammar.compilation);
  }

  get room(): number {
    return this.#room.needed;
  }

  computeMask(): TokenWords {
    return this.#masks.compute();
  }

  /** Where content leaves room, only what closes the string can lead to something long. */
  suspects(left: number): Iterable<number> | null {
    const hasRoom = this.machine.phase === STRING && this.#room.neededInString + 2 <= left;
    return hasRoom ? this.#vocabulary.content.quoted : null;
  }

  nextBytes(): readonly number[] | null {
    const { machine } = this;
    const candidates = firstBytes(machine);
    if (candidates === null) return null;
    const here = machine.save();
    return [...new Set(candidates)].filter((byte) => {
      const may = machine.step(byte);
      machine.undo(here);
      return may;
    });
  }

  tokensOut(): readonly number[] | null {
    const bytes = this.#waysOut.from(this.machine);
    return bytes && tokenCover(bytes, this.#vocabulary.trie);
  }
}
