/** The server's settings as options of a command, and the configuration they make. */
import { resolve } from "node:path";
import { type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import {
  CONFIG_VARIABLE,
  parseSettingsFile,
  type ReadConfig,
  readConfig,
  SETTINGS,
  type SettingName,
} from "../config.ts";
import { readText } from "./files.ts";
import type { CliIo } from "./io.ts";

/** What any command on a data directory can be told. */
export const DATA_SETTINGS: readonly SettingName[] = ["dataDir"];

/** Adds these settings (by default all that have a flag) to a command. */
export function addSettings(
  command: CommandUnknownOpts,
  names: readonly SettingName[] = Object.keys(SETTINGS) as SettingName[],
): void {
  for (const name of names) {
    const { flag, variable, argument, help, fallback, isSecret } = SETTINGS[name];
    if (isSecret) continue;
    const flags = argument === null ? `--${flag}` : `--${flag} <${argument}>`;
    const byDefault = fallback === null || fallback === false ? "" : `, default ${fallback}`;
    command.addOption(new Option(flags, `${help} (${variable}${byDefault})`));
  }
  command.addOption(new Option("--config <FILE>", `settings as TOML (${CONFIG_VARIABLE})`));
}

/** Help on the settings that have no flag. */
export function secretVariables(): string {
  const secrets = Object.values(SETTINGS).filter(({ isSecret }) => isSecret);
  const lines = secrets.map(({ variable, help }) => `  ${variable.padEnd(25)} ${help}`);
  return ["Secrets, from the environment only:", ...lines].join("\n");
}

/**
 * @param options as the command parsed them.
 * @throws ConfigError, CliError.
 */
export async function readSettings(
  io: CliIo,
  options: Readonly<Record<string, unknown>>,
): Promise<ReadConfig> {
  const given = options["config"] ?? io.environment[CONFIG_VARIABLE];
  const path = typeof given === "string" && given !== "" ? resolve(io.directory, given) : null;
  const file = path === null ? null : parseSettingsFile(path, await readText(io, path));
  const flags: Partial<Record<SettingName, string | boolean>> = {};
  for (const name of Object.keys(SETTINGS) as SettingName[]) {
    const value = options[name];
    if (typeof value === "string" || value === true) flags[name] = value;
  }
  return readConfig({ flags, environment: io.environment, file, directory: io.directory });
}

/** Ends a help text: `Examples:` and these lines. */
export function examples(...lines: readonly string[]): string {
  return ["", "Examples:", ...lines.map((line) => `  ${line}`)].join("\n");
}
