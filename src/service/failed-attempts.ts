/**
 * Credentials that were not taken, by address: past a number a minute, an address gets 429s in
 * place of its 401s. Nothing else changes. A valid key is served whatever its neighbours try, so
 * nobody can lock anyone out.
 */
import { RateLimiter } from "../tenant/rate-limiter.ts";
import { networkOf } from "../tenant/sign-up.ts";
import { type ApiError, tooManyRequests } from "./api-error.ts";

export interface FailedAttemptsDeps {
  readonly perMinute: number;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
}

/** Addresses remembered at a time, about 2 MiB; one that is forgotten starts anew. */
const ADDRESSES_MAX = 10_000;

export class FailedAttempts {
  readonly #deps: FailedAttemptsDeps;
  readonly #rates = new RateLimiter(ADDRESSES_MAX);

  constructor(deps: FailedAttemptsDeps) {
    this.#deps = deps;
  }

  /**
   * Counts one failed attempt.
   * @param clientAddress seen through the operator's proxies; null where it is not known.
   * @returns what is answered in place of the 401; null: the 401.
   */
  count(clientAddress: string | null): ApiError | null {
    if (clientAddress === null || isOwn(clientAddress)) return null;
    const { nowMs, perMinute } = this.#deps;
    const bucket = this.#rates.take(networkOf(clientAddress), perMinute, nowMs(), 1);
    if (bucket.allowed) return null;
    const retryAfterS = Math.ceil(bucket.retryAfterMs / 1000);
    const message =
      `${perMinute} failed authentications a minute are answered from one network; the next one ` +
      `will be in ${retryAfterS} s, and a valid key is served at any time`;
    return tooManyRequests(message, retryAfterS);
  }
}

/**
 * Programs of this machine, such as test suites, or a proxy that the operator did not name: behind
 * that one, clients cannot be told apart.
 */
function isOwn(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127\./i.test(address);
}
