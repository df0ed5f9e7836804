/**
 * An engine without a model, for people's own tests: the lock alone decides what an answer is, so
 * it is valid and there at once. Its tokens are those of the embedded model. All else (admission,
 * schemas and their refusals, limits, streams, tools, rows, seals) is the gateway's own.
 */
import { assert } from "./bytes/assert.ts";
import { utf8Encode } from "./bytes/utf8.ts";
import { sha256, sha256Hex } from "./crypto/hash.ts";
import type { Grammar } from "./grammar/grammar.ts";
import { lockOf } from "./mask/lock-of.ts";
import type { Matcher } from "./mask/matcher.ts";
import { loadVocabulary, type Vocabulary } from "./mask/vocabulary.ts";
import type { Engine, TierInfo } from "./runtime/engine.ts";
import { EngineError } from "./runtime/errors.ts";
import { fingerprintOf } from "./runtime/fingerprint.ts";
import { Generation } from "./runtime/generation.ts";
import { MANIFEST_PATH, readManifest, resolveModel } from "./runtime/manifest.ts";
import type {
  Completion,
  CompletionEvent,
  CompletionRequest,
  TierName,
  TokenLogprob,
} from "./runtime/request.ts";

/**
 * `shortest`: the value that takes the fewest tokens. `sampled`: one that is drawn, the same for
 * the same messages, seed and schema.
 */
export type DoubleAnswers = "shortest" | "sampled";

type Request = CompletionRequest<Grammar>;

/** Nothing is held in memory, so the number only has to be generous. */
const CONTEXT_TOKENS = 1 << 20;
/** From here on a sampled answer takes the shortest way out. */
const SAMPLED_TOKENS_MAX = 64;

export function startDouble(answers: DoubleAnswers): Engine<Grammar> {
  const tiers = new Map<TierName, TierInfo>();
  const loading = embeddedVocabulary();
  const writing = loading.then((vocabulary) => new Writer(vocabulary, answers));
  const whenReady = loading.then((vocabulary) => {
    const tier = tierInfo(answers, vocabulary);
    tiers.set("svc-tier-a", tier).set("svc-tier-b", tier);
  });
  // Who does not ask is told by `complete`.
  whenReady.catch(() => {});
  return {
    tiers,
    get ready() {
      return tiers.size > 0;
    },
    embedder: null,
    whenReady,
    complete: async (request) => (await writing).completion(request),
    stats: () => null,
    close: async () => {},
  };
}

async function embeddedVocabulary(): Promise<Vocabulary> {
  const { path } = resolveModel(await readManifest(MANIFEST_PATH), "svc-tiny");
  return loadVocabulary(path);
}

