/** `svc index`: documents of one's own, for search on hosts without a network. */
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { indexDirectory } from "../search/local-index.ts";
import { searchIndexPath } from "../service/open-search.ts";
import { openIndexForWriting } from "../store/open-index.ts";
import { CliError } from "./cli-error.ts";
import { type CliIo, print, printJson } from "./io.ts";
import { addSettings, DATA_SETTINGS, examples, readSettings } from "./settings.ts";

export function indexCommand(io: CliIo): CommandUnknownOpts {
  const index = new Command("index").description("documents for search without a network");
  const add = addCommand(io);
  addSettings(add, DATA_SETTINGS);
  index.addCommand(add);
  return index;
}

function addCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("add")
    .description("bring the index in step with a folder: text, Markdown, HTML and PDF")
    .argument("<DIR>", "new and changed files are read, files that are gone are forgotten")
    .option("--collection <NAME>", "by default the folder's name; part of every address")
    .option("--json", "print one line { collection, added, unchanged, removed, failed }");
  command.addHelpText(
    "after",
    `${examples("svc index add ./handbooks", "svc index add ./rules --collection rules --json")}

It works while the server runs: the next search sees what was added.`,
  );
  command.action(async (directory, options) => {
    const { config } = await readSettings(io, options);
    const path = resolve(io.directory, directory);
    await assertDirectory(path);
    const collection = options.collection ?? basename(path);
    const db = openIndexForWriting(searchIndexPath(config.dataDir));
    try {
      const report = await indexDirectory(db, collection, path);
      if (options.json) printJson(io, { collection, ...report });
      else {
        const { added, unchanged, removed, failed } = report;
        print(io, `${collection}: ${added} read, ${unchanged} unchanged, ${removed} forgotten`);
        for (const { path: file, reason } of failed) io.stderr(`${file}: ${reason}\n`);
      }
    } finally {
      db.close();
    }
  });
  return command;
}

async function assertDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory()) return;
  const options = { code: "unreadable", hint: "check the path and that this user may read it" };
  throw new CliError(`${path} is no folder`, options);
}
