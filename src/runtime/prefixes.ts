/**
 * Which slot holds which beginning of a prompt. Prompts are computed in chunks at fixed positions,
 * each in a call of its own; a whole chunk has the same bits whoever computed it, so another prompt
 * that begins alike may take it over. Never across tenants: the time it saves would tell one what
 * another asks.
 */
import { sha256Hex } from "../crypto/hash.ts";

/**
 * A name for each whole chunk of a prompt. Equal names mean equal tokens from the start on, and the
 * same tenant.
 */
export function chunkKeys(
  tenantId: string,
  tokens: readonly number[],
  chunkTokens: number,
): readonly string[] {
  const keys: string[] = [];
  let key = sha256Hex(tenantId);
  for (let end = chunkTokens; end <= tokens.length; end += chunkTokens) {
    const chunk = Uint32Array.from(tokens.slice(end - chunkTokens, end));
    key = sha256Hex(`${key} ${sha256Hex(new Uint8Array(chunk.buffer))}`);
    keys.push(key);
  }
  return keys;
}

export interface PrefixMatch {
  readonly slot: number;
  readonly chunks: number;
}

/** What the slots hold. Only whole chunks that a prefill computed are ever listed. */
export class SlotPrefixes {
  readonly #keys: (readonly string[])[];
  /** When each slot was last of use; larger is later. */
  readonly #used: number[];
  #clock = 0;

  constructor(slots: number) {
    this.#keys = Array.from({ length: slots }, () => []);
    this.#used = new Array<number>(slots).fill(0);
  }

  keys(slot: number): readonly string[] {
    return this.#keys[slot] ?? [];
  }

  set(slot: number, keys: readonly string[]): void {
    this.#keys[slot] = keys;
    this.touch(slot);
  }

  touch(slot: number): void {
    this.#clock += 1;
    this.#used[slot] = this.#clock;
  }

  clear(slot: number): void {
    this.#keys[slot] = [];
    this.#used[slot] = 0;
  }

  /** The slot with most of these chunks; `preferred` where it has as many. */
  find(keys: readonly string[], preferred: number): PrefixMatch | null {
    for (let chunks = keys.length; chunks > 0; chunks--) {
      const key = keys[chunks - 1];
      const holders = this.#keys.flatMap((held, slot) => (held[chunks - 1] === key ? [slot] : []));
      const slot = holders.includes(preferred) ? preferred : holders[0];
      if (slot !== undefined) return { slot, chunks };
    }
    return null;
  }

  /**
   * Where to keep what a free slot holds: in the slot that was of no use for longest.
   * @param wanted chunks of the slot's next prompt.
   * @param first of the slots that keep prefixes; those before it decode.
   * @returns null where one of them has it, or the next prompt begins with it.
   */
  keeperFor(slot: number, wanted: readonly string[], first: number): number | null {
    const keys = this.keys(slot);
    const last = keys.length - 1;
    if (last < 0 || wanted[last] === keys[last]) return null;
    let oldest: number | null = null;
    for (let keeper = first; keeper < this.#keys.length; keeper++) {
      if (this.#keys[keeper]?.[last] === keys[last]) return null;
      if (oldest === null || this.#lastUse(keeper) < this.#lastUse(oldest)) oldest = keeper;
    }
    return oldest;
  }

  #lastUse(slot: number): number {
    return this.#used[slot] ?? 0;
  }
}
