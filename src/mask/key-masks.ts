/**
 * Masks before and inside the keys of an object. Keys that no schema names are like the strings of
 * a place; what differs are the tokens that spell names, and unnamed keys that were used already.
 */
import type { Member, ObjectFrame } from "../grammar/object-frame.ts";
import { MANY_POINTS, type WritableKeys } from "../grammar/writable-keys.ts";
import { NO_BLANKS } from "./blank-walk.ts";
import type { ObjectCell } from "./cell.ts";
import type { ContentMasks } from "./content-masks.ts";
import type { Closer } from "./content-tables.ts";
import type { JsonMachine } from "./json-machine.ts";
import { EditList, type KeptMask } from "./kept-masks.ts";
import type { KeyOpenings } from "./key-openings.ts";
import type { NameTokenTables } from "./name-tokens.ts";
import type { Vocabulary } from "./vocabulary.ts";

const QUOTE = 0x22;
/** With fewer keys left than this, each way on is looked at by itself. */
const FEW_KEYS = 10_000;

interface KeyTables {
  readonly contents: ContentMasks;
  readonly openings: KeyOpenings;
  readonly names: NameTokenTables;
}

export class KeyMasks {
  readonly #machine: JsonMachine;
  readonly #vocabulary: Vocabulary;
  readonly #tables: KeyTables;
  readonly #tailsAfter: (member: Member) => Uint8Array;
  readonly #edits = new EditList();

  /** @param tailsAfter which tails may follow the closing quote of a key with this member. */
  constructor(
    machine: JsonMachine,
    vocabulary: Vocabulary,
    tables: KeyTables,
    tailsAfter: (member: Member) => Uint8Array,
  ) {
    this.#machine = machine;
    this.#vocabulary = vocabulary;
    this.#tables = tables;
    this.#tailsAfter = tailsAfter;
  }

  /** Where a key is due. @returns null where only a walk with the machine itself can tell. */
  before(): KeptMask | null {
    const { blanks, takesBlanks } = this.#machine;
    const { frame } = this.#machine.cell as ObjectCell;
    const opening = this.#tables.openings.of(takesBlanks ? blanks : NO_BLANKS);
    const keys = frame.unnamedKeys;
    if (keys !== null && !this.#isFree(keys, 0, 0)) return null;
    this.#edits.clear();
    if (keys === null) this.#edits.allowAll(opening.tokens);
    else this.#closeUnnamed(frame, keys, opening.closers);
    const { used } = frame.state;
    for (const quote of opening.quotes) {
      this.#names(frame, 0, quote, keys === null);
      for (const key of used) this.#withoutUsed(key, 0, quote);
    }
    return this.#edits.over(keys === null ? null : opening.free);
  }

  /** Inside a key. @returns null where only a walk with the machine itself can tell. */
  inside(): KeptMask | null {
    const { state, count, lo, hi } = this.#machine;
    const { content } = this.#vocabulary;
    const { frame } = this.#machine.cell as ObjectCell;
    this.#edits.clear();
    if (count < 0) {
      this.#names(frame, state, 0, true);
      return this.#edits.over(null);
    }
    const base = this.#unnamed(frame, frame.unnamedKeys as WritableKeys);
    if (base === null) return null;
    // Content that is all of the vocabulary's contains the beginnings of names.
    const isAll = base === content.words(content.countMax);
    if (state >= 0) this.#names(frame, state, 0, !isAll);
    for (let i = lo; i < hi; i++) {
      this.#withoutUsed(frame.state.used[i] as Uint8Array, this.#machine.keyLength, 0);
    }
    return this.#edits.over(base);
  }

  /** Any content may come in the next token and behind it. */
  #isFree(keys: WritableKeys, state: number, points: number): boolean {
    return keys.freedom(state, points) >= this.#vocabulary.content.countMax + MANY_POINTS;
  }

  #unnamed(frame: ObjectFrame, keys: WritableKeys): KeptMask["base"] {
    const { state, count, points, lo, hi } = this.#machine;
    const { content } = this.#vocabulary;
    if (this.#isFree(keys, count, points)) {
      this.#closeUnnamed(frame, keys, content.closers);
      return content.words(content.countMax);
    }
    const conflicts = state >= 0 || lo < hi;
    if (conflicts && keys.countFrom(count, points, FEW_KEYS) < FEW_KEYS) return null;
    const { words, closings } = this.#tables.contents.of(keys, count, points);
    for (const { closer, verdict } of closings) {
      this.#close(closer, this.#tailsOf(frame, verdict[0] as number));
    }
    return words;
  }

  /** Of keys of any content, from where the machine stands or, before a key, from its beginning. */
  #closeUnnamed(frame: ObjectFrame, keys: WritableKeys, closers: readonly Closer[]): void {
    const isInside = this.#machine.isInText;
    const state = isInside ? this.#machine.count : 0;
    const points = isInside ? this.#machine.points : 0;
    const { colours } = keys;
    const [first] = colours;
    let colour = first as number;
    let accepted = this.#tailsOf(frame, colour);
    for (const closer of closers) {
      const length = points + closer.count;
      if (!keys.accepts(state, length)) continue;
      const next = colours.size === 1 ? colour : (keys.verdict(state, length)[0] as number);
      if (next !== colour) accepted = this.#tailsOf(frame, next);
      colour = next;
      this.#close(closer, accepted);
    }
  }

  #tailsOf(frame: ObjectFrame, colour: number): Uint8Array | null {
    const member = frame.anyUnnamed(colour);
    return member && this.#tailsAfter(member);
  }

  #close({ tokens, tails }: Closer, accepted: Uint8Array | null): void {
    if (accepted === null) return;
    for (let i = 0; i < tokens.length; i++) {
      if (accepted[tails[i] as number] === 1) this.#edits.allow(tokens[i] as number);
    }
  }

  /** The tokens that close a name go by that name's member, whatever unnamed keys allow. */
  #names(frame: ObjectFrame, state: number, node: number, withPrefixes: boolean): void {
    const { nameTexts } = frame.shape;
    const { prefixes, closings } = this.#tables.names.of(nameTexts, state, node);
    for (let i = 0; withPrefixes && i < prefixes.length; i += 3) {
      const isOpen = frame.hasNamedAmong(prefixes[i + 1] as number, prefixes[i + 2] as number);
      if (isOpen) this.#edits.allow(prefixes[i] as number);
    }
    for (const { index, closer } of closings) {
      const { tokens, tails } = closer;
      const member = frame.named(nameTexts.sources[index] as number);
      const accepted = member && this.#tailsAfter(member);
      for (let i = 0; i < tokens.length; i++) {
        const token = tokens[i] as number;
        if (accepted?.[tails[i] as number] === 1) this.#edits.allow(token);
        else this.#edits.refuse(token);
      }
    }
  }

  /** @param from bytes of the key that were read. */
  #withoutUsed(key: Uint8Array, from: number, start: number): void {
    const { trie, content } = this.#vocabulary;
    let node = start;
    for (let i = from; i <= key.length; i++) {
      const byte = i < key.length ? (key[i] as number) : QUOTE;
      node = node === 0 ? (trie.roots[byte] as number) : trie.child(node, byte);
      if (node < 0) return;
    }
    for (const token of content.closerAt(node).tokens) this.#edits.refuse(token);
  }
}
