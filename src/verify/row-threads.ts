/** Checks files of rows on threads of their own, with native hashing. */
import { Worker } from "node:worker_threads";
import type { CheckedRows, RowFile, RowFileContext } from "./row-file.ts";
import type { RowJob } from "./row-worker.ts";
import type { RowCheckers } from "./verify.ts";

interface Waiting {
  readonly resolve: (checked: CheckedRows) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  /** In the order of its answers. */
  readonly waiting: Waiting[];
}

export class RowThreads implements RowCheckers {
  readonly filesMax: number;
  readonly #threads: readonly Thread[];
  #turn = 0;

  constructor(count: number) {
    // One file in work and one ready, for each.
    this.filesMax = 2 * count;
    this.#threads = Array.from({ length: count }, openThread);
  }

  check({ macKeys, wantedHashes }: RowFileContext, file: RowFile): Promise<CheckedRows> {
    const thread = this.#threads[this.#turn++ % this.#threads.length];
    if (thread === undefined) throw new Error("there is no thread");
    const { promise, resolve, reject } = Promise.withResolvers<CheckedRows>();
    // After an earlier file's finding nobody waits for this one.
    promise.catch(() => undefined);
    thread.waiting.push({ resolve, reject });
    // Its own copy: a view would bring along all that its buffer holds.
    const bytes = file.bytes.slice();
    const job: RowJob = { context: { macKeys, wantedHashes }, file: { ...file, bytes } };
    thread.worker.postMessage(job, [bytes.buffer]);
    return promise;
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }
}

function openThread(): Thread {
  const worker = new Worker(new URL("./row-worker.ts", import.meta.url));
  const waiting: Waiting[] = [];
  worker.on("message", (checked: CheckedRows) => waiting.shift()?.resolve(checked));
  worker.on("error", (error) => {
    for (const { reject } of waiting.splice(0)) reject(error);
  });
  return { worker, waiting };
}
