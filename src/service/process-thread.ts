/**
 * Runs processes on a thread of their own, so that a year of bank records does not keep tokens and
 * other answers waiting, and a second core has something to do. Handing a small one over and back
 * costs 3 µs, running it 55 (measured).
 */
import { Worker } from "node:worker_threads";
import { ProcessInputError } from "../process/input-error.ts";
import type { Registry } from "../process/registry.ts";
import { type ProcessResult, type ProcessTask, runTask } from "./process-tasks.ts";
import type { NumberedTask, ProcessWorkerData, TaskOutcome } from "./process-worker.ts";

export interface ProcessRunner {
  /** @throws (rejects) ProcessInputError; Error where the engine, or the thread, failed. */
  run(task: ProcessTask): Promise<ProcessResult>;
  close(): Promise<void>;
}

/** @param onThread else on this one, and with engines that are no part of this build too. */
export function openProcessRunner(registry: Registry, onThread: boolean): ProcessRunner {
  if (!onThread) {
    return { run: async (task) => runTask(registry, task), close: async () => {} };
  }
  const ids = registry.catalog.flatMap(({ id, engines }) =>
    engines.map((version) => `${id}@${version}`),
  );
  return new ProcessThread(ids);
}

type Waiting = PromiseWithResolvers<ProcessResult>;

class ProcessThread implements ProcessRunner {
  readonly #engines: ProcessWorkerData;
  readonly #waiting = new Map<number, Waiting>();
  /** Started with the first task, and again after one that ended it. */
  #worker: Worker | null = null;
  #unsent: NumberedTask[] = [];
  #nextId = 0;

  /** @param engines the ids of those that may run. */
  constructor(engines: ProcessWorkerData) {
    this.#engines = engines;
  }

  run(task: ProcessTask): Promise<ProcessResult> {
    const id = this.#nextId++;
    const waiting = Promise.withResolvers<ProcessResult>();
    this.#waiting.set(id, waiting);
    // Everything that this turn of the event loop brings goes in one message.
    if (this.#unsent.length === 0) setImmediate(() => this.#send());
    this.#unsent.push({ id, text: JSON.stringify(task) });
    return waiting.promise;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
    this.#failAll(new Error("the server is closing"));
  }

  #send(): void {
    const tasks = this.#unsent;
    this.#unsent = [];
    this.#worker ??= this.#start();
    this.#worker.postMessage(tasks);
  }

  #start(): Worker {
    const url = new URL("./process-worker.ts", import.meta.url);
    const worker = new Worker(url, { workerData: this.#engines });
    // What waits for an answer keeps the program alive, not the thread.
    worker.unref();
    worker.on("message", (answers: readonly TaskOutcome[]) => {
      for (const answer of answers) this.#settle(answer);
    });
    const onEnd = (error: Error): void => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#failAll(error);
    };
    worker.on("error", onEnd);
    worker.on("exit", () => onEnd(new Error("the thread of the processes ended")));
    return worker;
  }

  #settle({ id, outcome }: TaskOutcome): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (outcome.kind === "result") {
      waiting?.resolve(outcome.result);
    } else if (outcome.kind === "refusal") {
      waiting?.reject(new ProcessInputError(outcome.code, outcome.pointer, outcome.message));
    } else {
      waiting?.reject(Object.assign(new Error(outcome.message), { stack: outcome.stack }));
    }
  }

  #failAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
