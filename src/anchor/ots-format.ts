/**
 * OpenTimestamps proofs as bytes (the reference implementation's serialization): what calendars
 * answer with, and the `.ots` files that stock tools verify. Frozen.
 *
 * A timestamp is a tree: from a message, operations lead to other messages, and attestations say
 * who saw one. Only the operations that calendars use are known here: append, prepend, SHA-256.
 */
import { toHex } from "../bytes/hex.ts";
import { utf8Decode } from "../bytes/utf8.ts";
import { sha256 } from "../crypto/hash.ts";

export interface Timestamp {
  readonly message: Uint8Array;
  readonly attestations: readonly Attestation[];
  readonly steps: readonly Step[];
}

interface Step {
  readonly operation: Operation;
  /** What the operation makes of the message. */
  readonly next: Timestamp;
}

export type Operation =
  | { readonly kind: "append" | "prepend"; readonly argument: Uint8Array }
  | { readonly kind: "sha256" };

export type Attestation =
  | { readonly kind: "pending"; readonly uri: string }
  | { readonly kind: "bitcoin"; readonly height: number }
  | { readonly kind: "unknown"; readonly tag: string; readonly payload: Uint8Array };

/** Bytes that are no timestamp, or one past the reference implementation's limits. */
export class OtsError extends Error {
  override readonly name = "OtsError";
  readonly code = "bad_timestamp";
}

const MAGIC = Buffer.concat([
  Buffer.from("\0OpenTimestamps\0\0Proof\0", "latin1"),
  Buffer.from("bf89e2e884e89294", "hex"),
]);
const VERSION = 1;
const TAGS = { append: 0xf0, prepend: 0xf1, sha256: 0x08 } as const;
const ATTESTATION = 0x00;
const FORK = 0xff;
const PENDING = "83dfe30d2ef90c8e";
const BITCOIN = "0588960d73d71901";
const MESSAGE_BYTES_MAX = 4096;
const PAYLOAD_BYTES_MAX = 8192;
const URI_BYTES_MAX = 1000;
const DEPTH_MAX = 256;

/** The timestamp that begins at this message. @throws OtsError also for bytes after its end. */
export function parseTimestamp(bytes: Uint8Array, message: Uint8Array): Timestamp {
  const reader = new Reader(bytes);
  const timestamp = readTimestamp(reader, message, 0);
  demand(reader.isAtEnd, "has bytes after its end");
  return timestamp;
}

/** In canonical order: attestations before operations, each sorted by their bytes. */
export function printTimestamp(timestamp: Timestamp): Uint8Array {
  const branches = [
    ...timestamp.attestations.map(printAttestation).sort(compareBytes),
    ...timestamp.steps
      .map((step) => ({ head: printOperation(step.operation), next: step.next }))
      .sort((a, b) => compareBytes(a.head, b.head))
      .map(({ head, next }) => Buffer.concat([head, printTimestamp(next)])),
  ];
  demand(branches.length > 0, "ends in nothing");
  const last = branches.pop() ?? new Uint8Array();
  const forked = branches.map((branch) => Buffer.concat([Uint8Array.of(FORK), branch]));
  return new Uint8Array(Buffer.concat([...forked, last]));
}

/** The `.ots` file of a SHA-256 digest. */
export function printDetached(timestamp: Timestamp): Uint8Array {
  const head = Uint8Array.of(VERSION, TAGS.sha256);
  return new Uint8Array(Buffer.concat([MAGIC, head, timestamp.message, printTimestamp(timestamp)]));
}

/** One step from a message. */
export function stepFrom(message: Uint8Array, operation: Operation): Uint8Array {
  if (operation.kind === "sha256") return sha256(message);
  const { argument } = operation;
  const parts = operation.kind === "append" ? [message, argument] : [argument, message];
  return new Uint8Array(Buffer.concat(parts));
}

/** The same timestamp with every pending attestation replaced by what `resolve` knows of it. */
export function replacePending(
  timestamp: Timestamp,
  resolve: (uri: string, message: Uint8Array) => Timestamp | null,
): Timestamp {
  const attestations: Attestation[] = [];
  const steps = timestamp.steps.map(({ operation, next }) => ({
    operation,
    next: replacePending(next, resolve),
  }));
  for (const attestation of timestamp.attestations) {
    const better =
      attestation.kind === "pending" ? resolve(attestation.uri, timestamp.message) : null;
    if (better === null) {
      attestations.push(attestation);
    } else {
      attestations.push(...better.attestations);
      steps.push(...better.steps);
    }
  }
  return { message: timestamp.message, attestations, steps };
}

