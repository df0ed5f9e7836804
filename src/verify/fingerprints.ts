/**
 * Remembers short fingerprints of many strings in bounded memory: to find a request id that occurs
 * twice, and equal inputs with unequal outputs, among millions of rows. Two different strings have
 * the same fingerprint with a probability of about n^2 / 2^65.
 */

/** 4,194,304 slots of 12 bytes: 48 MiB, for two million entries. */
const SLOTS_MAX = 2 ** 22;

export class Fingerprints {
  #slots = 2 ** 12;
  #low = new Uint32Array(this.#slots);
  #high = new Uint32Array(this.#slots);
  #values = new Uint32Array(this.#slots);
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
    const slot = this.#find(low, high);
    if (this.#low[slot] === low && this.#high[slot] === high) return this.#values[slot] ?? 0;
    if (this.isFull) return value;
    this.#put(slot, low, high, value);
    this.#count += 1;
    if (this.#count * 2 > this.#slots && this.#slots < SLOTS_MAX) this.#grow();
    return value;
  }

  /** The slot of a fingerprint, or the empty one where it belongs. */
  #find(low: number, high: number): number {
    let slot = low & (this.#slots - 1);
    for (;;) {
      const isEmpty = this.#low[slot] === 0 && this.#high[slot] === 0;
      if (isEmpty || (this.#low[slot] === low && this.#high[slot] === high)) return slot;
      slot = (slot + 1) & (this.#slots - 1);
    }
  }

  #put(slot: number, low: number, high: number, value: number): void {
    this.#low[slot] = low;
    this.#high[slot] = high;
    this.#values[slot] = value;
  }

  #grow(): void {
    const [lows, highs, values] = [this.#low, this.#high, this.#values];
    this.#slots *= 2;
    this.#low = new Uint32Array(this.#slots);
    this.#high = new Uint32Array(this.#slots);
    this.#values = new Uint32Array(this.#slots);
    for (let index = 0; index < lows.length; index++) {
      const low = lows[index] ?? 0;
      const high = highs[index] ?? 0;
      if (low === 0 && high === 0) continue;
      this.#put(this.#find(low, high), low, high, values[index] ?? 0);
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
