/**
 * Masks of few tokens as lists, kept on the cell where they were asked for: in a state that some
 * answer of the grammar has been in before, no mask is unpacked.
 */
import type { NumberLanguage } from "../grammar/number-view.ts";
import type { StringReader } from "../grammar/string-reader.ts";
import type { JsonMachine } from "./json-machine.ts";
import { MaskCaches } from "./mask-caches.ts";
import type { Masks } from "./masks.ts";
import { NUMBER, STRING } from "./registers.ts";
import { listTokens } from "./token-set.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** More tokens than these are many. */
const FEW_MAX = 2048;
const MANY = new Uint32Array();

export class MaskLists {
  readonly #machine: JsonMachine;
  readonly #masks: Masks;
  readonly #caches: MaskCaches;
  readonly #countMax: number;
  readonly #list = new Uint32Array(FEW_MAX);

  constructor(machine: JsonMachine, masks: Masks, vocabulary: Vocabulary) {
    this.#machine = machine;
    this.#masks = masks;
    this.#caches = MaskCaches.of(vocabulary);
    this.#countMax = vocabulary.content.countMax;
  }

  /** The tokens that may come next; null where they are many. Not to be changed. */
  few(): Uint32Array | null {
    const machine = this.#machine;
    const key = this.#key();
    const known = key === null ? undefined : machine.cell.lists.get(key);
    const list = (known as Uint32Array | undefined) ?? this.#compute(key);
    return list === MANY ? null : list;
  }

  #compute(key: number | null): Uint32Array {
    const count = listTokens(this.#masks.compute(), this.#list);
    const list = count > FEW_MAX ? MANY : this.#list.slice(0, count);
    if (key !== null) this.#caches.keptLists.keep(this.#machine.cell.lists, key, list);
    return list;
  }

  /** Names the state, together with its cell; null where the mask depends on more. */
  #key(): number | null {
    const machine = this.#machine;
    const { cell, phase, view, state, count } = machine;
    if (cell.isCompared || cell.isApart) return null;
    if (phase === STRING) {
      return -2 * this.#caches.contents.of(view as StringReader, state, count).serial;
    }
    if (phase === NUMBER && !machine.isObserved) {
      const { automaton } = view as NumberLanguage;
      return -2 * this.#caches.numbers.of(automaton, state).serial - 1;
    }
    const signature = machine.signature(this.#countMax);
    return signature < 0 ? null : signature;
  }
}
