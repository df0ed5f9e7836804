/**
 * What is told of an answer token by token where the request asks for it: which tokens the lock
 * forced, and what it took to find that out. The times are the one thing about an answer that its
 * text does not decide, so nothing that is compared or kept may hold them.
 */
import type { TokenLock } from "./lock.ts";
import type { TracedToken } from "./request.ts";

export class Trace {
  /** The answer's lock, with its work on the clock. */
  readonly lock: TokenLock | null;
  readonly #timed: TimedLock | null;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #tokens: TracedToken[] = [];

  constructor(lock: TokenLock | null) {
    this.#timed = lock && new TimedLock(lock);
    this.lock = this.#timed;
  }

  add(bytes: Uint8Array, forced: boolean): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#tokens.push({ text, forced, maskUs: this.#timed?.takeUs() ?? 0 });
  }

  /** The tokens since the last time. */
  take(): readonly TracedToken[] {
    const tokens = this.#tokens;
    this.#tokens = [];
    return tokens;
  }
}

class TimedLock implements TokenLock {
  readonly #lock: TokenLock;
  #ms = 0;

  constructor(lock: TokenLock) {
    this.#lock = lock;
  }

  /** Microseconds since the last time. */
  takeUs(): number {
    const us = this.#ms * 1000;
    this.#ms = 0;
    return us;
  }

  closingMask(): Uint32Array {
    return this.#timed(() => this.#lock.closingMask());
  }
  computeMask(): Uint32Array {
    return this.#timed(() => this.#lock.computeMask());
  }

  fewTokens(): Uint32Array | null {
    return this.#timed(() => this.#lock.fewTokens());
  }

  accept(tokenId: number): boolean {
    return this.#timed(() => this.#lock.accept(tokenId));
  }

  forcedTokens(): readonly number[] {
    return this.#timed(() => this.#lock.forcedTokens());
  }

  get isComplete(): boolean {
    return this.#lock.isComplete;
  }

  setBudget(tokensLeft: number | null): void {
    this.#lock.setBudget(tokensLeft);
  }

  needTokens(): number {
    return this.#timed(() => this.#lock.needTokens());
  }

  get budgetLimited(): boolean {
    return this.#lock.budgetLimited;
  }

  #timed<T>(work: () => T): T {
    const startedMs = performance.now();
    try {
      return work();
    } finally {
      this.#ms += performance.now() - startedMs;
    }
  }
}
