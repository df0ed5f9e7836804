/** Matter records over the API: writes are calls with one row each, reads are free. */
import type { JsonValue } from "../bytes/canonical-json.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import type { Receipt } from "../receipt/receipt.ts";
import { parseListQuery } from "../state/matter-list.ts";
import { Matters, type MatterVersion, type Scope, type StampedPlan } from "../state/matters.ts";
import { conflictRecords } from "../state/parties.ts";
import type { Store } from "../store/store.ts";
import { ApiError } from "./api-error.ts";
import type { Caller, Meter, RecordedBody, Work } from "./metered-call.ts";

export interface MatterStateDeps {
  readonly store: Store;
  readonly meter: Meter;
  readonly nowMs: () => number;
}

/** How a row names a write. */
const WRITE_ENGINE = "svc-state-write/1";

export class MatterState {
  readonly #deps: MatterStateDeps;
  readonly #matters: Matters;

  constructor(deps: MatterStateDeps) {
    this.#deps = deps;
    this.#matters = new Matters(deps.store);
  }

  /**
   * Versions and row become durable together or not at all.
   * @param ifMatch the header, for a single record.
   * @throws ProcessInputError, StateError: then nothing is written or billed.
   */
  write(caller: Caller, body: JsonValue, ifMatch: string | null): Promise<RecordedBody> {
    const { meter } = this.#deps;
    const scope = caller.identity;
    return meter.run(scope, (admitted) =>
      this.#matters.inTurn(scope, async () => {
        const plan = this.#matters.plan(scope, body, ifMatch);
        const ms = Math.max(0, this.#deps.nowMs() - caller.startedMs);
        const bytes = utf8Encode(JSON.stringify(writeBody(plan, caller.requestId, ms)));
        const { requestId } = caller;
        const recorded = await meter.recordBody(
          admitted,
          caller,
          writeWork(plan, ms),
          bytes,
          ({ ts }) => plan.apply({ ts, requestId }),
        );
        const etag = singleEtag(plan);
        return etag === null
          ? recorded
          : { ...recorded, headers: { ...recorded.headers, etag: `"${etag}"` } };
      }),
    );
  }

  /** @throws ProcessInputError for a parameter that is none. */
  list(scope: Scope, query: URLSearchParams): object {
    const { data, next } = this.#matters.list(scope, parseListQuery(query));
    const { state_head: head } = this.#matters.head(scope);
    return { object: "list", data, next_cursor: next, state_head: head };
  }

  /** The current record with its validator. @throws ApiError 404, for a deleted one too. */
  current(scope: Scope, matterId: string): { readonly body: object; readonly etag: string } {
    const version = this.#matters.get(scope, matterId);
    if (version === null) throw unknownMatter(matterId);
    return { body: versionBody(version), etag: etagOf(version) };
  }

  history(scope: Scope, matterId: string): object {
    const versions = this.#matters.history(scope, matterId);
    if (versions.length === 0) throw unknownMatter(matterId);
    const data = versions.map((version) => {
      const { body: _, ...rest } = factsOf(version);
      return rest;
    });
    return { object: "list", matter_id: matterId, data };
  }

  version(scope: Scope, matterId: string, n: number): object {
    const version = this.#matters.version(scope, matterId, n);
    if (version === null) throw unknownMatter(`${matterId}, version ${n}`);
    return versionBody(version);
  }

  search(scope: Scope, text: string, limit: number): object {
    return { object: "list", data: this.#matters.search(scope, text, limit) };
  }

  parties(scope: Scope, text: string | null, limit: number): object {
    return { object: "list", data: this.#matters.parties(scope, text, limit) };
  }

  head(scope: Scope): object {
    return this.#matters.head(scope);
  }

  /** What `"records": {"from": "state"}` of a conflict check stands for. */
  records(scope: Scope): JsonValue {
    return conflictRecords(this.#matters.current(scope));
  }
}

function writeBody(plan: StampedPlan, requestId: string, ms: number): object {
  const receipt: Receipt = {
    request_id: requestId,
    ms,
    deterministic_hash: plan.deterministicHash,
    output_hash: plan.outputHash,
  };
  return { ...plan.output, receipt };
}

/** What a write leads to depends on what was there before. */
function writeWork({ outputHash }: StampedPlan, ms: number): Work {
  const counts = { promptTokens: 0, completionTokens: 0, ms };
  return { outputHash, deterministic: false, engine: WRITE_ENGINE, model: null, ...counts };
}

/** Of the record, where there is one alone. */
function singleEtag({ plan }: StampedPlan): string | null {
  const [change, ...others] = plan.changes;
  if (change === undefined || others.length > 0 || change.version === 0) return null;
  return etagOf(change);
}

function etagOf(version: { readonly version: number; readonly contentHash: string }): string {
  return `v${version.version}-${version.contentHash.slice(0, 16)}`;
}

function factsOf(version: MatterVersion) {
  const { version: number, ts, op, requestId, contentHash, prevHash, body } = version;
  return {
    version: number,
    ts,
    op,
    request_id: requestId,
    content_hash: contentHash,
    prev_hash: prevHash,
    etag: etagOf(version),
    body,
  };
}

/** The record's own members first, then what the store knows of this version. */
function versionBody(version: MatterVersion): object {
  const { body, ...facts } = factsOf(version);
  return { ...body, matter_id: version.matterId, ...facts };
}

function unknownMatter(what: string): ApiError {
  return new ApiError(`there is no matter ${what}`, {
    status: 404,
    type: "invalid_request_error",
    code: "unknown_matter",
    param: null,
  });
}
