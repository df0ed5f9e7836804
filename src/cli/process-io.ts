/** The process as a command's world. */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { CliIo } from "./io.ts";

export function processIo(): CliIo {
  return {
    stdout: (text) => write(1, text),
    stderr: (text) => write(2, text),
    isTerminal: process.stdout.isTTY === true,
    environment: process.env,
    directory: process.cwd(),
    readStdin: () => Bun.stdin.text(),
    readLine: lineReader(),
    nowMs: Date.now,
    stopRequested: () =>
      new Promise((resolve) => {
        process.once("SIGINT", () => resolve("SIGINT"));
        process.once("SIGTERM", () => resolve("SIGTERM"));
      }),
  };
}

/** Standard input is opened at the first call only: most commands never read it. */
function lineReader(): CliIo["readLine"] {
  let lines: AsyncIterator<string> | null = null;
  return async (prompt) => {
    write(1, prompt);
    lines ??= createInterface({ input: process.stdin, terminal: false })[Symbol.asyncIterator]();
    const { done, value } = await lines.next();
    return done === true ? null : value;
  };
}

/** Written when the call returns: nothing is lost where the process ends next. */
function write(file: 1 | 2, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(file, bytes, at);
    } catch (error) {
      const { code } = error as { readonly code?: string };
      // A reader that went away (`svc keys list | head -1`) wants nothing more.
      if (code === "EPIPE") return;
      if (code !== "EAGAIN") throw error;
    }
  }
}
