/**
 * Changes to tenants that belong together: they are written in one transaction, and what requests
 * see follows once it is durable. `Tenants.change` makes and publishes them.
 */
import { desc, eq } from "drizzle-orm";
import { assert } from "../bytes/assert.ts";
import { toBase32 } from "../bytes/base32.ts";
import { toHex } from "../bytes/hex.ts";
import { utf8Decode, utf8Encode } from "../bytes/utf8.ts";
import { type SignatureCheck, signatureCheck } from "../crypto/ed25519.ts";
import { sha256 } from "../crypto/hash.ts";
import type { MasterKey, RandomBytes } from "../crypto/secret-box.ts";
import type { Store } from "../store/store.ts";
import { secretPurpose } from "./master-key.ts";
import type { Packages } from "./packages.ts";
import { apiKeyTable, appTable, tenantSecretTable, tenantTable } from "./tables.ts";
import { TenantError } from "./tenant-error.ts";

/** What a new key is made of. Key and secret are shown once and never stored in the clear. */
export interface CreatedKey {
  /** `sk-svc-` and 32 lowercase hex digits. */
  readonly apiKey: string;
  /** 64 lowercase hex digits; the HMAC key is their UTF-8 bytes. */
  readonly hmacSecret: string;
  readonly tenantId: string;
  readonly appId: string;
  readonly keyId: string;
}

/** A tenant's HMAC secret and how many secrets it has had: the first has epoch 1. */
export interface SecretEpoch {
  readonly epoch: number;
  readonly secret: string;
}

/** What a key says about its caller. */
export interface KeyIdentity {
  /** `t_` and 26 characters of Crockford base32. */
  readonly tenantId: string;
  readonly tenantType: "subscriber" | "operator";
  /** `k_` and 26 characters of Crockford base32. */
  readonly keyId: string;
  readonly appId: string;
}

interface Signer {
  readonly identity: KeyIdentity;
  readonly check: SignatureCheck;
}

/** What requests see, in memory; only what is durable. */
export interface TenantMemory {
  /** By the SHA-256 of the key, in hex. Only keys that are not revoked. */
  readonly keys: Map<string, KeyIdentity>;
  /** Keys that sign requests, by key id. Only keys that are not revoked. */
  readonly signers: Map<string, Signer>;
  /** By tenant id. Only tenants that have a package. */
  readonly holdings: Map<string, { readonly packageId: string; readonly anchorMs: number }>;
  readonly secrets: Map<string, SecretEpoch>;
  /** Ids of tenants whose chats are kept where they ask for it. */
  readonly storing: Set<string>;
}

export interface ChangesDeps {
  readonly store: Store;
  readonly randomBytes: RandomBytes;
  readonly nowMs: () => number;
  readonly masterKey: MasterKey;
  readonly memory: TenantMemory;
  readonly packages: Packages;
}

type TenantRow = typeof tenantTable.$inferSelect;

/** The form of an app id; it stands in rows and in file names of exports. */
const APP_ID = /^[a-z0-9][a-z0-9._-]{0,62}$/;
const TENANT_NAME_CHARACTERS_MAX = 100;

export class TenantChanges {
  readonly #deps: ChangesDeps;
  readonly #publications: (() => void)[] = [];

  constructor(deps: ChangesDeps) {
    this.#deps = deps;
  }

