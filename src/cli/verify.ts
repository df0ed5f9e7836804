/** `svc verify`: checks an export, or a saved answer of a workflow, offline. */
import { resolve } from "node:path";
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { describe } from "../verify/finding.ts";
import { verifyPath } from "../verify/read-path.ts";
import type { HeldHead, Report } from "../verify/verify.ts";
import { CliError, EXIT_USAGE, PrintedFailure } from "./cli-error.ts";
import { readText } from "./files.ts";
import { type CliIo, print, printJson, printTable, styled } from "./io.ts";
import { readSavedResponse } from "./saved-response.ts";
import { examples } from "./settings.ts";
import { isJsonFile, verifyCompositionFile } from "./verify-composition.ts";

const RESPONSE_HELP =
  "an answer as curl -i printed it, and the body of its request; may be repeated";

export function verifyCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("verify")
    .description("check an export offline: keys, checkpoints, chains, rows, anchors, manifest")
    .argument("<PATH>", "the archive as downloaded, its folder, or a saved answer of /v1/compose")
    .option("--request <FILE>", "the request of that answer: then inputs and start are derived too")
    .option("--root-key <HEX>", "insist on this root key (64 hex digits)")
    .option("--secret-file <FILE>", "HMAC secrets, one a line, oldest first: checks row MACs too")
    .option("--head <APP:HEIGHT:HASH>", "a head seen earlier; may be repeated", addTo, [])
    .option("--response <PATH:FILE[:REQUEST]>", RESPONSE_HELP, addTo, [])
    .option("--json", "print the whole report");
  command.addHelpText(
    "after",
    examples(
      'curl -sH "Authorization: Bearer $KEY" $URL/v1/audit/export -o export.tar',
      "svc verify export.tar",
      'svc verify export.tar --root-key "$ROOT" --secret-file secrets.txt',
      "svc verify export.tar --head default:41:9f0c…",
      "svc verify export.tar --response /v1/process/iolta-reconcile:answer.http:input.json",
      "svc verify answer.json --request workflow.json",
    ),
  );
  command.addHelpText(
    "after",
    "\nNeeds no network and no server. Exit code 1 names the first thing that is wrong.",
  );
  command.action(async (path, options) => {
    const { request, rootKey, secretFile } = options;
    if (request !== undefined || (await isJsonFile(io, path)))
      return verifyCompositionFile(io, path, { request, json: options.json });
    if (rootKey !== undefined) assertHex(rootKey, "--root-key");
    const hmacSecrets = secretFile === undefined ? [] : await readSecrets(io, secretFile);
    const report = await verifyPath(resolve(io.directory, path), {
      heldHeads: options.head.map(headFrom),
      hmacSecrets,
      responses: await Promise.all(options.response.map((text) => readSavedResponse(io, text))),
      ...(rootKey === undefined ? {} : { rootKey }),
    });
    if (options.json) printJson(io, report);
    else printReport(io, report);
    if (!report.ok) throw new PrintedFailure("the export does not verify");
  });
  return command;
}

function printReport(io: CliIo, { finding, damagedFiles, notes, summary }: Report): void {
  if (finding !== null) {
    io.stderr(`${styled(io, "red", "does not verify")}: ${describe(finding)}\n`);
    for (const file of damagedFiles) io.stderr(`  not as the manifest names it: ${file}\n`);
    io.stderr("  Keep this export as it is, and download another one to compare it with.\n");
    return;
  }
  print(io, styled(io, "green", "verified"));
  const anchors = summary.anchors.map(({ n, kind, state }) => `${n} ${kind} ${state}`).join(", ");
  printTable(io, [
    ["tenant", summary.tenantId ?? "-"],
    ["as of", summary.asOf ?? "-"],
    ["root key", summary.rootKid ?? "-"],
    ["attestation keys", String(summary.keys)],
    ["checkpoints", `${summary.checkpoints}, the newest ${summary.globalHead ?? "-"}`],
    ["rows", String(summary.rows)],
    ...summary.chains.map(({ appId, height, headHash }) => [
      `chain ${appId}`,
      `${height} rows, head ${headHash}`,
    ]),
    ["anchors", anchors === "" ? "none" : anchors],
    ["responses", String(summary.responses)],
  ]);
  for (const note of notes) print(io, styled(io, "yellow", `note: ${note}`));
}

function addTo(value: string, list: readonly string[]): readonly string[] {
  return [...list, value];
}

function headFrom(text: string): HeldHead {
  const parts = /^([a-z0-9][a-z0-9._-]*):([1-9][0-9]*):([0-9a-f]{64})$/.exec(text);
  if (parts === null) throw usage(`--head ${text} is not APP:HEIGHT:HASH`);
  const [, appId = "", height = "", headHash = ""] = parts;
  return { appId, height: Number(height), headHash };
}

async function readSecrets(io: CliIo, path: string): Promise<string[]> {
  const secrets = (await readText(io, path)).split("\n").filter((line) => line !== "");
  for (const secret of secrets) assertHex(secret, "a line of the secrets' file");
  return secrets;
}

function assertHex(text: string, what: string): void {
  if (!/^[0-9a-f]{64}$/.test(text)) throw usage(`${what} is not 64 lowercase hex digits`);
}

function usage(message: string): CliError {
  return new CliError(message, { code: "usage", exitCode: EXIT_USAGE });
}
