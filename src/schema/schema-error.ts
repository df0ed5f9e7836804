/** Why a schema is refused: always at compile time, always with the place and a way out. */

export type SchemaErrorCode =
  /** The value of a keyword is not what the standard allows there. */
  | "invalid_schema"
  /** The keyword is understood, but no answer could be locked to it exactly. */
  | "unsupported_keyword"
  /** A `$ref` that leads nowhere in this document. */
  | "unresolved_reference"
  /** The schema refers to itself in place, so that it says nothing. */
  | "infinite_recursion"
  /** No JSON value satisfies the schema. */
  | "unsatisfiable"
  /** A limit on size or depth; always a count, never time. */
  | "too_complex";

export class SchemaError extends Error {
  override readonly name = "SchemaError";
  readonly code: SchemaErrorCode;
  /** JSON Pointer (RFC 6901) of the schema object or keyword, from the document's root. */
  readonly pointer: string;
  readonly keyword: string;

  constructor(
    message: string,
    at: {
      readonly code: SchemaErrorCode;
      readonly pointer: string;
      readonly keyword: string;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: at.cause });
    this.code = at.code;
    this.pointer = at.pointer;
    this.keyword = at.keyword;
  }
}

/** Appends reference tokens to a JSON Pointer. */
export function pointerTo(pointer: string, ...tokens: readonly (string | number)[]): string {
  return tokens.reduce<string>(
    (at, token) => `${at}/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`,
    pointer,
  );
}
