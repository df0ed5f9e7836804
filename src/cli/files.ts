/** Files that commands take, read with errors that say where a file goes wrong. */
import { resolve } from "node:path";
import { findJsonError } from "../console/json-text.ts";
import { CliError, EXIT_USAGE } from "./cli-error.ts";
import type { CliIo } from "./io.ts";

/** The text of a file; `-` reads standard input. @throws CliError */
export async function readText(io: CliIo, path: string): Promise<string> {
  if (path === "-") return io.readStdin();
  return (await existingFile(io, path)).text();
}

async function existingFile(io: CliIo, path: string) {
  const file = Bun.file(resolve(io.directory, path));
  if (!(await file.exists())) {
    const hint = "check the path; - reads standard input";
    throw new CliError(`there is no file ${path}`, { code: "no_file", hint, exitCode: EXIT_USAGE });
  }
  return file;
}

/** The bytes of a file; `-` reads standard input. @throws CliError */
export async function readBytes(io: CliIo, path: string): Promise<Uint8Array> {
  if (path === "-") return Buffer.from(await io.readStdin());
  return (await existingFile(io, path)).bytes();
}

/** @throws CliError `not_json` with line and column. */
export async function readJson(io: CliIo, path: string): Promise<unknown> {
  return parseJson(path, await readText(io, path));
}

/** @throws CliError `not_json` with line and column. */
export function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const error = findJsonError(text);
    const place = error === null ? path : `${path}:${error.line}:${error.column}`;
    const message = `${place}: not JSON: ${error?.problem ?? String(cause)}`;
    throw new CliError(message, { code: "not_json", exitCode: EXIT_USAGE, cause });
  }
}
