/** Opening everything of trust at once, as the service and its commands do. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { appendCall } from "../src/ledger/append.ts";
import { openTenancy, openTrust, type TrustOptions } from "../src/service/open-trust.ts";
import { verifyArchive } from "./trust-export.ts";
import { onTestEnd, temporaryDirectory } from "./trust-kit.ts";
import { callOf } from "./trust-lab.ts";

function options(dataDir: string): TrustOptions {
  const unexpected = (error: Error): never => {
    throw error;
  };
  return { dataDir, rev: "0123456789ab", onFatal: unexpected, log: () => undefined };
}

test("a start opens everything, and the next one goes on with a new attestation key", async () => {
  const dataDir = temporaryDirectory();
  const first = openTrust(options(dataDir));
  const { apiKey, tenantId, appId } = first.tenants.createKey({ tenantName: "A" });
  const row = await appendCall(first.ledger, callOf(tenantId));
  const { checkpoint } = first.checkpoints.run();
  const head = first.chainHead(tenantId, appId);
  expect(head).toMatchObject({ tenant_id: tenantId, head_hash: row.rowHash, height: 1 });
  expect(head.attestation_kid).toBe(first.keys.current.kid);
  first.close();

  const second = openTrust(options(dataDir));
  onTestEnd(() => second.close());
  expect(second.tenants.authenticateBearer(apiKey)?.tenantId).toBe(tenantId);
  expect(second.ledger.head(tenantId, appId)).toEqual({ height: 1, headHash: row.rowHash });
  expect(second.checkpoints.latest()?.n).toBe(checkpoint.n);
  expect(second.checkpointChecker.check(true)).toMatchObject({ ok: true, checkpoints: 1 });
  expect(second.keys.history().keys).toHaveLength(2);
  const report = await verifyArchive(second.exportOf(tenantId));
  expect(report.finding).toBeNull();
  expect(report.summary).toMatchObject({ tenantId, rows: 1, keys: 2, checkpoints: 1 });
});

test("commands on keys alone make no attestation key, and keep to the lock", () => {
  const dataDir = temporaryDirectory();
  const tenancy = openTenancy(options(dataDir));
  const { apiKey } = tenancy.tenants.createKey({ tenantName: "A" });
  expect(() => openTrust(options(dataDir))).toThrow("is in use by process");
  tenancy.tenants.rotateMasterKey();
  tenancy.close();
  expect(existsSync(join(dataDir, "root.key"))).toBe(false);

  const trust = openTrust(options(dataDir));
  onTestEnd(() => trust.close());
  expect(trust.keys.history().keys).toHaveLength(1);
  expect(trust.tenants.authenticateBearer(apiKey)).not.toBeNull();
});

test("a start that fails half way leaves the directory unlocked", () => {
  const dataDir = temporaryDirectory();
  openTrust(options(dataDir)).close();
  const wrong = { ...options(dataDir), rootKey: "11".repeat(32) };
  expect(() => openTrust(wrong)).toThrow("the key history belongs to root key");
  const other = { ...options(dataDir), masterKey: "22".repeat(32) };
  expect(() => openTenancy(other)).toThrow("is not the one that sealed this database");
  openTrust(options(dataDir)).close();
});
