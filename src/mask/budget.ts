/**
 * The budget lock: as tokens run out, only those are allowed after which a whole value still fits.
 * A real way out is at hand where it matters, as a list of tokens; its first token is allowed
 * whatever else is refused, so there is always one that is.
 */
import type { Recogniser } from "./recogniser.ts";
import { addToken, hasToken, removeToken, type TokenWords, tokenWords } from "./token-set.ts";
import type { Vocabulary } from "./vocabulary.ts";

export class Budget<Mark extends object> {
  /** Tokens that may still come, the end of generation included; null for any number. */
  left: number | null = null;
  /** Something was refused that the grammar allows. */
  hasLimited = false;
  readonly #recogniser: Recogniser<Mark>;
  readonly #vocabulary: Vocabulary;
  /** Tokens that end the text from here, the end of generation left out; null: not looked for. */
  #escape: readonly number[] | null = null;
  /** The same behind the token that `fits` was last asked about. */
  #next: readonly number[] | null = null;
  #there: Mark | undefined;
  #before: Mark | undefined;
  readonly #words: TokenWords;

  constructor(recogniser: Recogniser<Mark>, vocabulary: Vocabulary) {
    this.#recogniser = recogniser;
    this.#vocabulary = vocabulary;
    this.#words = tokenWords(vocabulary.size);
  }

  /** Tokens to the end, that of generation included; infinite where no budget would be enough. */
  get need(): number {
    const tokens = this.wayOut;
    return tokens === null ? Number.POSITIVE_INFINITY : tokens.length + 1;
  }

  /** A short way to the end of the text, as tokens; null where none is short enough. */
  get wayOut(): readonly number[] | null {
    this.#escape ??= this.#recogniser.tokensOut();
    return this.#escape;
  }

  /** What is left is enough for a way out from here, also where its bytes are taken one by one. */
  get isAmple(): boolean {
    if (this.left === null) return true;
    // Every byte is a token of its own, so bytes are never fewer than tokens.
    return this.#vocabulary.hasAllBytes && this.#recogniser.room + 2 <= this.left;
  }

  /** The text was changed by something else than accepted tokens. */
  forget(): void {
    this.#escape = null;
  }

  /** Takes note of an accepted token of which `fits` was asked last. */
  spend(token: number): void {
    this.#escape = this.#escape?.[0] === token ? this.#escape.slice(1) : this.#next;
    this.#next = null;
    if (this.left !== null) this.left -= 1;
  }

  /**
   * Whether the text can be ended in time after a token.
   * @param before where the machine stood; it stands behind the token now.
   */
  fits(token: number, before: Mark): boolean {
    this.#next = null;
    const { left } = this;
    if (left === null || this.isAmple) return true;
    this.#next = this.#recogniser.tokensOut();
    if (this.#next && this.#next.length + 2 <= left) return true;
    const { machine } = this.#recogniser;
    const there = machine.save(this.#there);
    this.#there = there;
    machine.undo(before);
    const isEscape = this.wayOut?.[0] === token;
    machine.undo(there);
    if (!isEscape) this.hasLimited = true;
    return isEscape;
  }

  /** A mask without the tokens that do not fit. Valid until the next call. */
  filter(mask: TokenWords): TokenWords {
    const { left } = this;
    if (left === null) return mask;
    const words = this.#words;
    words.set(mask);
    const suspects = this.#recogniser.suspects(left);
    if (suspects) for (const token of suspects) this.#check(words, token);
    else for (let token = 0; token < this.#vocabulary.size; token++) this.#check(words, token);
    return words;
  }

  /**
   * Of some tokens of a mask those that fit, and the first of the way out. Valid until the next
   * call.
   */
  filterSome(mask: TokenWords, some: Iterable<number>): TokenWords {
    const words = this.#words;
    words.fill(0);
    for (const token of some) {
      if (!hasToken(mask, token)) continue;
      addToken(words, token);
      if (this.left !== null) this.#check(words, token);
    }
    const [first] = this.wayOut ?? [];
    if (first !== undefined) addToken(words, first);
    return words;
  }

  #check(words: TokenWords, token: number): void {
    if (!hasToken(words, token) || this.#vocabulary.isEndOfGeneration(token)) return;
    const { machine } = this.#recogniser;
    const before = machine.save(this.#before);
    this.#before = before;
    let fits = true;
    for (const byte of this.#vocabulary.tokenBytes(token)) fits &&= machine.step(byte);
    fits &&= this.fits(token, before);
    machine.undo(before);
    if (!fits) removeToken(words, token);
  }
}
