/**
 * `svc backup` and `svc restore`: a whole data directory as a folder. A backup can be taken while
 * the server runs: SQLite copies one state of the database. It holds the keys: guard it like them.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Config } from "../config.ts";
import { buildRev } from "../rev.ts";
import { Admin } from "../service/admin.ts";
import { Meter } from "../service/metered-call.ts";
import { openTrust } from "../service/open-trust.ts";
import { copyDatabase, hasDatabase } from "../store/copy-database.ts";
import { CliError, EXIT_USAGE } from "./cli-error.ts";
import { type CliIo, print, printJson } from "./io.ts";
import { addSettings, DATA_SETTINGS, examples, readSettings } from "./settings.ts";

const KEY_FILES = ["master.key", "root.key"];
const CHECKPOINTS = "checkpoints";
/** Written last: a folder without it is no backup. */
const MANIFEST = "backup.json";

interface Manifest {
  readonly created_at: string;
  /** SHA-256 by file, hex. */
  readonly files: Readonly<Record<string, string>>;
}

export function backupCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("backup")
    .description("copy a data directory, also while its server runs")
    .argument("<FOLDER>", "where to; it must not exist yet")
    .option("--json", "print { folder, created_at, files }");
  addSettings(command, DATA_SETTINGS);
  command.addHelpText("after", examples("svc backup /safe/place/2026-11-22"));
  command.addHelpText(
    "after",
    "\nThe folder holds the master key and the root key: whoever has it can act as this server.",
  );
  command.action(async (folder, options) => {
    const { config } = await readSettings(io, { ...options });
    const target = resolve(io.directory, folder);
    const manifest = backUp(config.dataDir, target, io.nowMs());
    if (options.json) printJson(io, { folder: target, ...manifest });
    else print(io, `${Object.keys(manifest.files).length} files in ${target}`);
  });
  return command;
}

export function restoreCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("restore")
    .description("make a data directory from a backup; the restore becomes a row of its own")
    .argument("<FOLDER>", "as `svc backup` made it")
    .option("--json", "print { data_dir, created_at, row_hash }");
  addSettings(command, DATA_SETTINGS);
  command.addHelpText("after", examples("svc restore /safe/place/2026-11-22 --data-dir data"));
  command.addHelpText(
    "after",
    "\nCalls that were recorded after the backup are not in it: receipts and checkpoints of\n" +
      "that time will show that they are missing. That is why the restore is recorded.",
  );
  command.action(async (folder, options) => {
    const { config } = await readSettings(io, { ...options });
    const source = resolve(io.directory, folder);
    const manifest = checkBackup(source);
    copyBack(source, config.dataDir, manifest);
    const rowHash = await recordRestore(config, manifest, io.nowMs());
    const { created_at } = manifest;
    if (options.json) printJson(io, { data_dir: config.dataDir, created_at, row_hash: rowHash });
    else print(io, `${config.dataDir} is as it was at ${created_at}; recorded as ${rowHash}`);
  });
  return command;
}

function backUp(dataDir: string, folder: string, nowMs: number): Manifest {
  if (!hasDatabase(dataDir)) {
    const hint = "give the --data-dir of the server";
    throw new CliError(`${dataDir} is no data directory`, { code: "no_data_directory", hint });
  }
  if (existsSync(folder)) {
    const hint = "name a folder that does not exist: a backup is never written over";
    throw new CliError(`${folder} exists already`, { code: "exists", hint, exitCode: EXIT_USAGE });
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    // Before the database: it must not be older than any checkpoint that was published.
    copyCheckpoints(dataDir, folder);
    for (const name of KEY_FILES) {
      if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(folder, name));
    }
    copyDatabase(dataDir, folder);
    const files = Object.fromEntries(filesIn(folder).map((name) => [name, digest(folder, name)]));
    const manifest = { created_at: new Date(nowMs).toISOString(), files };
    writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, {
      mode: 0o600,
    });
    return manifest;
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

function copyCheckpoints(from: string, to: string): void {
  const source = join(from, CHECKPOINTS);
  if (!existsSync(source)) return;
  mkdirSync(join(to, CHECKPOINTS));
  for (const name of readdirSync(source)) {
    if (/^\d{8}\.(json|note)$/.test(name)) {
      copyFileSync(join(source, name), join(to, CHECKPOINTS, name));
    }
  }
}

/** @throws CliError when the folder is no backup, or not as it was made. */
function checkBackup(folder: string): Manifest {
  const path = join(folder, MANIFEST);
  if (!existsSync(path)) {
    const hint = "give a folder that svc backup made";
    throw new CliError(`${folder} is no whole backup`, { code: "no_backup", hint });
  }
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  for (const name of new Set([...Object.keys(manifest.files), ...filesIn(folder)])) {
    const isThere = existsSync(join(folder, name));
    if (isThere && digest(folder, name) === manifest.files[name]) continue;
    const message = `${name} in the backup is not what was backed up`;
    throw new CliError(message, { code: "damaged_backup", hint: "use another backup" });
  }
  return manifest;
}

function copyBack(folder: string, dataDir: string, { files }: Manifest): void {
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    const hint = "move it away first, or give another --data-dir: nothing is written over";
    throw new CliError(`${dataDir} is not empty`, { code: "exists", hint, exitCode: EXIT_USAGE });
  }
  mkdirSync(join(dataDir, CHECKPOINTS), { recursive: true, mode: 0o700 });
  for (const name of Object.keys(files)) copyFileSync(join(folder, name), join(dataDir, name));
}

/** A row of the operator's chain says that what came after the backup may be missing. */
async function recordRestore(config: Config, manifest: Manifest, nowMs: number): Promise<string> {
  const { dataDir, masterKey, masterKeyNext: nextMasterKey, rootKey } = config;
  const rev = buildRev();
  const onFatal = (error: Error): never => {
    throw error;
  };
  const trust = openTrust({
    dataDir,
    masterKey,
    nextMasterKey,
    rootKey,
    rev,
    onFatal,
    log: () => {},
  });
  try {
    const { admission, ledger, store, tenants } = trust;
    const meter = new Meter({ ledger, admission, rev, observe: () => {} });
    const admin = new Admin({ adminKey: null, store, tenants, meter, nowMs: () => nowMs });
    const facts = JSON.stringify(manifest);
    const { row } = await admin.record(
      {
        requestId: `restore_${crypto.randomUUID()}`,
        method: "RESTORE",
        path: "/restore",
        bodyHash: new Bun.CryptoHasher("sha256").update(facts).digest("hex"),
        startedMs: nowMs,
        signal: new AbortController().signal,
      },
      { restored: manifest.created_at },
    );
    return row.rowHash;
  } finally {
    trust.close();
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((name) => name !== MANIFEST)
    .sort();
}

function digest(folder: string, name: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(join(folder, name))).digest("hex");
}
