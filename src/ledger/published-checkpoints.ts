/**
 * Checkpoints as files, `checkpoints/<n>.json` and `.note` in the data directory: what stock tools
 * verify, and a memory outside the database. A database that is older than a published checkpoint
 * was rolled back, whoever did it; it is refused at the start.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../store/key-file.ts";

export class PublishedCheckpoints {
  readonly #directory: string;

  constructor(dataDir: string) {
    this.#directory = join(dataDir, "checkpoints");
    mkdirSync(this.#directory, { recursive: true, mode: 0o755 });
  }

  /** The highest number of a published checkpoint; 0 without any. */
  newest(): number {
    const numbers = readdirSync(this.#directory).map((name) => /^(\d{8})\.json$/.exec(name)?.[1]);
    return numbers.reduce((newest, digits) => Math.max(newest, Number(digits ?? 0)), 0);
  }

  /** The record's bytes, or null when it was not published. */
  record(n: number): Uint8Array | null {
    const path = this.#path(n, "json");
    return existsSync(path) ? new Uint8Array(readFileSync(path)) : null;
  }

  /** Durable on return. The record comes last: it says that the checkpoint is published. */
  publish(n: number, record: Uint8Array, note: string): void {
    this.#write(this.#path(n, "note"), Buffer.from(note));
    this.#write(this.#path(n, "json"), record);
  }

  #path(n: number, extension: "json" | "note"): string {
    return join(this.#directory, `${String(n).padStart(8, "0")}.${extension}`);
  }

  #write(path: string, bytes: Uint8Array): void {
    const temporary = `${path}.tmp`;
    const file = openSync(temporary, "w", 0o644);
    try {
      writeSync(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    replaceFile(temporary, path);
  }
}
