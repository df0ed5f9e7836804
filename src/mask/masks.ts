/**
 * Token masks of one grammar over one vocabulary. A mask has two parts: tokens that stay inside the
 * word being read, which depend on nothing around it, and tokens that end it, which depend on what
 * may follow. Both are kept: the first with the word's reader, the second with the open containers.
 */

import type { SchemaGrammar } from "../grammar/compile.ts";
import type { NumberLanguage } from "../grammar/number-view.ts";
import type { Member } from "../grammar/object-frame.ts";
import type { Verdict } from "../grammar/place.ts";
import { NO_VERDICT, type StringReader } from "../grammar/string-reader.ts";
import { ApartMasks } from "./apart-masks.ts";
import type { CellMemo } from "./cell.ts";
import type { ContentMask } from "./content-masks.ts";
import { firstBytes } from "./first-bytes.ts";
import type { JsonMachine } from "./json-machine.ts";
import { type KeptMask, unpack } from "./kept-masks.ts";
import { KeyMasks } from "./key-masks.ts";
import { MaskCaches } from "./mask-caches.ts";
import { COLON, KEY, Mark, NUMBER, OBJECT_KEY, STRING, STRING_LIST, VALUE } from "./registers.ts";
import { addToken, addTokens, type TokenWords, tokenWords } from "./token-set.ts";
import { TrieWalk } from "./trie-walk.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Masks of fewer tokens are kept as lists. */
const LIST_MAX = 1000;
/** Keys of a cell's memo that are no signatures. */
const TAILS = -1;
const VALUE_START = -100;
/** Less what of the length matters. */
const FREE_STRING = -1000;
const QUOTE = 0x22;
const NO_EDITS = new Int32Array(0);

export class Masks {
  readonly #vocabulary: Vocabulary;
  readonly #machine: JsonMachine;
  readonly #walk: TrieWalk;
  readonly #tailWalk: TrieWalk;
  readonly #grammar: SchemaGrammar;
  readonly #caches: MaskCaches;
  readonly #keys: KeyMasks;
  readonly #apart: ApartMasks;
  readonly #words: TokenWords;
  readonly #here = new Mark();

