/**
 * Matter records of each tenant's app: every version is kept, the newest one is searchable. Names
 * and texts stay here; the audit chain gets hashes only. Reads see what is committed.
 */
import { canonicalJson, type JsonValue } from "../bytes/canonical-json.ts";
import { sha256Hex } from "../crypto/hash.ts";
import type { Store } from "../store/store.ts";
import { type ListQuery, listSql } from "./matter-list.ts";
import { ftsQuery, indexTexts } from "./matter-text.ts";
import { type PartyEntry, partiesOf } from "./parties.ts";
import {
  type Change,
  type Current,
  etagOf,
  planWrite,
  stateHead,
  type WritePlan,
} from "./write-plan.ts";

type JsonObject = { readonly [key: string]: JsonValue };

/** Whose matters: keys of one tenant and app share them. */
export interface Scope {
  readonly tenantId: string;
  readonly appId: string;
}

export interface StampedPlan {
  readonly plan: WritePlan;
  /** The whole answer without its receipt. */
  readonly output: JsonObject;
  readonly inputHash: string;
  readonly outputHash: string;
  /** Hash over what was asked for and what it led to. */
  readonly deterministicHash: string;
  /** Hash over (matter, version, content) of every change: what the audit chain may carry. */
  readonly setHash: string;
  /** Writes the versions; only inside the transaction that also writes the call's row. */
  apply(at: { readonly ts: number; readonly requestId: string }): void;
}

export interface MatterVersion {
  readonly matterId: string;
  readonly version: number;
  readonly ts: number;
  readonly op: string;
  readonly requestId: string;
  readonly contentHash: string;
  readonly prevHash: string;
  readonly body: JsonObject;
}

interface CurrentRow {
  readonly n: number;
  readonly matter_id: string;
  readonly version: number;
  readonly ts: number;
  readonly content_hash: string;
  readonly deleted: number;
  readonly body: string;
}

interface VersionRow {
  readonly matter_id: string;
  readonly version: number;
  readonly ts: number;
  readonly op: string;
  readonly request_id: string;
  readonly content_hash: string;
  readonly prev_hash: string;
  readonly body: string;
}

export class Matters {
  readonly #store: Store;
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Runs `work` after every earlier write of the same scope has ended: plan and row stay one step.
   */
  async inTurn<T>(scope: Scope, work: () => Promise<T>): Promise<T> {
    const key = JSON.stringify([scope.tenantId, scope.appId]);
    const before = this.#turns.get(key);
    const turn = (async () => {
      await before?.catch(() => undefined);
      return work();
    })();
    this.#turns.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    }
  }

