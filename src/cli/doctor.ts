/** `svc doctor`: whether this machine can run the server well, and what to do where it cannot. */
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Config } from "../config.ts";
import { MANIFEST_PATH } from "../runtime/manifest.ts";
import type { Check } from "./check.ts";
import { PrintedFailure } from "./cli-error.ts";
import { checkClock, checkDataDir, checkPort } from "./doctor-data.ts";
import { checkBinaries, checkBun, checkCores, checkGpu, checkMemory } from "./doctor-machine.ts";
import { checkModels } from "./doctor-models.ts";
import { type CliIo, print, printJson, styled } from "./io.ts";
import { addSettings, examples, readSettings } from "./settings.ts";

export function doctorCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("doctor")
    .description("check this machine: cores, memory, GPU, binaries, models, data directory, clock")
    .option("--json", "print { ok, checks }");
  addSettings(command, ["dataDir", "manifest", "tierA", "tierB", "host", "port", "cpu"]);
  command.addHelpText("after", examples("svc doctor", "svc doctor --tier-a ./model.gguf"));
  command.action(async (options) => {
    const { config } = await readSettings(io, { ...options });
    const checks = await runChecks(io, config);
    const isOk = checks.every(({ status }) => status !== "fail");
    if (options.json) printJson(io, { ok: isOk, checks });
    else printChecks(io, checks);
    if (!isOk) throw new PrintedFailure("a check failed");
  });
  return command;
}

async function runChecks(io: CliIo, config: Config): Promise<Check[]> {
  const manifestPath = config.manifest ?? MANIFEST_PATH;
  return [
    checkBun(Bun.version),
    checkCores(),
    checkMemory(),
    checkBinaries(),
    checkGpu(config.cpu),
    ...(await checkModels(manifestPath, [config.tierA, config.tierB])),
    checkDataDir(config.dataDir),
    checkClock(config.dataDir, io.nowMs()),
    await checkPort(config.host, config.port),
  ];
}

function printChecks(io: CliIo, checks: readonly Check[]): void {
  const marks = { ok: ["green", "ok  "], warn: ["yellow", "warn"], fail: ["red", "FAIL"] } as const;
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, status, detail, fix } of checks) {
    const [style, mark] = marks[status];
    print(io, `${styled(io, style, mark)}  ${name.padEnd(width)}  ${detail}`);
    if (fix !== null) print(io, `${" ".repeat(width + 8)}${styled(io, "bold", fix)}`);
  }
}
