/**
 * Tenants, their apps, keys and secrets. What a request needs is in memory: authenticating is one
 * hash and one lookup. Changes go to the database first, and to memory once they are durable.
 */
import { desc, eq } from "drizzle-orm";
import { assert } from "../bytes/assert.ts";
import { toBase64 } from "../bytes/base64.ts";
import { toHex } from "../bytes/hex.ts";
import { type SignatureCheck, signatureCheck } from "../crypto/ed25519.ts";
import { sha256Hex } from "../crypto/hash.ts";
import type { MasterKey } from "../crypto/secret-box.ts";
import type { Store } from "../store/store.ts";
import type { TenantLimits } from "./admission.ts";
import { billingMonthAt } from "./cycle.ts";
import { type MasterKeyDeps, openMasterKey, rotateMasterKey } from "./master-key.ts";
import { Packages } from "./packages.ts";
import { SealedValues } from "./sealed-values.ts";
import { apiKeyTable, tenantSecretTable, tenantTable } from "./tables.ts";
import {
  type KeyIdentity,
  type CreatedKey as NewKey,
  openSecret,
  type SecretEpoch,
  TenantChanges,
  type TenantMemory,
} from "./tenant-changes.ts";

/** Who calls, as `GET /v1/me` shows it. */
export interface Identity extends KeyIdentity {
  readonly tier: string;
  readonly scheme: "bearer" | "ed25519";
  readonly active: boolean;
  readonly monthlyRequestQuota: number | null;
  readonly allowedModelTiers: readonly string[];
  readonly packageId: string | null;
  /** Unix milliseconds. */
  readonly cycleStartMs: number | null;
}

/** What a new key is made of. */
export type CreatedKey = NewKey;

/** A key as lists show it. */
export interface KeyFacts {
  readonly keyId: string;
  readonly tenantId: string;
  readonly tenantName: string;
  readonly appId: string;
  /** Unix milliseconds. */
  readonly createdTs: number;
  /** Null: the key works. */
  readonly revokedTs: number | null;
  /** Base64, of a key that signs requests; null for a bearer key. */
  readonly publicKey: string | null;
}

export interface TenantsDeps extends MasterKeyDeps {
  readonly nowMs: () => number;
}

/** What tenants without a package may use. */
const ALL_TIERS: readonly string[] = ["svc-tier-a", "svc-tier-b"];
const NO_LIMITS: TenantLimits = { package: null, cycleAnchorMs: null };

