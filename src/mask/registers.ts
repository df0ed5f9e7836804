/**
 * All the state of a machine: a handful of registers, saved and restored as a `Mark`; what they
 * point to is immutable. So a trie walk undoes a step by writing the registers back.
 */
import type { Cell } from "./cell.ts";

/** What the machine stands before or in. */
export const VALUE = 0;
export const STRING = 1;
export const STRING_LIST = 2;
export const NUMBER = 3;
export const NUMBER_LIST = 4;
export const CONSTANT = 5;
export const OBJECT_FIRST = 6;
export const OBJECT_KEY = 7;
export const KEY = 8;
export const COLON = 9;
export const OBJECT_NEXT = 10;
export const ARRAY_FIRST = 11;
export const ARRAY_NEXT = 12;
export const END = 13;

/** The registers of a machine at one moment. */
export class Mark {
  phase: number = VALUE;
  cell: Cell | null = null;
  /** The strings or numbers being read. */
  view: object | null = null;
  /** State of that reader; in a key, the state of the names. */
  state = 0;
  /** Code points begun, in a string; in a key, the state of the unnamed keys' automaton. */
  count = 0;
  /** In a key: code points begun. */
  points = 0;
  /**
   * The unnamed keys already written that begin like the key being read, as a range; likewise the
   * strings that an array has already, while one of its items is read.
   */
  lo = 0;
  hi = 0;
  /** Offset of the text of the scalar or key being read. */
  start = 0;
  /** White space just read: 0 none, 1 a space, 2 + n a newline and n blanks. */
  blanks = 0;
  /** Bytes of text read so far. */
  length = 0;
}

function copy(to: Mark, from: Mark): void {
  to.phase = from.phase;
  to.cell = from.cell;
  to.view = from.view;
  to.state = from.state;
  to.count = from.count;
  to.points = from.points;
  to.lo = from.lo;
  to.hi = from.hi;
  to.start = from.start;
  to.blanks = from.blanks;
  to.length = from.length;
}

export class Registers extends Mark {
  declare cell: Cell;
  #text = new Uint8Array(1024);

  constructor(cell: Cell) {
    super();
    this.cell = cell;
  }

  /** Bytes read so far. */
  get text(): Uint8Array {
    return this.#text.subarray(0, this.length);
  }

  /** @param mark is filled in and returned. */
  save(mark = new Mark()): Mark {
    copy(mark, this);
    return mark;
  }

  undo(mark: Mark): void {
    copy(this, mark);
  }

  /** Bytes of the key being read so far. */
  get keyLength(): number {
    return this.length - this.start;
  }

  /** Bytes of the text from `start` to before `end`. */
  textFrom(start: number, end: number): Uint8Array {
    return this.#text.subarray(start, end);
  }

  /** Puts a byte behind the text; it counts once `length` is raised. */
  protected write(byte: number): void {
    if (this.length === this.#text.length) {
      const text = new Uint8Array(2 * this.length);
      text.set(this.#text);
      this.#text = text;
    }
    this.#text[this.length] = byte;
  }
}
