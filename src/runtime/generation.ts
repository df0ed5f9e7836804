/**
 * One answer being written: which tokens may come next, what they mean for the text, when it ends.
 * Knows nothing of slots, calls or time: what it does depends on the request and the tokens
 * offered, so that an answer cannot depend on what else the server is doing.
 */
import { assert } from "../bytes/assert.ts";
import type { TokenLock, TokenTable } from "./lock.ts";
import type { CompletionEvent, CompletionRequest, TokenLogprob, TracedToken } from "./request.ts";
import { TextStream } from "./text-stream.ts";
import { Trace } from "./trace.ts";

/** Control tokens around a reasoning model's thoughts. */
export interface ReasoningTokens {
  readonly start: number;
  readonly end: number;
}

export interface GenerationOptions {
  readonly request: CompletionRequest;
  readonly lock: TokenLock | null;
  readonly vocabulary: TokenTable;
  /** Tokens the answer may have: `maxTokens`, or what is left of the context. */
  readonly budgetTokens: number;
  /** Null for models that do not think. */
  readonly reasoning: ReasoningTokens | null;
  /** The prompt ends inside the thoughts. */
  readonly startsThinking: boolean;
  readonly emit: (event: CompletionEvent) => void;
}

/** `}`, `]` and `"`. */
const CLOSING_BYTES: ReadonlySet<number | null> = new Set([0x7d, 0x5d, 0x22]);

/** `undecided`: the first token tells whether the model thinks before it answers. */
type Phase = "undecided" | "thinking" | "answering";

export class Generation {
  readonly request: CompletionRequest;
  readonly #lock: TokenLock | null;
  /** Null unless asked for. */
  readonly #trace: Trace | null;
  readonly #vocabulary: TokenTable;
  readonly #options: GenerationOptions;
  readonly #text: TextStream;
  readonly #thoughts = new TextStream([], () => false);
  /** How often each token was generated, where a penalty asks. */
  readonly #counts = new Map<number, number>();
  #phase: Phase;
  #trimming = false;
  #lastByte: number | null = null;
  #completionTokens = 0;
  #forcedTokens = 0;
  #finish: "stop" | "length" | null = null;