export class Tenants {
  readonly packages: Packages;
  /** What else must not be readable in the database. */
  readonly sealed: SealedValues;
  readonly #store: Store;
  readonly #deps: TenantsDeps;
  readonly #memory: TenantMemory = {
    keys: new Map(),
    signers: new Map(),
    holdings: new Map(),
    secrets: new Map(),
    storing: new Set(),
  };
  #masterKey: MasterKey;

  /** @throws TenantError `wrong_master_key`, KeyFileError, SecretBoxError. */
  constructor(deps: TenantsDeps) {
    const { randomBytes, store } = deps;
    this.#deps = deps;
    this.#store = store;
    this.#masterKey = openMasterKey(deps);
    this.packages = new Packages(store);
    this.sealed = new SealedValues({ store, randomBytes, masterKey: () => this.#masterKey });
    for (const tenant of store.db.select().from(tenantTable).all()) {
      const { id, packageId, cycleAnchorTs } = tenant;
      if (tenant.storesRequests) this.#memory.storing.add(id);
      if (packageId === null) continue;
      this.#memory.holdings.set(id, { packageId, anchorMs: cycleAnchorTs ?? 0 });
    }
    for (const { api_key: key, tenant } of this.#keyRows()) {
      if (key.revokedTs !== null) continue;
      const { id: tenantId, type: tenantType } = tenant;
      const identity = { tenantId, tenantType, keyId: key.id, appId: key.appId };
      const { publicKey } = key;
      if (publicKey === null) this.#memory.keys.set(toHex(key.keyHash), identity);
      else this.#memory.signers.set(key.id, { identity, check: signatureCheck(publicKey) });
    }
  }

  /** Whether any key was ever made, revoked ones included: false only before the first start. */
  get hasKeys(): boolean {
    return this.#store.db.select().from(apiKeyTable).limit(1).get() !== undefined;
  }

  /**
   * @returns null for an unknown, a revoked and a malformed key alike, after the same work.
   * The lookup compares hashes: how long it takes says nothing about any key.
   */
  authenticateBearer(apiKey: string): Identity | null {
    const key = this.#memory.keys.get(sha256Hex(apiKey));
    return key === undefined ? null : this.#identityOf(key, "bearer");
  }

  /** Who signs with this key, once a signature was verified: see `signed-request.ts`. */
  signerIdentity(keyId: string): Identity | null {
    const signer = this.#memory.signers.get(keyId);
    return signer === undefined ? null : this.#identityOf(signer.identity, "ed25519");
  }

  /** Null for an unknown, a revoked and a bearer key. */
  signerOf(keyId: string): SignatureCheck | null {
    return this.#memory.signers.get(keyId)?.check ?? null;
  }

  /** What a tenant is bound by, as `AdmissionControl` asks. */
  limitsOf(tenantId: string): TenantLimits {
    const held = this.#memory.holdings.get(tenantId);
    if (held === undefined) return NO_LIMITS;
    return { package: this.packages.get(held.packageId), cycleAnchorMs: held.anchorMs };
  }

  /**
   * Changes that belong together, in one transaction: all of them or none.
   * @returns what `body` returns, once everything is durable and requests see it.
   */
  change<T>(body: (changes: TenantChanges) => T): T {
    const { nowMs, randomBytes } = this.#deps;
    const changes = new TenantChanges({
      store: this.#store,
      randomBytes,
      nowMs,
      masterKey: this.#masterKey,
      memory: this.#memory,
      packages: this.packages,
    });
    const result = this.#store.transact(() => body(changes));
    changes.publish();
    return result;
  }

  /**
   * Makes a key, and the tenant, its secret and the app where they are missing.
   * @throws TenantError `invalid_tenant_name`, `invalid_app_name`.
   */
  createKey(options: Parameters<TenantChanges["createKey"]>[0]): CreatedKey {
    return this.change((changes) => changes.createKey(options));
  }

  /**
   * Makes another key for a tenant that exists.
   * @throws TenantError `unknown_tenant`, `invalid_app_name`.
   */
  addKey(tenantId: string, appName?: string): CreatedKey {
    return this.change((changes) =>
      changes.createKey({ tenantName: changes.tenant(tenantId).name, appName }),
    );
  }

  /** Requests that carry the key fail from now on. @throws TenantError `unknown_key`. */
  revokeKey(keyId: string): void {
    this.change((changes) => changes.revokeKey(keyId));
  }

  /**
   * Gives a tenant a package, or none; requests that come later are bound by it.
   * @param packageId null: no limits.
   * @param cycleAnchorMs what billing months are counted from; by default as before, else now.
   * @throws TenantError `unknown_tenant`, `unknown_package`.
   */
  setPackage(tenantId: string, packageId: string | null, cycleAnchorMs?: number): void {
    this.change((changes) => changes.setPackage(tenantId, packageId, cycleAnchorMs));
  }

  /**
   * Whether chats that ask for it are kept; what is kept already goes when its time is over.
   * @throws TenantError `unknown_tenant`.
   */
  setStorage(tenantId: string, storesRequests: boolean): void {
    this.change((changes) => changes.setStorage(tenantId, storesRequests));
  }

  /** Off unless the tenant switched it on. */
  storesRequests(tenantId: string): boolean {
    return this.#memory.storing.has(tenantId);
  }

  /**
   * Gives a tenant a new HMAC secret: responses are signed with it and rows' MACs begin a new epoch
   * with it. The old one still verifies what it signed.
   * @returns the new secret, to be shown once. @throws TenantError `unknown_tenant`.
   */
  rotateSecret(tenantId: string): SecretEpoch {
    return this.change((changes) => changes.rotateSecret(tenantId));
  }

  /** Every key ever made, the oldest first. */
  listKeys(): KeyFacts[] {
    return this.#keyRows()
      .map(({ api_key: key, tenant }) => ({
        keyId: key.id,
        tenantId: tenant.id,
        tenantName: tenant.name,
        appId: key.appId,
        createdTs: key.createdTs,
        revokedTs: key.revokedTs,
        publicKey: key.publicKey === null ? null : toBase64(key.publicKey),
      }))
      .sort((a, b) => a.createdTs - b.createdTs || (a.keyId < b.keyId ? -1 : 1));
  }

  /** The secret that signs this tenant's responses: 64 lowercase hex digits. */
  hmacSecret(tenantId: string): string {
    return this.currentSecret(tenantId).secret;
  }

  currentSecret(tenantId: string): SecretEpoch {
    const known = this.#memory.secrets.get(tenantId);
    if (known !== undefined) return known;
    const [newest] = this.#secretRows(tenantId);
    assert(newest !== undefined, `tenant ${tenantId} has no secret`);
    const current = { epoch: newest.epoch, secret: openSecret(this.#masterKey, newest) };
    this.#memory.secrets.set(tenantId, current);
    return current;
  }

  /** @returns null when the tenant never had a secret of this epoch. */
  secretOfEpoch(tenantId: string, epoch: number): string | null {
    const current = this.#memory.secrets.get(tenantId);
    if (current?.epoch === epoch) return current.secret;
    const row = this.#secretRows(tenantId).find((candidate) => candidate.epoch === epoch);
    return row === undefined ? null : openSecret(this.#masterKey, row);
  }

  /** Seals every secret under a new master key; durable on return. */
  rotateMasterKey(): void {
    this.#masterKey = rotateMasterKey(this.#deps, this.#masterKey);
  }

  #identityOf(key: KeyIdentity, scheme: Identity["scheme"]): Identity {
    const { package: held, cycleAnchorMs } = this.limitsOf(key.tenantId);
    const cycle = cycleAnchorMs === null ? null : billingMonthAt(cycleAnchorMs, this.#deps.nowMs());
    return {
      ...key,
      tier: held?.tier ?? "standard",
      scheme,
      active: true,
      monthlyRequestQuota: held?.monthlyRequests ?? null,
      allowedModelTiers: held?.modelTiers ?? ALL_TIERS,
      packageId: held?.id ?? null,
      cycleStartMs: cycle?.startMs ?? null,
    };
  }

  #keyRows() {
    return this.#store.db
      .select()
      .from(apiKeyTable)
      .innerJoin(tenantTable, eq(apiKeyTable.tenantId, tenantTable.id))
      .all();
  }

  /** The newest first. */
  #secretRows(tenantId: string) {
    return this.#store.db
      .select()
      .from(tenantSecretTable)
      .where(eq(tenantSecretTable.tenantId, tenantId))
      .orderBy(desc(tenantSecretTable.epoch))
      .all();
  }
}
