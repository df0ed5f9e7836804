/** Processes and workflows of them: pure functions, run, bound by a receipt, recorded. */
import type { JsonValue } from "../bytes/canonical-json.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import { expandComposition, expandProcessInput } from "../process/expand-records.ts";
import { ProcessInputError } from "../process/input-error.ts";
import type { CatalogEntry, Registry } from "../process/registry.ts";
import type { Receipt } from "../receipt/receipt.ts";
import type { Identity } from "../tenant/tenants.ts";
import { ApiError } from "./api-error.ts";
import type { Admitted, Caller, Meter, RecordedBody } from "./metered-call.ts";
import type { ProcessResult, ProcessTask } from "./process-tasks.ts";

export interface ProcessesDeps {
  readonly registry: Registry;
  /** Here, or on another thread. @throws (rejects) ProcessInputError for bad input. */
  readonly runTask: (task: ProcessTask) => Promise<ProcessResult>;
  readonly meter: Meter;
  readonly nowMs: () => number;
  /** The caller's own matters, as the records of a conflict check. */
  readonly recordsOf: (identity: Identity) => JsonValue;
}

export class Processes {
  readonly #deps: ProcessesDeps;

  constructor(deps: ProcessesDeps) {
    this.#deps = deps;
  }

  get catalog(): readonly CatalogEntry[] {
    return this.#deps.registry.catalog;
  }

  /**
   * @param version of the engine; null takes the newest.
   * @throws ApiError 404 for an unknown slug, 400 with the pointer of what does not fit, 500.
   */
  run(
    caller: Caller,
    slug: string,
    version: string | null,
    input: JsonValue,
  ): Promise<RecordedBody> {
    const { registry, recordsOf } = this.#deps;
    const engine = registry.find(slug, version ?? undefined);
    if (engine === null) throw unknownProcess(slug, version);
    return this.#metered(caller, () => {
      const whole = expandProcessInput(slug, input, () => recordsOf(caller.identity));
      return { kind: "process", slug, version: engine.version, input: whole };
    });
  }

  /** @throws ApiError 400 with the pointer of the step that is wrong. */
  compose(caller: Caller, body: JsonValue): Promise<RecordedBody> {
    const { recordsOf } = this.#deps;
    return this.#metered(caller, () => {
      const whole = expandComposition(body, () => recordsOf(caller.identity));
      return { kind: "workflow", body: whole };
    });
  }

  #metered(caller: Caller, taskOf: () => ProcessTask): Promise<RecordedBody> {
    const { meter, runTask } = this.#deps;
    return meter.run(caller.identity, async (admitted) => {
      const result = await refusing(async () => runTask(taskOf()));
      return this.#record(caller, admitted, result);
    });
  }

  #record(caller: Caller, admitted: Admitted, result: ProcessResult): Promise<RecordedBody> {
    const { meter, nowMs } = this.#deps;
    const ms = Math.max(0, nowMs() - caller.startedMs);
    const receipt: Receipt = {
      request_id: caller.requestId,
      ms,
      deterministic_hash: result.deterministicHash,
      output_hash: result.outputHash,
    };
    const { outputText } = result;
    const body = utf8Encode(`${outputText.slice(0, -1)},"receipt":${JSON.stringify(receipt)}}`);
    const work = {
      outputHash: result.outputHash,
      deterministic: true,
      engine: result.engine,
      model: null,
      promptTokens: 0,
      completionTokens: 0,
      ms,
    };
    return meter.recordBody(admitted, caller, work, body);
  }
}

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProcessInputError) throw error;
    throw new ApiError("the engine failed on this input; nothing is billed", {
      status: 500,
      type: "server_error",
      code: "engine_failure",
      param: null,
      cause: error,
    });
  }
}

function unknownProcess(slug: string, version: string | null): ApiError {
  const name = version === null ? slug : `${slug}@${version}`;
  return new ApiError(`there is no process ${name}; GET /v1/process lists them`, {
    status: 404,
    type: "invalid_request_error",
    code: "unknown_process",
    param: null,
  });
}
