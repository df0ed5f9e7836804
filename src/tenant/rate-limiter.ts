/**
 * Token buckets: each key may make as many requests at once as it may make in a minute, and gets
 * them back evenly. In memory only: a restart fills every bucket.
 */

/** What a bucket holds after a request came. */
export interface BucketState {
  readonly allowed: boolean;
  /** Whole requests left. */
  readonly remaining: number;
  /** Until the next request is allowed; 0 while one is. */
  readonly retryAfterMs: number;
  /** Until the bucket is full again. */
  readonly fullAfterMs: number;
}

interface Bucket {
  tokens: number;
  filledMs: number;
}

const MINUTE_MS = 60_000;

export class RateLimiter {
  /** The least recently used first. */
  readonly #buckets = new Map<string, Bucket>();
  readonly #bucketsMax: number;

  /** @param bucketsMax past it, the bucket that was longest not used counts as full. */
  constructor(bucketsMax = Number.POSITIVE_INFINITY) {
    this.#bucketsMax = bucketsMax;
  }

  /**
   * @param name whose bucket.
   * @param nowMs any clock that does not run backwards; where it does, nothing is refilled.
   * @param cost 1 for a request; 0 to look only.
   */
  take(name: string, perMinute: number, nowMs: number, cost: 0 | 1): BucketState {
    const bucket = this.#buckets.get(name) ?? { tokens: perMinute, filledMs: nowMs };
    const elapsedMs = Math.max(0, nowMs - bucket.filledMs);
    const tokens = Math.min(perMinute, bucket.tokens + (elapsedMs * perMinute) / MINUTE_MS);
    const allowed = tokens >= 1;
    bucket.tokens = allowed ? tokens - cost : tokens;
    bucket.filledMs = Math.max(nowMs, bucket.filledMs);
    if (cost > 0) {
      this.#buckets.delete(name);
      this.#dropOld(nowMs);
      this.#buckets.set(name, bucket);
    }
    const missing = (count: number): number =>
      Math.ceil((Math.max(0, count - bucket.tokens) * MINUTE_MS) / perMinute);
    return {
      allowed,
      remaining: Math.floor(bucket.tokens),
      retryAfterMs: missing(1),
      fullAfterMs: missing(perMinute),
    };
  }

  /** After a minute every bucket is full, and says nothing. */
  #dropOld(nowMs: number): void {
    for (const [name, { filledMs }] of this.#buckets) {
      if (nowMs - filledMs < MINUTE_MS && this.#buckets.size < this.#bucketsMax) return;
      this.#buckets.delete(name);
    }
  }
}
