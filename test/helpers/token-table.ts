/** A vocabulary's bytes, read straight from a GGUF: what runtime tests need of `src/mask`. */
import { readGguf } from "../../src/gguf/read.ts";
import type { GgufValue } from "../../src/gguf/types.ts";
import type { TokenTable } from "../../src/runtime/lock.ts";

const TYPE_CONTROL = 3;
const TYPE_BYTE = 6;
const ENDS = new Set([
  "<|eot_id|>",
  "<|end_of_text|>",
  "<|eom_id|>",
  "<|im_end|>",
  "<|endoftext|>",
  "<|end|>",
  "</s>",
]);

export async function loadTokenTable(path: string): Promise<TokenTable> {
  const { metadata } = await readGguf(path, { skip: (key) => key.endsWith(".merges") });
  const texts = strings(metadata.get("tokenizer.ggml.tokens"));
  const types = numbers(metadata.get("tokenizer.ggml.token_type"));
  const isByteLevel = metadata.get("tokenizer.ggml.model")?.value === "gpt2";
  const eos = metadata.get("tokenizer.ggml.eos_token_id")?.value;
  const isControl = (id: number): boolean => types[id] === TYPE_CONTROL;
  const empty = new Uint8Array();
  const bytes = texts.map((text, id) => {
    if (isControl(id)) return empty;
    if (types[id] === TYPE_BYTE) return Uint8Array.of(Number.parseInt(text.slice(3, 5), 16));
    return isByteLevel ? byteLevel(text) : Buffer.from(text.replaceAll("▁", " "));
  });
  return {
    size: texts.length,
    tokenBytes: (id) => bytes[id] ?? empty,
    isControl,
    isEndOfGeneration: (id) => id === eos || ENDS.has(texts[id] ?? ""),
  };
}

/** GPT-2 writes every byte as a printable character: those that are not start at U+0100. */
function byteLevel(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text) {
    const byte = BYTE_OF.get(character);
    if (byte === undefined) return Buffer.from(text);
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

const BYTE_OF = new Map<string, number>();
let next = 0x100;
for (let byte = 0; byte < 256; byte++) {
  const printable =
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad);
  BYTE_OF.set(String.fromCodePoint(printable ? byte : next++), byte);
}

function strings(value: GgufValue | undefined): string[] {
  return value?.type === "array" ? value.value.filter((item) => typeof item === "string") : [];
}

function numbers(value: GgufValue | undefined): number[] {
  return value?.type === "array" ? value.value.filter((item) => typeof item === "number") : [];
}
