/**
 * Masks inside the keys of an object. Keys that no schema names are like the strings of a place;
 * names, and unnamed keys that were used already, are followed through the trie one by one.
 */
import type { Member, ObjectFrame } from "../grammar/object-frame.ts";
import type { WritableKeys } from "../grammar/writable-keys.ts";
import type { ObjectCell } from "./cell.ts";
import type { ContentMask, ContentMasks } from "./content-masks.ts";
import type { JsonMachine } from "./json-machine.ts";
import { addToken, removeToken, type TokenWords, tokenWords } from "./token-set.ts";
import type { Vocabulary } from "./vocabulary.ts";

const QUOTE = 0x22;
/** With fewer keys left than this, each way on is looked at by itself. */
const FEW_KEYS = 10_000;

export class KeyMasks {
  readonly #machine: JsonMachine;
  readonly #vocabulary: Vocabulary;
  readonly #contents: ContentMasks;
  readonly #tailsAfter: (member: Member) => Uint8Array;

  /** @param tailsAfter which tails may follow the closing quote of a key with this member. */
  constructor(
    machine: JsonMachine,
    vocabulary: Vocabulary,
    contents: ContentMasks,
    tailsAfter: (member: Member) => Uint8Array,
  ) {
    this.#machine = machine;
    this.#vocabulary = vocabulary;
    this.#contents = contents;
    this.#tailsAfter = tailsAfter;
  }

  /** @returns null where only a walk with the machine itself can tell. */
  compute(): TokenWords | null {
    const { state, count, points, lo, hi } = this.#machine;
    const { frame } = this.#machine.cell as ObjectCell;
    const words = tokenWords(this.#vocabulary.size);
    if (count >= 0) {
      const keys = frame.unnamedKeys as WritableKeys;
      const conflicts = state >= 0 || lo < hi;
      if (conflicts && keys.countFrom(count, points, FEW_KEYS) < FEW_KEYS) return null;
      this.#unnamed(frame, this.#contents.of(keys, count, points), words);
    }
    if (state >= 0) this.#names(frame, state, 0, words);
    for (let i = lo; i < hi; i++) this.#withoutUsed(frame.state.used[i] as Uint8Array, words);
    return words;
  }

  #unnamed(frame: ObjectFrame, content: ContentMask, words: TokenWords): void {
    words.set(content.words);
    let colour = -1;
    let accepted: Uint8Array | null = null;
    for (const { closer, verdict } of content.closings) {
      if (verdict[0] !== colour) {
        colour = verdict[0] as number;
        const member = frame.anyUnnamed(colour);
        accepted = member && this.#tailsAfter(member);
      }
      if (!accepted) continue;
      for (let i = 0; i < closer.tokens.length; i++) {
        if (accepted[closer.tails[i] as number] === 1) addToken(words, closer.tokens[i] as number);
      }
    }
  }

  /** Follows the names from a state of theirs and a node of the trie together. */
  #names(frame: ObjectFrame, names: number, node: number, words: TokenWords): void {
    const { nameTexts } = frame.shape;
    const { trie } = this.#vocabulary;
    const index = nameTexts.endOf(names);
    if (index >= 0) this.#closeName(frame, nameTexts.sources[index] as number, node, words);
    for (const byte of nameTexts.nextBytes(names)) {
      const child = node === 0 ? (trie.roots[byte] as number) : trie.child(node, byte);
      if (child < 0) continue;
      const next = nameTexts.step(names, byte);
      if (frame.hasNamed(next)) for (const token of trie.tokensAt(child)) addToken(words, token);
      this.#names(frame, next, child, words);
    }
  }

  /** The tokens that close a name go by that name's member, whatever unnamed keys allow. */
  #closeName(frame: ObjectFrame, rank: number, node: number, words: TokenWords): void {
    const { trie, content } = this.#vocabulary;
    const quote = node === 0 ? (trie.roots[QUOTE] as number) : trie.child(node, QUOTE);
    if (quote < 0) return;
    const { tokens, tails } = content.closerAt(quote);
    const member = frame.named(rank);
    const accepted = member && this.#tailsAfter(member);
    for (let i = 0; i < tokens.length; i++) {
      if (accepted?.[tails[i] as number] === 1) addToken(words, tokens[i] as number);
      else removeToken(words, tokens[i] as number);
    }
  }

  #withoutUsed(key: Uint8Array, words: TokenWords): void {
    const { trie, content } = this.#vocabulary;
    let node = 0;
    for (const byte of [...key.subarray(this.#machine.keyLength), QUOTE]) {
      node = node === 0 ? (trie.roots[byte] as number) : trie.child(node, byte);
      if (node < 0) return;
    }
    for (const token of content.closerAt(node).tokens) removeToken(words, token);
  }
}
