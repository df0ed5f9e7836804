/** What a command sees of the world: texts in and out, the environment, and whether to colour. */
import { styleText } from "node:util";

export interface CliIo {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Whether a person reads `stdout`: only then is anything coloured. */
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Relative paths start here. */
  readonly directory: string;
  readonly readStdin: () => Promise<string>;
  /** The next line that a person typed; null once they are done. */
  readonly readLine: (prompt: string) => Promise<string | null>;
  readonly nowMs: () => number;
  /** Listens from here on; resolves with the signal by which the operator ends the program. */
  readonly stopRequested: () => Promise<string>;
}

export type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan";

/** @returns the text, coloured where a person reads it and did not ask for plain text. */
export function styled(io: CliIo, style: Style, text: string): string {
  const isPlain = !io.isTerminal || (io.environment["NO_COLOR"] ?? "") !== "";
  return isPlain ? text : styleText(style, text, { validateStream: false });
}

/** One JSON value per line: what `--json` promises. */
export function printJson(io: CliIo, value: unknown): void {
  io.stdout(`${JSON.stringify(value)}\n`);
}

export function print(io: CliIo, ...lines: readonly string[]): void {
  io.stdout(`${lines.join("\n")}\n`);
}

/** Columns as wide as their widest cell. */
export function printTable(io: CliIo, rows: readonly (readonly string[])[]): void {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, Bun.stringWidth(cell));
    }
  }
  for (const row of rows) {
    const cells = row.map((cell, index) => {
      const gap = (widths[index] ?? 0) - Bun.stringWidth(cell);
      return index === row.length - 1 ? cell : cell + " ".repeat(gap);
    });
    print(io, cells.join("  ").trimEnd());
  }
}
