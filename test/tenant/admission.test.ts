import { expect, test } from "bun:test";
import { appendCall } from "../../src/ledger/append.ts";
import { AdmissionControl, durationInWords } from "../../src/tenant/admission.ts";
import { limitHeaders, refusalHeaders } from "../../src/tenant/limit-headers.ts";
import type { Package } from "../../src/tenant/packages.ts";
import { openKit, temporaryDirectory } from "../trust-kit.ts";
import { callOf, type Lab, START_MS } from "../trust-lab.ts";

const DAY_MS = 86_400_000;
const PRO: Package = {
  id: "pro",
  tier: "pro",
  dailyRequests: null,
  monthlyRequests: 1000,
  requestsPerMinute: null,
  modelTiers: ["svc-tier-b"],
  stripePrice: null,
};

function admissionOf({ tenants, ledger }: Lab): AdmissionControl {
  return new AdmissionControl({
    limitsOf: (tenantId) => tenants.limitsOf(tenantId),
    countSince: (tenantId, sinceMs) => ledger.countSince(tenantId, sinceMs),
    nowMs: () => ledger.clock.nowMs(),
  });
}

function limitedKit(limits: Partial<Package>, dataDir = temporaryDirectory()) {
  const kit = openKit({ dataDir });
  const key = kit.tenants.createKey({ tenantName: "A" });
  kit.tenants.packages.put({ ...PRO, ...limits });
  if (kit.tenants.limitsOf(key.tenantId).package === null) {
    kit.tenants.setPackage(key.tenantId, "pro");
  }
  return { ...kit, key, admission: admissionOf(kit) };
}

