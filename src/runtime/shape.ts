/** What a GGUF says about its network: what memory and scheduling depend on. */
import type { GgufFile } from "../gguf/read.ts";
import { ModelError } from "./errors.ts";

export interface ModelShape {
  readonly architecture: string;
  readonly contextTokens: number;
  readonly layers: number;
  readonly heads: number;
  /** Bytes that one token takes in the cache, over all layers, at half precision. */
  readonly cellBytes: number;
  readonly vocabularySize: number;
  /** Jinja; null where the file has none. */
  readonly chatTemplate: string | null;
  /** Weights whose arithmetic depends on their neighbours in a call. */
  readonly hasExperts: boolean;
  /** It gives one vector for a whole text: a model for embeddings. */
  readonly isPooled: boolean;
  /** Some layers see only the last tokens. */
  readonly hasSlidingWindow: boolean;
  /** The tokens of one call see each other in both directions: a prompt is read whole. */
  readonly readsBothWays: boolean;
}

const HALF_BYTES = 2;

/** @throws ModelError `load_failed` naming the key that is missing. */
export function readShape(gguf: GgufFile): ModelShape {
  const architecture = textOf(gguf, "general.architecture") ?? missing("general.architecture");
  const number = (key: string) => numbersOf(gguf, `${architecture}.${key}`);
  const one = (key: string) => number(key)?.[0] ?? missing(`${architecture}.${key}`);
  const layers = one("block_count");
  const heads = Math.max(...(number("attention.head_count") ?? [1]));
  const headWidth = one("embedding_length") / heads;
  const keyWidth = number("attention.key_length")?.[0] ?? headWidth;
  const valueWidth = number("attention.value_length")?.[0] ?? headWidth;
  const kvHeads = number("attention.head_count_kv") ?? [heads];
  // One number for all layers, or one per layer.
  const kvHeadsTotal =
    kvHeads.length === 1 ? layers * (kvHeads[0] ?? heads) : kvHeads.reduce((a, b) => a + b, 0);
  const tokens = gguf.metadata.get("tokenizer.ggml.tokens");
  return {
    architecture,
    contextTokens: one("context_length"),
    layers,
    heads,
    cellBytes: kvHeadsTotal * (keyWidth + valueWidth) * HALF_BYTES,
    vocabularySize: tokens?.type === "array" ? tokens.value.length : 0,
    chatTemplate: textOf(gguf, "tokenizer.chat_template"),
    hasExperts: (number("expert_count")?.[0] ?? 0) > 0,
    isPooled: (number("pooling_type")?.[0] ?? 0) > 0,
    hasSlidingWindow: (number("attention.sliding_window")?.[0] ?? 0) > 0,
    readsBothWays: gguf.metadata.get(`${architecture}.attention.causal`)?.value === false,
  };
}

function textOf(gguf: GgufFile, key: string): string | null {
  const value = gguf.metadata.get(key);
  return value?.type === "string" ? value.value : null;
}

function numbersOf(gguf: GgufFile, key: string): readonly number[] | null {
  const value = gguf.metadata.get(key);
  if (value === undefined) return null;
  if (value.type === "array") return value.value.filter((item) => typeof item === "number");
  return typeof value.value === "number" ? [value.value] : null;
}

function missing(key: string): never {
  throw new ModelError(`the GGUF has no ${key}`, { code: "load_failed" });
}
