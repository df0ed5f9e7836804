/** The ledger's time: the wall clock, except that it never runs backwards, restarts included. */
import { LedgerError } from "./ledger-error.ts";

/** What the program's parts report: a name, and facts without secrets. */
export type Log = (
  level: "debug" | "info" | "warn" | "error",
  event: string,
  facts: Readonly<Record<string, string | number | boolean | null>>,
) => void;

/** Behind by more than this is reported, once per episode. */
const BEHIND_WARN_MS = 5_000;
/** Behind by more than this, a record's time would be a lie that matters: writing stops. */
const BEHIND_MAX_MS = 600_000;

export class LedgerClock {
  readonly #nowMs: () => number;
  readonly #log: Log;
  #newestMs = 0;
  #warned = false;

  constructor(nowMs: () => number, log: Log) {
    this.#nowMs = nowMs;
    this.#log = log;
  }

  /** Takes note of a record's time, Unix milliseconds: nothing later will be older. */
  observe(ms: number): void {
    this.#newestMs = Math.max(this.#newestMs, ms);
  }

  /** The newest record's time: no record will ever be older. */
  get newestMs(): number {
    return this.#newestMs;
  }

  /** Unix milliseconds: the wall clock, or the newest record's time while that is later. */
  nowMs(): number {
    return Math.max(this.#nowMs(), this.#newestMs);
  }

  /**
   * The time for a new record; `observe` it once the record is durable.
   * @throws LedgerError `clock_behind` when the wall clock is more than ten minutes behind.
   */
  stamp(): number {
    const now = this.#nowMs();
    const behindMs = this.#newestMs - now;
    if (behindMs > BEHIND_MAX_MS) {
      const message = `the clock is ${behindMs} ms behind the newest record; set it right, or wait`;
      throw new LedgerError("clock_behind", message);
    }
    if (behindMs > BEHIND_WARN_MS && !this.#warned) {
      this.#log("warn", "ledger_clock_behind", { behind_ms: behindMs });
    }
    this.#warned = behindMs > BEHIND_WARN_MS;
    return Math.max(now, this.#newestMs);
  }
}
