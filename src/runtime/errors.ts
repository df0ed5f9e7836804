/** What the engine refuses or fails at. */

/** Of a request, before its first token: the caller can do something about the first four. */
export type EngineErrorCode =
  | "context_length_exceeded"
  | "budget_too_small"
  | "template_refused"
  | "queue_full"
  | "not_ready"
  | "cancelled"
  | "decode_failed"
  | "closed";

export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: EngineErrorCode;
  /** Numbers behind the message, for example `{ promptTokens, contextTokens }`. */
  readonly details: Readonly<Record<string, number | string>>;

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly code: EngineErrorCode;
      readonly details?: Readonly<Record<string, number | string>>;
    },
  ) {
    super(message, options);
    this.code = options.code;
    this.details = options.details ?? {};
  }
}

/** Of a model at start-up: the operator can do something about it. */
export type ModelErrorCode =
  | "unknown_model"
  | "invalid_manifest"
  | "wrong_kind"
  | "unreadable"
  | "digest_mismatch"
  | "unsupported_architecture"
  | "no_chat_template"
  | "invalid_chat_template"
  | "not_enough_memory"
  | "load_failed";

export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly code: ModelErrorCode;

  constructor(message: string, options: ErrorOptions & { readonly code: ModelErrorCode }) {
    super(message, options);
    this.code = options.code;
  }
}
