/**
 * The one home of "exactly one row per billable call": admission → work → body bytes → row, durable
 * → answer. A call that is refused, or that fails on our side, leaves no row.
 */
import { sha256Hex } from "../crypto/hash.ts";
import { appendCall } from "../ledger/append.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { AppendedRow } from "../ledger/row-writer.ts";
import type { AdmissionControl, Refusal, Reservation } from "../tenant/admission.ts";
import { limitHeaders, refusalHeaders } from "../tenant/limit-headers.ts";
import type { Identity } from "../tenant/tenants.ts";
import { ApiError } from "./api-error.ts";

/** A row that is durable: its hash is its chain's head. */
export type Recorded = AppendedRow;

/** Who calls what. */
export interface Caller {
  readonly identity: Identity;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  /** SHA-256 of the request body, in hex. */
  readonly bodyHash: string;
  /** Unix milliseconds. */
  readonly startedMs: number;
  readonly signal: AbortSignal;
  /** Keeps the answer for when the request comes again; called in its row's transaction. */
  readonly keep?: (answer: { readonly contentType: string; readonly body: Uint8Array }) => void;
}

/** What a row says about the work itself. */
export interface Work {
  /** The receipt's, where the response has one. */
  readonly outputHash: string | null;
  readonly deterministic: boolean;
  readonly engine: string | null;
  readonly model: string | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly ms: number;
}

/** A billable call that was let in. */
export interface Admitted {
  /** Releases its place under the quotas, unless its row did. A second time does nothing. */
  release(): void;
}

/** A body as recorded. */
export interface RecordedBody {
  readonly body: Uint8Array;
  /** SHA-256 in hex. */
  readonly bodyHash: string;
  readonly row: Recorded;
  readonly headers: Readonly<Record<string, string>>;
}

export interface MeterDeps {
  readonly ledger: Ledger;
  readonly admission: AdmissionControl;
  readonly rev: string;
  /** Hears of every row. */
  readonly observe: (call: Work & { readonly path: string; readonly status: number }) => void;
}

export class Meter {
  readonly #deps: MeterDeps;

  constructor(deps: MeterDeps) {
    this.#deps = deps;
  }

  /**
   * Runs a billable call: nothing of it starts before the caller is admitted.
   * @throws ApiError 429 past a limit; LedgerError where nothing can be recorded.
   */
  async run<T>(identity: Identity, work: (admitted: Admitted) => Promise<T>): Promise<T> {
    const admitted = this.admit(identity);
    try {
      return await work(admitted);
    } finally {
      admitted.release();
    }
  }

  /** Any request of a key, billable or not. @throws ApiError 429 past its rate. */
  enter(identity: Identity): void {
    const refusal = this.#deps.admission.enter(identity);
    if (refusal !== null) throw limitReached(refusal);
  }

  /** What a caller has left, as response headers. */
  limitHeaders(identity: Identity): Readonly<Record<string, string>> {
    const { admission, ledger } = this.#deps;
    return limitHeaders(admission.limits(identity), ledger.clock.nowMs());
  }

  /** Counts a call against its limits until it is recorded or released; `run` does both. */
  admit(identity: Identity): Admitted {
    const { ledger, admission } = this.#deps;
    ledger.assertReady();
    const outcome = admission.admitMetered(identity);
    if (!outcome.ok) throw limitReached(outcome.refusal);
    return outcome.reservation;
  }

  /**
   * @param alongside writes what must be durable with the row or not at all.
   * @returns once the row is durable; from then on the row counts, not the admission.
   */
  async record(
    admitted: Reservation,
    caller: Caller,
    work: Work,
    sent: { readonly status: number; readonly bodyHash: string },
    alongside?: (row: Recorded) => void,
  ): Promise<Recorded> {
    const { identity } = caller;
    const call = {
      tenantId: identity.tenantId,
      appId: identity.appId,
      keyId: identity.keyId,
      requestId: caller.requestId,
      method: caller.method,
      path: caller.path,
      status: sent.status,
      requestBodyHash: caller.bodyHash,
      responseBodyHash: sent.bodyHash,
      rev: this.#deps.rev,
      ...work,
    };
    const row = await appendCall(this.#deps.ledger, call, admitted.release, alongside);
    this.#deps.observe({ ...work, path: caller.path, status: sent.status });
    return row;
  }

  /** Records a call that is answered with a whole body. */
  async recordBody(
    admitted: Admitted,
    caller: Caller,
    work: Work,
    body: Uint8Array,
    alongside?: (row: Recorded) => void,
  ): Promise<RecordedBody> {
    const bodyHash = sha256Hex(body);
    const sent = { status: 200, bodyHash };
    const row = await this.record(admitted, caller, work, sent, (written) => {
      alongside?.(written);
      caller.keep?.({ contentType: "application/json", body });
    });
    return { body, bodyHash, row, headers: {} };
  }
}

function limitReached(refusal: Refusal): ApiError {
  const { code, message } = refusal;
  return new ApiError(message, {
    status: 429,
    type: code === "insufficient_quota" ? "insufficient_quota" : "rate_limit_error",
    code,
    param: null,
    headers: refusalHeaders(refusal),
  });
}
