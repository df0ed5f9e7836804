/**
 * Real vocabularies for tests without a download: node-llama-cpp ships llama.cpp's source as a git
 * bundle, and that holds vocabulary-only GGUFs. They are taken out once per machine and kept in the
 * temporary directory.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Files `models/ggml-vocab-<name>.gguf` of llama.cpp that the tests use. */
export type VocabularyName =
  | "llama-bpe"
  | "qwen2"
  | "phi-3"
  | "llama-spm"
  | "gemma-4"
  | "gpt-2"
  | "bert-bge";

const bundle = new URL("../../node_modules/node-llama-cpp/llama/gitRelease.bundle", import.meta.url)
  .pathname;

/** Tests that need a vocabulary skip without git; the line below says so. */
export const vocabulariesAvailable = existsSync(bundle) && Bun.which("git") !== null;
if (!vocabulariesAvailable) {
  process.stderr.write("skipped: tests with real vocabularies need git and node-llama-cpp\n");
}

/** Where tests keep what is slow to make. Shared by every checkout on the machine. */
export function cacheDirectory(): string {
  const path = join(tmpdir(), "svc-gateway-test-cache");
  mkdirSync(path, { recursive: true });
  return path;
}

/** @returns the path of a GGUF with the vocabulary and no weights. */
export function vocabularyPath(name: VocabularyName): string {
  const file = `ggml-vocab-${name}.gguf`;
  return cached(file, (path) => {
    writeFileSync(path, git(["-C", repositoryPath(), "show", `HEAD:models/${file}`]));
  });
}

/** A chat template that llama.cpp keeps for its own tests; Jinja. */
export function templateText(name: string): string {
  const path = cached(`${name}.jinja`, (draft) => {
    writeFileSync(
      draft,
      git(["-C", repositoryPath(), "show", `HEAD:models/templates/${name}.jinja`]),
    );
  });
  return readFileSync(path, "utf8");
}

function repositoryPath(): string {
  return cached("llama.cpp.git", (target) => {
    git(["clone", "--quiet", "--bare", bundle, target]);
  });
}

/** Runs `make` once for a name; another process may do the same at the same time. */
export function cached(name: string, make: (path: string) => void): string {
  const path = join(cacheDirectory(), name);
  if (existsSync(path)) return path;
  const draft = `${path}.${process.pid}`;
  make(draft);
  if (existsSync(path)) rmSync(draft, { recursive: true });
  else renameSync(draft, path);
  return path;
}

function git(args: readonly string[]): Uint8Array {
  const run = Bun.spawnSync(["git", ...args]);
  if (!run.success) throw new Error(`git ${args.join(" ")}: ${run.stderr.toString()}`);
  return run.stdout;
}