/** What a metered call does: admitted, some work, then its row or a failure. */
async function call(
  kit: ReturnType<typeof limitedKit>,
  work: () => Promise<unknown>,
): Promise<"row" | "failed" | string> {
  const admission = kit.admission.admitMetered(kit.key);
  if (!admission.ok) return admission.refusal.code;
  const { release } = admission.reservation;
  try {
    await work();
    await appendCall(kit.ledger, callOf(kit.key.tenantId), release);
    return "row";
  } catch {
    return "failed";
  } finally {
    release();
  }
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("of 200 calls at once with 100 left, 100 are admitted and 100 rows are written", async () => {
  const kit = limitedKit({ dailyRequests: 100, monthlyRequests: null });
  const results = await Promise.all(Array.from({ length: 200 }, () => call(kit, tick)));
  expect(results.filter((result) => result === "row")).toHaveLength(100);
  expect(results.filter((result) => result === "insufficient_quota")).toHaveLength(100);
  expect(kit.ledger.head(kit.key.tenantId, "default").height).toBe(100);
});

test("calls that come and end in any order never pass the limit and never fall short of it", async () => {
  const kit = limitedKit({ dailyRequests: 100, monthlyRequests: null });
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const results = await Promise.all(
    Array.from({ length: 400 }, async (_, index) => {
      for (let turns = random(40); turns > 0; turns--) await tick();
      return await call(kit, async () => {
        for (let turns = random(5); turns > 0; turns--) await tick();
        if (index % 3 === 0) throw new Error("the engine failed");
      });
    }),
  );
  const rows = results.filter((result) => result === "row").length;
  expect(kit.ledger.head(kit.key.tenantId, "default").height).toBe(rows);
  expect(rows).toBeLessThanOrEqual(100);
  // Failed calls gave back what they held: one by one, the rest of the day's calls fit.
  for (let left = rows; left < 100; left++) expect(await call(kit, tick)).toBe("row");
  expect(await call(kit, tick)).toBe("insufficient_quota");
});

test("a count survives a restart, and a call cut off by it is not counted", async () => {
  const dataDir = temporaryDirectory();
  const first = limitedKit({ dailyRequests: 3, monthlyRequests: null }, dataDir);
  expect(await call(first, tick)).toBe("row");
  expect(await call(first, tick)).toBe("row");
  expect(first.admission.admitMetered(first.key).ok).toBe(true);
  expect(first.admission.admitMetered(first.key).ok).toBe(false);
  first.close();
  const second = limitedKit({ dailyRequests: 3, monthlyRequests: null }, dataDir);
  expect(await call(second, tick)).toBe("row");
  expect(await call(second, tick)).toBe("insufficient_quota");
});

test("all apps of a tenant share its count, and other tenants do not", async () => {
  const kit = limitedKit({ dailyRequests: 2, monthlyRequests: null });
  await appendCall(kit.ledger, callOf(kit.key.tenantId, { appId: "billing" }));
  await appendCall(kit.ledger, callOf(kit.key.tenantId, { appId: "research" }));
  expect(await call(kit, tick)).toBe("insufficient_quota");
  const other = kit.tenants.createKey({ tenantName: "B" });
  kit.tenants.setPackage(other.tenantId, "pro");
  expect(kit.admission.admitMetered(other).ok).toBe(true);
});

test("the day's count starts again at midnight UTC, the month's on the cycle's day", async () => {
  const kit = limitedKit({ dailyRequests: 2, monthlyRequests: 3 });
  kit.tenants.setPackage(kit.key.tenantId, "pro", START_MS);
  expect(await call(kit, tick)).toBe("row");
  expect(await call(kit, tick)).toBe("row");
  expect(await call(kit, tick)).toBe("insufficient_quota");
  kit.clock.nowMs = Date.UTC(2026, 10, 20, 23, 59, 59, 999);
  expect(await call(kit, tick)).toBe("insufficient_quota");
  kit.clock.nowMs += 1;
  expect(await call(kit, tick)).toBe("row");
  expect(kit.admission.admitMetered(kit.key).ok).toBe(false);
  expect(kit.admission.limits(kit.key).map(({ kind, remaining }) => [kind, remaining])).toEqual([
    ["day", 1],
    ["month", 0],
  ]);
  kit.clock.nowMs = Date.UTC(2026, 11, 20, 12);
  expect(await call(kit, tick)).toBe("row");
});

test("counts agree with the rows for any beginning, asked in any order", async () => {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  const times: number[] = [];
  const check = (sinceMs: number): void => {
    const expected = times.filter((ts) => ts >= sinceMs).length;
    expect(kit.ledger.countSince(tenantId, sinceMs)).toBe(expected);
  };
  for (let index = 0; index < 60; index++) {
    check(START_MS + DAY_MS * (index % 7));
    check(kit.clock.nowMs + 1);
    kit.clock.nowMs += (index % 5) * (DAY_MS / 4);
    times.push((await appendCall(kit.ledger, callOf(tenantId, { appId: `a${index % 3}` }))).ts);
    for (const ts of [times[0] ?? 0, times.at(-1) ?? 0, START_MS + DAY_MS]) check(ts);
  }
});

test("a key may make its minute's requests at once, and gets them back evenly", () => {
  const kit = limitedKit({ requestsPerMinute: 3, monthlyRequests: null });
  const other = kit.tenants.addKey(kit.key.tenantId, "other");
  for (let count = 0; count < 3; count++) {
    expect(kit.admission.enter(kit.key)).toBeNull();
  }
  expect(kit.admission.enter(kit.key)).toMatchObject({
    code: "rate_limit_exceeded",
    retryAfterMs: 20_000,
    shouldRetry: true,
  });
  expect(kit.admission.enter(other)).toBeNull();
  kit.clock.nowMs += 19_999;
  expect(kit.admission.enter(kit.key)).not.toBeNull();
  kit.clock.nowMs += 1;
  expect(kit.admission.enter(kit.key)).toBeNull();
  expect(kit.admission.enter(kit.key)).not.toBeNull();
});

test("a refusal says limit, use and reset in words, and headers say it to programs", async () => {
  const kit = limitedKit({ id: "pro", dailyRequests: 1, monthlyRequests: 5, requestsPerMinute: 9 });
  expect(await call(kit, tick)).toBe("row");
  const admission = kit.admission.admitMetered(kit.key);
  if (admission.ok) throw new Error("a second call was admitted");
  expect(admission.refusal).toEqual({
    code: "insufficient_quota",
    message:
      "The package pro allows 1 requests a UTC day; 1 are used or in progress. " +
      "The count starts again at 2026-11-21T00:00:00.000Z, in 12 hours.",
    retryAfterMs: DAY_MS / 2,
    shouldRetry: false,
  });
  expect(refusalHeaders(admission.refusal)).toEqual({
    "retry-after": "43200",
    "x-should-retry": "false",
  });
  expect(limitHeaders(kit.admission.limits(kit.key), kit.clock.nowMs)).toEqual({
    "x-ratelimit-limit-requests": "1",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "43200s",
  });
});

test("a tenant without a package has no limits and no headers about them", () => {
  const kit = openKit();
  const admission = admissionOf(kit);
  const key = kit.tenants.createKey({ tenantName: "A" });
  expect(admission.admitMetered(key).ok).toBe(true);
  expect(admission.limits(key)).toEqual([]);
  expect(limitHeaders(admission.limits(key), kit.clock.nowMs)).toEqual({});
});

test("durations are told in two units, rounded up", () => {
  const told = [1, 1000, 59_001, 61_000, 3_600_000, 11_520_001, 90_000_000];
  expect(told.map(durationInWords)).toEqual([
    "1 second",
    "1 second",
    "1 minute",
    "1 minute 1 second",
    "1 hour",
    "3 hours 13 minutes",
    "1 day 1 hour",
  ]);
});
