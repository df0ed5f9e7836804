/**
 * `svc bundle`: one archive with everything that a host without a network needs: the runtime, the
 * packages for this platform, models, licences, and the digest of each file.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { VERSION } from "../rev.ts";
import { checkDigest, MANIFEST_PATH, type ModelEntry, readManifest } from "../runtime/manifest.ts";
import { installedPackages, licenceText } from "./bundle-packages.ts";
import { CliError, EXIT_USAGE } from "./cli-error.ts";
import { type CliIo, print, printJson } from "./io.ts";
import { addSettings, examples, readSettings } from "./settings.ts";
import { mebibytes } from "./units.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** What the program itself consists of. */
const PROGRAM = [
  "package.json",
  "bun.lock",
  "bunfig.toml",
  "LICENSE",
  "README.md",
  "src",
  "grammars",
];
/** llama.cpp's source, for building it: nothing is ever built here. */
const LEFT_OUT = /\/gitRelease\.bundle$/;
const EMBEDDED = "svc-tiny";

export function bundleCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("bundle")
    .description("pack runtime, packages, models and licences for a host without a network")
    .argument("[FILE.tar.gz]", "by default svc-VERSION-PLATFORM.tar.gz here")
    .option("--model <NAME...>", `models of the manifest to take along, besides ${EMBEDDED}`)
    .option("--json", "print { path, bytes, sha256, files, packages, models }");
  addSettings(command, ["manifest"]);
  command.addHelpText(
    "after",
    `${examples("svc bundle", "svc bundle /media/usb/svc.tar.gz --model qwen3-1.7b")}

On the other host, which must be of the same platform:
  tar -xzf svc.tar.gz && sh svc-*/install.sh /opt/svc && /opt/svc/bin/svc quickstart`,
  );
  command.action(async (file, options) => {
    const { config } = await readSettings(io, { ...options });
    const name = `svc-${VERSION}-${process.platform}-${process.arch}`;
    const path = resolve(io.directory, file ?? `${name}.tar.gz`);
    const manifestPath = config.manifest ?? MANIFEST_PATH;
    const models = await modelsOf(manifestPath, [EMBEDDED, ...(options.model ?? [])]);
    // Beside the archive: the disk that has to hold it anyway.
    const staging = mkdtempSync(join(dirname(path), ".svc-bundle-"));
    try {
      const folder = join(staging, name);
      const packages = stage(folder, manifestPath, models);
      const files = await writeDigests(folder);
      const draft = join(staging, basename(path));
      await pack(staging, name, draft);
      renameSync(draft, path);
      const facts = { path, bytes: statSync(path).size, sha256: await checkDigest(path, null) };
      const names = models.map((model) => model.name);
      if (options.json) printJson(io, { ...facts, files, packages, models: names });
      else {
        const parts = `${packages} packages, ${names.join(", ")}`;
        print(io, `${path}  ${mebibytes(facts.bytes)}  (${parts})`, `sha256 ${facts.sha256}`);
      }
    } finally {
      rmSync(staging, { recursive: true, force: true });
    }
  });
  return command;
}

/** @throws CliError for a name that is not there, ModelError for a file that is not what it was. */
async function modelsOf(manifestPath: string, names: readonly string[]): Promise<ModelEntry[]> {
  const manifest = await readManifest(manifestPath);
  const models: ModelEntry[] = [];
  for (const name of new Set(names)) {
    const entry = manifest.get(name);
    if (entry === undefined) {
      const hint = "svc models list shows the names there are; svc models add gives a file one";
      const message = `the manifest has no model ${name}`;
      throw new CliError(message, { code: "unknown_model", hint, exitCode: EXIT_USAGE });
    }
    await checkDigest(entry.path, entry.sha256);
    models.push(entry);
  }
  return models;
}

/** @returns how many packages there are. */
function stage(folder: string, manifestPath: string, models: readonly ModelEntry[]): number {
  const app = join(folder, "app");
  const copy = (from: string, to: string): void => {
    mkdirSync(dirname(to), { recursive: true });
    const filter = (path: string): boolean => !LEFT_OUT.test(path);
    cpSync(from, to, { recursive: true, dereference: true, filter });
  };
  for (const part of PROGRAM) copy(join(ROOT, part), join(app, part));
  copyModels(manifestPath, models, join(app, "models"), copy);
  const packages = installedPackages(ROOT);
  const licences = join(folder, "licences");
  mkdirSync(licences, { recursive: true });
  for (const each of packages) {
    // A package within another came along with it.
    if (!existsSync(join(app, each.path))) copy(join(ROOT, each.path), join(app, each.path));
    const text = licenceText(ROOT, each);
    const file = `${each.name.replace("/", "__")}-${each.version}.txt`;
    if (text !== "") writeFileSync(join(licences, file), `${text}\n`);
  }
  const list = [
    ...packages.map(({ licence, name, version }) => ({ name, version, licence })),
    ...models.map(({ licence, name }) => ({ name: `model ${name}`, version: "", licence })),
    { name: "bun", version: Bun.version, licence: "MIT; see https://bun.com/docs/project/license" },
  ];
  writeFileSync(join(licences, "list.json"), `${JSON.stringify(list, null, 2)}\n`);
  copy(process.execPath, join(folder, "runtime", "bun"));
  chmodSync(join(folder, "runtime", "bun"), 0o755);
  copy(join(ROOT, "src/cli/bundle-install.sh"), join(folder, "install.sh"));
  return packages.length;
}

/** A manifest of these alone. */
function copyModels(
  manifestPath: string,
  models: readonly ModelEntry[],
  folder: string,
  copy: (from: string, to: string) => void,
): void {
  const all = JSON.parse(readFileSync(manifestPath, "utf8")) as Record<string, unknown>;
  const manifest = Object.fromEntries(models.map(({ name }) => [name, all[name]]));
  for (const { lora, path } of models) {
    for (const file of [path, ...(lora === null ? [] : [lora.path])]) {
      copy(file, join(folder, basename(file)));
    }
  }
  writeFileSync(join(folder, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** As `sha256sum --check` reads them. @returns how many files there are. */
async function writeDigests(folder: string): Promise<number> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
  const lines: string[] = [];
  for (const path of paths) lines.push(`${await checkDigest(join(folder, path), null)}  ${path}`);
  writeFileSync(join(folder, "SHA256SUMS"), `${lines.join("\n")}\n`);
  return paths.length;
}

/** No times, owners or order of this machine: the same build gives the same bytes. */
async function pack(directory: string, name: string, target: string): Promise<void> {
  const same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
  const tar = Bun.which("tar");
  if (tar === null) {
    const hint = "install GNU tar: it writes the archive";
    throw new CliError("there is no tar on this machine", { code: "no_tar", hint });
  }
  const run = Bun.spawn([tar, ...same, "-C", directory, "-czf", target, name], { stderr: "pipe" });
  const [code, said] = await Promise.all([run.exited, run.stderr.text()]);
  if (code !== 0) throw new CliError(`tar failed: ${said.trim()}`, { code: "tar_failed" });
}
