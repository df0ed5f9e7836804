/**
 * A refusal as the API words it: status, and the four members of the error body. Everything that a
 * caller can get wrong ends as one of these; anything else is a bare 500.
 */

/** OpenAI's words, which clients branch on. */
export type ApiErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "permission_error"
  | "insufficient_quota"
  | "rate_limit_error"
  | "server_error"
  | "upstream_error";

export interface ApiErrorParts {
  readonly status: number;
  readonly type: ApiErrorType;
  readonly code: string;
  /** Where in the request, such as `messages[2].content`; null where no place is at fault. */
  readonly param: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** More about it, for programs: a further member of the error body. */
  readonly details?: readonly object[];
  readonly cause?: unknown;
}

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly type: ApiErrorType;
  readonly code: string;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: readonly object[];

  constructor(message: string, parts: ApiErrorParts) {
    super(message, { cause: parts.cause });
    this.status = parts.status;
    this.type = parts.type;
    this.code = parts.code;
    this.param = parts.param;
    this.headers = parts.headers ?? {};
    this.details = parts.details ?? [];
  }
}

/** A 429 that a program does not cure by trying again by itself. */
export function tooManyRequests(message: string, retryAfterS: number): ApiError {
  return new ApiError(message, {
    status: 429,
    type: "rate_limit_error",
    code: "rate_limit_exceeded",
    param: null,
    headers: { "retry-after": String(retryAfterS), "x-should-retry": "false" },
  });
}

/** A 400 that points at a part of the request. */
export function badRequest(code: string, param: string | null, message: string): ApiError {
  return new ApiError(message, { status: 400, type: "invalid_request_error", code, param });
}
