/** `svc grammar`: what a schema compiles to, or the place where it is refused. */
import { Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { placeOfPointer } from "../console/json-text.ts";
import { compileSchema } from "../grammar/compile.ts";
import { SchemaError } from "../schema/schema-error.ts";
import { PrintedFailure } from "./cli-error.ts";
import { parseJson, readText } from "./files.ts";
import { type CliIo, print, printJson, styled } from "./io.ts";
import { examples } from "./settings.ts";

export function grammarCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("grammar")
    .description("compile a JSON Schema: print its GBNF, or say what cannot be enforced and where")
    .argument("<SCHEMA.json>", "a file, or - for standard input")
    .addOption(
      new Option("--objects <MODE>", "closed: only named keys, in order (as the API); open: any")
        .choices(["closed", "open"] as const)
        .default("closed" as const),
    )
    .addOption(
      new Option("--whitespace <MODE>", "compact: none (as the API); flexible: some")
        .choices(["compact", "flexible"] as const)
        .default("compact" as const),
    )
    .option("--json", "print { ok, id, gbnf, gbnf_exact, annotations } or { ok, error }");
  command.addHelpText(
    "after",
    examples("svc grammar invoice.json", "zod-to-json | svc grammar - --json") +
      "\n\nExit code 1 means that the schema is refused: a request with it would be a 400.",
  );
  command.action(async (path, options) => {
    const { objects, whitespace, json = false } = options;
    const text = await readText(io, path);
    const schema = parseJson(path, text);
    try {
      const grammar = compileSchema(schema, { objects, whitespace });
      const { annotations, gbnf, gbnfExact, id } = grammar;
      if (json) printJson(io, { ok: true, id, gbnf, gbnf_exact: gbnfExact, annotations });
      else print(io, gbnf.trimEnd());
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      printRefusal(io, { path, text, isJson: json }, error);
      throw new PrintedFailure("the schema is refused", { cause: error });
    }
  });
  return command;
}

function printRefusal(
  io: CliIo,
  source: { readonly path: string; readonly text: string; readonly isJson: boolean },
  { code, keyword, message, pointer }: SchemaError,
): void {
  const place = placeOfPointer(source.text, pointer);
  if (source.isJson) {
    printJson(io, { ok: false, error: { code, keyword, pointer, message, ...place } });
    return;
  }
  const where = place === null ? source.path : `${source.path}:${place.line}:${place.column}`;
  io.stderr(`${where}: ${styled(io, "red", "refused")}: ${message}\n`);
  io.stderr(`  at ${pointer === "" ? "the root of the schema" : pointer} (${code})\n`);
}
