/**
 * One call at a time on a device. Two contexts that decode at once on a CPU would each have a
 * thread per core, and threads that spin while they wait for each other.
 */
export class DeviceLock {
  #tail: Promise<void> = Promise.resolve();

  /** Runs `work` when all that came before has ended. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#tail;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tail = promise;
    await before;
    try {
      return await work();
    } finally {
      resolve();
    }
  }
}
