/**
 * Reads what a GGUF file says about itself: metadata and tensor descriptions, never tensor data.
 * Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little
 * endian). Every length in the file is checked against what the file can hold before it is used.
 */
import { promises as fs } from "node:fs";
import { GgufCursor, GgufError } from "./cursor.ts";
import {
  GGUF_TYPE_BYTES,
  GGUF_TYPES,
  type GgufElement,
  type GgufType,
  type GgufValue,
  type TensorTypeName,
  tensorBytes,
  tensorTypeName,
} from "./types.ts";

interface GgufTensor {
  readonly name: string;
  readonly type: TensorTypeName;
  /** Elements per dimension, the row length first. */
  readonly dimensions: readonly number[];
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly bytes: number;
}

export interface GgufFile {
  readonly version: number;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly GgufTensor[];
  readonly fileBytes: number;
}

export interface ReadGgufOptions {
  /** Keys whose values are passed over (they are still checked for length). */
  readonly skip?: (key: string) => boolean;
}

/** "GGUF", little endian. */
const MAGIC = 0x46554747;
const ALIGNMENT_DEFAULT = 32;

/** Real files have under 100 keys; the largest mixtures of experts under 10,000 tensors. */
const METADATA_ENTRIES_MAX = 65_536;
const TENSORS_MAX = 1_048_576;
/** ggml's own limits (GGML_MAX_DIMS; names are 63 bytes and a terminator, keys at most 65,535). */
const DIMENSIONS_MAX = 4;
const KEY_BYTES_MAX = 65_535;
const TENSOR_NAME_BYTES_MAX = 63;
const ARRAY_DEPTH_MAX = 4;

/**
 * @throws GgufError with a code; `cause` is the file system's error where the file cannot be read.
 */
