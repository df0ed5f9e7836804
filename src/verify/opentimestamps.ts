/**
 * Reads OpenTimestamps proofs: follows the operations from a file's digest to what each branch
 * ends in. A branch that ends in a Bitcoin block proves that the digest existed before the block,
 * once the block's Merkle root is known to be the stated one; that is for the caller to look up.
 */
import { ripemd160, sha1 } from "@noble/hashes/legacy.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { concat, equalBytes, latin1, toHex, utf8 } from "./encoding.ts";
import type { Hashing } from "./primitives.ts";

/** What a branch of a proof ends in. */
export type Attestation =
  | { readonly kind: "pending"; readonly uri: string }
  /** `merkleRoot` as block explorers print it: the bytes in reverse order, in hex. */
  | { readonly kind: "bitcoin"; readonly height: number; readonly merkleRoot: string }
  | { readonly kind: "unknown"; readonly tag: string };

const MAGIC = concat(
  utf8("\0OpenTimestamps\0\0Proof\0"),
  Uint8Array.of(0xbf, 0x89, 0xe2, 0xe8, 0x84, 0xe8, 0x92, 0x94),
);
const VERSION = 1;
const SHA256_TAG = 0x08;
/** Limits of the reference implementation. */
const MESSAGE_BYTES_MAX = 4096;
const PAYLOAD_BYTES_MAX = 8192;
const DEPTH_MAX = 256;

const PENDING_TAG = "83dfe30d2ef90c8e";
const BITCOIN_TAG = "0588960d73d71901";

/** Why a proof cannot be read. */
export class TimestampError extends Error {
  override readonly name = "TimestampError";
}

/**
 * @returns what the branches end in, in the file's order.
 * @throws TimestampError for a file of another form, or one that is about another digest.
 */
export function readTimestamp(
  hashing: Hashing,
  proof: Uint8Array,
  digest: Uint8Array,
): Attestation[] {
  const reader = new ProofReader(proof);
  demand(equalBytes(reader.bytes(MAGIC.byteLength), MAGIC), "is not an OpenTimestamps proof");
  demand(reader.varuint() === VERSION, "has another version");
  demand(reader.byte() === SHA256_TAG, "is not about a SHA-256 digest");
  demand(equalBytes(reader.bytes(32), digest), "is about another file");
  const attestations: Attestation[] = [];
  readNode({ hashing, reader, attestations }, digest, 0);
  demand(reader.isAtEnd, "has bytes after its end");
  return attestations;
}

interface Walk {
  readonly hashing: Hashing;
  readonly reader: ProofReader;
  readonly attestations: Attestation[];
}

function readNode(walk: Walk, message: Uint8Array, depth: number): void {
  demand(depth < DEPTH_MAX, "is nested too deep");
  const { reader } = walk;
  let tag = reader.byte();
  // 0xff says that another branch follows this one.
  while (tag === 0xff) {
    readBranch(walk, reader.byte(), message, depth);
    tag = reader.byte();
  }
  readBranch(walk, tag, message, depth);
}

function readBranch(walk: Walk, tag: number, message: Uint8Array, depth: number): void {
  if (tag === 0x00) {
    walk.attestations.push(readAttestation(walk.reader, message));
    return;
  }
  const result = applyOperation(walk, tag, message);
  demand(result.byteLength <= MESSAGE_BYTES_MAX, "makes too long a message");
  readNode(walk, result, depth + 1);
}

function applyOperation({ hashing, reader }: Walk, tag: number, message: Uint8Array): Uint8Array {
  switch (tag) {
    case SHA256_TAG:
      return hashing.sha256(message);
    case 0x02:
      return sha1(message);
    case 0x03:
      return ripemd160(message);
    case 0x67:
      return keccak_256(message);
    case 0xf0:
      return concat(message, reader.argument());
    case 0xf1:
      return concat(reader.argument(), message);
    case 0xf2:
      return message.slice().reverse();
    case 0xf3:
      return utf8(toHex(message));
    default:
      throw new TimestampError(`has the unknown operation 0x${tag.toString(16)}`);
  }
}

function readAttestation(reader: ProofReader, message: Uint8Array): Attestation {
  const tag = toHex(reader.bytes(8));
  const payload = new ProofReader(reader.varbytes(0, PAYLOAD_BYTES_MAX));
  const attestation = attestationOf(tag, payload, message);
  demand(attestation.kind === "unknown" || payload.isAtEnd, "has an attestation with a tail");
  return attestation;
}

function attestationOf(tag: string, payload: ProofReader, message: Uint8Array): Attestation {
  if (tag === PENDING_TAG) {
    const uri = latin1(payload.varbytes(1, 1000));
    demand(/^[A-Za-z0-9._/:-]+$/.test(uri), "has a calendar address of another form");
    return { kind: "pending", uri };
  }
  if (tag === BITCOIN_TAG) {
    demand(message.byteLength === 32, "ends at a block with something that is no Merkle root");
    const merkleRoot = toHex(message.slice().reverse());
    return { kind: "bitcoin", height: payload.varuint(), merkleRoot };
  }
  return { kind: "unknown", tag };
}

class ProofReader {
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
    return this.#bytes.subarray(this.#offset - count, this.#offset);
  }

  /** Unsigned LEB128 of at most 32 bits, in its shortest form. */
  varuint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        demand(byte !== 0 || shift === 0, "has a number in a longer form than needed");
        return value;
      }
    }
    throw new TimestampError("has too large a number");
  }

  varbytes(min: number, max: number): Uint8Array {
    const length = this.varuint();
    demand(length >= min && length <= max, "has a part of a forbidden length");
    return this.bytes(length);
  }

  argument(): Uint8Array {
    return this.varbytes(1, MESSAGE_BYTES_MAX);
  }
}

function demand(condition: boolean, message: string): asserts condition {
  if (!condition) throw new TimestampError(message);
}
