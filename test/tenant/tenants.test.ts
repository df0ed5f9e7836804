import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toHex } from "../../src/bytes/hex.ts";
import { sha256Hex } from "../../src/crypto/hash.ts";
import { openStore, type StoreDeps, type Transactions } from "../../src/store/store.ts";
import { Tenants, type TenantsDeps } from "../../src/tenant/tenants.ts";
import { onTestEnd, temporaryDirectory } from "../trust-kit.ts";
import { countingBytes, START_MS } from "../trust-lab.ts";

function openTenants(
  dataDir: string,
  changes: Partial<TenantsDeps> & Pick<StoreDeps, "wrapTransactions"> = {},
): { tenants: Tenants; close: () => void } {
  const { wrapTransactions, ...deps } = changes;
  const store = openStore(dataDir, {
    onFatal: () => undefined,
    ...(wrapTransactions && { wrapTransactions }),
  });
  onTestEnd(() => store.close());
  const tenants = new Tenants({
    store,
    randomBytes: countingBytes(),
    configured: null,
    configuredNext: null,
    nowMs: () => START_MS,
    ...deps,
  });
  return { tenants, close: () => store.close() };
}

test("a new key authenticates as its tenant and app, also after a restart", () => {
  const dataDir = temporaryDirectory();
  const first = openTenants(dataDir);
  expect(first.tenants.hasKeys).toBe(false);
  const key = first.tenants.createKey({ tenantName: "Acme", appName: "billing" });
  expect(key.apiKey).toMatch(/^sk-svc-[0-9a-f]{32}$/);
  expect(key.hmacSecret).toMatch(/^[0-9a-f]{64}$/);
  expect(key.tenantId).toMatch(/^t_[0-9A-HJKMNP-TV-Z]{26}$/);
  const identity = {
    tenantId: key.tenantId,
    tenantType: "subscriber" as const,
    keyId: key.keyId,
    appId: "billing",
    tier: "standard",
    scheme: "bearer" as const,
    active: true,
    monthlyRequestQuota: null,
    allowedModelTiers: ["svc-tier-a", "svc-tier-b"],
    packageId: null,
    cycleStartMs: null,
  };
  expect(first.tenants.authenticateBearer(key.apiKey)).toEqual(identity);
  first.close();
  const { tenants } = openTenants(dataDir);
  expect(tenants.authenticateBearer(key.apiKey)).toEqual(identity);
  expect(tenants.hmacSecret(key.tenantId)).toBe(key.hmacSecret);
  expect(tenants.hasKeys).toBe(true);
});

test("whether requests are kept is off at first, each tenant's own, and outlives a restart", () => {
  const dataDir = temporaryDirectory();
  const first = openTenants(dataDir);
  const [a, b] = ["Acme", "Other"].map((tenantName) => first.tenants.createKey({ tenantName }));
  const ids = [a?.tenantId ?? "", b?.tenantId ?? ""] as const;
  const isOn = ({ tenants }: { tenants: Tenants }) => ids.map((id) => tenants.storesRequests(id));
  expect(isOn(first)).toEqual([false, false]);
  first.tenants.setStorage(ids[0], true);
  expect(isOn(first)).toEqual([true, false]);
  first.close();
  const second = openTenants(dataDir);
  expect(isOn(second)).toEqual([true, false]);
  second.tenants.change((changes) => changes.setStorage(changes.tenantNamed("Acme"), false));
  expect(isOn(second)).toEqual([false, false]);
  expect(() => second.tenants.setStorage("t_none", true)).toThrow(
    expect.objectContaining({ code: "unknown_tenant" }),
  );
});

