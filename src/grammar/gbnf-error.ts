/** Why a GBNF text is refused: always at compile time, always with the place and a way out. */

export type GbnfErrorCode =
  /** The text is no GBNF. */
  | "invalid_syntax"
  /** GBNF that no answer could be locked to: tokens by name or number. */
  | "unsupported_syntax"
  /** A name without a rule, or no rule `root`. */
  | "undefined_rule"
  /** Two rules of one name. */
  | "duplicate_rule"
  /** A rule that may begin with itself. */
  | "left_recursion"
  /** No text satisfies the grammar. */
  | "unsatisfiable"
  /** A limit on size or depth; always a count, never time. */
  | "too_complex";

export class GbnfError extends Error {
  override readonly name = "GbnfError";
  readonly code: GbnfErrorCode;
  /** From 1. */
  readonly line: number;
  /** In code points, from 1. */
  readonly column: number;

  constructor(
    message: string,
    at: { readonly code: GbnfErrorCode; readonly line: number; readonly column: number },
  ) {
    super(`line ${at.line}, column ${at.column}: ${message}`);
    this.code = at.code;
    this.line = at.line;
    this.column = at.column;
  }
}
