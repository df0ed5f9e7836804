/**
 * A decoder without a network: logits are a function of the tokens a slot holds and, where a test
 * wants it, of the shape of the calls that wrote them. It refuses what would crash the real one.
 */
import type { Decoder, LogitProbe, SampleOptions, StepRow } from "../../src/runtime/decoder.ts";
import type { TokenTable } from "../../src/runtime/lock.ts";

export interface FakeOptions {
  readonly slots: number;
  readonly slotPositions: number;
  readonly canTruncate?: boolean;
  /** What of a call reaches the bits of its row `index`. */
  readonly shade?: (call: FakeCall, index: number) => string;
  /** Called before each step; what it throws is what the library says. */
  readonly onStep?: (call: FakeCall) => void | Promise<void>;
  /** "worst" picks the least likely token that is not forbidden. */
  readonly picks?: "best" | "worst";
  /** Best tokens told at once. */
  readonly rankedCount?: number;
  /** Changes the logit of a token after a text. */
  readonly logit?: (token: number, history: readonly number[]) => number | undefined;
}

export interface FakeCall {
  /** 0 for the first. */
  readonly step: number;
  readonly rows: readonly StepRow[];
  /** Of each row's slot, before the call. */
  readonly lengths: readonly number[];
}

interface Cell {
  readonly token: number;
  readonly shade: string;
}

/** Bytes, an end of generation, and a control token. */
export const FAKE_END = 256;
export const FAKE_CONTROL = 257;
const VOCABULARY_SIZE = 258;
const RANKED_COUNT = 16;

export const FAKE_TABLE: TokenTable = {
  size: VOCABULARY_SIZE,
  tokenBytes: (id) => (id < FAKE_END ? Uint8Array.of(id) : new Uint8Array()),
  isEndOfGeneration: (id) => id === FAKE_END,
  isControl: (id) => id >= FAKE_END,
};

/** Tokens, the best first. */
const byLogit = (logits: readonly number[]): number[] =>
  [...logits.keys()].sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0) || a - b);

export class FakeDecoder implements Decoder {
  readonly slots: number;
  readonly slotPositions: number;
  readonly batchTokensMax = 1024;
  readonly memoryBytes = 0;
  readonly canTruncate: boolean;
  /** Every call so far. */
  readonly calls: FakeCall[] = [];
  disposed = false;
  readonly #options: FakeOptions;
  readonly #cells: Cell[][];
  readonly #samplers = new Map<number, { options: SampleOptions; drawn: number }>();
  readonly #outputs = new Map<number, readonly Cell[]>();
  #busy = false;

  constructor(options: FakeOptions) {
    this.#options = options;
    this.slots = options.slots;
    this.slotPositions = options.slotPositions;
    this.canTruncate = options.canTruncate ?? true;
    this.#cells = Array.from({ length: options.slots }, () => []);
  }

  length(slot: number): number {
    return this.#cellsOf(slot).length;
  }

  /** The tokens a slot holds. */
  tokens(slot: number): number[] {
    return this.#cellsOf(slot).map(({ token }) => token);
  }

  async step(rows: readonly StepRow[]): Promise<readonly number[]> {
    this.#assertIdle();
    const lengths = rows.map(({ slot }) => this.length(slot));
    const call = { step: this.calls.length, rows, lengths };
    this.calls.push(call);
    this.#busy = true;
    await new Promise((resolve) => setImmediate(resolve));
    try {
      await this.#options.onStep?.(call);
    } catch (error) {
      for (const { slot } of rows) this.#cellsOf(slot).length = 0;
      throw error;
    } finally {
      this.#busy = false;
    }
    this.#outputs.clear();
    const outputs: number[] = [];
    let at = 0;
    for (const [index, { slot, tokens, output }] of rows.entries()) {
      if (index > 0 && slot <= (rows[index - 1]?.slot ?? 0)) throw new Error("rows out of order");
      const shade = this.#options.shade?.(call, index) ?? "";
      const cells = this.#cellsOf(slot);
      cells.push(...tokens.map((token) => ({ token, shade })));
      if (cells.length > this.slotPositions) throw new Error("a position past the context");
      at += tokens.length;
      if (output) {
        this.#outputs.set(at - 1, cells.slice());
        outputs.push(at - 1);
      }
    }
    return outputs;
  }

