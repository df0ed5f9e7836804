/**
 * Bytes that a text needs to be ended, without writing them: quick, and never less than the way
 * out takes. Where the value being written decides what must follow it, the answer is NaN.
 */

import type { ArrayFrame } from "../grammar/array-frame.ts";
import type { Compilation } from "../grammar/compilation.ts";
import { printNumber } from "../grammar/number-text.ts";
import type { NumberView } from "../grammar/number-view.ts";
import type { Member, ObjectFrame } from "../grammar/object-frame.ts";
import type { Place } from "../grammar/place.ts";
import { NO_VERDICT, type StringReader } from "../grammar/string-reader.ts";
import type { StringList } from "../grammar/string-view.ts";
import type { WritableKeys } from "../grammar/writable-keys.ts";
import type { ArrayCell, Cell, ObjectCell } from "./cell.ts";
import { CONSTANTS } from "./constants.ts";
import type { JsonMachine } from "./json-machine.ts";
import {
  ARRAY_FIRST,
  ARRAY_NEXT,
  COLON,
  CONSTANT,
  END,
  KEY,
  NUMBER,
  NUMBER_LIST,
  OBJECT_FIRST,
  OBJECT_KEY,
  OBJECT_NEXT,
  STRING,
  STRING_LIST,
  VALUE,
} from "./registers.ts";

/** Names looked at before the way out itself is. */
const NAMES_MAX = 8;

export class Room {
  readonly #machine: JsonMachine;
  readonly #compilation: Compilation;

  constructor(machine: JsonMachine, compilation: Compilation) {
    this.#machine = machine;
    this.#compilation = compilation;
  }

  /** Bytes to the end from where the machine stands; NaN where only the way out itself can tell. */
  get needed(): number {
    const { cell, phase } = this.#machine;
    switch (phase) {
      case END:
        return 0;
      case OBJECT_FIRST:
      case OBJECT_NEXT: {
        const { frame, parent } = cell as ObjectCell;
        return this.#ending(frame) + this.#after(parent);
      }
      case ARRAY_FIRST:
      case ARRAY_NEXT: {
        const { frame, parent } = cell as ArrayCell;
        return this.#itemsEnding(frame) + this.#after(parent);
      }
      case OBJECT_KEY: {
        const { frame, parent } = cell as ObjectCell;
        return 1 + this.#name(frame, 0, 0) + this.#after(parent);
      }
      case KEY:
        return this.#key();
      default:
        return this.#scalar() + this.#after(cell);
    }
  }

  /** The same after the value being written, with the longest way to end a string. */
  get neededInString(): number {
    const { cell, view, count } = this.#machine;
    return (view as StringReader).endBytesMax(count) + this.#after(cell);
  }

  /** Bytes to the end of the value being written. */
  #scalar(): number {
    const { phase, state, count, view } = this.#machine;
    switch (phase) {
      case STRING: {
        const reader = view as StringReader;
        return reader.accepts(state, count) ? 1 : reader.endBytesAtMost(state, count);
      }
      case STRING_LIST:
        return (view as StringList).texts.rest(state) + 1;
      case CONSTANT:
        return (CONSTANTS[state]?.text.length ?? 0) - count;
      case NUMBER:
      case NUMBER_LIST:
        return printNumber(view as NumberView, state).length;
      case COLON:
        return 1 + this.#cost(this.#machine.place);
      case VALUE:
        return this.#cost(this.#machine.place);
      default:
        return Number.NaN;
    }
  }

  /** Any name that goes on from here will do, or else any unnamed key. */
  #key(): number {
    const { state, cell, lo, hi, keyLength } = this.#machine;
    const { frame, parent } = cell as ObjectCell;
    if (state >= 0) return this.#name(frame, state, keyLength) + this.#after(parent);
    // The shortest ending could be a key that was used.
    return lo < hi ? Number.NaN : this.#unnamed(frame) + this.#after(parent);
  }

  /** @param read bytes of the name so far, which `state` stands behind. */
  #name(frame: ObjectFrame, state: number, read: number): number {
    const { nameTexts } = frame.shape;
    const first = nameTexts.first(state);
    const last = Math.min(nameTexts.end(state), first + NAMES_MAX);
    for (let i = first; i < last; i++) {
      const member = frame.named(nameTexts.sources[i] as number);
      if (!member) continue;
      const rest = (nameTexts.texts[i] as Uint8Array).length - read;
      return rest + 2 + this.#cost(member.place) + this.#afterMember(member);
    }
    return Number.NaN;
  }

  #unnamed(frame: ObjectFrame): number {
    const { count, points } = this.#machine;
    const keys = frame.unnamedKeys as WritableKeys;
    let most = 0;
    for (const colour of keys.colours) {
      const member = frame.anyUnnamed(colour);
      if (member === null) continue;
      most = Math.max(most, this.#cost(member.place) + this.#afterMember(member));
    }
    return keys.end(count, points).length + 1 + most;
  }

  /** Bytes to the end of the text once the value due in a cell is written. */
  #after(cell: Cell): number {
    cell.closingBytes ??= this.#compute(cell);
    return cell.closingBytes;
  }

  #compute(cell: Cell): number {
    if (cell.kind === "root") return 0;
    if (cell.kind === "object") {
      return cell.member ? this.#afterMember(cell.member) + this.#after(cell.parent) : Number.NaN;
    }
    const { frame } = cell;
    if (frame.shape.needsValues || frame.item?.observed.length !== 0) return Number.NaN;
    return this.#itemsEnding(frame.settle(NO_VERDICT, undefined)) + this.#after(cell.parent);
  }

  #afterMember({ place, next }: Member): number {
    return place.observed.length > 0 ? Number.NaN : this.#ending(next);
  }

  #ending({ completion }: ObjectFrame): number {
    if (completion === null) return Number.NaN;
    const isRough = completion.members.some(({ place }) => this.#compilation.isRough(place));
    return isRough ? Number.NaN : completion.bytes;
  }

  #itemsEnding({ completion, shape }: ArrayFrame): number {
    // Unique items need more room than the shortest one does again and again.
    if (completion === null || (shape.needsValues && completion.items.length > 0)) {
      return Number.NaN;
    }
    const isRough = completion.items.some((item) => this.#compilation.isRough(item));
    return isRough ? Number.NaN : completion.bytes;
  }

  #cost(place: Place): number {
    return this.#compilation.isRough(place) ? Number.NaN : this.#compilation.cost(place);
  }
}
