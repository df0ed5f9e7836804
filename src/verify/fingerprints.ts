/**
 * Remembers short fingerprints of many strings in bounded memory: to find a request id that occurs
 * twice, and equal inputs with unequal outputs, among millions of rows. Two different strings have
 * the same fingerprint with a probability of about n^2 / 2^65.
 */

/** 4,194,304 slots of 12 bytes: 48 MiB, for two million entries. */
const SLOTS_MAX = 2 ** 22;

/** A slot's words stand together: looking one up misses the cache once instead of three times. */
const WORDS = 3;

export class Fingerprints {
  #slots = 2 ** 12;
  /** Of each slot: low, high, value. */
  #words = new Uint32Array(WORDS * this.#slots);
  #count = 0;

  /** Whether no more can be remembered: from here on `add` finds nothing new wrong. */
  get isFull(): boolean {
    return this.#count * 2 >= SLOTS_MAX;
  }

  /**
   * @param low and `high`: 32 bits each of the key's fingerprint.
   * @param value 0 to 2^32 - 1.
   * @returns the value that this key was first added with: `value` itself for a new key.
   */
  add(low: number, high: number, value: number): number {
    const at = this.#find(low, high);
    const words = this.#words;
    if (words[at] === low && words[at + 1] === high) return words[at + 2] ?? 0;
    if (this.isFull) return value;
    this.#put(at, low, high, value);
    this.#count += 1;
    if (this.#count * 2 > this.#slots && this.#slots < SLOTS_MAX) this.#grow();
    return value;
  }

  /** Where the slot of a fingerprint begins, or the empty one where it belongs. */
  #find(low: number, high: number): number {
    const words = this.#words;
    let slot = low & (this.#slots - 1);
    for (;;) {
      const at = WORDS * slot;
      const isEmpty = words[at] === 0 && words[at + 1] === 0;
      if (isEmpty || (words[at] === low && words[at + 1] === high)) return at;
      slot = (slot + 1) & (this.#slots - 1);
    }
  }

  #put(at: number, low: number, high: number, value: number): void {
    this.#words[at] = low;
    this.#words[at + 1] = high;
    this.#words[at + 2] = value;
  }

  #grow(): void {
    const before = this.#words;
    this.#slots *= 2;
    this.#words = new Uint32Array(WORDS * this.#slots);
    for (let at = 0; at < before.length; at += WORDS) {
      const low = before[at] ?? 0;
      const high = before[at + 1] ?? 0;
      if (low === 0 && high === 0) continue;
      this.#put(this.#find(low, high), low, high, before[at + 2] ?? 0);
    }
  }
}

/** 32 bits of a text (FNV-1a with another end); a different `seed` gives different bits. */
export function textHash(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  return (hash ^ (hash >>> 15)) >>> 0;
}
