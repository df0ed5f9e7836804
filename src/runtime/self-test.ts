/**
 * Finds out which calls of the network give a row the same bits, on the loaded model. Nothing is
 * assumed about CPU, GPU, quantisation or library: every row count is tried at every index, beside
 * neighbours of other texts and lengths, beside slots that were just emptied, after prompts that
 * were computed, taken over from another slot, or taken over in part.
 *
 * What it decides depends on bits alone, never on time: a restart must not choose another class.
 * Beside, it notes how long calls took: which counts of a class are used may depend on that.
 */
import { assert } from "../bytes/assert.ts";
import { sha256Hex } from "../crypto/hash.ts";
import type { Decoder } from "./decoder.ts";
import type { Lane } from "./lane.ts";

export interface SelfTestOptions {
  readonly decoder: Decoder;
  readonly vocabularySize: number;
  readonly chunkTokens: number;
  /** Slots that will decode. */
  readonly rows: number;
  /** Of the model: decides how long the prompts of the test are. */
  readonly parameters: number;
}

export interface SelfTestResult {
  /** Row counts that give the same bits, in every scenario; one class each, ascending. */
  readonly classes: readonly Lane[];
  /** Row counts whose bits depend on the neighbours, or do not repeat. */
  readonly unstable: readonly number[];
  /** Lengths of the sequences that were tried. */
  readonly lengths: readonly number[];
  /** What a call of one row took, of two rows, ...: the middle of all. */
  readonly callMs: readonly number[];
}

/** Lengths of the sequence that is watched and of the ones beside it. */
type Lengths = readonly [own: number, other: number];

/** Multiplications that the longest prompt of the test may take: about ten seconds on two cores. */
const LONG_PROMPT_WORK = 5e11;
/** Logits that are compared; the sum over all of them is compared too. */
const WATCHED_TOKENS = 64;
const OWN_STEPS = [11, 13] as const;
/** Of the canary where a chunk is a whole sequence. */
const CANARY_TOKENS = 133;

/** In the long scenario what a row count does is looked at once; the others look at all of it. */
type Depth = "all" | "once";

/** @returns what was found; every slot is empty then. */
export async function runSelfTest(options: SelfTestOptions): Promise<SelfTestResult> {
  const pairs = lengthPairs(options);
  /** Per row count: what its rows gave, one set per scenario and step. */
  const seen = new Map<number, ReadonlySet<string>[]>();
  for (let rows = 1; rows <= options.rows; rows++) seen.set(rows, []);
  const times = new CallTimes(options.rows);
  for (const [index, pair] of pairs.entries()) {
    const found = await new Scenario(options, pair, times).run(index < 2 ? "all" : "once");
    for (const [rows, sets] of found) seen.get(rows)?.push(...sets);
  }
  return {
    ...classesOf(seen),
    lengths: pairs.map(([own]) => own),
    callMs: times.middles,
  };
}

/** Below and above 256 tokens, where kernels change, and as near to the limit as work allows. */
function lengthPairs({ decoder, parameters, chunkTokens }: SelfTestOptions): Lengths[] {
  const limit = decoder.slotPositions - OWN_STEPS.length;
  const pairs: Lengths[] = [
    [20, 270],
    [270, 30],
  ];
  const long = Math.min(limit, Math.floor(LONG_PROMPT_WORK / parameters));
  if (long > 270 + chunkTokens) pairs.push([long, 60]);
  const within = (length: number) => Math.min(length, limit);
  return pairs.map(([own, other]) => [within(own), within(other)]);
}

function classesOf(
  seen: ReadonlyMap<number, readonly ReadonlySet<string>[]>,
): Pick<SelfTestResult, "classes" | "unstable"> {
  const unstable: number[] = [];
  const classes = new Map<string, number[]>();
  for (const [rows, sets] of seen) {
    // The long scenario takes one step only: its second set stays empty.
    const sizes = sets.map((set) => set.size);
    if (Math.max(...sizes) !== 1) {
      unstable.push(rows);
      continue;
    }
    const bits = sets.flatMap((set) => [...set]).join(" ");
    classes.set(bits, [...(classes.get(bits) ?? []), rows]);
  }
  return { classes: [...classes.values()], unstable };
}

/** How long calls took, by their rows. */
class CallTimes {
  readonly #times: readonly number[][];

  constructor(rows: number) {
    this.#times = Array.from({ length: rows }, () => []);
  }

  async measure<T>(rows: number, call: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const result = await call();
    this.#times[rows - 1]?.push(performance.now() - start);
    return result;
  }

  /** 0 where nothing was measured. */
  get middles(): number[] {
    return this.#times.map((all) => all.sort((a, b) => a - b)[all.length >> 1] ?? 0);
  }
}

