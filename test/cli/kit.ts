/** Runs commands in this process, in a directory of their own. */

import type { CliIo } from "../../src/cli/io.ts";
import { runCli } from "../../src/cli/program.ts";

export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliWorld {
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly isTerminal?: boolean;
  /** Ends a server; by default at once. */
  readonly stopRequested?: Promise<string>;
  /** Sees output as it comes. */
  readonly onOutput?: (text: string) => void;
}

export async function run(world: CliWorld, ...args: readonly string[]): Promise<CliRun> {
  const out: string[] = [];
  const err: string[] = [];
  const lines = world.stdin?.split("\n") ?? [];
  const io: CliIo = {
    stdout: (text) => {
      out.push(text);
      world.onOutput?.(text);
    },
    stderr: (text) => void err.push(text),
    isTerminal: world.isTerminal ?? false,
    environment: world.environment ?? {},
    directory: world.directory,
    readStdin: async () => world.stdin ?? "",
    readLine: async () => lines.shift() ?? null,
    nowMs: Date.now,
    stopRequested: () => world.stopRequested ?? Promise.resolve("SIGTERM"),
  };
  const code = await runCli(args, io);
  return { code, out: out.join(""), err: err.join("") };
}

/** The last line of a command's output, which `--json` makes a JSON value. */
export function jsonOf(result: CliRun): Record<string, unknown> {
  return JSON.parse(result.out.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
}

export interface RunningServer {
  readonly url: string;
  /** The line printed at readiness. */
  readonly ready: Record<string, unknown>;
  /** The key made at a first start. */
  readonly firstKey: Record<string, string> | null;
  stop(): Promise<CliRun>;
}

/** Few rows: the engine tests each number of them on itself, in each new data directory. */
const SERVER_OPTIONS = ["--port", "0", "--rows", "2", "--log-level", "silent", "--json"];

/** `svc serve --json` in this process, ready to answer. */
export async function startServer(
  world: CliWorld,
  ...args: readonly string[]
): Promise<RunningServer> {
  const stop = Promise.withResolvers<string>();
  const ready = Promise.withResolvers<Record<string, unknown>>();
  const onOutput = (text: string): void => {
    const line = JSON.parse(text) as Record<string, unknown>;
    if (line["event"] === "ready") ready.resolve(line);
  };
  const serving = run(
    { ...world, stopRequested: stop.promise, onOutput },
    ...["serve", ...SERVER_OPTIONS, ...args],
  );
  const failed = serving.then(({ err }): never => {
    throw new Error(`the server ended: ${err}`);
  });
  const line = await Promise.race([ready.promise, failed]);
  failed.catch(() => {});
  return {
    url: String(line["url"]),
    ready: line,
    firstKey: line["first_key"] as Record<string, string> | null,
    stop: () => {
      stop.resolve("SIGTERM");
      return serving;
    },
  };
}
