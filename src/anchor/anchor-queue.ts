/**
 * The anchors' queue: for each checkpoint with new rows and each configured service, one row that
 * goes from queued to confirmed, however long the service cannot be reached.
 *
 *   ots       queued → (the calendar promised) pending → (a Bitcoin block has it) confirmed
 *   rfc3161   queued → (the authority signed) confirmed
 *
 * Rows are made in the checkpoint's own transaction. An answer that a crash swallows is asked for
 * again: both protocols take the same digest any number of times.
 */
import { and, asc, count, eq, inArray, lte, max } from "drizzle-orm";
import type { RandomBytes } from "../crypto/secret-box.ts";
import type { Store } from "../store/store.ts";
import { type AnchorConfig, mayAsk } from "./anchor-config.ts";
import { askAuthority } from "./authority.ts";
import { submitDigest, upgradeProof } from "./calendar.ts";
import { parseTimestamp, printDetached } from "./ots-format.ts";
import type { Fetch } from "./outbound.ts";
import { anchorTable } from "./tables.ts";

export interface AnchorQueueDeps {
  readonly store: Store;
  readonly config: AnchorConfig;
  readonly fetch: Fetch;
  readonly randomBytes: RandomBytes;
  readonly nowMs: () => number;
  /** SHA-256 of a checkpoint's record: what is anchored. */
  readonly digestOf: (checkpointN: number) => Uint8Array;
  readonly log: (
    level: "info" | "warn",
    event: string,
    facts: Readonly<Record<string, string | number | boolean | null>>,
  ) => void;
}

/** Where one anchor of a checkpoint stands, for the public pages. */
export interface AnchorState {
  readonly kind: "ots" | "rfc3161";
  readonly target: string;
  readonly state: "queued" | "pending" | "confirmed";
}

type AnchorRow = typeof anchorTable.$inferSelect;

/** Asked at a time: a backlog of days goes out in minutes without a flood. */
const BATCH = 8;
const RETRY_MS_MIN = 60_000;
const RETRY_MS_MAX = 3_600_000;
/** A calendar's transaction takes 3 to 12 hours. */
const UPGRADE_MS = 1_800_000;
const ERROR_CHARACTERS = 300;

export class AnchorQueue {
  readonly #deps: AnchorQueueDeps;
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(deps: AnchorQueueDeps) {
    this.#deps = deps;
  }

  /** Queues a checkpoint at every configured service; call it inside the transaction. */
  queue(checkpointN: number): void {
    const { config, nowMs, store } = this.#deps;
    const { authority, calendars } = config;
    const targets: { readonly kind: "ots" | "rfc3161"; readonly target: string }[] = [
      ...calendars.map((target) => ({ kind: "ots" as const, target })),
      ...(authority === null ? [] : [{ kind: "rfc3161" as const, target: authorityName(config) }]),
    ];
    const rest = { state: "queued", proof: null, attempts: 0, lastError: null } as const;
    for (const target of targets) {
      const row = { ...target, ...rest, checkpointN, nextTs: nowMs() };
      store.db.insert(anchorTable).values(row).run();
    }
  }

