/**
 * Tells of long silences in a stream. One timer looks now and then how long the stream has been
 * waiting: to set and clear one for each token would cost more than its event.
 */
export class Silence {
  readonly #longestMs: number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #sinceMs = 0;
  /** Set while something is waited for. */
  #tell: (() => void) | null = null;

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** @returns null where the value is not there in time; it may be waited for again. */
  async within<T>(value: Promise<T>): Promise<T | null> {
    this.#sinceMs = performance.now();
    this.#timer ??= setTimeout(this.#look, this.#longestMs);
    try {
      return await new Promise<T | null>((resolve, reject) => {
        this.#tell = () => resolve(null);
        value.then(resolve, reject);
      });
    } finally {
      this.#tell = null;
    }
  }

  /** Nothing is waited for any more. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  readonly #look = (): void => {
    this.#timer = null;
    if (this.#tell === null) return;
    const leftMs = this.#sinceMs + this.#longestMs - performance.now();
    if (leftMs <= 0) this.#tell();
    else this.#timer = setTimeout(this.#look, leftMs);
  };
}
