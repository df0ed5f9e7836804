/**
 * What an answer's bits depend on beside the request: the engine's fingerprint. Two answers with
 * the same fingerprint, request and seed are the same bytes; where the engine is not deterministic,
 * the fingerprint's parts name no row class.
 */
import { canonicalJson, type JsonValue } from "../bytes/canonical-json.ts";
import { sha256Hex } from "../crypto/hash.ts";

/**
 * Raised whenever this program would give the same request other tokens: another order of calls,
 * another way to sample, another prompt.
 */
export const ENGINE_VERSION = 6;

export interface EngineParts {
  /** SHA-256 of the GGUF. */
  readonly model: string;
  /** SHA-256 and scale of the adapter. */
  readonly lora: string | null;
  readonly engine: number;
  readonly node_llama_cpp: string;
  readonly llama_cpp: string;
  readonly platform: string;
  /** "cpu", or the names of the GPUs and their driver. */
  readonly device: string;
  readonly driver: string | null;
  /** CPU features that the loaded library uses. */
  readonly instruction_set: string;
  /** Of the largest calls; smaller ones have fewer, by `ENGINE_VERSION`'s rule. */
  readonly threads: number;
  readonly flash_attention: boolean;
  readonly kv_types: string;
  readonly chunk_tokens: number;
  /** Tokens of one sequence; attention's buffers have this size. */
  readonly context_tokens: number;
  readonly sequences: number;
}

export interface FingerprintParts extends EngineParts {
  /** Row counts with the same bits; empty where none repeat. */
  readonly row_class: readonly number[];
  /** Bits of a fixed text in that class, at this start. */
  readonly canary: string | null;
}

/** Names a self-test's result: all that is known before it has run. */
export function selfTestKey(parts: EngineParts): string {
  return `self-test-${sha256Hex(canonicalJson(json(parts))).slice(0, 32)}`;
}

/** `fp_` and the beginning of the SHA-256 of the parts as canonical JSON (RFC 8785). */
export function fingerprintOf(parts: FingerprintParts): string {
  return `fp_${sha256Hex(canonicalJson(json(parts))).slice(0, 16)}`;
}

const json = (parts: EngineParts): JsonValue => ({ ...parts });
