/** One process or workflow to run, here or on another thread. */
import { assert } from "../bytes/assert.ts";
import type { JsonValue } from "../bytes/canonical-json.ts";
import { compose } from "../process/compose.ts";
import { type JsonObject, runProcess } from "../process/definition.ts";
import type { Registry } from "../process/registry.ts";

export type ProcessTask =
  | {
      readonly kind: "process";
      readonly slug: string;
      readonly version: string;
      readonly input: JsonValue;
    }
  | { readonly kind: "workflow"; readonly body: JsonValue };

/** What a process or a workflow made, before anyone is told. */
export interface ProcessResult {
  /** JSON of an object with members, none of which is `receipt`. */
  readonly outputText: string;
  readonly outputHash: string;
  readonly deterministicHash: string;
  readonly engine: string;
}

/** How a row names a workflow; its steps name their own engines in the output. */
const COMPOSE_ENGINE = "svc-compose/1";

/** @throws ProcessInputError for what its caller got wrong. */
export function runTask(registry: Registry, task: ProcessTask): ProcessResult {
  if (task.kind === "workflow") {
    const { output, outputHash, chainHash } = compose(registry, task.body);
    const outputText = textOf(output);
    return { outputText, outputHash, deterministicHash: chainHash, engine: COMPOSE_ENGINE };
  }
  const found = registry.resolve(task.slug, task.version, "");
  const { output, outputHash, deterministicHash, engine } = runProcess(found, task.input);
  return { outputText: textOf(output), outputHash, deterministicHash, engine };
}

function textOf(output: JsonObject): string {
  assert(Object.keys(output).length > 0, "a process has no output");
  assert(!Object.hasOwn(output, "receipt"), "a process makes its own receipt");
  return JSON.stringify(output);
}
