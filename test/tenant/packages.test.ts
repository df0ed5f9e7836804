import { expect, test } from "bun:test";
import fc from "fast-check";
import { billingMonthAt, utcDayAt } from "../../src/tenant/cycle.ts";
import type { Package } from "../../src/tenant/packages.ts";
import { openKit, temporaryDirectory } from "../trust-kit.ts";
import { START_MS } from "../trust-lab.ts";

const PRO: Package = {
  id: "pro",
  tier: "professional",
  dailyRequests: null,
  monthlyRequests: 1000,
  requestsPerMinute: 600,
  modelTiers: ["svc-tier-b"],
  stripePrice: "price_1",
};

test("the free package comes with the database: 100 calls a UTC day", () => {
  const { tenants } = openKit();
  expect(tenants.packages.get("free")).toEqual({
    id: "free",
    tier: "free",
    dailyRequests: 100,
    monthlyRequests: null,
    requestsPerMinute: 60,
    modelTiers: ["svc-tier-a", "svc-tier-b"],
    stripePrice: null,
  });
});

test("an identity shows its tenant's package and cycle, after a restart too", () => {
  const dataDir = temporaryDirectory();
  const first = openKit({ dataDir });
  first.tenants.packages.put(PRO);
  const { apiKey, tenantId } = first.tenants.createKey({ tenantName: "A" });
  first.tenants.setPackage(tenantId, "pro", Date.UTC(2026, 0, 31, 8));
  const expected = {
    tier: "professional",
    monthlyRequestQuota: 1000,
    allowedModelTiers: ["svc-tier-b"],
    packageId: "pro",
    cycleStartMs: Date.UTC(2026, 9, 31, 8),
  };
  expect(first.tenants.authenticateBearer(apiKey)).toMatchObject(expected);
  first.close();
  const second = openKit({ dataDir });
  expect(second.tenants.authenticateBearer(apiKey)).toMatchObject(expected);
  second.clock.nowMs = Date.UTC(2026, 10, 30, 8);
  expect(second.tenants.authenticateBearer(apiKey)?.cycleStartMs).toBe(second.clock.nowMs);
  second.tenants.setPackage(tenantId, null);
  expect(second.tenants.authenticateBearer(apiKey)).toMatchObject({
    tier: "standard",
    packageId: null,
    cycleStartMs: null,
  });
});

test("a changed package binds those who have it at once; one in use is not removed", () => {
  const { tenants } = openKit();
  tenants.packages.put(PRO);
  const { tenantId } = tenants.createKey({ tenantName: "A" });
  tenants.setPackage(tenantId, "pro");
  tenants.packages.put({ ...PRO, monthlyRequests: 5 });
  expect(tenants.limitsOf(tenantId)).toMatchObject({
    package: { monthlyRequests: 5 },
    cycleAnchorMs: START_MS,
  });
  expect(() => tenants.packages.remove("pro")).toThrow(`tenant ${tenantId} has package pro`);
  tenants.setPackage(tenantId, "free");
  tenants.packages.remove("pro");
  expect(tenants.packages.all().map((each) => each.id)).toEqual(["free"]);
  expect(() => tenants.setPackage(tenantId, "pro")).toThrow(
    'there is no package "pro"; there are: free',
  );
});

const BAD: readonly (readonly [string, Partial<Package>])[] = [
  ["id", { id: "Pro!" }],
  ["tier", { tier: "" }],
  ["daily_requests", { dailyRequests: -1 }],
  ["monthly_requests", { monthlyRequests: 1.5 }],
  ["requests_per_minute", { requestsPerMinute: 0 }],
  ["model_tiers", { modelTiers: [] }],
  ["stripe_price", { stripePrice: "a price" }],
  ["stripe_price", { id: "other", stripePrice: "price_1" }],
];

test.each(BAD)("a package with a bad %s is refused by name and not stored", (member, changes) => {
  const { tenants } = openKit();
  tenants.packages.put(PRO);
  const before = tenants.packages.all();
  expect(() => tenants.packages.put({ ...PRO, ...changes })).toThrow(`a package's ${member} `);
  expect(tenants.packages.all()).toEqual(before);
});

test("a new HMAC secret begins a new epoch, and the old one still opens", () => {
  const dataDir = temporaryDirectory();
  const first = openKit({ dataDir });
  const { tenantId, hmacSecret } = first.tenants.createKey({ tenantName: "A" });
  const rotated = first.tenants.rotateSecret(tenantId);
  expect(rotated.epoch).toBe(2);
  expect(rotated.secret).not.toBe(hmacSecret);
  first.close();
  const { tenants } = openKit({ dataDir });
  expect(tenants.currentSecret(tenantId)).toEqual(rotated);
  expect(tenants.secretOfEpoch(tenantId, 1)).toBe(hmacSecret);
  expect(tenants.secretOfEpoch(tenantId, 3)).toBeNull();
});

test("a UTC day holds its own moments and no others", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), (ms) => {
      const { startMs, endMs } = utcDayAt(ms);
      expect(startMs <= ms && ms < endMs).toBe(true);
      expect(new Date(startMs).toISOString().slice(10)).toBe("T00:00:00.000Z");
      expect(new Date(startMs).toISOString().slice(0, 10)).toBe(
        new Date(ms).toISOString().slice(0, 10),
      );
    }),
  );
});

test("billing months follow one another without gaps and begin on the anchor's day", () => {
  const time = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) });
  fc.assert(
    fc.property(time, time, (anchorMs, nowMs) => {
      const { startMs, endMs } = billingMonthAt(anchorMs, nowMs);
      expect(startMs <= nowMs && nowMs < endMs).toBe(true);
      expect(billingMonthAt(anchorMs, endMs).startMs).toBe(endMs);
      expect(billingMonthAt(anchorMs, startMs - 1).endMs).toBe(startMs);
      const [anchor, start] = [new Date(anchorMs), new Date(startMs)];
      const isLastDay = new Date(startMs + 86_400_000).getUTCDate() === 1;
      expect(start.getUTCDate() === anchor.getUTCDate() || isLastDay).toBe(true);
      expect(start.toISOString().slice(10)).toBe(anchor.toISOString().slice(10));
    }),
  );
});

test("an anchor on the 31st keeps to the last days of shorter months", () => {
  const anchor = Date.UTC(2027, 0, 31);
  const starts = [1, 2, 3].map(
    (month) => billingMonthAt(anchor, Date.UTC(2027, month, 28)).startMs,
  );
  expect(starts.map((ms) => new Date(ms).toISOString().slice(0, 10))).toEqual([
    "2027-02-28",
    "2027-02-28",
    "2027-03-31",
  ]);
});
