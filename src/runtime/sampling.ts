/**
 * Picks the next token of an answer from the logits of a step. Check first: sample as if there were
 * no lock, ask the lock, and after a refusal offer it the next best tokens one by one (where tokens
 * are drawn: forbid what it refuses and draw again). A mask over the vocabulary is built only where
 * that has failed. Rejection is exact for argmax and for plain temperature; with top_p below 1 the
 * mask comes first, or the nucleus would be cut from the wrong distribution. And where few tokens
 * are allowed it comes first once such a state has refused something: the rest of the answer is
 * likely to go the same way.
 */
import { assert } from "../bytes/assert.ts";
import type { Decoder, LogitProbe } from "./decoder.ts";
import { EngineError } from "./errors.ts";
import type { Generation } from "./generation.ts";
import type { TokenTable } from "./lock.ts";
import type { Alternative, TokenLogprob } from "./request.ts";

/**
 * Draws that are refused one by one, where many are allowed, before a mask is made: 30,000 tokens
 * take the thread that runs JavaScript 0.5 ms, another sample 0.02 (measured).
 */
const REFUSALS_BEFORE_MASK = 3;
/** Text of so few bytes is refused where little else is allowed: that mask is cheaper. */
const SHORT_BYTES = 3;
/**
 * Added to the logits of allowed tokens where they are fewer than the others: 128,000 biases take
 * 0.5 ms, a few none. A forbidden token that still wins is refused like any other, so what this
 * changes is the rounding of the logits alone, and that by the answer's own text alone.
 */
const BOOST = 64;
/** Below this a draw is an argmax, and logits divided by it are no numbers any more. */
const TEMPERATURE_MIN = 1e-6;
/** Without a lock only ends of generation are refused (inside thoughts); vocabularies have few. */
const REFUSALS_MAX = 64;

/** For lists of few tokens. */
const BOOSTS = new Float32Array(2048).fill(BOOST);
const NO_TOKENS = new Uint32Array();
const NO_BIASES = new Float32Array();

/** Samples for the answers on one slot, one after another. */
export class RowSampler {
  readonly #decoder: Decoder;
  readonly #slot: number;
  readonly #table: TokenTable;
  #seed = 0;
  /** The sampler has no biases: the next token may be sampled without setting it again. */
  #plain = false;
  /** The answer had a token refused where few are allowed: from now on these come first. */
  #isContrary = false;
  /** The one token of the current mask: there is nothing to sample. */
  #only: number | null = null;
  /** For the next token. */
  #prepared: Prepared | null = null;
  /** Of the current step's logits. */
  #probe: LogitProbe | null = null;
  /** Room for a bias on every token, made on first use. */
  #biasTokens = new Uint32Array();
  #biasValues = new Float32Array();
  /** Candidates that the lock refused, tokens that took more than one, masks that were built. */
  refusals = 0;
  refusedTokens = 0;
  masks = 0;
  maskMs = 0;

  constructor(decoder: Decoder, slot: number, table: TokenTable) {
    this.#decoder = decoder;
    this.#slot = slot;
    this.#table = table;
  }

  /** Before the first token of an answer: its random numbers start over. */
  begin(seed: number): void {
    // llama.cpp takes 2³²-1 for "any seed".
    this.#seed = (seed >>> 0) % 0xffffffff;
    // The same seed twice would go on where the last answer on this slot stopped.
    this.#decoder.configure(this.#slot, {
      ...{ temperature: 1, topP: 1, seed: (this.#seed + 1) % 0xffffffff },
      ...{ biasTokens: NO_TOKENS, biasValues: NO_BIASES },
    });
    this.#plain = false;
    this.#isContrary = false;
    this.#prepared = null;
  }