  /**
   * Does what is due. While it runs, another call waits for the same work.
   * A service that does not answer is noted and asked again later.
   * @throws (rejects) StoreError alone.
   */
  work(): Promise<void> {
    this.#running ??= this.#workDue().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** Proof files of a checkpoint by extension, for exports and download; pending ones included. */
  files(checkpointN: number): ReadonlyMap<string, Uint8Array> {
    const rows = this.#rowsOf(checkpointN);
    const files = new Map<string, Uint8Array>();
    const digest = this.#deps.digestOf(checkpointN);
    // Each calendar's proof begins with a nonce of its own: branches from one digest.
    const steps = rows.flatMap(({ kind, proof }) =>
      kind === "ots" && proof !== null ? parseTimestamp(proof, digest).steps : [],
    );
    if (steps.length > 0) {
      files.set("ots", printDetached({ message: digest, attestations: [], steps }));
    }
    const token = rows.find(({ kind, proof }) => kind === "rfc3161" && proof !== null)?.proof;
    if (token) files.set("tsr", new Uint8Array(token));
    return files;
  }

  statesOf(checkpointN: number): AnchorState[] {
    return this.#rowsOf(checkpointN).map(({ kind, target, state }) => ({ kind, target, state }));
  }

  /** The newest checkpoint that an anchor is confirmed for; null before any is. */
  newestConfirmed(): number | null {
    const row = this.#deps.store.reads
      .select({ n: max(anchorTable.checkpointN) })
      .from(anchorTable)
      .where(eq(anchorTable.state, "confirmed"))
      .get();
    return row?.n ?? null;
  }

  /** How many anchors stand where. */
  counts(): { readonly queued: number; readonly pending: number; readonly confirmed: number } {
    const rows = this.#deps.store.reads
      .select({ state: anchorTable.state, rows: count() })
      .from(anchorTable)
      .groupBy(anchorTable.state)
      .all();
    const of = (state: AnchorRow["state"]): number =>
      rows.find((row) => row.state === state)?.rows ?? 0;
    return { queued: of("queued"), pending: of("pending"), confirmed: of("confirmed") };
  }

  /** Nothing is written after this, whatever is still answered. */
  close(): void {
    this.#isClosed = true;
  }

  async #workDue(): Promise<void> {
    for (;;) {
      const due = this.#isClosed ? [] : this.#due();
      await Promise.all(due.map((row) => this.#advance(row)));
      if (due.length < BATCH) return;
    }
  }

  #due(): AnchorRow[] {
    const { config, nowMs, store } = this.#deps;
    return store.reads
      .select()
      .from(anchorTable)
      .where(
        and(
          inArray(anchorTable.state, ["queued", "pending"]),
          lte(anchorTable.nextTs, nowMs()),
          // A service that is no longer configured is not asked.
          inArray(anchorTable.target, [...config.calendars, authorityName(config)]),
        ),
      )
      .orderBy(asc(anchorTable.nextTs), asc(anchorTable.checkpointN))
      .limit(BATCH)
      .all();
  }

  async #advance(row: AnchorRow): Promise<void> {
    const { log } = this.#deps;
    const facts = { checkpoint: row.checkpointN, kind: row.kind, target: row.target };
    const answer = await this.#ask(row).catch((error: unknown) =>
      error instanceof Error ? error.message : String(error),
    );
    if (typeof answer === "string") {
      const attempts = row.attempts + 1;
      const waitMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(row.attempts, 10));
      const lastError = answer.slice(0, ERROR_CHARACTERS);
      this.#write(row, { attempts, nextTs: this.#after(waitMs), lastError });
      log("warn", "anchor_failed", { ...facts, attempts, reason: lastError });
      return;
    }
    const { proof, state } = answer;
    const nextTs = this.#after(UPGRADE_MS);
    this.#write(row, { proof: Buffer.from(proof), state, nextTs, attempts: 0, lastError: null });
    if (state !== row.state) log("info", `anchor_${state}`, facts);
  }

  async #ask(
    row: AnchorRow,
  ): Promise<{ readonly proof: Uint8Array; readonly state: "pending" | "confirmed" }> {
    const { config, digestOf, fetch } = this.#deps;
    const digest = digestOf(row.checkpointN);
    if (row.kind === "rfc3161") {
      return { proof: await askAuthority(this.#deps, digest), state: "confirmed" };
    }
    if (row.proof === null) {
      return { proof: await submitDigest(this.#deps, row.target, digest), state: "pending" };
    }
    const asked = await upgradeProof(fetch, row.proof, digest, (uri) => mayAsk(config, uri));
    return { proof: asked.proof, state: asked.isConfirmed ? "confirmed" : "pending" };
  }

  #write(row: AnchorRow, changes: Partial<AnchorRow>): void {
    if (this.#isClosed) return;
    const { store } = this.#deps;
    store.transact(() =>
      store.db
        .update(anchorTable)
        .set(changes)
        .where(
          and(
            eq(anchorTable.checkpointN, row.checkpointN),
            eq(anchorTable.kind, row.kind),
            eq(anchorTable.target, row.target),
          ),
        )
        .run(),
    );
  }

  #rowsOf(checkpointN: number): AnchorRow[] {
    return this.#deps.store.reads
      .select()
      .from(anchorTable)
      .where(eq(anchorTable.checkpointN, checkpointN))
      .orderBy(asc(anchorTable.kind), asc(anchorTable.target))
      .all();
  }

  /** Up to a quarter later than this, so that many do not come at once. */
  #after(waitMs: number): number {
    const { nowMs, randomBytes } = this.#deps;
    const jitter = (randomBytes(1)[0] ?? 0) / 1024;
    return nowMs() + Math.round(waitMs * (1 + jitter));
  }
}

function authorityName({ authority }: AnchorConfig): string {
  if (authority === null) return "";
  return authority.kind === "url" ? authority.url : "command";
}
