/** Free keys over the API: a few per network and hour. */
import { networkOf, type SignUp, type SignUps } from "../tenant/sign-up.ts";
import { type ApiError, tooManyRequests } from "./api-error.ts";

export interface SignUpDeskDeps {
  readonly signUps: Pick<SignUps, "issue">;
  readonly perHour: number;
  /** Of all networks together: what many addresses in one hand could ask for. */
  readonly perHourInAll: number;
  readonly nowMs: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

const HOUR_MS = 3_600_000;
/** Both outcomes take this long: how long it took says nothing about who is known. */
const ANSWER_MS = 150;
/** Past this many networks, those without a recent sign-up are forgotten. */
const NETWORKS_MAX = 10_000;

export class SignUpDesk {
  readonly #deps: SignUpDeskDeps;
  /** When each network asked during the last hour. */
  readonly #asked = new Map<string, readonly number[]>();
  /** When anyone did. */
  #askedInAll: readonly number[] = [];

  constructor(deps: SignUpDeskDeps) {
    this.#deps = deps;
  }

  /**
   * @param email as the form had it; empty: a key that nobody can be reached about.
   * @throws ApiError 429 past the limit of the network; TenantError for what is no address.
   */
  async issue(email: string, clientAddress: string | null): Promise<SignUp> {
    this.#count(clientAddress === null ? "local" : networkOf(clientAddress));
    const uniform = this.#deps.wait(ANSWER_MS);
    try {
      return this.#deps.signUps.issue(email);
    } finally {
      await uniform;
    }
  }

  #count(network: string): void {
    const { nowMs, perHour, perHourInAll } = this.#deps;
    const now = nowMs();
    const recent = (times: readonly number[]): readonly number[] =>
      times.filter((time) => time > now - HOUR_MS);
    if (this.#asked.size >= NETWORKS_MAX) {
      for (const [name, times] of this.#asked) {
        if (recent(times).length === 0) this.#asked.delete(name);
      }
    }
    const times = recent(this.#asked.get(network) ?? []);
    const [oldest] = times;
    const waitS = (first: number): number => Math.ceil((first + HOUR_MS - now) / 1000);
    if (oldest !== undefined && times.length >= perHour) {
      throw tooMany(`${perHour} sign-ups an hour are allowed from one network`, waitS(oldest));
    }
    this.#askedInAll = recent(this.#askedInAll);
    const [first] = this.#askedInAll;
    if (first !== undefined && this.#askedInAll.length >= perHourInAll) {
      throw tooMany(`${perHourInAll} sign-ups an hour are allowed in all`, waitS(first));
    }
    this.#asked.set(network, [...times, now]);
    this.#askedInAll = [...this.#askedInAll, now];
  }
}

function tooMany(limit: string, retryAfterS: number): ApiError {
  return tooManyRequests(`${limit}; the next one is possible in ${retryAfterS} s`, retryAfterS);
}