  /** @param machine whose masks are asked for; masks leave it as they find it. */
  constructor(machine: JsonMachine, grammar: SchemaGrammar, vocabulary: Vocabulary) {
    this.#machine = machine;
    this.#vocabulary = vocabulary;
    this.#walk = new TrieWalk(machine, vocabulary.trie, vocabulary.content);
    this.#tailWalk = new TrieWalk(machine, vocabulary.content.tails, null);
    this.#grammar = grammar;
    this.#caches = MaskCaches.of(vocabulary);
    this.#keys = new KeyMasks(machine, vocabulary, this.#caches, (member) =>
      this.#tailsAfterKey(member),
    );
    const { compilation } = grammar;
    this.#apart = new ApartMasks(machine, vocabulary, compilation, this.#caches);
    this.#words = tokenWords(vocabulary.size);
  }

  /** The tokens that may come next. Valid until the next call; not to be changed. */
  compute(): TokenWords {
    const machine = this.#machine;
    if (machine.cell.isCompared) return this.#comparedMask();
    if (machine.cell.isApart) return this.#apartMask();
    return this.#sharedMask();
  }

  /** Where items are kept apart: as if any could come, less what the items so far rule out. */
  #apartMask(): TokenWords {
    const machine = this.#machine;
    const here = machine.save();
    machine.cell = machine.cell.twin;
    if (machine.phase === STRING || machine.phase === STRING_LIST) machine.hi = machine.lo;
    const shared = this.#sharedMask();
    machine.undo(here);
    const words = this.#words;
    if (shared !== words) words.set(shared);
    this.#apart.filter(words);
    return words;
  }

  #sharedMask(): TokenWords {
    const machine = this.#machine;
    if (machine.phase === STRING) return this.#stringMask();
    if (machine.phase === NUMBER && !machine.isObserved) return this.#numberMask();
    if (machine.phase === VALUE && machine.blanks === 0) {
      if (machine.cell === machine.root && !machine.root.isInner) return this.#rootMask();
      if (machine.isPlain) return this.#valueMask();
    }
    return unpack(this.#structure(), this.#words);
  }

  /** Where all of the text counts: nothing is kept. */
  #comparedMask(): TokenWords {
    const words = this.#words;
    words.fill(0);
    this.#walk.fromRoot(firstBytes(this.#machine), (token) => addToken(words, token));
    return words;
  }

  #rootMask(): TokenWords {
    const { memo } = this.#machine.cell;
    const known = memo.get(VALUE_START);
    if (known) return unpack(known as KeptMask, this.#words);
    const { tokens, words } = this.#caches.starts.root(this.#grammar);
    const mask = { base: words, edits: tokens };
    this.#caches.kept.keep(memo, VALUE_START, mask);
    return unpack(mask, this.#words);
  }

  /** Before a value: what its place allows, and what may follow it where it is whole already. */
  #valueMask(): TokenWords {
    const machine = this.#machine;
    const { memo } = machine.cell;
    const known = memo.get(VALUE_START);
    if (known) return unpack(known as KeptMask, this.#words);
    const words = this.#words;
    const { tokens, words: many, exits } = this.#caches.starts.value(this.#grammar, machine.place);
    if (many) words.set(many);
    else words.fill(0);
    addTokens(words, tokens);
    const found: number[] = [];
    const allow = (token: number): void => {
      found.push(token);
      addToken(words, token);
    };
    const here = machine.save(this.#here);
    machine.finishScalar(NO_VERDICT);
    for (let i = 0; i < exits.length; i++) this.#exit(exits[i] as number, allow);
    machine.undo(here);
    const edits = Int32Array.from(many ? found : [...tokens, ...found]);
    this.#caches.kept.keep(memo, VALUE_START, { base: many, edits });
    return words;
  }

  /** What goes on from a node, with the machine standing behind the value that ended there. */
  #exit(node: number, allow: (token: number) => void): void {
    const { trie, content } = this.#vocabulary;
    if (trie.bytes[node] !== QUOTE) {
      this.#walk.fromNode(node, allow);
      return;
    }
    const accepted = this.#tailsHere();
    const { tokens, tails } = content.closerAt(node);
    for (let i = 0; i < tokens.length; i++) {
      if (accepted[tails[i] as number] === 1) allow(tokens[i] as number);
    }
  }

  /** Before and inside a key. */
  #keyMask(): KeptMask | null {
    return this.#machine.phase === KEY ? this.#keys.inside() : this.#keys.before();
  }

  /** Between words the open containers decide, inside of keys and short words their state too. */
  #structure(): KeptMask {
    const machine = this.#machine;
    const { memo } = machine.cell;
    const key = machine.signature(this.#vocabulary.content.countMax);
    const known = key < 0 ? undefined : memo.get(key);
    if (known) return known as KeptMask;
    const isKey = machine.phase === KEY || machine.phase === OBJECT_KEY;
    const mask = (isKey ? this.#keyMask() : null) ?? this.#walked();
    if (key >= 0) this.#caches.kept.keep(memo, key, mask);
    return mask;
  }

  #walked(): KeptMask {
    const tokens: number[] = [];
    this.#walk.fromRoot(firstBytes(this.#machine), (token) => tokens.push(token));
    if (this.#machine.canEnd) tokens.push(...this.#vocabulary.endTokens);
    if (tokens.length < LIST_MAX) return { base: null, edits: Int32Array.from(tokens) };
    const base = tokenWords(this.#vocabulary.size);
    for (const token of tokens) addToken(base, token);
    return { base, edits: NO_EDITS };
  }

  #stringMask(): TokenWords {
    const { cell, view, state, count, isObserved } = this.#machine;
    const reader = view as StringReader;
    const { countMax } = this.#vocabulary.content;
    const lengthKey = reader.lengthKey(count, countMax);
    const isFree = !isObserved && lengthKey < 0 && reader.freedom(state, count) >= countMax;
    if (!isFree) return this.#closed(this.#caches.contents.of(reader, state, count), this.#words);
    const known = cell.memo.get(FREE_STRING + lengthKey);
    if (known) return known as TokenWords;
    const words = tokenWords(this.#vocabulary.size);
    this.#closed(this.#caches.contents.of(reader, state, count), words);
    this.#caches.kept.keep(cell.memo, FREE_STRING + lengthKey, words);
    return words;
  }

  /** Content, and the tokens that close the string and go on with what may follow. */
  #closed(content: ContentMask, words: TokenWords): TokenWords {
    words.set(content.words);
    let verdict: Verdict | null = null;
    let accepted = NO_VERDICT;
    for (const closing of content.closings) {
      if (closing.verdict !== verdict) {
        verdict = closing.verdict;
        accepted = this.#tailsAfter(verdict);
      }
      const { tokens, tails } = closing.closer;
      for (let i = 0; i < tokens.length; i++) {
        if (accepted[tails[i] as number] === 1) addToken(words, tokens[i] as number);
      }
    }
    return words;
  }

  /** By tail id: 1 where the text may follow the closing quote of a string. */
  #tailsAfter(verdict: Verdict): Uint8Array {
    const machine = this.#machine;
    const here = machine.save(this.#here);
    machine.finishScalar(verdict);
    const accepted = this.#tailsHere();
    machine.undo(here);
    return accepted;
  }

  /** The same for a key that turns out to be this member's. */
  #tailsAfterKey(member: Member): Uint8Array {
    const machine = this.#machine;
    const here = machine.save(this.#here);
    machine.finishKey(member);
    const accepted = this.#tailsHere();
    machine.undo(here);
    return accepted;
  }

  #tailsHere(): Uint8Array {
    const machine = this.#machine;
    const { memo } = machine.cell;
    const key = TAILS - machine.phase;
    const known = memo.get(key);
    if (known) return known as Uint8Array;
    const accepted = machine.phase === COLON && machine.isPlain ? this.#tailsOfValue() : null;
    if (accepted) {
      memo.set(key, accepted);
      return accepted;
    }
    return this.#walkTails(memo, key);
  }

  #walkTails(memo: CellMemo, key: number): Uint8Array {
    const machine = this.#machine;
    const accepted = new Uint8Array(this.#vocabulary.content.tailCount);
    accepted[0] = 1;
    this.#tailWalk.fromRoot(firstBytes(machine), (tail) => {
      accepted[tail] = 1;
    });
    memo.set(key, accepted);
    return accepted;
  }

  /** Tails behind a key: those that stay inside its value are the same wherever it stands. */
  #tailsOfValue(): Uint8Array {
    const machine = this.#machine;
    const { accepted, exits } = this.#caches.starts.tails(this.#grammar, machine.place);
    if (exits.length === 0) return accepted;
    const all = accepted.slice();
    const here = machine.save();
    machine.finishScalar(NO_VERDICT);
    for (let i = 0; i < exits.length; i++) {
      this.#tailWalk.fromNode(exits[i] as number, (tail) => {
        all[tail] = 1;
      });
    }
    machine.undo(here);
    return all;
  }

  #numberMask(): TokenWords {
    const machine = this.#machine;
    const { automaton } = machine.view as NumberLanguage;
    const { tokens, exits } = this.#caches.numbers.of(automaton, machine.state);
    const words = this.#words;
    const allow = (token: number): void => addToken(words, token);
    const canEnd = machine.canEnd;
    const accepts = automaton.accepts(machine.state);
    const here = machine.save(this.#here);
    words.fill(0);
    if (accepts || exits.length > 0) machine.finishScalar(NO_VERDICT);
    if (accepts) {
      const after = this.#structure();
      const all = unpack(after, words);
      if (all !== words) words.set(all);
    }
    tokens.forEach(allow);
    for (const node of exits) this.#walk.fromNode(node, allow);
    machine.undo(here);
    if (canEnd) this.#vocabulary.endTokens.forEach(allow);
    return words;
  }
}
