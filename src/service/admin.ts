/**
 * What the operator does over the API. Whoever has the admin key may; each act that changes
 * something is a row of the operator's own chain, like any call.
 */

import { utf8Encode } from "../bytes/utf8.ts";
import { secretsEqual, sha256Hex } from "../crypto/hash.ts";
import type { Store } from "../store/store.ts";
import type { Package } from "../tenant/packages.ts";
import { listTenants, type TenantFacts } from "../tenant/tenant-list.ts";
import type { CreatedKey, Identity, KeyFacts, Tenants } from "../tenant/tenants.ts";
import { ApiError } from "./api-error.ts";
import type { Caller, Meter, RecordedBody } from "./metered-call.ts";

export interface AdminDeps {
  /** Null: not configured, and nobody is let in. */
  readonly adminKey: string | null;
  readonly store: Store;
  readonly tenants: Tenants;
  readonly meter: Meter;
  readonly nowMs: () => number;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** For the parameter `after` of the next call; null at the end. */
  readonly next: string | null;
}

const OPERATOR = "operator";
const ADMIN_APP = "admin";
/** Stands in rows for the admin key, which is no key of a tenant. */
const ADMIN_KEY_ID = "k_admin";

export class Admin {
  readonly #deps: AdminDeps;

  constructor(deps: AdminDeps) {
    this.#deps = deps;
  }

  /** @throws ApiError 401, whatever is wrong. */
  assertKey(given: string | null): void {
    const { adminKey } = this.#deps;
    // Compared even where there is none: how long it takes says nothing.
    const isRight = secretsEqual(given ?? "", adminKey ?? "");
    if (isRight && adminKey !== null && given !== null) return;
    throw new ApiError("the header X-Admin-Key must hold this server's admin key", {
      status: 401,
      type: "authentication_error",
      code: "invalid_admin_key",
      param: null,
    });
  }

  keys(tenantId: string | null, after: string | null, limit: number): Page<KeyFacts> {
    const all = this.#deps.tenants.listKeys();
    const wanted = tenantId === null ? all : all.filter((key) => key.tenantId === tenantId);
    return pageOf(wanted, (key) => key.keyId, after, limit);
  }

  tenants(after: string | null, limit: number): Page<TenantFacts> {
    return pageOf(listTenants(this.#deps.store), (tenant) => tenant.tenantId, after, limit);
  }

  packages(after: string | null, limit: number): Page<Package> {
    return pageOf(this.#deps.tenants.packages.all(), ({ id }) => id, after, limit);
  }

  /**
   * @param options.packageId of the tenant from now on; null leaves what it has.
   * @throws TenantError; then nothing is made.
   */
  createKey(options: {
    readonly tenant: string;
    readonly app: string | null;
    readonly packageId: string | null;
  }): CreatedKey {
    const { app, packageId, tenant: tenantName } = options;
    return this.#deps.tenants.change((changes) => {
      const key = changes.createKey({ tenantName, appName: app ?? undefined });
      if (packageId !== null) changes.setPackage(key.tenantId, packageId);
      return key;
    });
  }

  /** @throws TenantError `unknown_key`. */
  revokeKey(keyId: string): void {
    this.#deps.tenants.revokeKey(keyId);
  }

  /** @throws TenantError `unknown_tenant`, `unknown_package`. */
  setPackage(tenantId: string, packageId: string | null, cycleAnchorMs: number | null): void {
    this.#deps.tenants.setPackage(tenantId, packageId, cycleAnchorMs ?? undefined);
  }

  /** See `Tenants.setStorage`. @throws TenantError `unknown_tenant`. */
  setStorage(tenantId: string, storesRequests: boolean): void {
    this.#deps.tenants.setStorage(tenantId, storesRequests);
  }

  /** @returns the new secret, shown once. @throws TenantError `unknown_tenant`. */
  rotateSecret(tenantId: string): string {
    return this.#deps.tenants.rotateSecret(tenantId).secret;
  }

  /** @throws TenantError `invalid_package`. */
  putPackage(given: Package): void {
    this.#deps.tenants.packages.put(given);
  }

  /** @throws TenantError `unknown_package`, `package_in_use`. */
  removePackage(id: string): void {
    this.#deps.tenants.packages.remove(id);
  }

  /** Records an act that is done, with the hash of what the operator is told about it. */
  async record(call: Omit<Caller, "identity">, value: unknown): Promise<RecordedBody> {
    const { meter, nowMs, tenants } = this.#deps;
    const tenantId = tenants.change((changes) => changes.ensureTenant(OPERATOR, "operator"));
    const identity: Identity = {
      tenantId,
      tenantType: "operator",
      keyId: ADMIN_KEY_ID,
      appId: ADMIN_APP,
      tier: "operator",
      scheme: "bearer",
      active: true,
      monthlyRequestQuota: null,
      allowedModelTiers: [],
      packageId: null,
      cycleStartMs: null,
    };
    const body = utf8Encode(JSON.stringify(value));
    const work = {
      outputHash: null,
      deterministic: false,
      engine: null,
      model: null,
      promptTokens: 0,
      completionTokens: 0,
      ms: Math.max(0, nowMs() - call.startedMs),
    };
    const bodyHash = sha256Hex(body);
    const sent = { status: 200, bodyHash };
    const free = { release: () => {} };
    const row = await meter.record(free, { ...call, identity }, work, sent);
    return { body, bodyHash, row, headers: {} };
  }
}

/** @param after the id that the page before ended with; one that is not there begins again. */
export function pageOf<T>(
  all: readonly T[],
  idOf: (item: T) => string,
  after: string | null,
  limit: number,
): Page<T> {
  const start = after === null ? 0 : all.findIndex((item) => idOf(item) === after) + 1;
  const items = all.slice(start, start + limit);
  const last = items.at(-1);
  const isEnd = start + limit >= all.length || last === undefined;
  return { items, next: isEnd ? null : idOf(last) };
}
