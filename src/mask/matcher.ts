/**
 * The lock of one answer: which tokens may come next, and what was accepted so far. A token is
 * accepted byte by byte and needs no mask; a mask is made only when somebody asks for it.
 */
import type { Grammar } from "../grammar/grammar.ts";
import { Budget } from "./budget.ts";
import { CfgRecogniser } from "./cfg-recogniser.ts";
import { forcedTokens } from "./forced-tokens.ts";
import { JsonRecogniser } from "./json-recogniser.ts";
import type { Machine, Recogniser } from "./recogniser.ts";
import { addAll, type TokenWords } from "./token-set.ts";
import type { Vocabulary } from "./vocabulary.ts";

const BRACE = 0x7b;

export class Matcher {
  readonly #recogniser: Recogniser<object>;
  readonly #machine: Machine<object>;
  readonly #vocabulary: Vocabulary;
  readonly #budget: Budget<object>;
  /** The machine before each accepted token. */
  readonly #history: object[] = [];
  readonly #tokens: number[] = [];
  /** The answer may be free text: anything that does not begin with a brace. */
  readonly #mayBeText: boolean;
  #isText = false;
  #hasEnded = false;

  constructor(grammar: Grammar, vocabulary: Vocabulary) {
    this.#recogniser = recogniserOf(grammar, vocabulary);
    this.#machine = this.#recogniser.machine;
    this.#mayBeText = grammar.kind === "tool-call" && grammar.allowText;
    this.#vocabulary = vocabulary;
    this.#budget = new Budget(this.#recogniser, vocabulary);
  }

