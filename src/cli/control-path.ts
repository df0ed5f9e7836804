/** Where a running server listens for commands on its own machine. */
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";

/** A socket's path has at most 107 bytes on Linux, 103 on macOS. */
const SOCKET_PATH_BYTES_MAX = 103;

/**
 * Calls `use` with a path that names `D/control.sock` and is short enough for a socket. A long
 * one goes through an open descriptor of the directory (Linux).
 */
export async function withControlPath<T>(
  dataDir: string,
  use: (path: string) => T | Promise<T>,
): Promise<T> {
  const path = join(dataDir, "control.sock");
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return use(path);
  const directory = openSync(dataDir, "r");
  try {
    return await use(`/proc/self/fd/${directory}/control.sock`);
  } finally {
    closeSync(directory);
  }
}
