/** `svc models`: the models that have a name, in `models/manifest.json` or another manifest. */
import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { readGguf } from "../gguf/read.ts";
import {
  checkDigest,
  MANIFEST_PATH,
  type ModelEntry,
  type ModelKind,
  readManifest,
} from "../runtime/manifest.ts";
import { machineMemory, planContext } from "../runtime/memory.ts";
import { readShape } from "../runtime/shape.ts";
import { CliError, cliErrorFrom, EXIT_USAGE, PrintedFailure } from "./cli-error.ts";
import { readText } from "./files.ts";
import { type CliIo, print, printJson, printTable, styled } from "./io.ts";
import { addModel } from "./model-add.ts";
import { addSettings, examples, readSettings } from "./settings.ts";
import { mebibytes } from "./units.ts";

export function modelsCommand(io: CliIo): CommandUnknownOpts {
  const models = new Command("models").description("add, list and check models that have a name");
  for (const build of [addCommand, listCommand, verifyCommand]) {
    const command = build(io);
    addSettings(command, ["manifest"]);
    models.addCommand(command);
  }
  models.addHelpText(
    "after",
    examples(
      "svc models add ./Qwen3-1.7B-Q8_0.gguf --name qwen3-1.7b --licence Apache-2.0",
      "svc models list",
      "svc models verify",
    ),
  );
  return models;
}

function addCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("add")
    .description("give a GGUF a name: its digest goes into the manifest, the file beside it")
    .argument("<FILE.gguf>", "a file on this machine; nothing is ever downloaded")
    .option("--name <NAME>", "by default the file's name in lower case")
    .option("--licence <TEXT>", "what the model may be used for")
    .option("--context <TOKENS>", "length of a sequence, if not what the file says", wholeFrom)
    .option("--chat-template <FILE>", "Jinja, where the file has none or another is wanted")
    .option("--copy", "copy the file; without it, it is linked where that is possible")
    .option("--json", "print the model as `list --json` does");
  command.action(async (path, options) => {
    // `--context` here is the model's, not the server's.
    const { config } = await readSettings(io, { ...options, context: undefined });
    const manifestPath = config.manifest ?? MANIFEST_PATH;
    const { chatTemplate: template } = options;
    const name = await addModel(io, manifestPath, {
      path,
      name: options.name ?? null,
      licence: options.licence ?? null,
      contextTokens: options.context ?? null,
      chatTemplate: template === undefined ? null : await readText(io, template),
      copy: options.copy ?? false,
    });
    const entry = (await readManifest(manifestPath)).get(name);
    if (entry === undefined) throw new Error(`${name} is not in the manifest it was added to`);
    const facts = await factsOf(entry);
    if (options.json) printJson(io, facts);
    else printFacts(io, [facts]);
    const flag = facts.kind === "embedding" ? "--embeddings" : "--tier-a";
    if (!options.json) print(io, "", `svc serve ${flag} ${name}`);
  });
  return command;
}

function listCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("list")
    .description("list the models, with what they need")
    .option("--json", "print { models: [...] }");
  command.action(async (options) => {
    const { config } = await readSettings(io, { ...options });
    const manifest = await readManifest(config.manifest ?? MANIFEST_PATH);
    const models = await Promise.all([...manifest.values()].map(factsOf));
    if (options.json) printJson(io, { models });
    else printFacts(io, models);
  });
  return command;
}

function verifyCommand(io: CliIo): CommandUnknownOpts {
  const command = new Command("verify")
    .description("read every model's file and compare its digest with the manifest")
    .argument("[NAME...]", "only these")
    .option("--json", "print { ok, models: [{ name, ok, message }] }");
  command.action(async (names, options) => {
    const { config } = await readSettings(io, { ...options });
    const manifest = await readManifest(config.manifest ?? MANIFEST_PATH);
    const results = [];
    for (const name of names.length === 0 ? manifest.keys() : names) {
      const entry = manifest.get(name);
      if (entry === undefined) {
        const hint = "svc models list shows the names there are";
        const message = `the manifest has no model ${name}`;
        throw new CliError(message, { code: "unknown_model", hint, exitCode: EXIT_USAGE });
      }
      const result = { name, ...(await checkModel(entry)) };
      results.push(result);
      if (options.json) continue;
      const mark = result.ok ? styled(io, "green", "ok  ") : styled(io, "red", "FAIL");
      print(io, `${mark}  ${name}  ${result.message}`);
    }
    const ok = results.every((result) => result.ok);
    if (options.json) printJson(io, { ok, models: results });
    if (!ok) throw new PrintedFailure("a model is not what the manifest says");
  });
  return command;
}

