/** A write that the current state refuses. Nothing was written. */

export type StateRefusalCode =
  /** `if_version` names another version than the current one: 409. */
  | "version_conflict"
  /** The matter must not be deleted: 409. */
  | "legal_hold"
  /** `If-Match` names another version than the current one: 412. */
  | "precondition_failed";

export interface RecordRefusal {
  readonly matterId: string;
  readonly code: StateRefusalCode;
  readonly message: string;
  /** 0 when there is no such matter. */
  readonly currentVersion: number;
  readonly currentEtag: string | null;
}

export class StateError extends Error {
  override readonly name = "StateError";
  /** Of the first refused record. */
  readonly code: StateRefusalCode;
  /** Every refused record of the request. */
  readonly refusals: readonly RecordRefusal[];

  constructor(refusals: readonly RecordRefusal[]) {
    super(refusals.map(({ matterId, message }) => `${matterId}: ${message}`).join("; "));
    this.code = refusals[0]?.code ?? "version_conflict";
    this.refusals = refusals;
  }
}