  /**
   * Works a write out; writes nothing.
   * @throws ProcessInputError for a body that is no write; StateError for a failed precondition.
   */
  plan(scope: Scope, body: JsonValue, ifMatch: string | null): StampedPlan {
    const plan = planWrite(body, ifMatch, (id) => this.#current(scope, id));
    const changed = plan.changes.filter(({ op }) => op !== "unchanged");
    const head = this.#headAfter(scope, changed);
    const output: JsonObject = {
      object: "state.write",
      ...(plan.dryRun ? { dry_run: true } : {}),
      results: plan.changes.map(resultOutput),
      state_head: head,
    };
    const inputHash = sha256Hex(canonicalJson(body));
    const outputHash = sha256Hex(canonicalJson(output));
    return {
      plan,
      output,
      inputHash,
      outputHash,
      deterministicHash: sha256Hex(["svc-state-write/1", inputHash, outputHash].join("\n")),
      setHash: setHashOf(plan.changes),
      apply: ({ ts, requestId }) => {
        if (plan.dryRun) return;
        for (const change of changed) this.#write(scope, change, ts, requestId);
      },
    };
  }

  /** @returns null for a matter that is not there or is deleted. */
  get(scope: Scope, matterId: string): MatterVersion | null {
    const current = this.#current(scope, matterId);
    return current && !current.deleted ? this.version(scope, matterId, current.version) : null;
  }

  /** @returns null for a version that never was; a tombstone is a version. */
  version(scope: Scope, matterId: string, version: number): MatterVersion | null {
    const row = this.#store.reader
      .query<VersionRow, [string, string, string, number]>(
        `SELECT * FROM matter_version
         WHERE tenant_id = ? AND app_id = ? AND matter_id = ? AND version = ?`,
      )
      .get(scope.tenantId, scope.appId, matterId, version);
    return row && versionOf(row);
  }

  /** Newest first; empty for a matter that never was. */
  history(scope: Scope, matterId: string): readonly MatterVersion[] {
    return this.#store.reader
      .query<VersionRow, [string, string, string]>(
        `SELECT * FROM matter_version
         WHERE tenant_id = ? AND app_id = ? AND matter_id = ? ORDER BY version DESC`,
      )
      .all(scope.tenantId, scope.appId, matterId)
      .map(versionOf);
  }

  /** By code unit of the ids; one more than asked for tells whether there are more. */
  list(
    scope: Scope,
    query: ListQuery,
  ): { readonly data: JsonObject[]; readonly next: string | null } {
    const { sql, values } = listSql(query);
    const rows = this.#store.reader
      .query<CurrentRow, (string | number)[]>(sql)
      .all(scope.tenantId, scope.appId, ...values);
    const shown = rows.slice(0, query.limit);
    return {
      data: shown.map((row) => listItem(row, query.fields)),
      next: rows.length > shown.length ? (shown.at(-1)?.matter_id ?? null) : null,
    };
  }

  /** Best first, by BM25; equal ranks by id. */
  search(scope: Scope, text: string, limit: number): JsonObject[] {
    const match = ftsQuery(text);
    if (match === null) return [];
    return this.#store.reader
      .query<CurrentRow, [string, string, string, number]>(
        `SELECT matter.* FROM matter_text JOIN matter ON matter.n = matter_text.rowid
         WHERE matter_text MATCH ? AND tenant_id = ? AND app_id = ?
         ORDER BY bm25(matter_text, 4.0, 3.0, 1.0, 2.0, 1.0), matter_id LIMIT ?`,
      )
      .all(match, scope.tenantId, scope.appId, limit)
      .map((row) => listItem(row, ["title", "status"]));
  }

  /** Parties of current matters whose names hold every word of the query, with their roles. */
  parties(scope: Scope, text: string | null, limit: number): readonly PartyEntry[] {
    return partiesOf(this.current(scope), text, limit);
  }

  /** Current records, without tombstones, by code unit of their ids. */
  current(scope: Scope): JsonObject[] {
    return this.#rows(scope)
      .filter(({ deleted }) => deleted === 0)
      .map(({ body }) => JSON.parse(body) as JsonObject);
  }

  head(scope: Scope): JsonObject {
    const rows = this.#rows(scope);
    return {
      object: "state.head",
      state_head: stateHead(rows.map(headEntry)),
      matters: rows.filter(({ deleted }) => deleted === 0).length,
      versions: rows.reduce((sum, { version }) => sum + version, 0),
    };
  }

  #rows(scope: Scope): readonly CurrentRow[] {
    return this.#store.reader
      .query<CurrentRow, [string, string]>(
        "SELECT * FROM matter WHERE tenant_id = ? AND app_id = ? ORDER BY matter_id",
      )
      .all(scope.tenantId, scope.appId);
  }

