/** The answers that have a slot, and which of them the next calls step together. */
import type { Generation } from "./generation.ts";
import { type Call, type CallCost, type Lane, planCalls } from "./lane.ts";

/** More tokens than these are worth a call of their own; others take part in the steps of all. */
export const STEP_TOKENS_MAX = 2;

export interface Job {
  readonly tenantId: string;
  /** Prompt and budget fit the context. */
  readonly prompt: readonly number[];
  readonly generation: Generation;
  readonly seed: number;
  /** Asked between phases. */
  readonly isCancelled: () => boolean;
  /** Hands out what there is of the answer: readers work while the next call computes. */
  readonly deliver: () => void;
  readonly onEnd: (cachedTokens: number) => void;
  readonly onError: (error: unknown) => void;
}

export interface Row {
  readonly job: Job;
  readonly slot: number;
  /** Of the prompt's whole chunks. */
  readonly keys: readonly string[];
  /** To be computed before anything is sampled; once it is opened, with what the lock forces. */
  prompt: readonly number[];
  isOpened: boolean;
  /** Tokens of it that are computed, or were taken over. */
  prefilled: number;
  /** The prompt is done, and a token is sampled. */
  isDecoding: boolean;
  /** Sampled or forced, not computed yet. The last of them gives the logits to sample from. */
  pending: number[];
  cachedTokens: number;
}

/** By slot. */
export class Rows {
  readonly #lane: Lane;
  readonly #slots: number;
  readonly #costOf: CallCost;
  readonly #stepTokensMax: number;
  readonly #bySlot = new Map<number, Row>();
  #all: readonly Row[] | null = null;
  /** Mostly the same rows decode as in the turn before. */
  #decoding: { readonly rows: readonly Row[]; readonly calls: readonly Call[] } | null = null;

  /** @param stepTokensMax a row with more to compute is left out of the others' steps. */
  constructor(lane: Lane, slots: number, costOf: CallCost, stepTokensMax: number) {
    this.#lane = lane;
    this.#slots = slots;
    this.#costOf = costOf;
    this.#stepTokensMax = stepTokensMax;
  }

  get size(): number {
    return this.#bySlot.size;
  }

  get(slot: number): Row | undefined {
    return this.#bySlot.get(slot);
  }

  /** They may leave meanwhile. */
  all(): readonly Row[] {
    this.#all ??= [...this.#bySlot.values()];
    return this.#all;
  }

  add(job: Job, slot: number, keys: readonly string[]): void {
    this.#all = null;
    this.#bySlot.set(slot, {
      job,
      slot,
      keys,
      prompt: job.prompt,
      isOpened: false,
      prefilled: 0,
      isDecoding: false,
      pending: [],
      cachedTokens: 0,
    });
  }

  remove({ slot }: Row): void {
    this.#bySlot.delete(slot);
    this.#all = null;
    this.#decoding = null;
  }

  beginDecoding(row: Row): void {
    row.isDecoding = true;
    this.#decoding = null;
  }

  /** Past their prompts, ascending by slot. */
  get decoding(): readonly Row[] {
    return this.#turn.rows;
  }

  /** What is pending is computed in steps. */
  isSteady({ pending }: Row): boolean {
    return pending.length <= this.#stepTokensMax;
  }

  /** What steps all of them but those that have more to compute than a step takes. */
  stepCalls(): readonly Call[] {
    const { rows, calls } = this.#turn;
    const steady = rows.filter((row) => this.isSteady(row));
    return steady.length === rows.length ? calls : this.#plan(steady);
  }

  get #turn(): { readonly rows: readonly Row[]; readonly calls: readonly Call[] } {
    if (this.#decoding === null) {
      const rows = this.all().filter((row) => row.isDecoding);
      rows.sort((a, b) => a.slot - b.slot);
      this.#decoding = { rows, calls: this.#plan(rows) };
    }
    return this.#decoding;
  }

  #plan(rows: readonly Row[]): readonly Call[] {
    const active = rows.map(({ slot }) => slot);
    return planCalls(this.#lane, active, this.#slots, this.#costOf);
  }

  /** A slot's answer, if it takes part in steps. */
  steady(slot: number): Row | null {
    const row = this.#bySlot.get(slot);
    return row?.isDecoding && this.isSteady(row) ? row : null;
  }
}