  constructor(options: GenerationOptions) {
    this.#options = options;
    this.request = options.request;
    this.#trace = options.request.traced ? new Trace(options.lock) : null;
    this.#lock = this.#trace?.lock ?? options.lock;
    this.#vocabulary = options.vocabulary;
    this.#phase = "answering";
    if (options.reasoning !== null) this.#phase = "undecided";
    if (options.startsThinking) this.#phase = "thinking";
    // A tool call is never cut; the free text that may stand in its place is (tool_choice: auto).
    this.#text = new TextStream(
      options.request.stop,
      (text) => options.lock === null || !text.startsWith("{"),
    );
  }

  get completionTokens(): number {
    return this.#completionTokens;
  }

  get finish(): "stop" | "length" | null {
    return this.#finish;
  }

  /** Whether the next token has to pass the lock. */
  get isLocked(): boolean {
    return this.#lock !== null && this.#phase !== "thinking";
  }

  get #tokensLeft(): number {
    return this.#options.budgetTokens - this.#completionTokens;
  }

  /** Adds the next tokens, where nothing is left to choose. They count as generated. */
  takeForced(tokens: number[]): void {
    while (this.#finish === null) {
      const next = this.#nextForced();
      if (next.length === 0) break;
      for (const token of next) {
        this.#forcedTokens += 1;
        const logprob = forcedLogprob(this.#vocabulary, this.request, token);
        const accepted = this.#accept(token, { logprob, forced: true });
        assert(accepted, "the lock accepts the tokens it forces");
        if (this.#finish !== null) break;
        tokens.push(token);
      }
    }
  }

  #nextForced(): readonly number[] {
    if (this.#phase === "thinking") {
      const { reasoning } = this.#options;
      return reasoning !== null && this.#mustStopThinking() ? [reasoning.end] : [];
    }
    if (this.#phase === "undecided" || this.#lock === null) return [];
    this.#lock.setBudget(this.#tokensLeft);
    const forced = this.#lock.forcedTokens();
    return forced.length === 0 && this.#looksClosed ? this.#endIfForced(this.#lock) : forced;
  }

  /** The last character of a JSON value that nothing can follow; worth a look at the mask. */
  get #looksClosed(): boolean {
    return this.#lock?.isComplete === true && CLOSING_BYTES.has(this.#lastByte);
  }

  /** The end itself needs no step of the model where the lock allows nothing else. */
  #endIfForced(lock: TokenLock): readonly number[] {
    let end: number | null = null;
    lock.setBudget(null);
    for (const [word, bits] of lock.computeMask().entries()) {
      for (let rest = bits; rest !== 0; rest &= rest - 1) {
        const token = word * 32 + 31 - Math.clz32(rest & -rest);
        if (!this.#vocabulary.isEndOfGeneration(token)) return [];
        end ??= token;
      }
    }
    return end === null ? [] : [end];
  }

  /** Thoughts leave room for the end of thinking, the shortest answer, and as much again. */
  #mustStopThinking(): boolean {
    if (this.#lock === null) return false;
    const need = this.#lock.needTokens() + 1;
    const wanted = Math.min(2 * need + 32, Math.floor(this.#options.budgetTokens / 2));
    return this.#tokensLeft <= Math.max(need, wanted);
  }

  /**
   * Offers a sampled token.
   * @returns false where it cannot come next; nothing changed then.
   */
  offer(token: number, logprob: TokenLogprob | null): boolean {
    assert(this.#finish === null, "a finished answer takes no tokens");
    if (this.isLocked) this.#lock?.setBudget(this.#tokensLeft);
    return this.#accept(token, { logprob, forced: false });
  }

  /**
   * Tokens that may come next: a lock's mask, with the start of thinking where it is possible.
   * @param budget "kept" for some after which the rest still fits: it has been refused what was
   *   sampled from the whole mask.
   */
  computeMask(budget: "kept" | "ignored"): Uint32Array {
    assert(this.#lock !== null, "only a locked answer has a mask");
    this.#lock.setBudget(budget === "kept" ? this.#tokensLeft : null);
    const mask = budget === "kept" ? this.#lock.closingMask() : this.#lock.computeMask();
    const { reasoning } = this.#options;
    if (this.#phase !== "undecided" || reasoning === null) return mask;
    const copy = mask.slice();
    const word = reasoning.start >> 5;
    copy[word] = (copy[word] ?? 0) | (1 << (reasoning.start & 31));
    return copy;
  }

  /** The tokens of that mask, budget ignored, where they are few; else null. */
  fewTokens(): Uint32Array | null {
    assert(this.#lock !== null, "only a locked answer has a mask");
    // The start of thinking would be one more.
    if (this.#phase === "undecided") return null;
    this.#lock.setBudget(null);
    return this.#lock.fewTokens();
  }

  /** What to add to the logits of tokens, by `logit_bias` and the penalties (OpenAI's formula). */
  biases(): ReadonlyMap<number, number> {
    const { logitBias, presencePenalty, frequencyPenalty } = this.request;
    if (!this.#hasPenalties) return logitBias;
    const biases = new Map(logitBias);
    for (const [token, count] of this.#counts) {
      const penalty = presencePenalty + frequencyPenalty * count;
      biases.set(token, (biases.get(token) ?? 0) - penalty);
    }
    return biases;
  }

  get #hasPenalties(): boolean {
    const { presencePenalty, frequencyPenalty } = this.request;
    return presencePenalty !== 0 || frequencyPenalty !== 0;
  }

  /** Ends an answer whose budget is used up. */
  endAtBudget(): void {
    if (this.#finish === null && this.#tokensLeft <= 0) this.#end("length");
  }

  #accept(token: number, { logprob, forced }: TokenOrigin): boolean {
    if (this.#phase === "thinking") return this.#acceptThought(token, forced);
    const { reasoning } = this.#options;
    if (this.#phase === "undecided" && token === reasoning?.start) {
      this.#count(token, forced);
      this.#phase = "thinking";
      return true;
    }
    if (this.#lock !== null && !this.#lock.accept(token)) return false;
    this.#phase = "answering";
    this.#count(token, forced);
    if (this.#vocabulary.isEndOfGeneration(token)) {
      this.#end("stop");
      return true;
    }
    const bytes = this.#vocabulary.tokenBytes(token);
    this.#lastByte = bytes.at(-1) ?? this.#lastByte;
    this.#giveText(this.#text.push(bytes, logprob));
    if (this.#text.stopped) this.#end("stop");
    else this.endAtBudget();
    return true;
  }

  #acceptThought(token: number, forced: boolean): boolean {
    const ends = this.#vocabulary.isEndOfGeneration(token);
    // Thinking may not swallow a locked answer.
    if (ends && this.#lock !== null) return false;
    this.#count(token, forced);
    if (token === this.#options.reasoning?.end) {
      this.#giveThought(this.#thoughts.end());
      this.#phase = "answering";
      this.#trimming = true;
    } else if (ends) {
      this.#end("stop");
    } else {
      this.#giveThought(this.#thoughts.push(this.#vocabulary.tokenBytes(token), null));
    }
    this.endAtBudget();
    return true;
  }

  #count(token: number, forced: boolean): void {
    this.#completionTokens += 1;
    this.#trace?.add(this.#vocabulary.tokenBytes(token), forced);
    if (this.#hasPenalties) this.#counts.set(token, (this.#counts.get(token) ?? 0) + 1);
  }

  #giveThought(piece: { readonly text: string } | null): void {
    if (piece === null) return;
    this.#options.emit({ kind: "reasoning", text: piece.text, trace: this.#takeTrace() });
  }

  #giveText(piece: { readonly text: string; readonly tokens: readonly TokenLogprob[] } | null) {
    if (piece === null) return;
    // White space between thoughts and answer belongs to neither.
    const text = this.#trimming ? piece.text.trimStart() : piece.text;
    if (text === "") return;
    this.#trimming = false;
    this.#options.emit({ kind: "text", text, tokens: piece.tokens, trace: this.#takeTrace() });
  }

  #takeTrace(): readonly TracedToken[] {
    return this.#trace?.take() ?? [];
  }

  #end(finish: "stop" | "length"): void {
    this.#finish = finish;
    if (this.#phase === "thinking") this.#giveThought(this.#thoughts.end());
    this.#giveText(this.#text.end());
  }

  /** @param cachedTokens prompt tokens that a cached prefix saved. */
  endEvent(cachedTokens: number): CompletionEvent {
    assert(this.#finish !== null, "the answer is finished");
    return {
      kind: "end",
      finishReason: this.#finish,
      completionTokens: this.#completionTokens,
      cachedTokens,
      forcedTokens: this.#forcedTokens,
      budgetLimited: this.#lock?.budgetLimited ?? false,
      trace: this.#takeTrace(),
    };
  }
}

/** How an answer came to a token. */
interface TokenOrigin {
  readonly logprob: TokenLogprob | null;
  readonly forced: boolean;
}

/** The lock leaves one token: its probability under the lock is 1. */
function forcedLogprob(
  vocabulary: TokenTable,
  { topLogprobs }: CompletionRequest,
  token: number,
): TokenLogprob | null {
  if (topLogprobs === null) return null;
  const bytes = [...vocabulary.tokenBytes(token)];
  const text = new TextDecoder().decode(Uint8Array.from(bytes));
  return { token: text, bytes, logprob: 0, top: [] };
}
