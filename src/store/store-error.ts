/** What can go wrong with the data directory, and what each failure leaves behind. */

export type StoreErrorCode =
  /** Another process has the data directory open. Nothing was touched. */
  | "directory_locked"
  /** The database was written by a newer version of this program, or its schema was altered. */
  | "schema_mismatch"
  /** No space. The transaction was rolled back; a later one may succeed (measured). */
  | "disk_full"
  /** The database cannot be written to. The transaction was rolled back. */
  | "read_only"
  /** Another program holds the database's write lock. The transaction was not begun. */
  | "busy"
  /**
   * An I/O error or a damaged file. Whether the last transaction is on disk cannot be known from
   * inside: with EIO at fsync the open connection did not show the row, but after `kill -9` and a
   * new start it was there (measured). The process must end and reload.
   */
  | "state_unknown";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
const BY_PRIMARY_CODE: ReadonlyMap<number, readonly [StoreErrorCode, string]> = new Map([
  [5, ["busy", "another program holds the database's write lock"]],
  [6, ["busy", "another program holds the database's write lock"]],
  [8, ["read_only", "the database cannot be written to"]],
  [10, ["state_unknown", "an I/O error left the last transaction in an unknown state"]],
  [11, ["state_unknown", "the database file is damaged"]],
  [13, ["disk_full", "no space is left for the database"]],
  [14, ["state_unknown", "a database file cannot be opened"]],
  [26, ["state_unknown", "the database file is not a database"]],
]);

/** @returns a StoreError for a failure of SQLite itself; anything else comes back as it is. */
export function storeErrorFrom(error: unknown): unknown {
  const known = BY_PRIMARY_CODE.get(primaryCode(error));
  if (known === undefined) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new StoreError(known[0], `${known[1]} (${detail})`, { cause: error });
}

/** Whether a statement failed on a constraint or a trigger: it is undone, the transaction lives. */
export function isConstraintError(error: unknown): boolean {
  return primaryCode(error) === 19;
}

function primaryCode(error: unknown): number {
  if (!(error instanceof Error)) return -1;
  if ("errno" in error && typeof error.errno === "number") return error.errno & 0xff;
  // drizzle-orm wraps what the driver throws.
  return primaryCode(error.cause);
}
