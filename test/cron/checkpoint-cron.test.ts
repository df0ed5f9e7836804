import { expect, test } from "bun:test";
import { checkpointCron, runDue } from "../../src/cron/checkpoint-cron.ts";
import { appendCall } from "../../src/ledger/append.ts";
import { onTestEnd } from "../trust-kit.ts";
import { callOf } from "../trust-lab.ts";
import { openService, type Service } from "../trust-service.ts";

const MINUTE_MS = 60_000;

function depsOf(service: Service) {
  const failures: string[] = [];
  const log = (_level: string, event: string, facts: Readonly<Record<string, unknown>>): void => {
    service.logged.push(event);
    if (event === "checkpoint_failed") failures.push(String(facts["reason"]));
  };
  return { deps: { checkpoints: service.checkpoints, anchors: service.anchors, log }, failures };
}

test("whatever minutes it runs in, each hour that it ran in has one checkpoint", async () => {
  const service = openService();
  const { deps } = depsOf(service);
  const { tenantId } = service.tenants.createKey({ tenantName: "A" });
  const hours = new Set<number>();
  // Every minute for four hours, then asleep for three, then a clock that was set back by five
  // minutes over the hour's border, then on.
  const minutes = [
    ...Array.from({ length: 240 }, (_, minute) => minute),
    ...[421, 422, 480, 475, 476, 479, 480, 481, 541],
  ];
  const startMs = service.clock.nowMs;
  for (const minute of minutes) {
    service.clock.nowMs = startMs + minute * MINUTE_MS;
    if (minute % 50 === 0) await appendCall(service.ledger, callOf(tenantId));
    await runDue(deps);
    hours.add(Math.floor(service.clock.nowMs / (60 * MINUTE_MS)));
  }
  const made = service.checkpoints.from(1, 100);
  expect(made.map((checkpoint) => Math.floor(checkpoint.captureTs / (60 * MINUTE_MS)))).toEqual(
    [...hours].sort((a, b) => a - b),
  );
  expect(service.logged.filter((event) => event === "checkpoint_made")).toHaveLength(made.length);
  expect(service.checkpointChecker.check(true)).toMatchObject({ ok: true });
});

test("a turn that cannot make its checkpoint says why, and the next one makes it", async () => {
  const service = openService();
  const { deps, failures } = depsOf(service);
  const { tenantId } = service.tenants.createKey({ tenantName: "A" });
  await appendCall(service.ledger, callOf(tenantId));
  service.clock.nowMs -= 11 * MINUTE_MS;
  await runDue(deps);
  expect(failures).toEqual([expect.stringContaining("behind the newest record")]);
  service.clock.nowMs += 12 * MINUTE_MS;
  await runDue(deps);
  expect(service.checkpoints.latest()?.n).toBe(1);
});

test("the schedule runs at once and then at the beginning of every minute, until it is stopped", async () => {
  const service = openService();
  const { plugin, stop } = checkpointCron(depsOf(service).deps);
  onTestEnd(stop);
  expect(service.checkpoints.latest()?.n).toBe(1);
  const job = plugin.store.cron.checkpoint;
  const next = job.nextRun();
  expect(next?.getUTCSeconds()).toBe(0);
  expect((next?.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(MINUTE_MS);
  expect(job.isRunning()).toBe(true);
  stop();
  expect(job.isRunning()).toBe(false);
});