/** What stands in a slot while the calls are compared. */
type Content = "own" | "other" | "empty";

/** All calls with sequences of two given lengths. */
class Scenario {
  readonly #options: SelfTestOptions;
  readonly #decoder: Decoder;
  readonly #times: CallTimes;
  readonly #own: readonly number[];
  readonly #other: readonly number[];
  readonly #found = new Map<number, Set<string>[]>();
  readonly #contents: Content[];

  constructor(options: SelfTestOptions, [own, other]: Lengths, times: CallTimes) {
    this.#options = options;
    this.#times = times;
    this.#decoder = options.decoder;
    this.#own = text(1, own, options.vocabularySize);
    this.#other = text(2, other, options.vocabularySize);
    this.#contents = new Array<Content>(options.rows).fill("empty");
    for (let rows = 1; rows <= this.#counts; rows++) {
      // One set for each step, and one for what stands behind the prompt.
      this.#found.set(
        rows,
        [...OWN_STEPS, null].map(() => new Set()),
      );
    }
  }

  async run(depth: Depth): Promise<ReadonlyMap<number, readonly ReadonlySet<string>[]>> {
    const { rows } = this.#options;
    await this.#fillWithOwn();
    if (depth === "all" || rows === 1) await this.#compare("both ends");
    if (!this.#decoder.canTruncate) await this.#prefill(0, this.#own);
    else if (rows > 1) await this.#mixed(depth);
    if (depth === "all" || rows === 1) await this.#compare("first slots");
    for (let slot = 0; slot < this.#decoder.slots; slot++) this.#decoder.truncate(slot, 0);
    return this.#found;
  }

  async #mixed(depth: Depth): Promise<void> {
    await this.#prefill(this.#keeper, this.#other);
    await this.#arrange((slot) => (slot % 2 === 0 ? "own" : "other"));
    await this.#compare("first slots");
    if (depth === "once") return;
    await this.#arrange((slot) => (slot % 2 === 1 ? "own" : "other"));
    await this.#compare("last slots");
    await this.#arrange((slot) => (slot % 3 === 1 ? "empty" : "own"));
  }

  /** The same sequence everywhere, come by in every way there is. */
  async #fillWithOwn(): Promise<void> {
    const { rows, chunkTokens } = this.#options;
    const decoder = this.#decoder;
    this.#contents.fill("own");
    await this.#prefill(0, this.#own);
    if (!decoder.canTruncate) {
      for (let slot = 1; slot < rows; slot++) await this.#prefill(slot, this.#own);
      return;
    }
    for (let slot = 1; slot < rows; slot++) await decoder.copy(0, slot);
    // Long prompts are not computed twice; what they could show, the others do.
    if (rows === 1 || this.#own.length > 2 * chunkTokens + 270) return;
    // Beside full neighbours, after the beginning of another prompt's.
    const prefix = this.#own.length > chunkTokens ? this.#own.slice(0, chunkTokens) : [];
    await this.#prefill(this.#keeper, [...prefix, ...this.#other.slice(0, 7)]);
    await decoder.copy(this.#keeper, rows - 1);
    decoder.truncate(rows - 1, prefix.length);
    await this.#prefill(rows - 1, this.#own, prefix.length);
  }

  /** A slot that never decodes. */
  get #keeper(): number {
    return this.#decoder.slots - 1;
  }

  /** In chunks, as the scheduler computes prompts. */
  async #prefill(slot: number, tokens: readonly number[], from = 0): Promise<void> {
    const { chunkTokens } = this.#options;
    if (from === 0) this.#decoder.truncate(slot, 0);
    for (let start = from; start < tokens.length; start += chunkTokens) {
      const chunk = tokens.slice(start, start + chunkTokens);
      const output = tokens === this.#own && start + chunkTokens >= tokens.length;
      const outputs = await this.#decoder.step([{ slot, tokens: chunk, output }]);
      if (output) await this.#notePrompt(slot, outputs);
    }
  }

  /** The first token of an answer is sampled from a call of its own: its bits are the same too. */
  async #notePrompt(slot: number, outputs: readonly number[]): Promise<void> {
    const { vocabularySize } = this.#options;
    const bits = await readBits(this.#decoder, slot, outputs[0] ?? 0, vocabularySize);
    for (const sets of this.#found.values()) sets[OWN_STEPS.length]?.add(bits);
  }

  /** The watched sequence is in some slot before, and in some slot after. */
  async #arrange(contentOf: (slot: number) => Content): Promise<void> {
    const decoder = this.#decoder;
    const source = this.#contents.indexOf("own");
    assert(source >= 0, "the watched sequence is somewhere");
    const wanted = this.#contents.map((_, slot) => contentOf(slot));
    for (const [slot, content] of wanted.entries()) {
      if (content === "own" && this.#contents[slot] !== "own") await decoder.copy(source, slot);
    }
    for (const [slot, content] of wanted.entries()) {
      if (content === "other") await decoder.copy(this.#keeper, slot);
      if (content === "empty") decoder.truncate(slot, 0);
      this.#contents[slot] = content;
    }
  }

  /** Without a way to take steps back, single rows alone are tried. */
  get #counts(): number {
    return this.#decoder.canTruncate ? this.#options.rows : 1;
  }

  /** Every row count; two steps deep at the first slots where all hold the watched sequence. */
  async #compare(where: "first slots" | "last slots" | "both ends"): Promise<void> {
    const { rows: slots } = this.#options;
    for (let rows = 1; rows <= this.#counts; rows++) {
      const last = slots - rows;
      const firsts = { "first slots": [0], "last slots": [last], "both ends": [0, last] }[where];
      for (const first of new Set(firsts)) {
        const steps = where === "both ends" && first === 0 ? OWN_STEPS.length : 1;
        await this.#call(first, rows, steps);
      }
    }
  }

  async #call(first: number, rows: number, steps: number): Promise<void> {
    const decoder = this.#decoder;
    const slots = Array.from({ length: rows }, (_, index) => first + index);
    const isWatched = (slot: number) => this.#contents[slot] === "own";
    const lengths = slots.map((slot) => decoder.length(slot));
    for (const [step, own] of OWN_STEPS.slice(0, steps).entries()) {
      const calledRows = slots.map((slot) => {
        return { slot, tokens: [isWatched(slot) ? own : slot], output: true };
      });
      const outputs = await this.#times.measure(rows, () => decoder.step(calledRows));
      for (const [index, slot] of slots.entries()) {
        if (!isWatched(slot)) continue;
        const output = outputs[index] ?? 0;
        const bits = await readBits(decoder, slot, output, this.#options.vocabularySize);
        this.#found.get(rows)?.[step]?.add(bits);
      }
    }
    if (!decoder.canTruncate) return;
    for (const [index, slot] of slots.entries()) decoder.truncate(slot, lengths[index] ?? 0);
  }
}

