/** What the rows of the audit log add up to. Pure. */

export interface UsageRow {
  readonly ts: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly ms: number;
  readonly status: number;
}

export interface UsageFigures {
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Milliseconds; null without requests. */
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
  /** One bucket after the other without gaps, oldest first. */
  readonly buckets: readonly Bucket[];
}

export interface Bucket {
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly requests: number;
  readonly tokens: number;
  /** Null in a bucket without requests. */
  readonly medianMs: number | null;
}

/** @param bucketMs the width of a bucket; `fromMs` and `toMs` bound the range. */
export function usageFigures(
  rows: readonly UsageRow[],
  fromMs: number,
  toMs: number,
  bucketMs: number,
): UsageFigures {
  const first = Math.floor(fromMs / bucketMs);
  const last = Math.floor((toMs - 1) / bucketMs);
  const within = rows.filter(({ ts }) => ts >= fromMs && ts < toMs);
  const buckets: Bucket[] = [];
  for (let index = first; index <= last; index++) {
    const own = within.filter(({ ts }) => Math.floor(ts / bucketMs) === index);
    buckets.push({
      startMs: index * bucketMs,
      requests: own.length,
      tokens: own.reduce((sum, row) => sum + row.prompt_tokens + row.completion_tokens, 0),
      medianMs: quantile(own, 0.5),
    });
  }
  return {
    requests: within.length,
    promptTokens: within.reduce((sum, row) => sum + row.prompt_tokens, 0),
    completionTokens: within.reduce((sum, row) => sum + row.completion_tokens, 0),
    medianMs: quantile(within, 0.5),
    p95Ms: quantile(within, 0.95),
    buckets,
  };
}

/** The smallest latency that this share of the rows does not exceed. */
function quantile(rows: readonly UsageRow[], share: number): number | null {
  const sorted = rows.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
