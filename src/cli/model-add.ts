/** Gives a GGUF a name: links or copies it beside the manifest, and writes its entry. */
import { linkSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { readGguf } from "../gguf/read.ts";
import { readManifest } from "../runtime/manifest.ts";
import { readShape } from "../runtime/shape.ts";
import { assertTemplate } from "../runtime/template.ts";
import { CliError, EXIT_USAGE } from "./cli-error.ts";
import type { CliIo } from "./io.ts";
import { Progress } from "./progress.ts";

export interface NewModel {
  readonly path: string;
  /** Null: from the file's name. */
  readonly name: string | null;
  readonly licence: string | null;
  /** Null: what the file says. */
  readonly contextTokens: number | null;
  /** Jinja. Null: what the file says. */
  readonly chatTemplate: string | null;
  /** Copy even where a link would do. */
  readonly copy: boolean;
}

/**
 * The file is complete under its final name before the entry names it: a crash leaves a file
 * without an entry, which the next attempt replaces.
 * @returns the name. @throws CliError, ModelError, GgufError.
 */
export async function addModel(io: CliIo, manifestPath: string, model: NewModel): Promise<string> {
  const source = resolve(io.directory, model.path);
  const name = nameOf(model);
  const manifest = await readManifest(manifestPath);
  if (manifest.has(name)) {
    const hint = "give another --name, or remove the entry from the manifest first";
    throw new CliError(`the manifest has a model ${name}`, { code: "name_taken", hint });
  }
  if (model.chatTemplate !== null) assertTemplate(model.chatTemplate);
  // What is no model is refused before gigabytes are read.
  const gguf = await readGguf(source, { skip: (key) => key === "tokenizer.ggml.merges" });
  const { isPooled } = readShape(gguf);
  const file = `${name}.gguf`;
  const target = join(dirname(manifestPath), file);
  const progress = new Progress(io, basename(source), gguf.fileBytes);
  const sha256 = await place(source, target, model.copy, progress);
  const entry = {
    file,
    // Only encoders say how their vectors are pooled.
    kind: isPooled ? "embedding" : "chat",
    sha256,
    licence: model.licence,
    contextTokens: model.contextTokens,
    chatTemplate: model.chatTemplate,
    schemaPrompt: "json",
  };
  await addEntry(manifestPath, name, entry);
  return name;
}

/** The digest is over the bytes that end up in place. */
async function place(
  source: string,
  target: string,
  mustCopy: boolean,
  progress: Progress,
): Promise<string> {
  if (source === target) return digestOf(source, null, progress);
  const temporary = `${target}.${process.pid}.partial`;
  rmSync(temporary, { force: true });
  try {
    const isLinked = !mustCopy && tryLink(source, temporary);
    const sha256 = await digestOf(source, isLinked ? null : temporary, progress);
    renameSync(temporary, target);
    return sha256;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** A second name for the same bytes; other file systems, and some of their own, have none. */
function tryLink(source: string, target: string): boolean {
  try {
    linkSync(source, target);
    return true;
  } catch {
    return false;
  }
}

/** Reads the file once; with `copyTo`, writes what it reads. */
async function digestOf(path: string, copyTo: string | null, progress: Progress): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  const writer = copyTo === null ? null : Bun.file(copyTo).writer({ highWaterMark: 1 << 22 });
  for await (const piece of Bun.file(path).stream()) {
    hasher.update(piece);
    if (writer !== null) {
      writer.write(piece);
      await writer.flush();
    }
    progress.add(piece.byteLength);
  }
  await writer?.end();
  progress.end();
  return hasher.digest("hex");
}

async function addEntry(path: string, name: string, entry: object): Promise<void> {
  // Read again: another command may have added one meanwhile.
  const manifest = (await Bun.file(path).json()) as Record<string, unknown>;
  const temporary = `${path}.${process.pid}.partial`;
  await Bun.write(temporary, `${JSON.stringify({ ...manifest, [name]: entry }, null, 2)}\n`, {
    mode: statSync(path).mode & 0o777,
  });
  renameSync(temporary, path);
}

function nameOf({ name, path }: NewModel): string {
  const wanted =
    name ??
    basename(path)
      .replace(/\.gguf$/i, "")
      .toLowerCase();
  if (/^[a-z0-9][a-z0-9._-]*$/.test(wanted)) return wanted;
  const message = `${JSON.stringify(wanted)} cannot be a model's name`;
  const hint = "give a --name of lower-case letters, digits, dots, hyphens and underscores";
  throw new CliError(message, { code: "usage", hint, exitCode: EXIT_USAGE });
}