  configure(slot: number, options: SampleOptions): void {
    const before = this.#samplers.get(slot);
    const drawn = before?.options.seed === options.seed ? before.drawn : 0;
    const { biasTokens, biasValues } = options;
    const copies = { biasTokens: biasTokens.slice(), biasValues: biasValues.slice() };
    this.#samplers.set(slot, { options: { ...options, ...copies }, drawn });
  }

  async sample(slot: number, output: number): Promise<number> {
    if (this.#busy) throw new Error("a sample during a decode");
    const sampler = this.#samplers.get(slot);
    if (sampler === undefined) throw new Error("a sampler that was never configured");
    const { temperature, seed, biasTokens, biasValues } = sampler.options;
    const biases = new Map<number, number>();
    for (const [at, token] of biasTokens.entries()) {
      biases.set(token, (biases.get(token) ?? 0) + (biasValues[at] ?? 0));
    }
    const logits = this.#logits(output);
    if (temperature > 0) sampler.drawn += 1;
    let best = 0;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (const [token, logit] of logits.entries()) {
      const biased = logit + (biases.get(token) ?? 0);
      if (biased === Number.NEGATIVE_INFINITY) continue;
      const noise = temperature > 0 ? gumbel(`${seed} ${sampler.drawn} ${token}`) : 0;
      const score = temperature > 0 ? biased / temperature + noise : biased;
      const wanted = this.#options.picks === "worst" ? -score : score;
      if (wanted > bestScore) [best, bestScore] = [token, wanted];
    }
    return best;
  }

  async ranked(_: number, output: number): Promise<readonly number[]> {
    const sign = this.#options.picks === "worst" ? -1 : 1;
    const logits = this.#logits(output).map((logit) => sign * logit);
    return byLogit(logits).slice(0, this.#options.rankedCount ?? RANKED_COUNT);
  }

  async probe(_: number, output: number, tokens: readonly number[], top: number) {
    const logits = this.#logits(output);
    const ranked = byLogit(logits);
    const best = ranked[0] ?? 0;
    const bestLogit = logits[best] ?? 0;
    const wanted = [...ranked.slice(0, top), ...tokens, best];
    const probe: LogitProbe = {
      best,
      logits: new Map(wanted.map((token) => [token, logits[token] ?? 0])),
      weight: logits.reduce((sum, logit) => sum + Math.exp(logit - bestLogit), 0),
    };
    return probe;
  }

  truncate(slot: number, length: number): void {
    this.#assertIdle();
    const cells = this.#cellsOf(slot);
    if (length > cells.length) throw new Error("a sequence is only ever shortened");
    if (!this.canTruncate && length !== 0 && length !== cells.length) {
      throw new Error("a recurrent sequence has no tail");
    }
    cells.length = length;
  }

  async copy(from: number, to: number): Promise<void> {
    this.#assertIdle();
    this.#cells[to] = this.#cellsOf(from).slice();
  }

  async dispose(): Promise<void> {
    this.#assertIdle();
    this.disposed = true;
  }

  #logits(output: number): number[] {
    const cells = this.#outputs.get(output);
    if (cells === undefined) throw new Error("there are no logits at this output");
    const state = Number(Bun.hash(JSON.stringify(cells)) & 0xffff_ffffn);
    const history = cells.map(({ token }) => token);
    return Array.from(
      { length: VOCABULARY_SIZE },
      (_, token) =>
        this.#options.logit?.(token, history) ??
        (mix(state ^ Math.imul(token + 1, 0x9e3779b1)) % 10_000) / 1000,
    );
  }

  #cellsOf(slot: number): Cell[] {
    const cells = this.#cells[slot];
    if (cells === undefined) throw new Error(`there is no slot ${slot}`);
    return cells;
  }

  #assertIdle(): void {
    if (this.#busy) throw new Error("the decoder was changed while it worked");
  }
}

/** A 32-bit hash of a number (MurmurHash3's last steps). */
function mix(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Noise that turns an argmax into a draw from the distribution. */
function gumbel(key: string): number {
  const uniform = (Number(Bun.hash(key) % 1_000_003n) + 0.5) / 1_000_003;
  return -Math.log(-Math.log(uniform));
}