  /** Sets the sampler for the next token; the logits may still be on their way. */
  prepare(generation: Generation): void {
    this.#prepared = null;
    const { temperature, topP } = this.#distribution(generation);
    const asked = generation.biases();
    const isNucleus = temperature > 0 && topP < 1;
    this.#only = null;
    let limit: Limit = "none";
    if (generation.isLocked && (isNucleus || this.#isContrary)) {
      limit = this.#setFew(generation, asked);
      if (limit === "none" && isNucleus) limit = this.#setMask(generation, asked, "loose");
    }
    if (limit === "none" && (!this.#plain || asked.size > 0)) this.#set(generation, asked);
    const isRanked = generation.isLocked && temperature === 0 && asked.size === 0;
    this.#prepared = { asked, limit, isRanked };
  }

  /**
   * Samples until the generation takes a token.
   * @returns that token.
   * @throws EngineError `decode_failed` where nothing that is sampled passes the lock.
   */
  async sampleInto(generation: Generation, output: number): Promise<number> {
    if (this.#prepared === null) this.prepare(generation);
    assert(this.#prepared !== null, "the sampler is set");
    const { asked, isRanked } = this.#prepared;
    let { limit } = this.#prepared;
    this.#prepared = null;
    this.#probe = null;
    /** With what was refused. */
    let biases: Map<number, number> | null = null;
    for (let refused = 1; refused <= REFUSALS_MAX; refused++) {
      const token = this.#only ?? (await this.#decoder.sample(this.#slot, output));
      const logprob = this.#logprobIfAsked(generation, output, token);
      if (generation.offer(token, logprob && (await logprob))) return token;
      // With every token forbidden the library still returns one: it must not come out.
      if (limit === "exact") break;
      this.refusals += 1;
      if (refused === 1) this.refusedTokens += 1;
      biases ??= new Map(asked);
      biases.set(token, Number.NEGATIVE_INFINITY);
      limit = this.#tighten(generation, biases, { token, refused, limit, isRanked });
      if (limit !== "none" || !isRanked) continue;
      const next = await this.#offerRanked(generation, output, biases);
      if (next !== null) return next;
      limit = this.#setMask(generation, biases, "loose");
    }
    throw new EngineError("no token of the vocabulary can continue the answer", {
      code: "decode_failed",
    });
  }

  /**
   * Offers the best tokens by their logits, one after the other: one look at the logits where each
   * sample would be another.
   * @param refused gets those that the lock refuses.
   * @returns the token that was taken, or null.
   */
  async #offerRanked(
    generation: Generation,
    output: number,
    refused: Map<number, number>,
  ): Promise<number | null> {
    for (const token of await this.#decoder.ranked(this.#slot, output)) {
      if (refused.has(token)) continue;
      const logprob = this.#logprobIfAsked(generation, output, token);
      if (generation.offer(token, logprob && (await logprob))) return token;
      this.refusals += 1;
      refused.set(token, Number.NEGATIVE_INFINITY);
    }
    return null;
  }

  /** What to try after a token was refused, the `refused`th of its step. */
  #tighten(
    generation: Generation,
    biases: ReadonlyMap<number, number>,
    { token, refused, limit, isRanked }: Refusal,
  ): Limit {
    if (limit === "loose") return this.#setMask(generation, biases, "exact");
    if (generation.isLocked) {
      if (this.#setFew(generation, biases) === "loose") {
        this.#isContrary = true;
        return "loose";
      }
      const isTight = isShortText(this.#table.tokenBytes(token));
      if (isTight || refused >= REFUSALS_BEFORE_MASK) {
        return this.#setMask(generation, biases, "loose");
      }
    }
    if (!isRanked) this.#set(generation, biases);
    return "none";
  }

  /** The library takes a nucleus of nothing for no nucleus at all; OpenAI's is one token. */
  #distribution({ request }: Generation): { readonly temperature: number; readonly topP: number } {
    const { temperature, topP } = request;
    const isArgmax = temperature < TEMPERATURE_MIN || topP <= 0;
    return isArgmax ? { temperature: 0, topP: 1 } : { temperature, topP };
  }

  #set(generation: Generation, biases: ReadonlyMap<number, number>): void {
    this.#only = null;
    if (biases.size === 0) {
      this.#bias(generation, NO_TOKENS, NO_BIASES);
      return;
    }
    this.#growTo(biases.size);
    this.#fill(generation, biases, 0, 0);
  }

  /**
   * Limits the sampler to the tokens that the lock allows, where they are few.
   * @returns "none" where they are not; then nothing was changed.
   */
  #setFew(generation: Generation, biases: ReadonlyMap<number, number>): Limit {
    const startedMs = performance.now();
    const tokens = generation.fewTokens();
    this.maskMs += performance.now() - startedMs;
    const count = tokens?.length ?? 0;
    if (tokens === null || count === 0) return "none";
    this.masks += 1;
    this.#only = count === 1 ? (tokens[0] ?? null) : null;
    // The sampler stays as it is.
    if (this.#only !== null) return "loose";
    if (biases.size === 0 && count <= BOOSTS.length) {
      this.#bias(generation, tokens, BOOSTS.subarray(0, count));
      return "loose";
    }
    this.#growTo(count + biases.size);
    this.#biasTokens.set(tokens);
    this.#fill(generation, biases, count, BOOST);
    return "loose";
  }

  /**
   * Limits the sampler to the lock's mask, on top of the biases.
   * @param limit "exact" takes no boost for it, and leaves out what the token budget forbids.
   */
  #setMask(
    generation: Generation,
    biases: ReadonlyMap<number, number>,
    limit: "loose" | "exact",
  ): Limit {
    this.masks += 1;
    const startedMs = performance.now();
    const mask = generation.computeMask(limit === "exact" ? "kept" : "ignored");
    this.maskMs += performance.now() - startedMs;
    this.#only = null;
    const { size } = this.#table;
    const allowed = countBits(mask);
    const isBoosted = limit !== "exact" && allowed > 0 && allowed < size / 2;
    this.#growTo((isBoosted ? allowed : size) + biases.size);
    const count = this.#list(mask, isBoosted ? 0 : -1);
    this.#fill(generation, biases, count, isBoosted ? BOOST : Number.NEGATIVE_INFINITY);
    return limit;
  }

  /** Gives the first tokens that are listed a bias, and others theirs. */
  #fill(
    generation: Generation,
    biases: ReadonlyMap<number, number>,
    count: number,
    bias: number,
  ): void {
    this.#biasValues.fill(bias, 0, count);
    // Several biases of one token add up.
    const total = this.#write(biases, count);
    const values = this.#biasValues.subarray(0, total);
    this.#bias(generation, this.#biasTokens.subarray(0, total), values);
  }