  /** Shows requests what was written; call it once the transaction is durable. */
  publish(): void {
    for (const show of this.#publications.splice(0)) show();
  }

  /**
   * Makes a key, and the tenant, its secret and the app where they are missing.
   * @throws TenantError `invalid_tenant_name`, `invalid_app_name`.
   */
  createKey(options: {
    readonly tenantName: string;
    readonly appName?: string | undefined;
    readonly tenantType?: "subscriber" | "operator" | undefined;
  }): CreatedKey {
    const name = tenantNameFrom(options.tenantName);
    const appId = options.appName ?? "default";
    assertAppId(appId);
    const { memory, nowMs, store } = this.#deps;
    const createdTs = nowMs();
    const known = store.db.select().from(tenantTable).where(eq(tenantTable.name, name)).get();
    const tenant = known ?? this.#addTenant(name, options.tenantType ?? "subscriber", createdTs);
    const tenantId = tenant.id;
    const app = { tenantId, id: appId, createdTs };
    store.db.insert(appTable).values(app).onConflictDoNothing().run();
    const apiKey = `sk-svc-${toHex(this.#random(16))}`;
    const keyHash = Buffer.from(sha256(apiKey));
    const keyId = `k_${toBase32(this.#random(16))}`;
    store.db.insert(apiKeyTable).values({ id: keyId, keyHash, tenantId, appId, createdTs }).run();
    const identity = { tenantId, tenantType: tenant.type, keyId, appId };
    this.#publications.push(() => memory.keys.set(toHex(keyHash), identity));
    return { apiKey, hmacSecret: this.#newestSecret(tenantId).secret, tenantId, appId, keyId };
  }

  /** The tenant of this name, made with a secret where there is none. @returns its id. */
  ensureTenant(tenantName: string, type: TenantRow["type"]): string {
    const name = tenantNameFrom(tenantName);
    const { nowMs, store } = this.#deps;
    const known = store.db.select().from(tenantTable).where(eq(tenantTable.name, name)).get();
    return (known ?? this.#addTenant(name, type, nowMs())).id;
  }

  /**
   * Adds a key that signs requests, under an app that is made where it is missing.
   * @throws TenantError `unknown_tenant`, `invalid_app_name`, `invalid_public_key`.
   */
  addSigner(tenantId: string, appId: string, publicKey: Uint8Array): string {
    assertAppId(appId);
    const { memory, nowMs, store } = this.#deps;
    const tenant = this.tenant(tenantId);
    // Not a hash that any bearer key could have: no header holds a line break.
    const named = Buffer.concat([utf8Encode("svc-ed25519\n"), publicKey]);
    const keyHash = Buffer.from(sha256(named));
    const known = store.db.select().from(apiKeyTable).where(eq(apiKeyTable.keyHash, keyHash)).get();
    if (known !== undefined) {
      throw new TenantError("invalid_public_key", "this public key was registered before");
    }
    const createdTs = nowMs();
    const app = { tenantId, id: appId, createdTs };
    store.db.insert(appTable).values(app).onConflictDoNothing().run();
    const keyId = `k_${toBase32(this.#random(16))}`;
    const row = {
      id: keyId,
      keyHash,
      tenantId,
      appId,
      createdTs,
      publicKey: Buffer.from(publicKey),
    };
    store.db.insert(apiKeyTable).values(row).run();
    const identity = { tenantId, tenantType: tenant.type, keyId, appId };
    const check = signatureCheck(publicKey);
    this.#publications.push(() => memory.signers.set(keyId, { identity, check }));
    return keyId;
  }

  /** @throws TenantError `unknown_key`. Revoking twice keeps the first time. */
  revokeKey(keyId: string): void {
    const { memory, nowMs, store } = this.#deps;
    const row = store.db.select().from(apiKeyTable).where(eq(apiKeyTable.id, keyId)).get();
    if (row === undefined) throw new TenantError("unknown_key", `there is no key ${keyId}`);
    const revokedTs = row.revokedTs ?? nowMs();
    store.db.update(apiKeyTable).set({ revokedTs }).where(eq(apiKeyTable.id, keyId)).run();
    this.#publications.push(() => {
      memory.keys.delete(toHex(row.keyHash));
      memory.signers.delete(keyId);
    });
  }

  /** See `Tenants.setPackage`. @throws TenantError `unknown_tenant`, `unknown_package`. */
  setPackage(tenantId: string, packageId: string | null, cycleAnchorMs?: number): void {
    const { memory, nowMs, packages, store } = this.#deps;
    if (packageId !== null) packages.get(packageId);
    const tenant = this.tenant(tenantId);
    const anchorMs = cycleAnchorMs ?? tenant.cycleAnchorTs ?? nowMs();
    const cycleAnchorTs = packageId === null ? null : anchorMs;
    const values = { packageId, cycleAnchorTs };
    store.db.update(tenantTable).set(values).where(eq(tenantTable.id, tenantId)).run();
    this.#publications.push(() => {
      if (packageId === null) memory.holdings.delete(tenantId);
      else memory.holdings.set(tenantId, { packageId, anchorMs });
    });
  }

  /** See `Tenants.setStorage`. @throws TenantError `unknown_tenant`. */
  setStorage(tenantId: string, storesRequests: boolean): void {
    const { memory, store } = this.#deps;
    this.tenant(tenantId);
    store.db.update(tenantTable).set({ storesRequests }).where(eq(tenantTable.id, tenantId)).run();
    this.#publications.push(() => {
      if (storesRequests) memory.storing.add(tenantId);
      else memory.storing.delete(tenantId);
    });
  }

  /** @returns its id. @throws TenantError `unknown_tenant`, `invalid_tenant_name`. */
  tenantNamed(tenantName: string): string {
    const { db } = this.#deps.store;
    const name = tenantNameFrom(tenantName);
    const found = db.select().from(tenantTable).where(eq(tenantTable.name, name)).get();
    if (found !== undefined) return found.id;
    throw new TenantError("unknown_tenant", `there is no tenant named ${JSON.stringify(name)}`);
  }

  /** See `Tenants.rotateSecret`. @throws TenantError `unknown_tenant`. */
  rotateSecret(tenantId: string): SecretEpoch {
    this.tenant(tenantId);
    const epoch = this.#newestSecret(tenantId).epoch + 1;
    return this.#addSecret(tenantId, epoch, this.#deps.nowMs());
  }

  /** @throws TenantError `unknown_tenant`. */
  tenant(tenantId: string): TenantRow {
    const { db } = this.#deps.store;
    const found = db.select().from(tenantTable).where(eq(tenantTable.id, tenantId)).get();
    if (found !== undefined) return found;
    throw new TenantError("unknown_tenant", `there is no tenant ${tenantId}`);
  }

  #addTenant(name: string, type: TenantRow["type"], createdTs: number): TenantRow {
    const id = `t_${toBase32(this.#random(16))}`;
    const plain = { packageId: null, cycleAnchorTs: null, storesRequests: false };
    const tenant = { id, name, type, createdTs, ...plain };
    this.#deps.store.db.insert(tenantTable).values(tenant).run();
    this.#addSecret(id, 1, createdTs);
    return tenant;
  }

  #addSecret(tenantId: string, epoch: number, createdTs: number): SecretEpoch {
    const { masterKey, memory, randomBytes, store } = this.#deps;
    const secret = toHex(this.#random(32));
    const purpose = secretPurpose(tenantId, epoch);
    const sealed = Buffer.from(masterKey.seal(utf8Encode(secret), purpose, randomBytes));
    store.db.insert(tenantSecretTable).values({ tenantId, epoch, sealed, createdTs }).run();
    this.#publications.push(() => memory.secrets.set(tenantId, { epoch, secret }));
    return { epoch, secret };
  }

  #newestSecret(tenantId: string): SecretEpoch {
    const { masterKey, store } = this.#deps;
    const newest = store.db
      .select()
      .from(tenantSecretTable)
      .where(eq(tenantSecretTable.tenantId, tenantId))
      .orderBy(desc(tenantSecretTable.epoch))
      .get();
    assert(newest !== undefined, `tenant ${tenantId} has no secret`);
    return { epoch: newest.epoch, secret: openSecret(masterKey, newest) };
  }

  #random(count: number): Uint8Array {
    return this.#deps.randomBytes(count);
  }
}

/** @throws SecretBoxError when the row is not what the master key sealed. */
export function openSecret(
  masterKey: MasterKey,
  row: typeof tenantSecretTable.$inferSelect,
): string {
  const secret = utf8Decode(masterKey.open(row.sealed, secretPurpose(row.tenantId, row.epoch)));
  assert(secret !== null, "a sealed secret is not text");
  return secret;
}

function assertAppId(appId: string): void {
  if (APP_ID.test(appId)) return;
  const message = `an app's name matches ${APP_ID.source}; ${JSON.stringify(appId)} does not`;
  throw new TenantError("invalid_app_name", message);
}

function tenantNameFrom(text: string): string {
  const name = text.normalize("NFC").trim();
  const hasControl = /[\p{Cc}\p{Cs}]/u.test(name);
  if (name !== "" && name.length <= TENANT_NAME_CHARACTERS_MAX && !hasControl) return name;
  const message = `a tenant's name has 1 to ${TENANT_NAME_CHARACTERS_MAX} printable characters`;
  throw new TenantError("invalid_tenant_name", message);
}
