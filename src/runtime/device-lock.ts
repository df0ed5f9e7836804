/**
 * One call at a time on a device. Two contexts that decode at once on a CPU would each have a
 * thread per core, and threads that spin while they wait for each other.
 */
export class DeviceLock {
  #isHeld = false;
  readonly #waiting: (() => void)[] = [];

  /** Runs `work` when all that came before has ended. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isHeld = true;
    try {
      return await work();
    } finally {
      // Handed over, so that nobody else gets in between.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#isHeld = false;
    }
  }
}
