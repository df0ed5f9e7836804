/** What the verifier found wrong, and where. */

export interface Finding {
  /** The file of the export, or `responses` for a saved response. */
  readonly file: string;
  /** What does not hold, as a sentence. */
  readonly message: string;
  /** The member, column or check that failed. */
  readonly field: string;
  /** The app id of the chain, and the height of the row in it. */
  readonly chain?: string;
  readonly height?: number;
  /** The number of the checkpoint, the key record or the saved response. */
  readonly n?: number;
  readonly expected?: string;
  readonly found?: string;
}

/** Thrown where a check fails; carries the finding. */
export class VerifyError extends Error {
  override readonly name = "VerifyError";
  readonly finding: Finding;
  constructor(finding: Finding, options?: ErrorOptions) {
    super(describe(finding), options);
    this.finding = finding;
  }
}

/** One line: where, what, and the two values where there are two. */
export function describe(finding: Finding): string {
  const { file, chain, height, n, field, message, expected, found } = finding;
  const place = [
    file,
    ...(chain === undefined ? [] : [`chain ${chain}`]),
    ...(height === undefined ? [] : [`height ${height}`]),
    ...(n === undefined ? [] : [`number ${n}`]),
    field,
  ].join(", ");
  const values =
    expected === undefined ? "" : ` (expected ${expected}, found ${found ?? "nothing"})`;
  return `${place}: ${message}${values}`;
}

/** @throws VerifyError unless `condition` holds. */
export function check(condition: boolean, finding: Finding): asserts condition {
  if (!condition) throw new VerifyError(finding);
}
