/**
 * Whether a request may be served: its key's rate, which every request is counted against, and its
 * tenant's daily and monthly counts, which billable ones are.
 *
 * What is counted are ledger rows, and calls that may still become one. No counter is stored, so a
 * crash can neither lose nor double a count. A reservation ends in the same step in which its row
 * becomes visible (`appendCall`'s `onDurable`), so counts are exact at every moment: of 200
 * requests that come at once, with 100 left, 100 are admitted.
 */
import { assert } from "../bytes/assert.ts";
import { billingMonthAt, utcDayAt, type Window } from "./cycle.ts";
import type { Package } from "./packages.ts";
import { type BucketState, RateLimiter } from "./rate-limiter.ts";

/** What a tenant is bound by; nulls: not bound. */
export interface TenantLimits {
  readonly package: Package | null;
  /** Unix milliseconds that billing months are counted from. */
  readonly cycleAnchorMs: number | null;
}

export interface AdmissionDeps {
  readonly limitsOf: (tenantId: string) => TenantLimits;
  /** Durable rows of a tenant with `ts >= sinceMs`. */
  readonly countSince: (tenantId: string, sinceMs: number) => number;
  /** The ledger's clock: the one that rows are stamped with. */
  readonly nowMs: () => number;
}

/** One limit as it stands. */
export interface LimitState {
  readonly kind: "minute" | "day" | "month";
  readonly limit: number;
  /** Counted calls and calls in progress; of a rate, requests that are not back yet. */
  readonly used: number;
  readonly remaining: number;
  /** Unix milliseconds at which nothing of `used` counts any more. */
  readonly resetMs: number;
}

/** Why a request is not served. */
export interface Refusal {
  readonly code: "rate_limit_exceeded" | "insufficient_quota";
  /** Limit, used and reset in words. */
  readonly message: string;
  readonly retryAfterMs: number;
  /** Whether a client does well to try again by itself. */
  readonly shouldRetry: boolean;
}

export interface Reservation {
  /** Ends it, when its row is durable or the call failed. A second time does nothing. */
  readonly release: () => void;
}

export type Admission =
  | { readonly ok: true; readonly reservation: Reservation }
  | { readonly ok: false; readonly refusal: Refusal };

/** Who asks; an `Identity` is one. */
export interface Caller {
  readonly tenantId: string;
  readonly keyId: string;
}

export class AdmissionControl {
  readonly #deps: AdmissionDeps;
  readonly #rates = new RateLimiter();
  /** Calls in progress, by tenant. */
  readonly #reserved = new Map<string, number>();

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  /** Takes a request off its key's rate. @returns null where it may come in. */
  enter(caller: Caller): Refusal | null {
    return this.#rate(caller, 1)?.refusal ?? null;
  }

  /**
   * Admits a call that will be recorded as one row, once it came in; release its reservation
   * whatever happens.
   */
  admitMetered(caller: Caller): Admission {
    const nowMs = this.#deps.nowMs();
    for (const state of this.#counts(caller.tenantId, nowMs)) {
      if (state.remaining > 0) continue;
      return { ok: false, refusal: quotaRefusal(state, this.#packageId(caller), nowMs) };
    }
    return { ok: true, reservation: this.#reserve(caller.tenantId) };
  }

  /** All limits of a caller as they stand; none for a tenant without a package. */
  limits(caller: Caller): LimitState[] {
    const rate = this.#rate(caller, 0);
    const counts = this.#counts(caller.tenantId, this.#deps.nowMs());
    return rate === null ? counts : [rate.state, ...counts];
  }

  #rate(caller: Caller, cost: 0 | 1): { state: LimitState; refusal: Refusal | null } | null {
    const perMinute = this.#deps.limitsOf(caller.tenantId).package?.requestsPerMinute ?? null;
    if (perMinute === null) return null;
    const nowMs = this.#deps.nowMs();
    const bucket = this.#rates.take(caller.keyId, perMinute, nowMs, cost);
    const { allowed, remaining, fullAfterMs } = bucket;
    const used = perMinute - remaining;
    const resetMs = nowMs + fullAfterMs;
    const state: LimitState = { kind: "minute", limit: perMinute, used, remaining, resetMs };
    return { state, refusal: allowed ? null : rateRefusal(perMinute, bucket) };
  }

  #counts(tenantId: string, nowMs: number): LimitState[] {
    const { package: bought, cycleAnchorMs } = this.#deps.limitsOf(tenantId);
    if (bought === null) return [];
    const states: LimitState[] = [];
    const count = (kind: "day" | "month", limit: number, window: Window): void => {
      // A call in progress may end in this window whenever it began.
      const reserved = this.#reserved.get(tenantId) ?? 0;
      const used = this.#deps.countSince(tenantId, window.startMs) + reserved;
      const remaining = Math.max(0, limit - used);
      states.push({ kind, limit, used, remaining, resetMs: window.endMs });
    };
    if (bought.dailyRequests !== null) count("day", bought.dailyRequests, utcDayAt(nowMs));
    if (bought.monthlyRequests !== null) {
      assert(cycleAnchorMs !== null, "a tenant with a monthly quota has no billing cycle");
      count("month", bought.monthlyRequests, billingMonthAt(cycleAnchorMs, nowMs));
    }
    return states;
  }

  #reserve(tenantId: string): Reservation {
    const add = (change: 1 | -1): void => {
      const next = (this.#reserved.get(tenantId) ?? 0) + change;
      if (next === 0) this.#reserved.delete(tenantId);
      else this.#reserved.set(tenantId, next);
    };
    add(1);
    let isOpen = true;
    const release = (): void => {
      if (isOpen) add(-1);
      isOpen = false;
    };
    return { release };
  }

  #packageId(caller: Caller): string {
    return this.#deps.limitsOf(caller.tenantId).package?.id ?? "";
  }
}

function rateRefusal(perMinute: number, { retryAfterMs }: BucketState): Refusal {
  const message =
    `This key may make ${perMinute} requests a minute, and has made them; ` +
    `the next is allowed in ${durationInWords(retryAfterMs)}.`;
  return { code: "rate_limit_exceeded", message, retryAfterMs, shouldRetry: true };
}

function quotaRefusal(state: LimitState, packageId: string, nowMs: number): Refusal {
  const { kind, limit, used, resetMs } = state;
  const window = kind === "day" ? "UTC day" : "billing month";
  const retryAfterMs = resetMs - nowMs;
  const message =
    `The package ${packageId} allows ${limit} requests a ${window}; ${used} are used or in ` +
    `progress. The count starts again at ${new Date(resetMs).toISOString()}, ` +
    `in ${durationInWords(retryAfterMs)}.`;
  return { code: "insufficient_quota", message, retryAfterMs, shouldRetry: false };
}

/** In the two largest units: "3 hours 12 minutes"; rounded up, so that waiting it out suffices. */
export function durationInWords(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  const units: readonly (readonly [string, number])[] = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
    ["second", 1],
  ];
  const first = units.findIndex(([, size]) => seconds >= size);
  const [, smallest = 1] = units[Math.min(first + 1, units.length - 1)] ?? [];
  let left = Math.ceil(seconds / smallest) * smallest;
  const words: string[] = [];
  for (const [name, size] of units) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) words.push(`${count} ${name}${count === 1 ? "" : "s"}`);
  }
  return words.join(" ");
}
