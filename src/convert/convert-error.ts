/** A file that cannot be read as what it is said to be. */

export type ConvertErrorCode =
  | "file_unreadable"
  | "column_missing"
  | "date_unreadable"
  | "amount_unreadable"
  | "no_statement";

export class ConvertError extends Error {
  override readonly name = "ConvertError";
  readonly code: ConvertErrorCode;
  /** 1 for the first line of the file; null where no line is to blame. */
  readonly line: number | null;
  constructor(code: ConvertErrorCode, line: number | null, message: string) {
    super(line === null ? message : `line ${line}: ${message}`);
    this.code = code;
    this.line = line;
  }
}
