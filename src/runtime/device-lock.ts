/**
 * The cores of a device, lent to one call after another. Calls run side by side as long as their
 * threads have a core each: threads that share one would spin while they wait for each other.
 */
interface Waiting {
  readonly threads: number;
  readonly start: () => void;
}

export class DeviceLock {
  readonly #threads: number;
  #free: number;
  readonly #waiting: Waiting[] = [];

  /** @param threads that may run at once; 1 where a device computes one call at a time anyway. */
  constructor(threads: number) {
    this.#threads = threads;
    this.#free = threads;
  }

  /**
   * Runs `work` when as many threads are free. In the order of asking: a call that takes all of
   * them is not kept waiting by smaller ones that came later.
   */
  async hold<T>(work: () => Promise<T>, threads = this.#threads): Promise<T> {
    const wanted = Math.min(threads, this.#threads);
    if (this.#waiting.length > 0 || this.#free < wanted) {
      await new Promise<void>((start) => this.#waiting.push({ threads: wanted, start }));
    } else {
      this.#free -= wanted;
    }
    try {
      return await work();
    } finally {
      this.#free += wanted;
      this.#startWaiting();
    }
  }

  /** Their threads are taken here, so that nobody else gets in between. */
  #startWaiting(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (next.threads > this.#free) return;
      this.#waiting.shift();
      this.#free -= next.threads;
      next.start();
    }
  }
}