  /** @param flip -1 lists the tokens that are not in the mask, 0 those that are. */
  #list(mask: Uint32Array, flip: 0 | -1): number {
    const { size } = this.#table;
    const tokens = this.#biasTokens;
    let count = 0;
    for (let word = 0; word * 32 < size; word++) {
      let rest = (mask[word] ?? 0) ^ flip;
      if ((word + 1) * 32 > size) rest &= (1 << (size & 31)) - 1;
      while (rest !== 0) {
        tokens[count] = word * 32 + 31 - Math.clz32(rest & -rest);
        count += 1;
        rest &= rest - 1;
      }
    }
    return count;
  }

  #write(biases: ReadonlyMap<number, number>, start: number): number {
    let count = start;
    for (const [token, bias] of biases) {
      this.#biasTokens[count] = token;
      this.#biasValues[count] = bias;
      count += 1;
    }
    return count;
  }

  #growTo(count: number): void {
    if (this.#biasTokens.length >= count) return;
    this.#biasTokens = new Uint32Array(count);
    this.#biasValues = new Float32Array(count);
  }

  #bias(generation: Generation, biasTokens: Uint32Array, biasValues: Float32Array): void {
    const { temperature, topP } = this.#distribution(generation);
    const seed = this.#seed;
    this.#decoder.configure(this.#slot, { temperature, topP, seed, biasTokens, biasValues });
    this.#plain = biasTokens.length === 0;
  }

  /** No promise where there is nothing to wait for: this runs once a token. */
  #logprobIfAsked(
    { request: { topLogprobs } }: Generation,
    output: number,
    token: number,
  ): Promise<TokenLogprob> | null {
    return topLogprobs === null ? null : this.#logprob(output, token, topLogprobs);
  }

  async #logprob(output: number, token: number, top: number): Promise<TokenLogprob> {
    // Refused tokens mostly are among the top ones: one look at the logits serves them all.
    if (!this.#probe?.logits.has(token)) {
      this.#probe = await this.#decoder.probe(this.#slot, output, [token], top);
    }
    const probe = this.#probe;
    const bestLogit = probe.logits.get(probe.best);
    assert(bestLogit !== undefined, "a probe reports the best token's logit");
    const describe = (id: number): Alternative => {
      const bytes = [...this.#table.tokenBytes(id)];
      const text = new TextDecoder().decode(Uint8Array.from(bytes));
      const logit = probe.logits.get(id) ?? Number.NEGATIVE_INFINITY;
      // -9999 is OpenAI's stand-in for the logarithm of nothing.
      const logprob = Math.max(logit - bestLogit - Math.log(probe.weight), -9999);
      return { token: text, bytes, logprob };
    };
    const best = [...probe.logits.entries()]
      .sort(([a, x], [b, y]) => y - x || a - b)
      .slice(0, top)
      .map(([id]) => describe(id));
    return { ...describe(token), top: best };
  }
}

interface Prepared {
  /** What the request adds to logits. */
  readonly asked: ReadonlyMap<number, number>;
  readonly limit: Limit;
  /** What comes after the best token is the next best. */
  readonly isRanked: boolean;
}

interface Refusal {
  readonly token: number;
  /** Refusals of the step so far, this one included. */
  readonly refused: number;
  readonly limit: Limit;
  /** The next best tokens are asked for. */
  readonly isRanked: boolean;
}

/** A string that refuses it has hardly any room left, or wants other letters. */
function isShortText(bytes: Uint8Array): boolean {
  if (bytes.length === 0 || bytes.length > SHORT_BYTES) return false;
  return bytes.every((byte) => byte >= 0x20 && byte !== 0x22 && byte !== 0x5c);
}

/** How the sampler is kept to a lock: "loose" can still be refused something. */
type Limit = "none" | "loose" | "exact";

function countBits(words: Uint32Array): number {
  let count = 0;
  for (let index = 0; index < words.length; index++) {
    let word = words[index] ?? 0;
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}
