/** The one error that a process's caller can cause. */

export type ProcessInputCode =
  /** The JSON Schema of the process refuses the input. */
  | "invalid_input"
  /** A number that is no safe integer, a lone surrogate, or nesting past the limit. */
  | "not_canonical"
  | "invalid_date"
  | "duplicate_id"
  | "unknown_reference"
  | "conflicting_input"
  | "currency_mismatch"
  /** Sums over these amounts would leave the integers that are exact. */
  | "amount_too_large"
  | "unknown_process"
  | "unknown_engine"
  | "invalid_step"
  | "step_input_invalid"
  | "output_too_large"
  /** The names would take more comparisons than one call may. */
  | "too_many_comparisons"
  /** The question lies outside the years or rules that the engine's tables cover. */
  | "outside_tables";

/** Bad input: the API answers 400 and nothing is metered. */
export class ProcessInputError extends Error {
  override readonly name = "ProcessInputError";
  readonly code: ProcessInputCode;
  /** RFC 6901 pointer into the input; "" is the whole of it. */
  readonly pointer: string;

  constructor(code: ProcessInputCode, pointer: string, message: string) {
    super(message);
    this.code = code;
    this.pointer = pointer;
  }

  /** The same refusal, seen from the input of which this one is a part. */
  within(prefix: string, code: ProcessInputCode): ProcessInputError {
    return new ProcessInputError(code, prefix + this.pointer, this.message);
  }
}
