/** The processes as the service starts them: an engine that fails its self-test is not served. */
import type { ProcessEngine } from "./definition.ts";
import { PROCESS_ENGINES } from "./processes.ts";
import { createRegistry, type Registry, type SelfTestFailure } from "./registry.ts";

export interface StartedProcesses {
  /** Only engines whose goldens reproduce on this machine. */
  readonly registry: Registry;
  /** For `GET /health` and the log; empty on a sound machine. */
  readonly failures: readonly SelfTestFailure[];
}

export function startProcesses(
  engines: readonly ProcessEngine[] = PROCESS_ENGINES,
): StartedProcesses {
  const failures = createRegistry(engines).selfTest();
  const failed = new Set(failures.map(({ engine }) => engine));
  return { registry: createRegistry(engines.filter(({ id }) => !failed.has(id))), failures };
}
