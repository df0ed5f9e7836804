/**
 * Nonces of signed requests, remembered for as long as their signatures would pass, over restarts
 * too. Memory decides; a request is served once its nonce is in the database. Nobody waits for the
 * disk: a crash of this program forgets nothing, and after a machine's own start
 * `SignedRequests` takes nothing that was signed before it.
 */
import { gt } from "drizzle-orm";
import type { Store } from "../store/store.ts";
import { requestNonceTable } from "./tables.ts";

/** Of one window: 8,000 signed requests a second. */
const NONCES_MAX = 1_000_000;

interface Waiting {
  readonly name: string;
  readonly keyId: string;
  readonly nonce: string;
  readonly untilS: number;
  readonly resolve: (isNew: true) => void;
  readonly reject: (error: unknown) => void;
}

export class Nonces {
  readonly #store: Store;
  /** Until when each is remembered, in seconds, by key and nonce; oldest first. */
  readonly #known = new Map<string, number>();
  readonly #insert: ReturnType<typeof prepareInsert>;
  readonly #forget: ReturnType<typeof prepareForget>;
  #waiting: Waiting[] = [];
  /** Whether the database has some that are over: also what was over before this start. */
  #hasDropped = true;

  /** @param nowMs what was over by then is not read. */
  constructor(store: Store, nowMs: number) {
    this.#store = store;
    this.#insert = prepareInsert(store);
    this.#forget = prepareForget(store);
    const rows = store.db
      .select()
      .from(requestNonceTable)
      .where(gt(requestNonceTable.untilS, nowMs / 1000))
      .orderBy(requestNonceTable.untilS)
      .all();
    for (const { keyId, nonce, untilS } of rows) this.#known.set(`${keyId} ${nonce}`, untilS);
  }

  /**
   * @param untilS when it may be forgotten, Unix seconds; not before that of any earlier call.
   * @returns once the nonce is written; false when it was used, or no more can be remembered.
   * @throws (rejects) StoreError: then the nonce may be used again.
   */
  remember(keyId: string, nonce: string, untilS: number, nowMs: number): Promise<boolean> {
    this.#dropOld(nowMs / 1000);
    const name = `${keyId} ${nonce}`;
    if (this.#known.has(name) || this.#known.size >= NONCES_MAX) return Promise.resolve(false);
    this.#known.set(name, untilS);
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    // Everything that this turn of the event loop brings joins the batch.
    if (this.#waiting.length === 0) setImmediate(() => this.#flush(nowMs / 1000));
    this.#waiting.push({ name, keyId, nonce, untilS, resolve, reject });
    return promise;
  }

  #dropOld(nowS: number): void {
    for (const [name, untilS] of this.#known) {
      if (untilS > nowS) return;
      this.#known.delete(name);
      this.#hasDropped = true;
    }
  }

  #flush(nowS: number): void {
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      this.#store.transactUnsynced(() => {
        if (this.#hasDropped) this.#forget.run(nowS);
        for (const { keyId, nonce, untilS } of batch) this.#insert.run(untilS, keyId, nonce);
      });
      this.#hasDropped = false;
      for (const { resolve } of batch) resolve(true);
    } catch (error) {
      for (const { name, reject } of batch) {
        this.#known.delete(name);
        reject(error);
      }
    }
  }
}

function prepareInsert({ writer }: Store) {
  return writer.query<null, [number, string, string]>(
    "INSERT INTO request_nonce (until_s, key_id, nonce) VALUES (?, ?, ?)",
  );
}

function prepareForget({ writer }: Store) {
  return writer.query<null, [number]>("DELETE FROM request_nonce WHERE until_s <= ?");
}
