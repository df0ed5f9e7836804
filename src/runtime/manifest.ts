/**
 * The models that have a name: `models/manifest.json` says which file a name stands for, its digest
 * and licence, and what the GGUF does not say about itself. A GGUF without an entry works too; its
 * entry is made up from what the file says.
 */
import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { ModelError } from "./errors.ts";

/** How a strict request's schema is put into the prompt. */
export type SchemaPrompt = "sketch" | "json" | "none";

/** What a model is for: answers, or vectors. */
export type ModelKind = "chat" | "embedding";

export interface ModelEntry {
  readonly name: string;
  /** Null where nobody said: a GGUF without an entry can be tried as either. */
  readonly kind: ModelKind | null;
  /** Absolute. */
  readonly path: string;
  /** 64 lowercase hex digits, or null where nobody said what the file should be. */
  readonly sha256: string | null;
  readonly licence: string | null;
  readonly notes: string | null;
  /** Tokens of one sequence, prompt and answer; null takes what the model was trained for. */
  readonly contextTokens: number | null;
  /** Null takes one per real core. */
  readonly threads: number | null;
  /** Jinja, for a GGUF that has none. */
  readonly chatTemplate: string | null;
  readonly schemaPrompt: SchemaPrompt;
  readonly lora: LoraEntry | null;
}

interface LoraEntry {
  readonly path: string;
  readonly sha256: string;
  readonly scale: number;
}

export type Manifest = ReadonlyMap<string, ModelEntry>;

/** The manifest that comes with the program. */
export const MANIFEST_PATH = new URL("../../models/manifest.json", import.meta.url).pathname;

/** @throws ModelError `invalid_manifest` naming the entry and the member that is wrong. */
export async function readManifest(path: string): Promise<Manifest> {
  let value: unknown;
  try {
    value = await Bun.file(path).json();
  } catch (cause) {
    const problem = existsSync(path) ? `${path} is not readable JSON` : `there is no ${path}`;
    throw new ModelError(problem, { code: "invalid_manifest", cause });
  }
  const entries = new Map<string, ModelEntry>();
  for (const [name, entry] of Object.entries(record(value, path))) {
    if (!/^[a-z0-9][a-z0-9._-]*$/.test(name)) throw invalid(name, "is not a name");
    entries.set(name, parseEntry(name, entry, dirname(path)));
  }
  return entries;
}

/**
 * What `model` stands for: a name of the manifest, or the path of a GGUF.
 * @throws ModelError `unknown_model` for anything else. Nothing is ever fetched.
 */
export function resolveModel(manifest: Manifest, model: string): ModelEntry {
  const entry = manifest.get(model);
  if (entry !== undefined) return entry;
  const remote = /^[a-z][a-z0-9+.-]+:/i.test(model);
  if (remote || !model.endsWith(".gguf")) {
    const names = [...manifest.keys()].join(", ");
    throw new ModelError(
      `${model} is neither a model of the manifest (${names}) nor the path of a .gguf file`,
      { code: "unknown_model" },
    );
  }
  const path = isAbsolute(model) ? model : join(process.cwd(), model);
  return {
    name: basename(path, ".gguf"),
    kind: null,
    path,
    sha256: null,
    licence: null,
    notes: null,
    contextTokens: null,
    threads: null,
    chatTemplate: null,
    schemaPrompt: "json",
    lora: null,
  };
}

/** @throws ModelError `wrong_kind` for a model that its entry gives to other work. */
export function assertKind(entry: ModelEntry, kind: ModelKind): void {
  if (entry.kind === null || entry.kind === kind) return;
  throw new ModelError(`${entry.name} is a model for ${entry.kind}, not for ${kind}`, {
    code: "wrong_kind",
  });
}

/**
 * The digest of a file, compared with what it should be.
 * @returns 64 lowercase hex digits.
 * @throws ModelError `digest_mismatch` with both digests, `unreadable` where there is no file.
 */
export async function checkDigest(path: string, expected: string | null): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  try {
    for await (const piece of Bun.file(path).stream()) hasher.update(piece);
  } catch (cause) {
    throw new ModelError(`${path} cannot be read`, { code: "unreadable", cause });
  }
  const actual = hasher.digest("hex");
  if (expected !== null && actual !== expected) {
    throw new ModelError(`${path} has the SHA-256 ${actual}, the manifest says ${expected}`, {
      code: "digest_mismatch",
    });
  }
  return actual;
}

function parseEntry(name: string, value: unknown, directory: string): ModelEntry {
  const entry = record(value, name);
  const known = ["file", "sha256", "licence", "notes", "contextTokens", "threads"];
  const all = [...known, "chatTemplate", "schemaPrompt", "lora", "kind"];
  for (const key of Object.keys(entry)) {
    if (!all.includes(key)) throw invalid(name, `has an unknown member ${key}`);
  }
  const schemaPrompt = entry["schemaPrompt"] ?? "json";
  if (schemaPrompt !== "sketch" && schemaPrompt !== "json" && schemaPrompt !== "none") {
    throw invalid(name, "schemaPrompt is not sketch, json or none");
  }
  const kind = entry["kind"] ?? "chat";
  if (kind !== "chat" && kind !== "embedding") throw invalid(name, "kind is not chat or embedding");
  return {
    name,
    kind,
    path: join(directory, fileName(name, entry["file"])),
    sha256: digest(name, entry["sha256"]),
    licence: text(name, "licence", entry["licence"]),
    notes: text(name, "notes", entry["notes"]),
    contextTokens: count(name, "contextTokens", entry["contextTokens"]),
    threads: count(name, "threads", entry["threads"]),
    chatTemplate: text(name, "chatTemplate", entry["chatTemplate"]),
    schemaPrompt,
    lora: parseLora(name, entry["lora"], directory),
  };
}

function parseLora(name: string, value: unknown, directory: string): LoraEntry | null {
  if (value === undefined || value === null) return null;
  const lora = record(value, `${name}.lora`);
  const scale = lora["scale"] ?? 1;
  if (typeof scale !== "number" || !Number.isFinite(scale)) {
    throw invalid(name, "lora.scale is not a number");
  }
  return {
    path: join(directory, fileName(name, lora["file"])),
    sha256: digest(name, lora["sha256"]),
    scale,
  };
}

function record(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw invalid(what, "is not an object");
}

/** A name inside the manifest's folder: a manifest cannot point anywhere else. */
function fileName(name: string, value: unknown): string {
  if (typeof value === "string" && /^[A-Za-z0-9][A-Za-z0-9._-]*\.gguf$/.test(value)) return value;
  throw invalid(name, "file is not the name of a .gguf file beside the manifest");
}

function digest(name: string, value: unknown): string {
  if (typeof value === "string" && /^[0-9a-f]{64}$/.test(value)) return value;
  throw invalid(name, "sha256 is not 64 lowercase hex digits");
}

function text(name: string, member: string, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" && value !== "") return value;
  throw invalid(name, `${member} is not a text`);
}

function count(name: string, member: string, value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number" && Number.isInteger(value) && value > 0) return value;
  throw invalid(name, `${member} is not a whole number above 0`);
}

function invalid(name: string, problem: string): ModelError {
  return new ModelError(`models/manifest.json: ${name} ${problem}`, { code: "invalid_manifest" });
}
