/** The server's log: JSON lines (pino) for machines, one readable line each on a terminal. */
import pino from "pino";
import type { Log } from "../ledger/clock.ts";
import { type CliIo, type Style, styled } from "./io.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Facts never hold a key, a secret, a prompt or an answer: who logs sees to that. */
export function createLog(io: CliIo, level: LogLevel): Log {
  const logger = pino(
    { level, base: null, timestamp: () => `,"time":"${new Date(io.nowMs()).toISOString()}"` },
    { write: (line: string) => io.stderr(io.isTerminal ? readable(io, line) : line) },
  );
  return (severity, event, facts) => logger[severity](facts ?? {}, event);
}

const STYLES: Readonly<Record<string, Style>> = { "40": "yellow", "50": "red" };

function readable(io: CliIo, line: string): string {
  const { level, time, msg, ...facts } = JSON.parse(line) as Record<string, unknown>;
  const style = STYLES[String(level)] ?? "dim";
  const details = Object.entries(facts).map(([name, value]) => `${name}=${String(value)}`);
  const clock = String(time).slice(11, 19);
  return `${styled(io, "dim", clock)} ${styled(io, style, String(msg))} ${details.join(" ")}\n`;
}
