/** `svc compose`: runs a workflow of processes offline; the bytes are those the API would give. */
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { JsonValue } from "../bytes/canonical-json.ts";
import { compose } from "../process/compose.ts";
import { expandComposition } from "../process/expand-records.ts";
import { startProcesses } from "../process/start.ts";
import { CliError, EXIT_USAGE, PrintedFailure } from "./cli-error.ts";
import { readJson } from "./files.ts";
import { type CliIo, print, printJson, styled } from "./io.ts";
import { examples } from "./settings.ts";

export function composeCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("compose")
    .description("run a body of POST /v1/compose here, without a server: same input, same bytes")
    .argument("<FILE>", "the JSON body, or - for standard input")
    .option("--json", "print one line { output, input_hash, output_hash, chain_hash, engines }");
  command.addHelpText(
    "after",
    examples("svc compose workflow.json", "svc compose workflow.json --json | jq .output_hash") +
      "\n\nExit code 1 means that a step's expectation was not met, or the input was refused.",
  );
  command.action(async (path, options) => {
    const body = expandComposition((await readJson(io, path)) as JsonValue, recordsOffline);
    const { chainHash, engines, inputHash, output, outputHash } = compose(
      startProcesses().registry,
      body,
    );
    if (options.json) {
      printJson(io, {
        output,
        input_hash: inputHash,
        output_hash: outputHash,
        chain_hash: chainHash,
        engines,
      });
    } else {
      print(io, JSON.stringify(output, null, 2));
      io.stderr(styled(io, "dim", `output_hash ${outputHash}\nchain_hash  ${chainHash}\n`));
    }
    if (output["status"] === "halted") throw new PrintedFailure("an expectation was not met");
  });
  return command;
}

/** Stands in for the caller's matters, which only a server has. */
export function recordsOffline(): never {
  throw new CliError('records of the state ({"from": "state"}) are not at hand offline', {
    code: "no_state",
    hint: "send the request to the server, or put the records into the file",
    exitCode: EXIT_USAGE,
  });
}
