/** How a command fails: what is wrong, what to do next, and the exit code that says so. */
import { ConfigError } from "../config.ts";
import { ConvertError } from "../convert/convert-error.ts";
import { GgufError } from "../gguf/cursor.ts";
import { LedgerError } from "../ledger/ledger-error.ts";
import { ProcessInputError } from "../process/input-error.ts";
import { ModelError } from "../runtime/errors.ts";
import { SchemaError } from "../schema/schema-error.ts";
import { KeyFileError } from "../store/key-file.ts";
import { StoreError } from "../store/store-error.ts";
import { TenantError } from "../tenant/tenant-error.ts";

/** A check failed, or the work could not be done. */
export const EXIT_FAILED = 1;
/** The command was not understood. */
export const EXIT_USAGE = 2;

export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: string;
  readonly hint: string | null;
  readonly exitCode: number;
  constructor(
    message: string,
    options: ErrorOptions & {
      readonly code: string;
      readonly hint?: string | null;
      readonly exitCode?: number;
    },
  ) {
    super(message, options);
    this.code = options.code;
    this.hint = options.hint ?? null;
    this.exitCode = options.exitCode ?? EXIT_FAILED;
  }
}

/** Thrown by a command that has already printed why it failed. */
export class PrintedFailure extends Error {
  override readonly name = "PrintedFailure";
}

const HINTS: Readonly<Record<string, string>> = {
  directory_locked: "stop that process, or give another --data-dir",
  schema_mismatch: "use the version of svc that wrote this data directory, or a newer one",
  disk_full: "free some space on the disk of the data directory",
  read_only: "make the data directory writable for this user",
  wrong_master_key: "give the key that sealed the database (SVC_MASTER_KEY, or D/master.key)",
  wrong_root_key: "give the root key this data directory began with (SVC_ROOT_KEY, or D/root.key)",
  clock_behind: "set the computer's clock: rows must not go back in time",
  unknown_key: "svc keys list shows the keys there are",
  unknown_model: "svc models list shows the names there are",
  digest_mismatch: "copy the file again; if it was replaced on purpose, correct the manifest",
  not_enough_memory: "use a smaller model, or fewer --rows, or a shorter --context",
  no_chat_template: "svc models add FILE.gguf --chat-template FILE.jinja gives it one",
  invalid_chat_template: "svc models add FILE.gguf --chat-template FILE.jinja gives it another",
  unsupported_architecture: "use another model; a newer release of svc-gateway may know this one",
  truncated: "the file is not whole: copy it again",
  not_gguf: "a model is one file in the GGUF format; other formats must be converted first",
  wrong_kind: "chat models serve --tier-a and --tier-b, embedding models --embeddings",
  unreadable: "check the path and that this user may read it",
};

/** @returns the error as a command prints it; null where it is a mistake of this program. */
export function cliErrorFrom(error: unknown): CliError | null {
  if (error instanceof CliError) return error;
  const { message, code, cause } = error as Error & { readonly code?: string };
  if (error instanceof ConfigError) {
    return new CliError(message, { code: error.code, hint: error.hint, exitCode: EXIT_USAGE });
  }
  if (error instanceof ProcessInputError) {
    const place = error.pointer === "" ? "the input" : error.pointer;
    return new CliError(`${place}: ${message}`, { code: error.code, cause });
  }
  const isKnown =
    error instanceof StoreError ||
    error instanceof TenantError ||
    error instanceof LedgerError ||
    error instanceof KeyFileError ||
    error instanceof ModelError ||
    error instanceof GgufError ||
    error instanceof ConvertError ||
    error instanceof SchemaError;
  if (isKnown) {
    const known = error.code as string;
    return new CliError(message, { code: known, hint: HINTS[known] ?? null, cause });
  }
  const isSystem = error instanceof Error && /^E[A-Z]+$/.test(code ?? "");
  return isSystem ? systemError(error, code ?? "") : null;
}

function systemError(error: Error, code: string): CliError {
  const { path } = error as Error & { readonly path?: string };
  if (code === "ENOENT") {
    const message = `there is no ${path ?? "such file"}`;
    return new CliError(message, { code: "no_file", hint: "check the path", cause: error });
  }
  const hints: Readonly<Record<string, string>> = {
    EACCES: `this user may not open ${path ?? "it"}: check owner and mode`,
    EADDRINUSE: "choose another --port, or 0 for any free one",
    EISDIR: "a file is needed, this is a folder",
  };
  return new CliError(error.message, { code, hint: hints[code] ?? null, cause: error });
}
