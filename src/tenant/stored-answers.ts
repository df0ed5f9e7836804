/**
 * Answers kept for requests that come again under their Idempotency-Key: sealed under the master
 * key, over restarts too. An answer is written in its ledger row's transaction, so that neither is
 * there without the other. What is known of each is in memory; the bodies are in the database.
 */
import { asc, eq, inArray } from "drizzle-orm";
import { toHex } from "../bytes/hex.ts";
import { utf8Decode, utf8Encode } from "../bytes/utf8.ts";
import type { Store } from "../store/store.ts";
import { replayPurpose } from "./master-key.ts";
import type { SealedValues } from "./sealed-values.ts";
import { replayTable } from "./tables.ts";

export interface StoredAnswer {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** Whose answer it is, and under which name: 32 bytes. */
export interface AnswerName {
  readonly tenantId: string;
  readonly nameHash: Uint8Array;
}

export interface StoredAnswersDeps {
  readonly store: Store;
  readonly sealed: SealedValues;
  /** Of all answers, sealed; one tenant may have a quarter of it. */
  readonly bytesMax: number;
  readonly nowMs: () => number;
}

interface Entry {
  readonly id: number;
  readonly tenantId: string;
  readonly requestHash: Uint8Array;
  readonly expiresTs: number;
  readonly bytes: number;
}

/** An answer that was written, and will be known once its transaction is durable. */
export interface WrittenAnswer {
  /** Call it then. */
  readonly publish: () => void;
}

/** What an answer costs besides its own bytes: a row, and its entry in memory. */
const ENTRY_BYTES = 2048;

/** The content type stands before the body, and ends with a line break. */
const LINE_BREAK = 0x0a;

export class StoredAnswers {
  readonly #deps: StoredAnswersDeps;
  /** By tenant and name; the oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #tenantBytes = new Map<string, number>();
  #bytes = 0;

  constructor(deps: StoredAnswersDeps) {
    this.#deps = deps;
    const rows = deps.store.db
      .select({
        id: replayTable.id,
        tenantId: replayTable.tenantId,
        nameHash: replayTable.nameHash,
        requestHash: replayTable.requestHash,
        expiresTs: replayTable.expiresTs,
        bytes: replayTable.bytes,
      })
      .from(replayTable)
      .orderBy(asc(replayTable.id))
      .all();
    for (const { nameHash, ...entry } of rows) {
      this.#add(keyOf({ tenantId: entry.tenantId, nameHash }), entry);
    }
  }

  /** @returns null where there is none, or none any more. @throws SecretBoxError. */
  find(
    name: AnswerName,
  ): { readonly requestHash: Uint8Array; readonly answer: StoredAnswer } | null {
    const { nowMs, sealed, store } = this.#deps;
    const entry = this.#entries.get(keyOf(name));
    if (entry === undefined || entry.expiresTs <= nowMs()) return null;
    const { db } = store;
    const row = db.select().from(replayTable).where(eq(replayTable.id, entry.id)).get();
    if (row === undefined) return null;
    const text = sealed.openBytes(row.sealed, replayPurpose(row.tenantId, row.nameHash));
    const end = text.indexOf(LINE_BREAK);
    const contentType = utf8Decode(text.subarray(0, end)) ?? "";
    return {
      requestHash: entry.requestHash,
      answer: { contentType, body: text.subarray(end + 1) },
    };
  }

  /** Call it inside a transaction. Answers that are too old, or too many, leave for it. */
  write(
    name: AnswerName,
    given: { readonly requestHash: Uint8Array; readonly expiresTs: number },
    { body, contentType }: StoredAnswer,
  ): WrittenAnswer {
    const { nameHash, tenantId } = name;
    const { db } = this.#deps.store;
    const text = Buffer.concat([utf8Encode(`${contentType}\n`), body]);
    const sealed = this.#deps.sealed.sealBytes(text, replayPurpose(tenantId, nameHash));
    const bytes = sealed.byteLength + ENTRY_BYTES;
    const leaving = this.#leaving(name, bytes);
    const ids = leaving.map(([, { id }]) => id);
    if (ids.length > 0) db.delete(replayTable).where(inArray(replayTable.id, ids)).run();
    const { expiresTs } = given;
    const [nameBlob, requestHash] = [Buffer.from(nameHash), Buffer.from(given.requestHash)];
    const row = { tenantId, nameHash: nameBlob, requestHash, expiresTs, bytes, sealed };
    const [made] = db.insert(replayTable).values(row).returning({ id: replayTable.id }).all();
    const entry = { id: made?.id ?? 0, tenantId, requestHash, expiresTs, bytes };
    return {
      publish: () => {
        for (const [key] of leaving) this.#remove(key);
        this.#add(keyOf(name), entry);
      },
    };
  }

  /** What has to go so that `bytes` more fit, and what this name had. */
  #leaving(name: AnswerName, bytes: number): (readonly [string, Entry])[] {
    const { bytesMax, nowMs } = this.#deps;
    const now = nowMs();
    let total = this.#bytes + bytes - bytesMax;
    let ofTenant = (this.#tenantBytes.get(name.tenantId) ?? 0) + bytes - bytesMax / 4;
    const own = keyOf(name);
    const leaving: (readonly [string, Entry])[] = [];
    for (const [key, entry] of this.#entries) {
      const isOwn = entry.tenantId === name.tenantId;
      const isOver = total > 0 || (isOwn && ofTenant > 0);
      if (!isOver && entry.expiresTs > now && key !== own) {
        // The oldest stand first; behind a young one only this name's own could be left.
        if (ofTenant <= 0 && !this.#entries.has(own)) break;
        continue;
      }
      leaving.push([key, entry]);
      total -= entry.bytes;
      if (isOwn) ofTenant -= entry.bytes;
    }
    return leaving;
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#count(entry, 1);
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#count(entry, -1);
  }

  #count({ bytes, tenantId }: Entry, sign: 1 | -1): void {
    this.#bytes += sign * bytes;
    const ofTenant = (this.#tenantBytes.get(tenantId) ?? 0) + sign * bytes;
    if (ofTenant === 0) this.#tenantBytes.delete(tenantId);
    else this.#tenantBytes.set(tenantId, ofTenant);
  }
}

function keyOf({ nameHash, tenantId }: AnswerName): string {
  return `${tenantId} ${toHex(nameHash)}`;
}