/** Every attestation with the message that it is about. */
export function attestationsOf(
  timestamp: Timestamp,
): { readonly attestation: Attestation; readonly message: Uint8Array }[] {
  const { message } = timestamp;
  return [
    ...timestamp.attestations.map((attestation) => ({ attestation, message })),
    ...timestamp.steps.flatMap(({ next }) => attestationsOf(next)),
  ];
}

function readTimestamp(reader: Reader, message: Uint8Array, depth: number): Timestamp {
  demand(depth < DEPTH_MAX, "is nested too deep");
  const attestations: Attestation[] = [];
  const steps: Step[] = [];
  for (;;) {
    const first = reader.byte();
    const tag = first === FORK ? reader.byte() : first;
    if (tag === ATTESTATION) {
      attestations.push(readAttestation(reader));
    } else {
      const operation = readOperation(reader, tag);
      const result = stepFrom(message, operation);
      demand(result.byteLength <= MESSAGE_BYTES_MAX, "makes too long a message");
      steps.push({ operation, next: readTimestamp(reader, result, depth + 1) });
    }
    if (first !== FORK) return { message, attestations, steps };
  }
}

function readOperation(reader: Reader, tag: number): Operation {
  if (tag === TAGS.sha256) return { kind: "sha256" };
  const kind = tag === TAGS.append ? "append" : tag === TAGS.prepend ? "prepend" : null;
  demand(kind !== null, `has the unexpected operation 0x${tag.toString(16)}`);
  return { kind, argument: reader.varbytes(1, MESSAGE_BYTES_MAX) };
}

function readAttestation(reader: Reader): Attestation {
  const tag = toHex(reader.bytes(8));
  const payload = reader.varbytes(0, PAYLOAD_BYTES_MAX);
  const inner = new Reader(payload);
  if (tag === PENDING) {
    const uri = utf8Decode(inner.varbytes(1, URI_BYTES_MAX)) ?? "";
    demand(/^[A-Za-z0-9._/:-]+$/.test(uri), "has a calendar address of another form");
    demand(inner.isAtEnd, "has an attestation with a tail");
    return { kind: "pending", uri };
  }
  if (tag === BITCOIN) {
    const height = inner.varuint();
    demand(inner.isAtEnd, "has an attestation with a tail");
    return { kind: "bitcoin", height };
  }
  return { kind: "unknown", tag, payload };
}

function printOperation(operation: Operation): Uint8Array {
  const tag = Uint8Array.of(TAGS[operation.kind]);
  if (operation.kind === "sha256") return tag;
  return Buffer.concat([tag, varbytes(operation.argument)]);
}

function printAttestation(attestation: Attestation): Uint8Array {
  const print = (tag: string, payload: Uint8Array): Uint8Array =>
    Buffer.concat([Uint8Array.of(ATTESTATION), Buffer.from(tag, "hex"), varbytes(payload)]);
  if (attestation.kind === "pending") {
    return print(PENDING, varbytes(Buffer.from(attestation.uri, "latin1")));
  }
  if (attestation.kind === "bitcoin") return print(BITCOIN, varuint(attestation.height));
  return print(attestation.tag, attestation.payload);
}

function varbytes(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([varuint(bytes.byteLength), bytes]);
}

/** Unsigned LEB128. */
function varuint(value: number): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  while (left >= 0x80) {
    bytes.push((left % 0x80) + 0x80);
    left = Math.floor(left / 0x80);
  }
  return Uint8Array.of(...bytes, left);
}

class Reader {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#offset === this.#bytes.byteLength;
  }

  byte(): number {
    return this.bytes(1)[0] ?? 0;
  }

  bytes(count: number): Uint8Array {
    demand(this.#offset + count <= this.#bytes.byteLength, "ends early");
    this.#offset += count;
    return this.#bytes.slice(this.#offset - count, this.#offset);
  }

  /** Of at most 32 bits, in its shortest form. */
  varuint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte >= 0x80) continue;
      demand(byte !== 0 || shift === 0, "has a number in a longer form than needed");
      demand(value < 2 ** 32, "has too large a number");
      return value;
    }
    throw new OtsError("the timestamp has too large a number");
  }

  varbytes(min: number, max: number): Uint8Array {
    const length = this.varuint();
    demand(length >= min && length <= max, "has a part of a forbidden length");
    return this.bytes(length);
  }
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

function demand(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new OtsError(`the timestamp ${problem}`);
}