test("another key for the same tenant keeps tenant and secret; other names are other tenants", () => {
  const { tenants } = openTenants(temporaryDirectory());
  const a = tenants.createKey({ tenantName: "Acme" });
  const b = tenants.createKey({ tenantName: " Acme ", appName: "two" });
  const c = tenants.createKey({ tenantName: "Other" });
  expect([b.tenantId, b.hmacSecret]).toEqual([a.tenantId, a.hmacSecret]);
  expect(new Set([a.apiKey, b.apiKey, c.apiKey]).size).toBe(3);
  expect(c.tenantId).not.toBe(a.tenantId);
  expect(c.hmacSecret).not.toBe(a.hmacSecret);
});

test("a revoked, an unknown and a malformed key are all nobody; revoking twice is fine", () => {
  const dataDir = temporaryDirectory();
  const first = openTenants(dataDir);
  const key = first.tenants.createKey({ tenantName: "Acme" });
  const other = first.tenants.createKey({ tenantName: "Acme" });
  first.tenants.revokeKey(key.keyId);
  first.tenants.revokeKey(key.keyId);
  const check = (tenants: Tenants): void => {
    expect(tenants.authenticateBearer(key.apiKey)).toBeNull();
    expect(tenants.authenticateBearer(`sk-svc-${"0".repeat(32)}`)).toBeNull();
    expect(tenants.authenticateBearer("")).toBeNull();
    expect(tenants.authenticateBearer(other.apiKey)?.keyId).toBe(other.keyId);
  };
  check(first.tenants);
  first.close();
  check(openTenants(dataDir).tenants);
  expect(() => openTenants(temporaryDirectory()).tenants.revokeKey("k_none")).toThrow("no key");
});

test.each([
  ["", "default", "invalid_tenant_name"],
  ["a\nb", "default", "invalid_tenant_name"],
  ["x".repeat(101), "default", "invalid_tenant_name"],
  ["Acme", "", "invalid_app_name"],
  ["Acme", "../x", "invalid_app_name"],
  ["Acme", "Über", "invalid_app_name"],
  ["Acme", "a".repeat(64), "invalid_app_name"],
])("tenant %p with app %p is refused as %s, and nothing is made", (tenantName, appName, code) => {
  const { tenants } = openTenants(temporaryDirectory());
  expect(() => tenants.createKey({ tenantName, appName })).toThrow(
    expect.objectContaining({ code }) as unknown as Error,
  );
  expect(tenants.hasKeys).toBe(false);
});

test("nothing in the data directory but the master key's file gives a key or a secret away", () => {
  const dataDir = temporaryDirectory();
  const { tenants, close } = openTenants(dataDir);
  const key = tenants.createKey({ tenantName: "Acme" });
  close();
  const database = readFileSync(join(dataDir, "svc.sqlite"));
  expect(database.includes(Buffer.from(sha256Hex(key.apiKey), "hex"))).toBe(true);
  for (const secret of [key.apiKey.slice("sk-svc-".length), key.hmacSecret]) {
    expect(database.includes(secret)).toBe(false);
    expect(database.includes(Buffer.from(secret, "hex"))).toBe(false);
  }
  expect(statSync(join(dataDir, "master.key")).mode & 0o777).toBe(0o600);
});

const KEY_A = "a1".repeat(32);
const KEY_B = "b2".repeat(32);

test("a configured master key is used without writing a file, and only it opens the database", () => {
  const dataDir = temporaryDirectory();
  const first = openTenants(dataDir, { configured: KEY_A });
  const key = first.tenants.createKey({ tenantName: "Acme" });
  first.close();
  expect(existsSync(join(dataDir, "master.key"))).toBe(false);
  const code = "wrong_master_key";
  const wrong = expect.objectContaining({ code }) as unknown as Error;
  const attempt = (configured: string | null): void => {
    const store = openStore(dataDir, { onFatal: () => undefined });
    try {
      const deps = { store, randomBytes: countingBytes(), configuredNext: null, configured };
      new Tenants({ ...deps, nowMs: () => START_MS }).hmacSecret(key.tenantId);
    } finally {
      store.close();
    }
  };
  expect(() => attempt(KEY_B)).toThrow(wrong);
  expect(() => attempt(null)).toThrow(wrong);
  expect(() => attempt("a1")).toThrow("64 lowercase hex digits");
  expect(() => attempt(KEY_A)).not.toThrow();
});