  /** Nothing has come yet, and it may be text. */
  get #isOpen(): boolean {
    return this.#mayBeText && this.#history.length === 0;
  }

  /**
   * The tokens that may come next: bit (t & 31) of word t >> 5 is set where token t is allowed, end
   * of generation included. The view is valid until the next call.
   */
  computeMask(): Uint32Array {
    const words = this.#isText ? this.#vocabulary.text.any : this.#lockedMask();
    return new Uint32Array(words.buffer, words.byteOffset, words.length);
  }

  /**
   * The same as a list, each token once, whatever the budget; null where they are many, or where
   * that is not soon told.
   */
  fewTokens(): Uint32Array | null {
    const isWide = this.#isText || this.#isOpen || this.#recogniser.isFree;
    return isWide ? null : this.#recogniser.fewTokens();
  }

  /**
   * For a budget that is nearly spent: some of the tokens that may come next and after which a
   * whole value still fits, never none. All of them where few may come; of long texts those that
   * can end them. `computeMask` would try each of the vocabulary's tokens, which takes a second.
   */
  closingMask(): Uint32Array {
    const closers = this.#isText || this.#isOpen ? null : this.#recogniser.closers();
    if (closers === null) return this.computeMask();
    const words = this.#budget.filterSome(this.#recogniser.computeMask(), closers);
    return new Uint32Array(words.buffer, words.byteOffset, words.length);
  }

  #lockedMask(): TokenWords {
    const words = this.#budget.filter(this.#recogniser.computeMask());
    if (!this.#isOpen) return words;
    const both = words.slice();
    addAll(both, this.#vocabulary.text.notBrace);
    return both;
  }

  /** @returns false for a token that may not come; nothing has changed then. */
  accept(tokenId: number): boolean {
    if (this.#hasEnded) return false;
    const machine = this.#machine;
    const before = machine.save();
    const isEnd = this.#vocabulary.isEndOfGeneration(tokenId);
    const isText = this.#isText || (this.#isOpen && this.#isTextStart(tokenId, isEnd));
    if (isText ? !this.#isTextToken(tokenId, isEnd) : !this.#stepTo(tokenId, isEnd, before)) {
      return false;
    }
    this.#history.push(before);
    this.#tokens.push(tokenId);
    this.#isText = isText;
    this.#hasEnded = isEnd;
    this.#budget.spend(tokenId);
    return true;
  }

  #isTextStart(tokenId: number, isEnd: boolean): boolean {
    return isEnd || this.#vocabulary.tokenBytes(tokenId)[0] !== BRACE;
  }

  #isTextToken(tokenId: number, isEnd: boolean): boolean {
    return isEnd || this.#vocabulary.tokenBytes(tokenId).length > 0;
  }

  #stepTo(tokenId: number, isEnd: boolean, before: object): boolean {
    return isEnd ? this.#machine.canEnd : this.#step(tokenId, before);
  }

  #step(tokenId: number, before: object): boolean {
    const machine = this.#machine;
    const bytes = this.#vocabulary.tokenBytes(tokenId);
    if (bytes.length === 0) return false;
    // By index, as in all that runs once a token: iterators are slow where caches are cold.
    for (let i = 0; i < bytes.length; i++) {
      if (machine.step(bytes[i] as number)) continue;
      machine.undo(before);
      return false;
    }
    if (this.#budget.fits(tokenId, before)) return true;
    machine.undo(before);
    return false;
  }

  /** The text so far is a whole value: end of generation is allowed. */
  get isComplete(): boolean {
    return this.#isText || this.#isOpen || this.#machine.canEnd;
  }

  /**
   * From now on only tokens after which a whole value still fits.
   * @param tokensLeft tokens that may still come, the end of generation included; null for any
   *   number. Tokens accepted later count against it. Less than `needTokens()` allows nothing but
   *   the shortest way out, which is then cut off: refuse such a budget beforehand.
   */
  setBudget(tokensLeft: number | null): void {
    this.#budget.left = tokensLeft;
  }

  /**
   * Tokens of the shortest known completion from here, the end of generation included; infinite
   * where it is too long for any answer, or the vocabulary cannot spell it.
   */
  needTokens(): number {
    return this.#isText || this.#isOpen ? 1 : this.#budget.need;
  }

  /** Tokens of that completion, without the end; null where there is none. */
  shortestWayOut(): readonly number[] | null {
    return this.#isText || this.#isOpen ? [] : this.#budget.wayOut;
  }

  /** The budget has refused something that the grammar allowed. */
  get budgetLimited(): boolean {
    return this.#budget.hasLimited;
  }

  /**
   * The tokens that the grammar leaves no choice about, as the model's tokenizer would write them;
   * empty where there is a choice, or where the tokenizer is not known. All of them are accepted.
   */
  forcedTokens(): number[] {
    if (this.#isText || this.#isOpen || this.#hasEnded || this.#recogniser.isFree) return [];
    const tokens = forcedTokens(this.#recogniser, this.#vocabulary, this.#tokens);
    // Every way out begins with what is forced: where there is ample room for one, all of it fits.
    if (tokens.length === 0 || this.#budget.isAmple) return tokens;
    // Close to the end of the budget there may be room for a shorter spelling only.
    const refused = tokens.findIndex((token) => !this.accept(token));
    const count = refused < 0 ? tokens.length : refused;
    this.rollback(count);
    return tokens.slice(0, count);
  }

  /** Takes back the last tokens accepted. */
  rollback(tokenCount: number): void {
    const mark = this.#history[this.#history.length - tokenCount];
    if (tokenCount === 0 || !mark) return;
    this.#machine.undo(mark);
    this.#history.length -= tokenCount;
    this.#tokens.length -= tokenCount;
    this.#hasEnded = false;
    if (this.#history.length === 0) this.#isText = false;
    this.#budget.forget();
    if (this.#budget.left !== null) this.#budget.left += tokenCount;
  }

  reset(): void {
    this.rollback(this.#history.length);
    this.#budget.hasLimited = false;
  }
}

function recogniserOf(grammar: Grammar, vocabulary: Vocabulary): Recogniser<object> {
  if (grammar.kind === "cfg") return new CfgRecogniser(grammar, vocabulary);
  return new JsonRecogniser(grammar.kind === "schema" ? grammar : grammar.calls, vocabulary);
}