  #current(scope: Scope, matterId: string): Current | null {
    const row = this.#store.reader
      .query<CurrentRow, [string, string, string]>(
        "SELECT * FROM matter WHERE tenant_id = ? AND app_id = ? AND matter_id = ?",
      )
      .get(scope.tenantId, scope.appId, matterId);
    return row && currentOf(row);
  }

  #headAfter(scope: Scope, changes: readonly Change[]): string {
    const after = new Map(
      this.#store.reader
        .query<Pick<CurrentRow, "matter_id" | "version" | "content_hash">, [string, string]>(
          "SELECT matter_id, version, content_hash FROM matter WHERE tenant_id = ? AND app_id = ?",
        )
        .all(scope.tenantId, scope.appId)
        .map((row) => [row.matter_id, headEntry(row)]),
    );
    for (const { matterId, version, contentHash } of changes)
      after.set(matterId, { matterId, version, contentHash });
    const ids = [...after.keys()].sort();
    return stateHead(ids.flatMap((id) => after.get(id) ?? []));
  }

  #write(scope: Scope, change: Change, ts: number, requestId: string): void {
    const { writer } = this.#store;
    const { matterId, version, contentHash, prevHash, op, text } = change;
    const owner = [scope.tenantId, scope.appId, matterId] as const;
    writer
      .query(
        `INSERT INTO matter_version (tenant_id, app_id, matter_id, version, ts, op, request_id,
           content_hash, prev_hash, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(...owner, version, ts, op, requestId, contentHash, prevHash, text);
    const row = writer
      .query<{ n: number }, (string | number)[]>(
        `INSERT INTO matter (tenant_id, app_id, matter_id, version, ts, content_hash, deleted, body)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (tenant_id, app_id, matter_id) DO UPDATE SET version = excluded.version,
           ts = excluded.ts, content_hash = excluded.content_hash, deleted = excluded.deleted,
           body = excluded.body RETURNING n`,
      )
      .get(...owner, version, ts, contentHash, change.matter === null ? 1 : 0, text);
    writer.query("DELETE FROM matter_text WHERE rowid = ?").run(row?.n ?? 0);
    if (change.matter === null) return;
    const texts = indexTexts(change.matter);
    writer
      .query(
        `INSERT INTO matter_text (rowid, clients, parties, people, title, rest)
         VALUES (?, ?, ?, ?, ?, ?)`,
      )
      .run(row?.n ?? 0, texts.clients, texts.parties, texts.people, texts.title, texts.rest);
  }
}

function resultOutput(change: Change): JsonObject {
  const { matterId, op, version, contentHash, prevHash } = change;
  const exists = version > 0;
  return {
    matter_id: matterId,
    op,
    version,
    etag: exists ? etagOf(change) : null,
    content_hash: exists ? contentHash : null,
    prev_hash: op === "unchanged" ? null : prevHash,
  };
}

function setHashOf(changes: readonly Change[]): string {
  const lines = changes
    .filter(({ op }) => op !== "unchanged")
    .map(({ matterId, version, contentHash }) => `${matterId} ${version} ${contentHash}\n`)
    .sort();
  return sha256Hex(`svc-state-set/1\n${lines.join("")}`);
}

function currentOf(row: CurrentRow): Current {
  return {
    version: row.version,
    contentHash: row.content_hash,
    deleted: row.deleted === 1,
    body: JSON.parse(row.body) as JsonValue,
  };
}

function headEntry(row: Pick<CurrentRow, "matter_id" | "version" | "content_hash">) {
  return { matterId: row.matter_id, version: row.version, contentHash: row.content_hash };
}

function versionOf(row: VersionRow): MatterVersion {
  return {
    matterId: row.matter_id,
    version: row.version,
    ts: row.ts,
    op: row.op,
    requestId: row.request_id,
    contentHash: row.content_hash,
    prevHash: row.prev_hash,
    body: JSON.parse(row.body) as JsonObject,
  };
}

/** The whole record, or the fields asked for; always with its id, version and validator. */
function listItem(row: CurrentRow, fields: readonly string[] | null): JsonObject {
  const body = JSON.parse(row.body) as JsonObject;
  const shown =
    fields === null
      ? body
      : Object.fromEntries(Object.entries(body).filter(([key]) => fields.includes(key)));
  return {
    ...shown,
    matter_id: row.matter_id,
    version: row.version,
    etag: etagOf({ version: row.version, contentHash: row.content_hash }),
    updated_ts: row.ts,
  };
}
