/** `svc process`: the catalogue, and one process run here; the bytes are those of the API. */
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { JsonValue } from "../bytes/canonical-json.ts";
import { runProcess } from "../process/definition.ts";
import { expandProcessInput } from "../process/expand-records.ts";
import type { CatalogEntry, Registry } from "../process/registry.ts";
import { startProcesses } from "../process/start.ts";
import { CliError, EXIT_USAGE } from "./cli-error.ts";
import { recordsOffline } from "./compose.ts";
import { readJson } from "./files.ts";
import { type CliIo, print, printJson, printTable, styled } from "./io.ts";
import { examples } from "./settings.ts";

export function processCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("process")
    .description("list the deterministic processes, or run one here: same input, same bytes")
    .argument("[SLUG]", "which; without it, all are listed")
    .argument("[FILE]", "its JSON input, or - for standard input; without it, its input schema")
    .option("--engine <VERSION>", "an older engine")
    .option("--json", "print one line: the catalogue, or { output, input_hash, output_hash, … }");
  command.addHelpText(
    "after",
    examples(
      "svc process",
      "svc process iolta-reconcile > schema.json",
      "svc process iolta-reconcile june.json > answer.json",
      "svc report answer.json > june.html",
    ),
  );
  command.action(async (slug, file, { engine, json = false }) => {
    const { registry } = startProcesses();
    if (slug === undefined) printCatalog(io, registry.catalog, json);
    else if (file === undefined) printSchema(io, registry, slug, json);
    else await runFile(io, { registry, slug, file, engine, json });
  });
  return command;
}

function printCatalog(io: CliIo, catalog: readonly CatalogEntry[], isJson: boolean): void {
  const rows = catalog.map(({ description, model_id: id }) => [id, firstSentence(description)]);
  if (isJson) printJson(io, { processes: catalog });
  else printTable(io, rows);
}

/** A full stop before a whole word ends a sentence; those of "Fed. R. Civ. P." do not. */
const firstSentence = (text: string): string => text.replace(/\. (?=[A-Z][a-z]* ).*/s, ".");

function printSchema(io: CliIo, registry: Registry, slug: string, isJson: boolean): void {
  const entry = registry.catalog.find(({ id }) => id === slug);
  if (entry === undefined) {
    const known = registry.catalog.map(({ id }) => id).join(", ");
    const options = { code: "unknown_process", hint: `there are ${known}`, exitCode: EXIT_USAGE };
    throw new CliError(`there is no process ${slug}`, options);
  }
  if (isJson) printJson(io, entry.input_schema);
  else print(io, JSON.stringify(entry.input_schema, null, 2));
}

interface Call {
  readonly registry: Registry;
  readonly slug: string;
  readonly file: string;
  readonly engine: string | undefined;
  readonly json: boolean;
}

async function runFile(io: CliIo, { registry, slug, file, engine, json }: Call): Promise<void> {
  const found = registry.resolve(slug, engine, "");
  const input = expandProcessInput(slug, (await readJson(io, file)) as JsonValue, recordsOffline);
  const run = runProcess(found, input);
  if (json) {
    printJson(io, {
      output: run.output,
      engine: run.engine,
      input_hash: run.inputHash,
      output_hash: run.outputHash,
      deterministic_hash: run.deterministicHash,
    });
    return;
  }
  print(io, JSON.stringify(run.output, null, 2));
  io.stderr(
    styled(
      io,
      "dim",
      `output_hash ${run.outputHash}\ndeterministic_hash ${run.deterministicHash}\n`,
    ),
  );
}
