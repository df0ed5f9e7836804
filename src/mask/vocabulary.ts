/**
 * The vocabulary of a model as bytes: what each token adds to a text. Read from the tokenizer keys
 * of a GGUF; a vocabulary-only file will do.
 */
import { readGguf } from "../gguf/read.ts";
import type { GgufValue } from "../gguf/types.ts";
import { BpeEncoder, type Merges, mergesOf } from "./bpe.ts";
import { ContentTables } from "./content-tables.ts";
import { type Pretokenizer, pretokenizerOf } from "./pretokenizer.ts";
import { addToken, type TokenWords, tokenWords } from "./token-set.ts";
import { TokenTrie } from "./token-trie.ts";

type VocabularyErrorCode = "no_tokenizer" | "unsupported_tokenizer";

class VocabularyError extends Error {
  override readonly name = "VocabularyError";
  readonly code: VocabularyErrorCode;
  constructor(code: VocabularyErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** `tokenizer.ggml.token_type` (llama.cpp, `llama_token_type`); 2, 3 and 5 are never text. */
const NORMAL = 1;
const USER_DEFINED = 4;
const BYTE = 6;

/**
 * Texts of tokens that end a turn. GGUFs name only some of them; llama.cpp knows the others by
 * their text (`llama-vocab.cpp`), and so do we.
 */
const END_TEXTS: ReadonlySet<string> = new Set([
  "<|eot_id|>",
  "<|eom_id|>",
  "<|end_of_text|>",
  "<|im_end|>",
  "<|end|>",
  "<|endoftext|>",
  "<|return|>",
  "<|call|>",
  "<|eot|>",
  "<end_of_turn>",
  "<turn|>",
  "<EOT>",
  "_<EOT>",
  "<｜end▁of▁sentence｜>",
  "<|end_of_turn|>",
]);

export interface TokenText {
  readonly bytes: Uint8Array;
  readonly isControl: boolean;
  readonly isEndOfGeneration: boolean;
}

export interface BpeParts {
  readonly pretokenizer: Pretokenizer;
  readonly merges: Merges;
}

export class Vocabulary {
  /** Number of tokens. */
  readonly size: number;
  /** Ids of the tokens that end a generation, ascending. */
  readonly endTokens: readonly number[];
  readonly trie: TokenTrie;
  /** Every byte is a token of its own: then any text can be spelled. */
  readonly hasAllBytes: boolean;
  /** What others keep for as long as the vocabulary lives, by their class. */
  readonly memo = new Map<object, object>();
  readonly #texts: readonly TokenText[];
  #content: ContentTables | undefined;
  #text: { readonly any: TokenWords; readonly notBrace: TokenWords } | undefined;

  /** The model's tokenizer; null where we do not know how it cuts texts. */
  readonly encoder: BpeEncoder | null;

  constructor(texts: readonly TokenText[], bpe: BpeParts | null = null) {
    this.#texts = texts;
    this.size = texts.length;
    this.endTokens = [...texts.keys()].filter((id) => texts[id]?.isEndOfGeneration);
    this.trie = new TokenTrie(texts.map(({ bytes }) => bytes));
    const singles = new Set(texts.flatMap(({ bytes }) => (bytes.length === 1 ? [...bytes] : [])));
    this.hasAllBytes = singles.size === 256;
    this.encoder =
      bpe &&
      new BpeEncoder(
        bpe.pretokenizer,
        bpe.merges,
        (bytes) => this.trie.find(bytes),
        (token) => this.tokenBytes(token).length,
      );
  }

  /** What the token adds to a text; empty for control tokens. */
  tokenBytes(id: number): Uint8Array {
    return this.#texts[id]?.bytes ?? NOTHING;
  }

  isControl(id: number): boolean {
    return this.#texts[id]?.isControl ?? true;
  }

  isEndOfGeneration(id: number): boolean {
    return this.#texts[id]?.isEndOfGeneration ?? false;
  }

  /** Tokens that are text, for answers that are free; without those that begin with `{`. */
  get text(): { readonly any: TokenWords; readonly notBrace: TokenWords } {
    if (this.#text) return this.#text;
    const any = tokenWords(this.size);
    const notBrace = tokenWords(this.size);
    for (const [id, { bytes, isEndOfGeneration }] of this.#texts.entries()) {
      if (bytes.length === 0 && !isEndOfGeneration) continue;
      addToken(any, id);
      if (bytes[0] !== BRACE) addToken(notBrace, id);
    }
    this.#text = { any, notBrace };
    return this.#text;
  }

  /** What string content means for this vocabulary; made once, when it is first needed. */
  get content(): ContentTables {
    this.#content ??= new ContentTables(this.trie, this.size);
    return this.#content;
  }
}

const NOTHING = new Uint8Array(0);
const BRACE = 0x7b;

/**
 * @throws VocabularyError for a file without a tokenizer, or with one whose bytes we cannot tell.
 * @throws GgufError for a file that is no GGUF.
 */
export async function loadVocabulary(ggufPath: string): Promise<Vocabulary> {
  const skip = (key: string): boolean => key.endsWith(".scores") || key.endsWith("chat_template");
  const { metadata } = await readGguf(ggufPath, { skip });
  const tokens = list(metadata.get("tokenizer.ggml.tokens"), "string");
  const types = list(metadata.get("tokenizer.ggml.token_type"), "number");
  const model = metadata.get("tokenizer.ggml.model")?.value;
  if (tokens.length === 0) {
    throw new VocabularyError("no_tokenizer", `${ggufPath} holds no vocabulary`);
  }
  const decode = DECODERS[String(model)];
  if (!decode) {
    const known = Object.keys(DECODERS).join(", ");
    const message = `the tokenizer "${String(model)}" is not supported (supported: ${known})`;
    throw new VocabularyError("unsupported_tokenizer", message);
  }
  const ends = new Set(
    ["eos", "eot", "eom"].map((name) => metadata.get(`tokenizer.ggml.${name}_token_id`)?.value),
  );
  const texts = tokens.map((text, id) => {
    const type = types[id] ?? NORMAL;
    const isText = type === NORMAL || type === BYTE || (type === USER_DEFINED && !isMarkup(text));
    const isEnd = ends.has(id) || (END_TEXTS.has(text) && type !== NORMAL);
    const isControl = !isText || isEnd;
    const bytes = isControl ? NOTHING : type === BYTE ? byteToken(text) : decode(text);
    return { bytes, isControl, isEndOfGeneration: isEnd };
  });
  return new Vocabulary(texts, bpeParts(metadata, tokens));
}

function bpeParts(
  metadata: ReadonlyMap<string, GgufValue>,
  tokens: readonly string[],
): BpeParts | null {
  if (metadata.get("tokenizer.ggml.model")?.value !== "gpt2") return null;
  const pretokenizer = pretokenizerOf(metadata.get("tokenizer.ggml.pre")?.value);
  if (pretokenizer === null) return null;
  const idOf = new Map(tokens.map((text, id) => [text, id]));
  const merges = mergesOf(list(metadata.get("tokenizer.ggml.merges"), "string"), idOf);
  return { pretokenizer, merges };
}

/** Added tokens such as <tool_call> steer the model; runs of white space, also added, are text. */
function isMarkup(text: string): boolean {
  return text.startsWith("<") && text.endsWith(">");
}

const DECODERS: Readonly<Record<string, (text: string) => Uint8Array>> = {
  gpt2: fromByteLevel,
  llama: (text) => Buffer.from(text.replaceAll("\u2581", " ")),
};

/** A token `<0x0A>` is the byte that it names. */
function byteToken(text: string): Uint8Array {
  const match = /^<0x([0-9A-Fa-f]{2})>$/.exec(text);
  return match ? Uint8Array.of(Number.parseInt(match[1] as string, 16)) : Buffer.from(text);
}

/** GPT-2 writes each byte as a printable character (its `bytes_to_unicode`). */
const BYTE_OF: ReadonlyMap<string, number> = (() => {
  const map = new Map<string, number>();
  let shifted = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const printable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    map.set(String.fromCodePoint(printable ? byte : shifted), byte);
    if (!printable) shifted += 1;
  }
  return map;
})();

function fromByteLevel(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const char of text) {
    const byte = BYTE_OF.get(char);
    // Added tokens are stored as they read.
    if (byte === undefined) return Buffer.from(text);
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

function list<T extends "string" | "number">(
  value: GgufValue | undefined,
  _type: T,
): readonly (T extends "string" ? string : number)[] {
  if (value?.type !== "array") return [];
  return value.value as unknown as readonly (T extends "string" ? string : number)[];
}