export async function readGguf(path: string, options: ReadGgufOptions = {}): Promise<GgufFile> {
  const handle = await fs.open(path, "r").catch((cause: unknown) => {
    throw new GgufError(`${path} cannot be opened`, { code: "unreadable", cause });
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new GgufError(`${path} is not a file`, { code: "unreadable" });
    return readFrom(new GgufCursor(handle.fd, stat.size), options.skip ?? (() => false));
  } catch (error) {
    if (!(error instanceof GgufError) || error.message.startsWith(path)) throw error;
    throw new GgufError(`${path}: ${error.message}`, { code: error.code, cause: error });
  } finally {
    await handle.close();
  }
}

function readFrom(cursor: GgufCursor, skip: (key: string) => boolean): GgufFile {
  if (cursor.fileBytes < 4 || cursor.uint32() !== MAGIC) {
    throw new GgufError("the file does not start with GGUF", { code: "not_gguf" });
  }
  const version = cursor.uint32();
  if (version !== 2 && version !== 3) {
    throw new GgufError(`GGUF version ${version} is not 2 or 3`, { code: "unsupported_version" });
  }
  const tensorCount = cursor.count("tensors", TENSORS_MAX);
  const entryCount = cursor.count("metadata entries", METADATA_ENTRIES_MAX);
  const metadata = readMetadata(cursor, entryCount, skip);
  const tensors = readTensors(cursor, tensorCount, alignmentOf(metadata));
  return { version, metadata, tensors, fileBytes: cursor.fileBytes };
}

function readMetadata(
  cursor: GgufCursor,
  entryCount: number,
  skip: (key: string) => boolean,
): Map<string, GgufValue> {
  const metadata = new Map<string, GgufValue>();
  const seen = new Set<string>();
  for (let entry = 0; entry < entryCount; entry++) {
    const key = cursor.string("a metadata key", KEY_BYTES_MAX);
    if (seen.has(key))
      throw new GgufError(`metadata key ${key} appears twice`, { code: "malformed" });
    seen.add(key);
    const type = readType(cursor, key);
    if (skip(key)) skipValue(cursor, key, type, 0);
    else metadata.set(key, readValue(cursor, key, type, 0));
  }
  return metadata;
}

function readType(cursor: GgufCursor, key: string): GgufType {
  const id = cursor.uint32();
  const type = GGUF_TYPES[id];
  if (type === undefined) {
    throw new GgufError(`metadata key ${key} has the unknown type ${id}`, { code: "unknown_type" });
  }
  return type;
}

function readValue(cursor: GgufCursor, key: string, type: GgufType, depth: number): GgufValue {
  if (type !== "array") return { type, value: cursor.scalar(type, key) } as GgufValue;
  const { of, length } = readArrayHead(cursor, key, depth);
  const value: GgufElement[] = [];
  for (let index = 0; index < length; index++) {
    value.push(of === "array" ? readValue(cursor, key, of, depth + 1) : cursor.scalar(of, key));
  }
  return { type, of, value };
}

function skipValue(cursor: GgufCursor, key: string, type: GgufType, depth: number): void {
  if (type === "string") {
    cursor.skip(cursor.length(key));
  } else if (type === "array") {
    const { of, length } = readArrayHead(cursor, key, depth);
    if (of !== "string" && of !== "array") cursor.skip(length * GGUF_TYPE_BYTES[of]);
    else for (let index = 0; index < length; index++) skipValue(cursor, key, of, depth + 1);
  } else {
    cursor.skip(GGUF_TYPE_BYTES[type]);
  }
}

function readArrayHead(
  cursor: GgufCursor,
  key: string,
  depth: number,
): { readonly of: GgufType; readonly length: number } {
  if (depth >= ARRAY_DEPTH_MAX) {
    throw new GgufError(`metadata key ${key} nests arrays too deeply`, { code: "too_large" });
  }
  const of = readType(cursor, key);
  const length = cursor.length(key, GGUF_TYPE_BYTES[of]);
  return { of, length };
}

function alignmentOf(metadata: ReadonlyMap<string, GgufValue>): number {
  const entry = metadata.get("general.alignment");
  if (entry === undefined) return ALIGNMENT_DEFAULT;
  const { type, value } = entry;
  if (type !== "uint32" || value < 1 || value > 2 ** 20 || !Number.isInteger(Math.log2(value))) {
    throw new GgufError("general.alignment is not a power of two up to 1 MiB", {
      code: "malformed",
    });
  }
  return value;
}

function readTensors(cursor: GgufCursor, tensorCount: number, alignment: number): GgufTensor[] {
  const heads: GgufTensor[] = [];
  const names = new Set<string>();
  for (let index = 0; index < tensorCount; index++) {
    const tensor = readTensorHead(cursor, alignment);
    if (names.has(tensor.name)) {
      throw new GgufError(`tensor ${tensor.name} appears twice`, { code: "malformed" });
    }
    names.add(tensor.name);
    heads.push(tensor);
  }
  const dataOffset = Math.ceil(cursor.position / alignment) * alignment;
  return heads.map((tensor) => {
    const offset = dataOffset + tensor.offset;
    if (offset + tensor.bytes > cursor.fileBytes) {
      throw new GgufError(
        `the file ends at byte ${cursor.fileBytes}, inside tensor ${tensor.name}`,
        { code: "truncated" },
      );
    }
    return { ...tensor, offset };
  });
}

/** @returns a tensor whose offset still counts from the start of the data. */
function readTensorHead(cursor: GgufCursor, alignment: number): GgufTensor {
  const name = cursor.string("a tensor name", TENSOR_NAME_BYTES_MAX);
  const dimensionCount = cursor.uint32();
  if (dimensionCount > DIMENSIONS_MAX) {
    throw new GgufError(`tensor ${name} has ${dimensionCount} dimensions`, { code: "too_large" });
  }
  const dimensions: number[] = [];
  for (let index = 0; index < dimensionCount; index++) {
    dimensions.push(cursor.count(`elements of tensor ${name}`, Number.MAX_SAFE_INTEGER));
  }
  const id = cursor.uint32();
  const type = tensorTypeName(id);
  if (type === null)
    throw new GgufError(`tensor ${name} has the unknown type ${id}`, { code: "unknown_type" });
  const bytes = tensorBytes(type, dimensions);
  if (bytes === null) {
    throw new GgufError(`rows of tensor ${name} are no whole blocks of ${type}`, {
      code: "malformed",
    });
  }
  if (!Number.isSafeInteger(bytes)) {
    throw new GgufError(`tensor ${name} has more bytes than a file can`, { code: "too_large" });
  }
  const offset = cursor.count(`bytes before tensor ${name}`, Number.MAX_SAFE_INTEGER / 2);
  if (offset % alignment !== 0) {
    throw new GgufError(`tensor ${name} is not aligned to ${alignment} bytes`, {
      code: "malformed",
    });
  }
  return { name, type, dimensions, offset, bytes };
}
