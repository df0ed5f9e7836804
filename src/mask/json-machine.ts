/**
 * Reads a JSON text byte by byte and refuses the first byte after which no text of the grammar can
 * follow. All of its state is a handful of registers, saved and restored as a `Mark`; what they
 * point to is immutable. So a trie walk undoes a step by writing the registers back.
 */
import { NUMBER_COLUMN } from "../automaton/number-columns.ts";
import type { Compilation } from "../grammar/compilation.ts";
import type { SchemaGrammar } from "../grammar/compile.ts";
import type { NumberLanguage, NumberList } from "../grammar/number-view.ts";
import type { Member, ObjectFrame } from "../grammar/object-frame.ts";
import type { Place, Verdict } from "../grammar/place.ts";
import { hasStringApart, isRival } from "../grammar/rival-strings.ts";
import { NO_VERDICT, type StringReader } from "../grammar/string-reader.ts";
import type { StringList, StringView } from "../grammar/string-view.ts";
import { afterBlank } from "./blanks.ts";
import {
  type ArrayCell,
  arrayFirst,
  type ObjectCell,
  objectBetween,
  objectInMember,
  RootCell,
} from "./cell.ts";
import { CONSTANTS } from "./constants.ts";
import { afterItem, hasItem, isUsedItem, markItem, usedOf } from "./item-registers.ts";
import { beginKey, isBetweenPoints, keySignature, memberOfKey, stepKey } from "./key-registers.ts";
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
  Registers,
  STRING,
  STRING_LIST,
  VALUE,
} from "./registers.ts";
import { rivalsOf, stepListed, stepString } from "./string-registers.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const NO_STRINGS: readonly Uint8Array[] = [];

export class JsonMachine extends Registers {
  readonly root: RootCell;
  readonly #compilation: Compilation;
  /** White space may stand between tokens of JSON. */
  readonly takesBlanks: boolean;

  constructor(grammar: SchemaGrammar, root = new RootCell(grammar.root)) {
    super(root);
    this.#compilation = grammar.compilation;
    this.takesBlanks = grammar.options.whitespace === "flexible";
    this.root = root;
  }

  /** The text so far is a whole value. */
  get canEnd(): boolean {
    if (this.phase === END) return true;
    return this.cell === this.root && this.#numberCanEnd();
  }

  /**
   * Together with the cell, what the next `far` code points depend on; -1 where that is more.
   * Strings and numbers count, and are looked after elsewhere. What an array will compare depends
   * on all of its text.
   */
  signature(far: number): number {
    if (this.cell.isCompared) return -1;
    if (this.phase === KEY) return keySignature(this, far);
    if (this.phase === STRING || this.phase === NUMBER) return -1;
    const word = this.phase >= STRING_LIST && this.phase <= CONSTANT;
    return ((word ? this.state * 8 + this.count : 0) * 64 + this.blanks) * 16 + this.phase;
  }

  /** The container asks what the value being read turns out to be. */
  get isObserved(): boolean {
    return this.place.observed.length > 0;
  }

  /** Nobody asks what the value that is due turns out to be: any that fits will do. */
  get isPlain(): boolean {
    const { cell } = this;
    if (cell.kind === "array" && cell.frame.shape.comparesItems) return false;
    return cell.kind !== "root" && !cell.isCompared && !this.isObserved;
  }

  /** Inside a string or a key. */
  get isInText(): boolean {
    return this.phase === STRING || this.phase === KEY;
  }

  /** Inside a string or key, so many code points of any content may follow; -1 elsewhere. */
  get freedom(): number {
    if (this.phase === STRING) return (this.view as StringReader).freedom(this.state, this.count);
    if (this.phase !== KEY || this.count < 0 || this.state >= 0 || this.lo < this.hi) return -1;
    return (this.cell as ObjectCell).frame.unnamedKeys?.freedom(this.count, this.points) ?? -1;
  }

  /** @returns false, with nothing changed, for a byte that may not come. */
  step(byte: number): boolean {
    this.write(byte);
    if (!this.#dispatch(byte)) return false;
    this.length += 1;
    return true;
  }

  #dispatch(byte: number): boolean {
    switch (this.phase) {
      case STRING:
        return this.#inString(byte);
      case KEY:
        return this.#inKey(byte);
      case STRING_LIST:
        return this.#inStringList(byte);
      case NUMBER:
        return this.#inNumber(byte);
      case NUMBER_LIST:
        return this.#inNumberList(byte);
      case CONSTANT:
        return this.#inConstant(byte);
      default:
        return this.#between(byte);
    }
  }

