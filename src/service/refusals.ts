/** Errors of the parts below, in the API's words: the one file that maps them. */
import { LedgerError } from "../ledger/ledger-error.ts";
import { ProcessInputError } from "../process/input-error.ts";
import { EngineError } from "../runtime/errors.ts";
import type { SchemaError } from "../schema/schema-error.ts";
import { SearchError } from "../search/provider.ts";
import { StateError } from "../state/state-error.ts";
import { StoreError } from "../store/store-error.ts";
import { TenantError } from "../tenant/tenant-error.ts";
import { ApiError, type ApiErrorType, badRequest } from "./api-error.ts";

/** @returns null for what nobody foresaw: a bug, or a part that has no error of its own for it. */
export function wordRefusal(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error;
  if (error instanceof ProcessInputError) return inputRefusal(error);
  if (error instanceof SearchError) return worded(error, SEARCH_WORDS);
  if (error instanceof StateError) return stateRefusal(error);
  if (error instanceof EngineError) return engineRefusal(error);
  if (error instanceof TenantError) return tenantRefusal(error);
  if (error instanceof LedgerError || error instanceof StoreError) return ledgerRefusal(error);
  return null;
}

/**
 * @param param where the schema stands in the request; the pointer is appended as a fragment.
 * @param pointer from the schema's own root.
 */
export function schemaRefusal(
  error: SchemaError,
  param: string,
  pointer: string = error.pointer,
): ApiError {
  const where = pointer === "" ? "" : ` (at ${pointer})`;
  return new ApiError(`${error.message}${where}`, {
    status: 400,
    type: "invalid_request_error",
    code: SCHEMA_CODES[error.code],
    param: `${param}#${pointer}`,
    cause: error,
  });
}

const SCHEMA_CODES = {
  invalid_schema: "invalid_json_schema",
  unsupported_keyword: "unsupported_schema_keyword",
  unresolved_reference: "invalid_json_schema",
  infinite_recursion: "invalid_json_schema",
  unsatisfiable: "unsatisfiable_json_schema",
  too_complex: "json_schema_too_complex",
} as const satisfies Record<SchemaError["code"], string>;

interface Words {
  readonly status: number;
  readonly type: ApiErrorType;
  readonly code: string;
  readonly param?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the error's own message, where that is not for callers. */
  readonly message?: string;
}

const TENANT_PARAMS: Readonly<Partial<Record<TenantError["code"], string>>> = {
  invalid_email: "email",
  invalid_public_key: "public_key",
};

/** @returns null for what only the operator can have got wrong. */
function tenantRefusal(error: TenantError): ApiError | null {
  const { code, message } = error;
  if (code === "wrong_master_key") return null;
  const isConflict = code === "package_in_use" || code === "too_many_keys";
  const status = isConflict ? 409 : code.startsWith("unknown_") ? 404 : 400;
  const type = "invalid_request_error";
  const param = TENANT_PARAMS[code] ?? null;
  return new ApiError(message, { status, type, code, param, cause: error });
}

const SOON = { "retry-after": "1" } as const;

const ENGINE_WORDS: Readonly<Record<EngineError["code"], Words>> = {
  context_length_exceeded: invalid("context_length_exceeded", "messages"),
  budget_too_small: invalid("max_tokens_too_small", "max_tokens"),
  template_refused: invalid("invalid_messages", "messages"),
  queue_full: { status: 429, type: "rate_limit_error", code: "queue_full", headers: SOON },
  not_ready: { status: 503, type: "server_error", code: "model_loading", headers: SOON },
  closed: { status: 503, type: "server_error", code: "shutting_down", headers: SOON },
  cancelled: { status: 499, type: "invalid_request_error", code: "cancelled" },
  decode_failed: { status: 502, type: "upstream_error", code: "decode_failed" },
};

function engineRefusal(error: EngineError): ApiError {
  return worded(error, ENGINE_WORDS[error.code]);
}

/** The pointer leads into the body; the whole of it has none. */
function inputRefusal({ code, pointer, message }: ProcessInputError): ApiError {
  return badRequest(
    code,
    pointer,
    pointer === "" ? `the body ${message}` : `${pointer} ${message}`,
  );
}

function stateRefusal(error: StateError): ApiError {
  return new ApiError(error.message, {
    status: error.code === "precondition_failed" ? 412 : 409,
    type: "invalid_request_error",
    code: error.code,
    param: null,
    details: error.refusals.map((refusal) => ({
      matter_id: refusal.matterId,
      code: refusal.code,
      message: refusal.message,
      current_version: refusal.currentVersion,
      current_etag: refusal.currentEtag,
    })),
    cause: error,
  });
}

const SEARCH_WORDS: Words = { status: 502, type: "upstream_error", code: "search_failed" };

const UNRECORDED: Words = {
  status: 503,
  type: "server_error",
  code: "ledger_unavailable",
  headers: { "retry-after": "5" },
  message: "the call could not be recorded, so it was not made; nothing is billed",
};

/** Which part of recording failed is for the operator, not for the caller. */
function ledgerRefusal(error: LedgerError | StoreError): ApiError {
  return worded(
    error,
    error.code === "ledger_busy" ? { ...UNRECORDED, headers: SOON } : UNRECORDED,
  );
}

function worded(error: Error, words: Words): ApiError {
  const { message, param, ...parts } = words;
  return new ApiError(message ?? error.message, { ...parts, param: param ?? null, cause: error });
}

function invalid(code: string, param: string): Words {
  return { status: 400, type: "invalid_request_error", code, param };
}
