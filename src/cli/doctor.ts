/** `svc doctor`: whether this machine can run the server well, and what to do where it cannot. */
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Config, SettingName } from "../config.ts";
import { MANIFEST_PATH } from "../runtime/manifest.ts";
import type { Check } from "./check.ts";
import { PrintedFailure } from "./cli-error.ts";
import { checkClock, checkDataDir, checkPort } from "./doctor-data.ts";
import { checkEngine } from "./doctor-engine.ts";
import { checkBinaries, checkBun, checkCores, checkGpu, checkMemory } from "./doctor-machine.ts";
import { checkModels } from "./doctor-models.ts";
import { type CliIo, print, printJson, styled } from "./io.ts";
import { addSettings, examples, readSettings } from "./settings.ts";

export function doctorCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("doctor")
    .description(
      "check this machine: cores, memory, GPU, binaries, models and their speed, data, clock",
    )
    .option("--quick", "leave the models unloaded: nothing is measured")
    .option("--json", "print { ok, checks }");
  addSettings(command, [
    ...["dataDir", "manifest", "tierA", "tierB", "host", "port"],
    ...["cpu", "threads", "context", "rows"],
  ] as SettingName[]);
  command.addHelpText("after", examples("svc doctor", "svc doctor --tier-a ./model.gguf"));
  command.action(async (options) => {
    const { config } = await readSettings(io, { ...options });
    const checks = await runChecks(io, config, options.quick === true);
    const isOk = checks.every(({ status }) => status !== "fail");
    if (options.json) printJson(io, { ok: isOk, checks });
    else printChecks(io, checks);
    if (!isOk) throw new PrintedFailure("a check failed");
  });
  return command;
}

async function runChecks(io: CliIo, config: Config, isQuick: boolean): Promise<Check[]> {
  const manifestPath = config.manifest ?? MANIFEST_PATH;
  const models = await checkModels(manifestPath, [config.tierA, config.tierB]);
  const checks = [
    checkBun(Bun.version),
    checkCores(config.threads),
    checkMemory(),
    checkBinaries(),
    checkGpu(config.cpu),
    ...models,
  ];
  // What is missing has been said; loading would say it again.
  const canLoad = checks.every(({ status }) => status !== "fail");
  if (canLoad && !isQuick) checks.push(...(await checkEngine(config)));
  return [
    ...checks,
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