  /** Outside of words and strings: structure and white space. */
  #between(byte: number): boolean {
    if (this.takesBlanks && this.#blank(byte)) return true;
    switch (this.phase) {
      case VALUE:
        return this.#begin(byte);
      case OBJECT_FIRST:
        return byte === 0x7d ? this.#closeObject() : this.#openKey(byte);
      case OBJECT_KEY:
        return this.#openKey(byte);
      case COLON:
        if (byte !== 0x3a) return false;
        return this.#go(VALUE);
      case OBJECT_NEXT:
        if (byte === 0x7d) return this.#closeObject();
        return byte === COMMA && (this.cell as ObjectCell).frame.hasMember && this.#go(OBJECT_KEY);
      case ARRAY_FIRST:
        if (byte === 0x5d) return this.#closeArray();
        return (this.cell as ArrayCell).frame.item !== null && this.#begin(byte);
      case ARRAY_NEXT:
        if (byte === 0x5d) return this.#closeArray();
        return byte === COMMA && hasItem(this, this.#compilation) && this.#go(VALUE);
      default:
        return false;
    }
  }

  #go(phase: number): true {
    this.phase = phase;
    this.blanks = 0;
    return true;
  }

  #blank(byte: number): boolean {
    if (this.phase === COLON || this.phase === END) return false;
    if (this.phase === VALUE && this.cell === this.root && !this.root.isInner) return false;
    const blanks = afterBlank(this.blanks, byte);
    if (blanks >= 0) this.blanks = blanks;
    return blanks >= 0;
  }

  /** The place whose value is due. */
  get place(): Place {
    const { cell } = this;
    if (cell.kind === "root") return cell.place;
    if (cell.kind === "array") return cell.frame.item as Place;
    return (cell.member as Member).place;
  }

  #begin(byte: number): boolean {
    const place = this.place;
    const views = this.#compilation.views(place);
    switch (byte) {
      case QUOTE:
        return views.strings !== null && this.#beginString(views.strings);
      case 0x7b:
        return views.object?.completion ? this.#openObject(views.object) : false;
      case 0x5b:
        if (!views.array?.completion) return false;
        markItem(this);
        this.cell = arrayFirst(this.cell, views.array);
        return this.#go(ARRAY_FIRST);
      case 0x6e:
        return this.#beginConstant(place, 0);
      case 0x74:
        return this.#beginConstant(place, 1);
      case 0x66:
        return this.#beginConstant(place, 2);
      default:
        return views.numbers !== null && this.#beginNumber(views.numbers, byte);
    }
  }

  #openObject(frame: ObjectFrame): true {
    markItem(this);
    this.cell = objectBetween(this.cell, frame);
    return this.#go(OBJECT_FIRST);
  }

  #beginString(view: StringView): boolean {
    const used = usedOf(this)?.strings ?? NO_STRINGS;
    if (used.length > 0 && !hasStringApart(view, used)) return false;
    markItem(this);
    this.start = this.length + 1;
    this.lo = 0;
    this.hi = used.length;
    this.view = view.kind === "list" ? view : view.reader;
    this.state = 0;
    this.count = 0;
    return this.#go(view.kind === "list" ? STRING_LIST : STRING);
  }

  #beginConstant(place: Place, index: number): boolean {
    const { type, text } = CONSTANTS[index] as (typeof CONSTANTS)[number];
    if (this.#compilation.constant(place, type) === null) return false;
    if (usedOf(this)?.constants.includes(text)) return false;
    markItem(this);
    this.state = index;
    this.count = 1;
    return this.#go(CONSTANT);
  }

  #beginNumber(view: NumberList | NumberLanguage, byte: number): boolean {
    let state = -1;
    if (view.kind === "list") state = view.texts.step(0, byte);
    else {
      const column = NUMBER_COLUMN[byte] as number;
      if (column >= 0) state = view.automaton.step(0, column);
    }
    if (state < 0) return false;
    markItem(this);
    this.view = view;
    this.state = state;
    this.count = 0;
    this.start = this.length;
    return this.#go(view.kind === "list" ? NUMBER_LIST : NUMBER);
  }

  /** The string would be one that its array has already. */
  get #isRival(): boolean {
    return this.lo < this.hi && isRival(rivalsOf(this));
  }

  #inString(byte: number): boolean {
    const reader = this.view as StringReader;
    if (byte === QUOTE && reader.isBetween(this.state)) {
      if (!reader.accepts(this.state, this.count)) return false;
      if (this.#isRival) return false;
      return this.#finish(reader.verdict(this.state, this.count));
    }
    return stepString(this, byte);
  }

  #inStringList(byte: number): boolean {
    const { texts, verdict } = this.view as StringList;
    const index = byte === QUOTE ? texts.endOf(this.state) : -1;
    if (index >= 0) return !this.#isRival && this.#finish(verdict(index));
    return stepListed(this, byte);
  }

  #inNumber(byte: number): boolean {
    const { automaton } = this.view as NumberLanguage;
    const column = NUMBER_COLUMN[byte] as number;
    const next = column < 0 ? -1 : automaton.step(this.state, column);
    if (next >= 0) {
      this.state = next;
      return true;
    }
    return automaton.accepts(this.state) && this.#afterNumber(byte);
  }

  #inNumberList(byte: number): boolean {
    const { texts } = this.view as NumberList;
    const next = texts.step(this.state, byte);
    if (next >= 0) {
      this.state = next;
      return true;
    }
    return texts.endOf(this.state) >= 0 && this.#afterNumber(byte);
  }

  /** A number ends where something else begins. */
  #afterNumber(byte: number): boolean {
    const mark = this.save();
    this.#finish(this.numberVerdict(), this.length);
    if (this.#between(byte)) return true;
    this.undo(mark);
    return false;
  }

  /** Of the number being read, if it ends here. */
  numberVerdict(): Verdict {
    // Only a place that reports something needs the value.
    if (this.place.observed.length === 0) return NO_VERDICT;
    const text = Buffer.from(this.textFrom(this.start, this.length)).toString("latin1");
    return (this.view as NumberList | NumberLanguage).verdict(text);
  }

  #numberCanEnd(): boolean {
    if (this.phase === NUMBER) return (this.view as NumberLanguage).automaton.accepts(this.state);
    return this.phase === NUMBER_LIST && (this.view as NumberList).texts.endOf(this.state) >= 0;
  }

  #inConstant(byte: number): boolean {
    const { type, text } = CONSTANTS[this.state] as (typeof CONSTANTS)[number];
    if (text.charCodeAt(this.count) !== byte) return false;
    this.count += 1;
    if (this.count < text.length) return true;
    return this.#finish(this.#compilation.constant(this.place, type) as Verdict);
  }

  /**
   * A value ended: tell the container.
   * @param end offset behind the value's last byte.
   */
  #finish(verdict: Verdict, end = this.length + 1): true {
    const { cell } = this;
    this.view = null;
    if (cell.kind === "root") return this.#go(END);
    if (cell.kind === "object") {
      const next = cell.frame.settle(cell.member as Member, verdict);
      this.cell = objectBetween(cell.parent, next);
      return this.#go(OBJECT_NEXT);
    }
    this.cell = afterItem(this, cell, verdict, end);
    return this.#go(ARRAY_NEXT);
  }

  /** Ends the scalar being read as if its last byte had come. The text stays as it is. */
  finishScalar(verdict: Verdict): void {
    this.#finish(verdict, this.length);
  }

  /** A byte of the key being read that is not its closing quote; false, with nothing changed. */
  extendKey(byte: number): boolean {
    this.write(byte);
    if (!stepKey(this, byte)) return false;
    this.length += 1;
    return true;
  }

  /** Ends the key being read with this member. */
  finishKey(member: Member): void {
    const { parent, frame } = this.cell as ObjectCell;
    this.cell = objectInMember(parent, frame, member);
    this.#go(COLON);
  }

  #closeArray(): boolean {
    const { frame, parent } = this.cell as ArrayCell;
    if (!frame.canClose || isUsedItem(this, parent)) return false;
    this.cell = parent;
    return this.#finish(frame.shape.isGuided ? NO_VERDICT : frame.verdict);
  }

  #closeObject(): boolean {
    const { frame, parent } = this.cell as ObjectCell;
    if (!frame.canClose || isUsedItem(this, parent)) return false;
    this.cell = parent;
    return this.#finish(frame.shape.isGuided ? NO_VERDICT : frame.verdict);
  }

  #openKey(byte: number): boolean {
    if (byte !== QUOTE || !(this.cell as ObjectCell).frame.hasMember) return false;
    beginKey(this);
    return this.#go(KEY);
  }

  #inKey(byte: number): boolean {
    if (byte !== QUOTE || !isBetweenPoints(this)) return stepKey(this, byte);
    const member = memberOfKey(this);
    if (member === null) return false;
    this.finishKey(member);
    return true;
  }
}
