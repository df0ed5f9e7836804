/** `svc verify ANSWER.json`: a saved answer of `POST /v1/compose`, with its request if kept. */
import { resolve } from "node:path";
import { verifyComposition } from "../verify/composition.ts";
import { describe } from "../verify/finding.ts";
import { NATIVE } from "../verify/native-hashing.ts";
import { PrintedFailure } from "./cli-error.ts";
import { readText } from "./files.ts";
import { type CliIo, print, printJson, printTable, styled } from "./io.ts";

/** Archives begin with a file's name, JSON objects with a brace. */
export async function isJsonFile(io: CliIo, path: string): Promise<boolean> {
  const start = await Bun.file(resolve(io.directory, path))
    .slice(0, 64)
    .text()
    .catch(() => "");
  return start.trimStart().startsWith("{");
}

export async function verifyCompositionFile(
  io: CliIo,
  path: string,
  options: { readonly request?: string | undefined; readonly json?: true | undefined },
): Promise<void> {
  const bytes = async (file: string): Promise<Uint8Array> => Buffer.from(await readText(io, file));
  const request = options.request === undefined ? undefined : await bytes(options.request);
  const report = verifyComposition({ answer: await bytes(path), request }, NATIVE);
  if (options.json) printJson(io, report);
  else if (report.finding === null) {
    print(io, styled(io, "green", "verified"));
    printTable(io, [
      ["steps", `${report.steps}, ${report.status}`],
      ["chain_hash", report.chainHash ?? ""],
    ]);
    for (const note of report.notes) print(io, styled(io, "yellow", `note: ${note}`));
  } else io.stderr(`${styled(io, "red", "does not verify")}: ${describe(report.finding)}\n`);
  if (!report.ok) throw new PrintedFailure("the answer does not verify");
}
