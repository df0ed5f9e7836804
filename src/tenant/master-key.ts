/**
 * The master key: where it comes from, and how it is replaced without a moment at which a crash
 * would lose a secret.
 *
 * It is the file `master.key` in the data directory, made at the first start, or a value that the
 * operator passes in (then no file is written). A canary in the database says which key is in use.
 *
 * Replacing the file, step by step, and what a crash after each one means:
 *   1. `master.key.next` is written.           The old key is in use; the next start deletes it.
 *   2. One transaction seals every secret and the canary anew.  (the commit point)
 *   3. `master.key.next` becomes `master.key`.  Before it, the next start finds that the canary
 *                                               opens with the new key, and does this step.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { and, eq } from "drizzle-orm";
import { toHex } from "../bytes/hex.ts";
import { utf8Encode } from "../bytes/utf8.ts";
import { MasterKey, type RandomBytes } from "../crypto/secret-box.ts";
import { parseKey, readKeyFile, replaceFile, writeKeyFile } from "../store/key-file.ts";
import { metaTable } from "../store/meta.ts";
import type { Store } from "../store/store.ts";
import { replayTable, sealedTable, tenantSecretTable } from "./tables.ts";
import { TenantError } from "./tenant-error.ts";

const CANARY = "master_key_canary";
const CANARY_PURPOSE = "svc/canary/v1";
const CANARY_TEXT = utf8Encode("this opens under the right master key");

export interface MasterKeyDeps {
  readonly store: Store;
  readonly randomBytes: RandomBytes;
  /** 64 lowercase hex digits from the environment; null: the file in the data directory. */
  readonly configured: string | null;
  /** While the operator moves from one configured key to the next: the next one. */
  readonly configuredNext: string | null;
}

/**
 * The key that opens this database; at the first start, a new one.
 * @throws TenantError `wrong_master_key`, KeyFileError, SecretBoxError.
 */
export function openMasterKey(deps: MasterKeyDeps): MasterKey {
  const { store } = deps;
  const paths = keyPaths(store.dataDir);
  const canary = store.db.select().from(metaTable).where(eq(metaTable.name, CANARY)).get();
  const [current, next] = candidates(deps);
  if (canary === undefined) return firstKey(deps, current);

  for (const key of [current, next]) {
    if (key === null || !key.sealed(canary.value)) continue;
    key.open(canary.value, CANARY_PURPOSE);
    if (deps.configured === null && next !== null) {
      if (key === next) replaceFile(paths.next, paths.current);
      else rmSync(paths.next);
    }
    return key;
  }
  const from = deps.configured === null ? paths.current : "the configured master key";
  throw new TenantError("wrong_master_key", `${from} is not the one that sealed this database`);
}

/**
 * Seals every secret under a new key.
 * @returns the new key; the old one opens nothing any more.
 */
export function rotateMasterKey(deps: MasterKeyDeps, current: MasterKey): MasterKey {
  const paths = keyPaths(deps.store.dataDir);
  if (deps.configured !== null) {
    const [, next] = candidates(deps);
    if (next === null)
      throw new TenantError("wrong_master_key", "no next master key is configured");
    resealAll(deps, current, next);
    return next;
  }
  const bytes = deps.randomBytes(32);
  writeKeyFile(paths.next, bytes);
  const next = new MasterKey(bytes);
  resealAll(deps, current, next);
  replaceFile(paths.next, paths.current);
  return next;
}

/** What a tenant's sealed secret is bound to: it opens in no other tenant's row. */
export function secretPurpose(tenantId: string, epoch: number): string {
  return `svc/hmac-secret/v1/${tenantId}/${epoch}`;
}

/** What a named value is bound to. */
export function sealedPurpose(name: string): string {
  return `svc/sealed/v1/${name}`;
}

/** What an answer that is given again is bound to. @param nameHash 32 bytes. */
export function replayPurpose(tenantId: string, nameHash: Uint8Array): string {
  return `svc/replay/v1/${tenantId}/${toHex(nameHash)}`;
}

function candidates(deps: MasterKeyDeps): [MasterKey | null, MasterKey | null] {
  const paths = keyPaths(deps.store.dataDir);
  const current =
    deps.configured === null
      ? readKeyFile(paths.current)
      : parseKey(deps.configured, "the master key variable");
  const next =
    deps.configured === null
      ? readKeyFile(paths.next)
      : deps.configuredNext && parseKey(deps.configuredNext, "the next master key variable");
  return [current && new MasterKey(current), next ? new MasterKey(next) : null];
}

function firstKey(deps: MasterKeyDeps, given: MasterKey | null): MasterKey {
  let key = given;
  if (key === null) {
    const bytes = deps.randomBytes(32);
    writeKeyFile(keyPaths(deps.store.dataDir).current, bytes);
    key = new MasterKey(bytes);
  }
  const value = Buffer.from(key.seal(CANARY_TEXT, CANARY_PURPOSE, deps.randomBytes));
  deps.store.transact(() => deps.store.db.insert(metaTable).values({ name: CANARY, value }).run());
  return key;
}

function resealAll(deps: MasterKeyDeps, current: MasterKey, next: MasterKey): void {
  const { store, randomBytes } = deps;
  const reseal = (sealed: Uint8Array, purpose: string): Buffer =>
    Buffer.from(next.seal(current.open(sealed, purpose), purpose, randomBytes));
  store.transact(() => {
    for (const row of store.db.select().from(tenantSecretTable).all()) {
      store.db
        .update(tenantSecretTable)
        .set({ sealed: reseal(row.sealed, secretPurpose(row.tenantId, row.epoch)) })
        .where(
          and(eq(tenantSecretTable.tenantId, row.tenantId), eq(tenantSecretTable.epoch, row.epoch)),
        )
        .run();
    }
    for (const { name, sealed } of store.db.select().from(sealedTable).all()) {
      store.db
        .update(sealedTable)
        .set({ sealed: reseal(sealed, sealedPurpose(name)) })
        .where(eq(sealedTable.name, name))
        .run();
    }
    // One at a time: together they may be large.
    for (const { id } of store.db.select({ id: replayTable.id }).from(replayTable).all()) {
      const row = store.db.select().from(replayTable).where(eq(replayTable.id, id)).get();
      if (row === undefined) continue;
      const sealed = reseal(row.sealed, replayPurpose(row.tenantId, row.nameHash));
      store.db.update(replayTable).set({ sealed }).where(eq(replayTable.id, id)).run();
    }
    const value = Buffer.from(next.seal(CANARY_TEXT, CANARY_PURPOSE, randomBytes));
    store.db.update(metaTable).set({ value }).where(eq(metaTable.name, CANARY)).run();
  });
}

function keyPaths(dataDir: string): { readonly current: string; readonly next: string } {
  return { current: join(dataDir, "master.key"), next: join(dataDir, "master.key.next") };
}