test("rotating a configured master key moves every secret to the next one", () => {
  const dataDir = temporaryDirectory();
  const first = openTenants(dataDir, { configured: KEY_A, configuredNext: KEY_B });
  const key = first.tenants.createKey({ tenantName: "Acme" });
  first.tenants.rotateMasterKey();
  first.close();
  // The operator has not changed the settings yet: the next key is found among them.
  const second = openTenants(dataDir, { configured: KEY_A, configuredNext: KEY_B });
  expect(second.tenants.hmacSecret(key.tenantId)).toBe(key.hmacSecret);
  second.close();
  const third = openTenants(dataDir, { configured: KEY_B });
  expect(third.tenants.hmacSecret(key.tenantId)).toBe(key.hmacSecret);
  expect(() => third.tenants.rotateMasterKey()).toThrow("no next master key is configured");
});

test("rotating the master key file keeps every secret and removes the old key", () => {
  const dataDir = temporaryDirectory();
  const first = openTenants(dataDir);
  const keys = ["A", "B", "C"].map((tenantName) => first.tenants.createKey({ tenantName }));
  const before = readFileSync(join(dataDir, "master.key"), "utf8");
  first.tenants.rotateMasterKey();
  const later = first.tenants.createKey({ tenantName: "D" });
  first.close();
  expect(readFileSync(join(dataDir, "master.key"), "utf8")).not.toBe(before);
  expect(existsSync(join(dataDir, "master.key.next"))).toBe(false);
  const { tenants } = openTenants(dataDir);
  for (const key of [...keys, later]) expect(tenants.hmacSecret(key.tenantId)).toBe(key.hmacSecret);
});

/** Where a rotation can be cut off: what happens to the third transaction, the one that reseals. */
const ROTATION_CRASHES: readonly (readonly [string, (t: Transactions) => void, string])[] = [
  ["before the new secrets are durable", (t) => t.rollback(), "old"],
  ["after they are durable, before the answer", (t) => t.commit(), "new"],
];

test.each(ROTATION_CRASHES)("a rotation cut off %s loses nothing", (_name, effect, survivor) => {
  const dataDir = temporaryDirectory();
  let failing = false;
  const first = openTenants(dataDir, {
    wrapTransactions: (plain) => ({
      ...plain,
      commit: () => {
        if (!failing) return plain.commit();
        effect(plain);
        throw Object.assign(new Error("disk I/O error"), { errno: 1034 });
      },
    }),
  });
  const key = first.tenants.createKey({ tenantName: "Acme" });
  const path = join(dataDir, "master.key");
  const before = readFileSync(path, "utf8");
  failing = true;
  expect(() => first.tenants.rotateMasterKey()).toThrow("unknown state");
  expect(existsSync(`${path}.next`)).toBe(true);
  first.close();
  const { tenants } = openTenants(dataDir);
  expect(tenants.hmacSecret(key.tenantId)).toBe(key.hmacSecret);
  expect(existsSync(`${path}.next`)).toBe(false);
  expect(readFileSync(path, "utf8") === before ? "old" : "new").toBe(survivor);
});

test("a rotation cut off before its first transaction leaves the old key in use", () => {
  const dataDir = temporaryDirectory();
  const first = openTenants(dataDir);
  const key = first.tenants.createKey({ tenantName: "Acme" });
  first.close();
  const path = join(dataDir, "master.key.next");
  writeFileSync(path, `${toHex(new Uint8Array(32).fill(9))}\n`, { mode: 0o600 });
  const { tenants } = openTenants(dataDir);
  expect(tenants.hmacSecret(key.tenantId)).toBe(key.hmacSecret);
  expect(existsSync(path)).toBe(false);
});