/**
 * The bits of a short answer in a lane, for a look at each start: they are part of the engine's
 * fingerprint, so that a change nobody knows of cannot keep the old name.
 */
export async function computeCanary(options: SelfTestOptions, lane: Lane): Promise<string> {
  const { decoder, chunkTokens, vocabularySize } = options;
  const isCut = chunkTokens + 5 <= decoder.slotPositions - 2;
  const tokens = text(3, isCut ? chunkTokens + 5 : CANARY_TOKENS, vocabularySize);
  const bits: string[] = [];
  for (const rows of new Set([lane[0] ?? 1, lane.at(-1) ?? 1])) {
    for (let start = 0; start < tokens.length; start += chunkTokens) {
      const chunk = tokens.slice(start, start + chunkTokens);
      const output = start + chunkTokens >= tokens.length;
      const outputs = await decoder.step([{ slot: 0, tokens: chunk, output }]);
      if (output) bits.push(await readBits(decoder, 0, outputs[0] ?? 0, vocabularySize));
    }
    for (const token of OWN_STEPS) {
      const calledRows = Array.from({ length: rows }, (_, slot) => ({
        slot,
        tokens: [token],
        output: true,
      }));
      const outputs = await decoder.step(calledRows);
      bits.push(await readBits(decoder, 0, outputs[0] ?? 0, vocabularySize));
    }
    for (let slot = 0; slot < rows; slot++) decoder.truncate(slot, 0);
  }
  return sha256Hex(bits.join(" "));
}

/** A digest of a row's logits. */
async function readBits(
  decoder: Decoder,
  slot: number,
  output: number,
  vocabularySize: number,
): Promise<string> {
  const last = vocabularySize - 1;
  const count = Math.min(WATCHED_TOKENS, vocabularySize);
  const watched = Array.from({ length: count }, (_, index) =>
    count === 1 ? 0 : Math.floor((index * last) / (count - 1)),
  );
  const probe = await decoder.probe(slot, output, watched, 0);
  const logits = [...probe.logits].sort(([a], [b]) => a - b);
  return sha256Hex(JSON.stringify([probe.best, probe.weight, logits]));
}

/** Tokens in no order that a kernel could favour. */
function text(seed: number, length: number, vocabularySize: number): number[] {
  return Array.from(
    { length },
    (_, index) => (seed * 7919 + (index + 1) * 104_729 + index * index * 31) % vocabularySize,
  );
}
