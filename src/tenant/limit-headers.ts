/** The headers that tell a client how much it has left, in the spelling that SDKs know. */
import type { LimitState, Refusal } from "./admission.ts";

/**
 * `x-ratelimit-*` of the limit that is nearest; nothing for a caller without limits.
 * @param nowMs the time that resets are counted from.
 */
export function limitHeaders(
  limits: readonly LimitState[],
  nowMs: number,
): Readonly<Record<string, string>> {
  const [first, ...rest] = limits;
  if (first === undefined) return {};
  const nearest = rest.reduce(
    (best, each) => (each.remaining < best.remaining ? each : best),
    first,
  );
  return {
    "x-ratelimit-limit-requests": String(nearest.limit),
    "x-ratelimit-remaining-requests": String(nearest.remaining),
    "x-ratelimit-reset-requests": `${seconds(nearest.resetMs - nowMs)}s`,
  };
}

/** What a 429 carries besides: whole seconds, rounded up. */
export function refusalHeaders(refusal: Refusal): Readonly<Record<string, string>> {
  return {
    "retry-after": String(seconds(refusal.retryAfterMs)),
    "x-should-retry": String(refusal.shouldRetry),
  };
}

function seconds(ms: number): number {
  return Math.max(0, Math.ceil(ms / 1000));
}