async function checkModel(entry: ModelEntry): Promise<{ ok: boolean; message: string }> {
  try {
    return { ok: true, message: await checkDigest(entry.path, entry.sha256) };
  } catch (error) {
    const known = cliErrorFrom(error);
    if (known === null) throw error;
    return { ok: false, message: known.message };
  }
}

interface ModelFacts {
  readonly name: string;
  readonly kind: ModelKind | null;
  readonly path: string;
  readonly sha256: string | null;
  readonly licence: string | null;
  readonly architecture: string | null;
  readonly file_bytes: number;
  /** With four answers at the same time, on this machine. */
  readonly memory_bytes: number | null;
  readonly context_tokens: number | null;
  readonly vocabulary: number | null;
  readonly has_chat_template: boolean;
  /** Why the file cannot be used; null where it can. */
  readonly problem: string | null;
}

/** How the default settings would run it. */
const ROWS = 4;
const CHUNK_TOKENS = 128;

async function factsOf(entry: ModelEntry): Promise<ModelFacts> {
  const { chatTemplate, contextTokens, kind, licence, name, path, sha256 } = entry;
  const known = { name, kind, path, sha256, licence };
  try {
    const gguf = await readGguf(path, { skip: (key) => key === "tokenizer.ggml.merges" });
    const shape = readShape(gguf);
    const chunkTokens = shape.readsBothWays ? (contextTokens ?? shape.contextTokens) : CHUNK_TOKENS;
    const wishes = { contextTokens, rows: ROWS, chunkTokens };
    const plan = planContext(shape, gguf.fileBytes, wishes, machineMemory().totalBytes);
    return {
      ...known,
      architecture: shape.architecture,
      file_bytes: gguf.fileBytes,
      memory_bytes: gguf.fileBytes + plan.cellsBytes + plan.buffersBytes,
      context_tokens: plan.contextTokens,
      vocabulary: shape.vocabularySize,
      has_chat_template: (chatTemplate ?? shape.chatTemplate) !== null,
      problem: null,
    };
  } catch (error) {
    const problem = cliErrorFrom(error)?.message ?? null;
    if (problem === null) throw error;
    const unknown = { architecture: null, memory_bytes: null, context_tokens: null };
    const rest = { file_bytes: 0, vocabulary: null, has_chat_template: false, problem };
    return { ...known, ...unknown, ...rest };
  }
}

function printFacts(io: CliIo, models: readonly ModelFacts[]): void {
  const head = ["NAME", "KIND", "NETWORK", "FILE", "MEMORY", "CONTEXT", "LICENCE", "SHA-256"];
  const rows = models.map((model) => [
    styled(io, "bold", model.name),
    model.kind ?? "-",
    model.architecture ?? "-",
    mebibytes(model.file_bytes),
    model.memory_bytes === null ? "-" : mebibytes(model.memory_bytes),
    String(model.context_tokens ?? "-"),
    model.licence ?? "-",
    `${model.sha256?.slice(0, 16) ?? "-"}…`,
  ]);
  printTable(io, [head.map((title) => styled(io, "dim", title)), ...rows]);
  for (const { has_chat_template: hasTemplate, kind, name, problem } of models) {
    if (problem !== null) io.stderr(`${styled(io, "red", name)}: ${problem}\n`);
    else if (!hasTemplate && kind !== "embedding") {
      const what = "no chat template; add it with --chat-template FILE.jinja";
      io.stderr(`${styled(io, "yellow", name)}: ${what}\n`);
    }
  }
}

function wholeFrom(text: string): number {
  if (/^[1-9][0-9]{0,7}$/.test(text)) return Number(text);
  const options = { code: "usage", exitCode: EXIT_USAGE };
  throw new CliError(`${JSON.stringify(text)} is not a number of tokens`, options);
}