const CLOSING = /["\]},]$/;
const WORDS = /^[a-z ]+$/;

class Writer {
  readonly #vocabulary: Vocabulary;
  readonly #answers: DoubleAnswers;
  readonly #end: number;
  readonly #brace: number;
  /** Tokens that end what they stand in: without them a drawn text would go on and on. */
  readonly #closing: readonly number[];
  readonly #words: readonly number[];
  readonly #all: readonly number[];

  constructor(vocabulary: Vocabulary, answers: DoubleAnswers) {
    this.#vocabulary = vocabulary;
    this.#answers = answers;
    this.#end = vocabulary.endTokens[0] ?? 0;
    this.#brace = vocabulary.trie.find(utf8Encode("{"));
    this.#all = Array.from({ length: vocabulary.size }, (_, token) => token);
    this.#closing = this.#all.filter((token) => CLOSING.test(this.#text(token)));
    this.#words = this.#all.filter((token) => WORDS.test(this.#text(token)));
  }

  /** @throws EngineError as with a model, where no value fits `max_tokens`. */
  completion(request: Request): Completion {
    const events = isFree(request) ? this.#echo(request) : this.#value(request);
    const end = events.at(-1);
    return {
      promptTokens: request.messages.reduce((sum, { content }) => sum + this.#count(content), 0),
      completionTokens: end?.kind === "end" ? end.completionTokens : 0,
      queuePosition: 0,
      async *[Symbol.asyncIterator]() {
        yield* events;
      },
    };
  }

  #count(text: string): number {
    return this.#spell(text).length;
  }

  #spell(text: string): readonly number[] {
    return this.#vocabulary.encoder?.encode(text) ?? [];
  }

  #echo(request: Request): readonly CompletionEvent[] {
    const tokens = this.#spell(request.messages.at(-1)?.content ?? "");
    return this.#write(request, null, (_, index) => tokens[index] ?? this.#end);
  }

  #value(request: Request): readonly CompletionEvent[] {
    const { grammar } = request;
    assert(grammar !== null, "a value has a grammar");
    const lock = lockOf(grammar, this.#vocabulary);
    this.#assertFits(request, lock);
    const draw = drawsOf(request);
    return this.#write(request, lock, (generation, index) => {
      if (index === 0 && mayBeText(request)) return this.#brace;
      const isDrawn = this.#answers === "sampled" && index < SAMPLED_TOKENS_MAX;
      const drawn = isDrawn ? this.#draw(generation, draw) : null;
      return drawn ?? lock.shortestWayOut()?.[0] ?? this.#end;
    });
  }

  #assertFits({ grammar, maxTokens }: Request, lock: Matcher): void {
    const isCall = grammar?.kind === "tool-call" && grammar.allowText;
    if (isCall) lock.accept(this.#brace);
    const neededTokens = lock.needTokens() + (isCall ? 1 : 0);
    lock.reset();
    const budgetTokens = maxTokens ?? CONTEXT_TOKENS;
    if (neededTokens <= budgetTokens) return;
    const message = `the shortest answer takes ${neededTokens} tokens, ${budgetTokens} are allowed`;
    const details = { neededTokens, budgetTokens };
    throw new EngineError(message, { code: "budget_too_small", details });
  }

  #write(
    request: Request,
    lock: Matcher | null,
    next: (generation: Generation, index: number) => number,
  ): readonly CompletionEvent[] {
    const events: CompletionEvent[] = [];
    const generation = new Generation({
      request,
      lock,
      vocabulary: this.#vocabulary,
      budgetTokens: request.maxTokens ?? CONTEXT_TOKENS,
      reasoning: null,
      startsThinking: false,
      emit: (event) => events.push(event),
    });
    for (let index = 0; generation.finish === null; index++) {
      const token = next(generation, index);
      // A drawn token may not leave room for the end; the way out always does.
      const isTaken = generation.offer(token, this.#logprob(request, token));
      const wayOut = lock?.shortestWayOut()?.[0] ?? this.#end;
      const isOut = isTaken || generation.offer(wayOut, this.#logprob(request, wayOut));
      assert(isOut, "the way out is always open");
    }
    return [...events, generation.endEvent(0)];
  }

  /** Of a token that was the only candidate. */
  #logprob({ topLogprobs }: Request, token: number): TokenLogprob | null {
    if (topLogprobs === null) return null;
    const bytes = [...this.#vocabulary.tokenBytes(token)];
    return { token: this.#text(token), bytes, logprob: 0, top: [] };
  }

  #text(token: number): string {
    return new TextDecoder().decode(this.#vocabulary.tokenBytes(token));
  }

  /** @returns a token that the grammar allows. */
  #draw(generation: Generation, draw: () => number): number {
    const mask = generation.computeMask("ignored");
    const isAllowed = (token: number): boolean =>
      (((mask[token >> 5] ?? 0) >>> (token & 31)) & 1) === 1;
    const kinds = draw() < 0.3 ? [this.#closing, this.#words] : [this.#words, this.#closing];
    const among = [...kinds, this.#all]
      .map((tokens) => tokens.filter(isAllowed))
      .find((tokens) => tokens.length > 0);
    return among?.[Math.floor(draw() * among.length)] ?? this.#end;
  }
}

/** A call is asked for, and words may stand in its place: `tool_choice: "auto"`. */
function mayBeText({ grammar }: Request): boolean {
  return grammar?.kind === "tool-call" && grammar.allowText;
}

/**
 * Free answers say the last message again. Where tools may be called, a person's message is
 * answered with a call, and a tool's result in words: together that is a whole tool loop.
 */
function isFree(request: Request): boolean {
  if (request.grammar === null) return true;
  return mayBeText(request) && request.messages.at(-1)?.role === "tool";
}

/** Numbers from 0 to 1, the same for the same request. */
function drawsOf({ grammar, messages, seed }: Request): () => number {
  const id = grammar?.kind === "schema" ? grammar.id : "";
  let state = sha256(JSON.stringify([messages, seed, id]));
  return () => {
    state = sha256(state);
    return new DataView(state.buffer, state.byteOffset).getUint32(0) / 2 ** 32;
  };
}

function tierInfo(answers: DoubleAnswers, { size }: Vocabulary): TierInfo {
  const model = `double-${answers}`;
  const digest = sha256Hex(model);
  const parts = {
    ...{ model: digest, lora: null, engine: 0, node_llama_cpp: "", llama_cpp: "", platform: "" },
    ...{ device: "none", driver: null, instruction_set: "", threads: 0, flash_attention: false },
    ...{ kv_types: "", chunk_tokens: 0, context_tokens: CONTEXT_TOKENS, sequences: 1 },
    ...{ row_class: [1], canary: null },
  };
  return {
    ...{ model, path: "", digest, contextTokens: CONTEXT_TOKENS, vocabularySize: size },
    ...{
      rows: 1,
      contexts: 1,
      device: "none",
      threads: 0,
      weightsBytes: 0,
      cellsBytes: 0,
      rowClass: [1],
    },
    ...{ fingerprint: fingerprintOf(parts), fingerprintParts: parts, deterministic: true },
  };
}
