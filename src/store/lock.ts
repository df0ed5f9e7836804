/**
 * One process per data directory. The lock is an exclusive SQLite transaction on an empty file of
 * its own: the operating system releases it when the process ends, however it ends, and a second
 * handle in the same process is refused too.
 */
import { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "./store-error.ts";

export interface DirectoryLock {
  release(): void;
}

/**
 * Makes the directory (mode 0700) when it is missing, and locks it.
 * @throws StoreError `directory_locked` naming the process that has it.
 */
export function lockDirectory(dataDir: string): DirectoryLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const pidPath = join(dataDir, "svc.pid");
  const handle = new Database(join(dataDir, "lock"), { create: true, readwrite: true });
  try {
    handle.run("PRAGMA busy_timeout = 0");
    handle.run("BEGIN EXCLUSIVE");
  } catch (cause) {
    handle.close();
    throw lockedError(dataDir, readOwner(pidPath), cause);
  }
  writeFileSync(pidPath, `${process.pid}\n`);
  return { release: () => handle.close() };
}

function readOwner(pidPath: string): string {
  try {
    return `process ${readFileSync(pidPath, "utf8").trim()}`;
  } catch {
    return "another process";
  }
}

function lockedError(dataDir: string, owner: string, cause: unknown): StoreError {
  const message = `the data directory ${dataDir} is in use by ${owner}; only one may open it`;
  return new StoreError("directory_locked", message, { cause });
}
