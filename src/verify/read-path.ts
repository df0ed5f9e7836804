/**
 * The verifier on a computer's files: an archive as it was downloaded, or the folder it was
 * unpacked to. The only file of the verifier that needs more than a browser has.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseCanonicalObject, textOf } from "./encoding.ts";
import { NATIVE } from "./native-hashing.ts";
import { RowThreads } from "./row-threads.ts";
import { type ArchiveFile, readTar } from "./tar.ts";
import { type Report, type VerifyOptions, verifyExport } from "./verify.ts";

/**
 * Verifies an export at this path.
 * @throws the file system's own errors; what the files hold is reported, not thrown.
 */
export async function verifyPath(path: string, options: VerifyOptions = {}): Promise<Report> {
  const stat = statSync(path);
  const files = stat.isDirectory() ? readFolder(path) : readTar(readChunks(path));
  const isLarge = stat.isFile() && stat.size >= THREADS_FROM_BYTES;
  // Threads hash natively: a function that was handed in stays on this one.
  if (!isLarge || options.hashing !== undefined) {
    return verifyExport(files, { hashing: NATIVE, ...options });
  }
  const rowCheckers = new RowThreads(Math.min(availableParallelism(), THREADS_MAX));
  try {
    return await verifyExport(files, { hashing: NATIVE, ...options, rowCheckers });
  } finally {
    await rowCheckers.close();
  }
}

/** About 40,000 rows, a quarter of a second: below that, starting threads takes longer. */
const THREADS_FROM_BYTES = 32 * 2 ** 20;
/** This thread has a third of the work; more of them would wait for it. */
const THREADS_MAX = 4;

const CHUNK_BYTES = 4 * 2 ** 20;

async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  const file = openSync(path, "r");
  try {
    for (;;) {
      const chunk = new Uint8Array(CHUNK_BYTES);
      const count = readSync(file, chunk);
      if (count === 0) return;
      yield chunk.subarray(0, count);
    }
  } finally {
    closeSync(file);
  }
}

/** An unpacked export: the manifest names the order; further files come last and are refused. */
async function* readFolder(path: string): AsyncGenerator<ArchiveFile> {
  const present = new Set(
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(path.length).replace(/^\/+/, "")),
  );
  const named = [...namesInManifest(path), "manifest.json", "manifest.note"];
  const order = [...named.filter((name) => present.has(name)), ...present];
  for (const name of new Set(order)) {
    yield { name, bytes: new Uint8Array(readFileSync(join(path, name))) };
  }
}

function namesInManifest(path: string): string[] {
  try {
    const manifest = parseCanonicalObject(textOf(readFileSync(join(path, "manifest.json"))) ?? "");
    const { files } = manifest ?? {};
    if (!Array.isArray(files)) return [];
    return files.map((file) => String((file as { readonly name?: unknown }).name));
  } catch {
    return [];
  }
}
