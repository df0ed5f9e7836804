/** Processes and workflows of them: pure functions, run, bound by a receipt, recorded. */
import type { JsonValue } from "../bytes/canonical-json.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import { compose } from "../process/compose.ts";
import { type JsonObject, runProcess } from "../process/definition.ts";
import { expandComposition, expandProcessInput } from "../process/expand-records.ts";
import { ProcessInputError } from "../process/input-error.ts";
import type { CatalogEntry, Registry } from "../process/registry.ts";
import type { Receipt } from "../receipt/receipt.ts";
import type { Identity } from "../tenant/tenants.ts";
import { ApiError } from "./api-error.ts";
import type { Admitted, Caller, Meter, RecordedBody } from "./metered-call.ts";

export interface ProcessesDeps {
  readonly registry: Registry;
  readonly meter: Meter;
  readonly nowMs: () => number;
  /** The caller's own matters, as the records of a conflict check. */
  readonly recordsOf: (identity: Identity) => JsonValue;
}

/** What a process or a workflow made, before anyone is told. */
interface Result {
  readonly output: JsonObject;
  readonly outputHash: string;
  readonly deterministicHash: string;
  readonly engine: string;
}

/** How a row names a workflow; its steps name their own engines in the output. */
const COMPOSE_ENGINE = "svc-compose/1";

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
      const { output, outputHash, deterministicHash } = runProcess(engine, whole);
      return { output, outputHash, deterministicHash, engine: engine.id };
    });
  }

  /** @throws ApiError 400 with the pointer of the step that is wrong. */
  compose(caller: Caller, body: JsonValue): Promise<RecordedBody> {
    const { registry, recordsOf } = this.#deps;
    return this.#metered(caller, () => {
      const whole = expandComposition(body, () => recordsOf(caller.identity));
      const { output, outputHash, chainHash } = compose(registry, whole);
      return { output, outputHash, deterministicHash: chainHash, engine: COMPOSE_ENGINE };
    });
  }

  #metered(caller: Caller, work: () => Result): Promise<RecordedBody> {
    return this.#deps.meter.run(caller.identity, async (admitted) =>
      this.#record(caller, admitted, refusing(work)),
    );
  }

  #record(caller: Caller, admitted: Admitted, result: Result): Promise<RecordedBody> {
    const { meter, nowMs } = this.#deps;
    const ms = Math.max(0, nowMs() - caller.startedMs);
    const receipt: Receipt = {
      request_id: caller.requestId,
      ms,
      deterministic_hash: result.deterministicHash,
      output_hash: result.outputHash,
    };
    const body = utf8Encode(JSON.stringify({ ...result.output, receipt }));
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

function refusing<T>(work: () => T): T {
  try {
    return work();
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
