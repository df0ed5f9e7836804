/**
 * A lock for runtime tests: a sequence of parts, each a fixed text or a run of bytes of one kind.
 * Small enough to see that it is right; the real one is `src/mask`.
 */
import type { TokenLock, TokenTable } from "../../src/runtime/lock.ts";

export type Part =
  | { readonly text: string }
  | { readonly bytes: "letters" | "digits" | "any"; readonly min: number; readonly max: number };

export interface PartGrammar {
  readonly parts: readonly Part[];
}

interface State {
  readonly part: number;
  /** Bytes of the part so far. */
  readonly done: number;
}

export class PartLock implements TokenLock {
  readonly #parts: readonly Part[];
  readonly #table: TokenTable;
  #state: State = { part: 0, done: 0 };
  #left: number | null = null;
  #ended = false;
  budgetLimited = false;

  constructor({ parts }: PartGrammar, table: TokenTable) {
    this.#parts = parts;
    this.#table = table;
    this.#state = this.#settle(this.#state);
  }

  get isComplete(): boolean {
    return this.#bytesNeeded(this.#state) === 0;
  }

  accept(token: number): boolean {
    const next = this.#after(token);
    if (next === null || this.#ended) return false;
    if (next === "end") this.#ended = true;
    else this.#state = next;
    return true;
  }

  computeMask(): Uint32Array {
    const mask = new Uint32Array(Math.ceil(this.#table.size / 32));
    for (let token = 0; token < this.#table.size; token++) {
      if (this.#after(token) === null) continue;
      mask[token >> 5] = (mask[token >> 5] ?? 0) | (1 << (token & 31));
    }
    return mask;
  }

  closingMask(): Uint32Array {
    return this.computeMask();
  }

  /** Digits are few, letters are not. */
  fewTokens(): Uint32Array | null {
    const tokens = [...Array(this.#table.size).keys()];
    const allowed = tokens.filter((token) => this.#after(token) !== null);
    return allowed.length <= 16 ? Uint32Array.from(allowed) : null;
  }

  /** Of a fixed text: single-byte tokens, one per byte. */
  forcedTokens(): number[] {
    const part = this.#parts[this.#state.part];
    if (this.#ended || part === undefined || !("text" in part)) return [];
    const rest = Buffer.from(part.text).subarray(this.#state.done);
    return [...rest].map((byte) => this.#byteToken(byte));
  }

  setBudget(tokensLeft: number | null): void {
    this.#left = tokensLeft;
  }

  /** Every byte can be a token of its own. */
  needTokens(): number {
    return this.#bytesNeeded(this.#state) + 1;
  }

  #byteToken(byte: number): number {
    for (let token = 0; token < this.#table.size; token++) {
      const bytes = this.#table.tokenBytes(token);
      if (bytes.length === 1 && bytes[0] === byte) return token;
    }
    throw new Error(`no token for byte ${byte}`);
  }

  #after(token: number): State | "end" | null {
    if (this.#table.isEndOfGeneration(token)) return this.isComplete ? "end" : null;
    const bytes = this.#table.tokenBytes(token);
    if (bytes.length === 0) return null;
    let state: State | null = this.#state;
    for (const byte of bytes) state = state && this.#step(state, byte);
    if (state === null) return null;
    if (this.#left === null || this.#bytesNeeded(state) + 1 <= this.#left - 1) return state;
    this.budgetLimited = true;
    return null;
  }

  #step({ part, done }: State, byte: number): State | null {
    const current = this.#parts[part];
    if (current === undefined) return null;
    if ("text" in current) {
      const bytes = Buffer.from(current.text);
      return bytes[done] === byte ? this.#settle({ part, done: done + 1 }) : null;
    }
    if (done < current.max && isOf(current.bytes, byte)) {
      return this.#settle({ part, done: done + 1 });
    }
    return done >= current.min ? this.#step({ part: part + 1, done: 0 }, byte) : null;
  }

  /** Past parts that are full. */
  #settle({ part, done }: State): State {
    const current = this.#parts[part];
    const full =
      current !== undefined &&
      done === ("text" in current ? Buffer.byteLength(current.text) : current.max);
    return full ? this.#settle({ part: part + 1, done: 0 }) : { part, done };
  }

  #bytesNeeded({ part, done }: State): number {
    return this.#parts.slice(part).reduce((sum, current, index) => {
      const whole = "text" in current ? Buffer.byteLength(current.text) : current.min;
      return sum + Math.max(0, whole - (index === 0 ? done : 0));
    }, 0);
  }
}

function isOf(kind: "letters" | "digits" | "any", byte: number): boolean {
  if (kind === "digits") return byte >= 0x30 && byte <= 0x39;
  if (kind === "letters") return byte >= 0x61 && byte <= 0x7a;
  return byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
}
