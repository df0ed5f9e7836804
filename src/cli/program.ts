/**
 * The command line. Exit codes: 0 done, 1 a check failed or the work could not be done, 2 the
 * command was not understood. Results go to standard output, everything else to standard error.
 */
import { Command, CommanderError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import packageJson from "../../package.json" with { type: "json" };
import { backupCommand, restoreCommand } from "./backup.ts";
import { benchCommand } from "./bench.ts";
import { bundleCommand } from "./bundle.ts";
import { chatCommand } from "./chat.ts";
import { checkpointCommand } from "./checkpoint.ts";
import {
  type CliError,
  cliErrorFrom,
  EXIT_FAILED,
  EXIT_USAGE,
  PrintedFailure,
} from "./cli-error.ts";
import { composeCommand } from "./compose.ts";
import { convertCommand } from "./convert.ts";
import { doctorCommand } from "./doctor.ts";
import { grammarCommand } from "./grammar.ts";
import { indexCommand } from "./index-add.ts";
import { type CliIo, print, printJson, styled } from "./io.ts";
import { keysCommand } from "./keys.ts";
import { modelsCommand } from "./models.ts";
import { processCommand } from "./process.ts";
import { replayCommand } from "./replay.ts";
import { reportCommand } from "./report.ts";
import { quickstartCommand, serveCommand } from "./serve.ts";
import { verifyCommand } from "./verify.ts";

/** In the order in which help lists them. */
const COMMANDS = [
  quickstartCommand,
  serveCommand,
  chatCommand,
  keysCommand,
  modelsCommand,
  grammarCommand,
  verifyCommand,
  replayCommand,
  processCommand,
  composeCommand,
  convertCommand,
  reportCommand,
  indexCommand,
  checkpointCommand,
  backupCommand,
  restoreCommand,
  benchCommand,
  bundleCommand,
  doctorCommand,
];

/** @param args without the program's own name. @returns the exit code. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  const program = buildProgram(io);
  if (args.length === 0) {
    print(io, program.helpInformation().trimEnd());
    return EXIT_USAGE;
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    return report(io, error, args.includes("--json"));
  }
}

function buildProgram(io: CliIo): Command {
  const program = new Command("svc")
    .description(
      "An OpenAI-compatible server whose answers are schema-locked, reproducible, provable.",
    )
    .version(packageJson.version, "-V, --version")
    .showHelpAfterError("(--help shows what there is)")
    .configureOutput({
      writeOut: io.stdout,
      writeErr: io.stderr,
      outputError: (text, write) => write(styled(io, "red", text)),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride();
  for (const build of COMMANDS) {
    program.addCommand(inherit(build(io), program));
  }
  return program;
}

/** Subcommands made apart do not take over how errors and help are handled. */
function inherit(command: CommandUnknownOpts, parent: CommandUnknownOpts): CommandUnknownOpts {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child, parent);
  return command;
}

function report(io: CliIo, error: unknown, isJson: boolean): number {
  if (error instanceof PrintedFailure) return EXIT_FAILED;
  const known = cliErrorFrom(error);
  if (known === null) {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    io.stderr(`svc: a mistake in this program; please report it:\n${detail}\n`);
    return EXIT_FAILED;
  }
  if (isJson) printJson(io, { ok: false, error: errorBody(known) });
  io.stderr(`${styled(io, "red", "error")}: ${known.message}\n`);
  if (known.hint !== null) io.stderr(`  ${known.hint}\n`);
  return known.exitCode;
}

function errorBody({ code, message, hint }: CliError): Record<string, string> {
  return { code, message, ...(hint === null ? {} : { hint }) };
}
