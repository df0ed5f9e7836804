/** Reads the primitive values of a GGUF file in order, through a window over the file. */
import { readSync } from "node:fs";
import { GGUF_TYPE_BYTES, type GgufType } from "./types.ts";

export type GgufErrorCode =
  | "unreadable"
  | "not_gguf"
  | "unsupported_version"
  | "truncated"
  | "too_large"
  | "unknown_type"
  | "malformed";

/** A file that is no GGUF file, or not a whole one. */
export class GgufError extends Error {
  override readonly name = "GgufError";
  readonly code: GgufErrorCode;

  constructor(message: string, options: ErrorOptions & { readonly code: GgufErrorCode }) {
    super(message, options);
    this.code = options.code;
  }
}

/** Large enough that a 128k-token vocabulary takes eight reads. */
const WINDOW_BYTES = 1 << 20;

export class GgufCursor {
  readonly fileBytes: number;
  readonly #fd: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #window = Buffer.alloc(0);
  #windowStart = 0;
  #position = 0;

  /** @param fileBytes the size of the file; nothing past it is asked for. */
  constructor(fd: number, fileBytes: number) {
    this.#fd = fd;
    this.fileBytes = fileBytes;
  }

  /** Bytes read or skipped so far. */
  get position(): number {
    return this.#position;
  }

  get remaining(): number {
    return this.fileBytes - this.#position;
  }

  uint32(): number {
    const start = this.#take(4);
    return this.#window.readUInt32LE(start);
  }

  /** A 64-bit count of something. @throws GgufError `too_large` above `max`. */
  count(what: string, max: number): number {
    const value = this.#uint64();
    if (value <= BigInt(Math.floor(max))) return Number(value);
    throw new GgufError(`${value} ${what} are more than the file can hold`, { code: "too_large" });
  }

  /**
   * A 64-bit length, in elements of at least `elementBytes`.
   * @throws GgufError `truncated` where the file ends before that many.
   */
  length(what: string, elementBytes = 1): number {
    const value = this.#uint64();
    if (value <= BigInt(Math.floor(this.remaining / elementBytes))) return Number(value);
    throw new GgufError(`the file ends inside ${what}`, { code: "truncated" });
  }

  string(what: string, bytesMax: number): string {
    const bytes = this.length(what);
    if (bytes > bytesMax) throw new GgufError(`${what} has ${bytes} bytes`, { code: "too_large" });
    const start = this.#take(bytes);
    try {
      return this.#decoder.decode(this.#window.subarray(start, start + bytes));
    } catch (cause) {
      throw new GgufError(`${what} is not UTF-8`, { code: "malformed", cause });
    }
  }

  scalar(type: Exclude<GgufType, "array">, what: string): number | bigint | boolean | string {
    return type === "string" ? this.string(what, this.fileBytes) : this.#fixed(type);
  }

  #fixed(type: Exclude<GgufType, "array" | "string">): number | bigint | boolean {
    const start = this.#take(GGUF_TYPE_BYTES[type]);
    const window = this.#window;
    switch (type) {
      case "bool":
        return window.readUInt8(start) !== 0;
      case "uint8":
        return window.readUInt8(start);
      case "int8":
        return window.readInt8(start);
      case "uint16":
        return window.readUInt16LE(start);
      case "int16":
        return window.readInt16LE(start);
      case "uint32":
        return window.readUInt32LE(start);
      case "int32":
        return window.readInt32LE(start);
      case "float32":
        return window.readFloatLE(start);
      case "float64":
        return window.readDoubleLE(start);
      case "uint64":
        return window.readBigUInt64LE(start);
      case "int64":
        return window.readBigInt64LE(start);
    }
  }

  skip(bytes: number): void {
    if (bytes > this.remaining) throw this.#endOfFile();
    this.#position += bytes;
  }

  #uint64(): bigint {
    const start = this.#take(8);
    return this.#window.readBigUInt64LE(start);
  }

  /** Moves past `bytes` bytes; returns where they start in the window, which may be a new one. */
  #take(bytes: number): number {
    if (bytes > this.remaining) throw this.#endOfFile();
    const start = this.#position - this.#windowStart;
    this.#position += bytes;
    if (start >= 0 && start + bytes <= this.#window.length) return start;
    this.#refill(this.#position - bytes, bytes);
    return 0;
  }

  #refill(position: number, bytes: number): void {
    const wanted = Math.min(Math.max(bytes, WINDOW_BYTES), this.fileBytes - position);
    const next = Buffer.allocUnsafe(wanted);
    let filled = 0;
    while (filled < wanted) {
      const read = readSync(this.#fd, next, filled, wanted - filled, position + filled);
      if (read === 0)
        throw new GgufError("the file became shorter while it was read", { code: "truncated" });
      filled += read;
    }
    this.#window = next;
    this.#windowStart = position;
  }

  #endOfFile(): GgufError {
    return new GgufError(`the file ends at byte ${this.fileBytes}, inside a value`, {
      code: "truncated",
    });
  }
}
