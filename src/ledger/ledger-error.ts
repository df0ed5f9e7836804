/** Why a call cannot be recorded. None of these leaves a row behind. */
export type LedgerErrorCode =
  /** Too many appends are waiting; try again shortly. */
  | "ledger_busy"
  /** The clock stands so far behind the newest row that an operator has to look at it. */
  | "clock_behind"
  /** The disk is nearly full: refused before any work is done. */
  | "disk_nearly_full"
  /** A row with this request id exists. */
  | "duplicate_request_id"
  | "closed"
  /** The stored rows contradict themselves or a published checkpoint: refuse to start. */
  | "damaged"
  /** Another process has written to the database since this one opened it. */
  | "fenced"
  /** The database is older than a checkpoint that was published from it, or contradicts one. */
  | "rolled_back"
  /** The given root key is not the one that certified the key history. */
  | "wrong_root_key";

export class LedgerError extends Error {
  override readonly name = "LedgerError";
  readonly code: LedgerErrorCode;
  constructor(code: LedgerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
