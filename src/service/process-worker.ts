/** The thread that runs processes: see `process-thread.ts`. */
import { parentPort, workerData } from "node:worker_threads";
import { ProcessInputError } from "../process/input-error.ts";
import { PROCESS_ENGINES } from "../process/processes.ts";
import { createRegistry } from "../process/registry.ts";
import { type ProcessResult, type ProcessTask, runTask } from "./process-tasks.ts";

/** The engines to carry, by id. */
export type ProcessWorkerData = readonly string[];

/** Objects cross threads as JSON: cloning them takes several times as long (measured). */
export interface NumberedTask {
  readonly id: number;
  /** JSON of a `ProcessTask`. */
  readonly text: string;
}

export interface TaskOutcome {
  readonly id: number;
  readonly outcome:
    | { readonly kind: "result"; readonly result: ProcessResult }
    | {
        readonly kind: "refusal";
        readonly code: ProcessInputError["code"];
        readonly pointer: string;
        readonly message: string;
      }
    | { readonly kind: "failure"; readonly message: string; readonly stack: string };
}

// One cast: `process-thread.ts` starts this file with nothing else.
const ids = workerData as ProcessWorkerData;
const registry = createRegistry(PROCESS_ENGINES.filter(({ id }) => ids.includes(id)));

/** Short tasks are answered together: a message costs 10 µs. None waits longer for a long one. */
const TOGETHER_MS = 2;

parentPort?.on("message", (tasks: readonly NumberedTask[]) => {
  let outcomes: TaskOutcome[] = [];
  let sinceMs = performance.now();
  const send = (): void => {
    parentPort?.postMessage(outcomes);
    outcomes = [];
    sinceMs = performance.now();
  };
  for (const { id, text } of tasks) {
    outcomes.push({ id, outcome: outcomeOf(text) });
    if (performance.now() - sinceMs > TOGETHER_MS) send();
  }
  if (outcomes.length > 0) send();
});

function outcomeOf(text: string): TaskOutcome["outcome"] {
  try {
    return { kind: "result", result: runTask(registry, JSON.parse(text) as ProcessTask) };
  } catch (error) {
    if (error instanceof ProcessInputError) {
      const { code, message, pointer } = error;
      return { kind: "refusal", code, pointer, message };
    }
    const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
    return { kind: "failure", message, stack };
  }
}
