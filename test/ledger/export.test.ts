/** An export as a body that is sealed first and sent afterwards. */
import { expect, test } from "bun:test";
import { NO_ANCHORS } from "../../src/anchor/anchor-config.ts";
import { appendCall } from "../../src/ledger/append.ts";
import { startCalendar } from "../anchor/fake-calendar.ts";
import { collect, inPieces, verifyArchive } from "../trust-export.ts";
import { onTestEnd } from "../trust-kit.ts";
import { callOf } from "../trust-lab.ts";
import { openService } from "../trust-service.ts";

const HOUR_MS = 3_600_000;

test("gone through twice, an export is the same, whatever was recorded and proven meanwhile", async () => {
  const calendar = startCalendar();
  onTestEnd(() => calendar.stop());
  const service = openService({ anchors: { ...NO_ANCHORS, calendars: [calendar.url] } });
  const { tenantId } = service.tenants.createKey({ tenantName: "A" });
  await appendCall(service.ledger, callOf(tenantId));
  service.checkpoints.run();
  await service.anchors.work();

  const archive = service.exportOf(tenantId);
  const first = await collect(archive);
  const stateOf = () => service.anchors.statesOf(1).map(({ state }) => state);
  expect(stateOf()).toEqual(["pending"]);

  calendar.mine(800_123);
  service.clock.nowMs += HOUR_MS;
  await service.anchors.work();
  expect(stateOf()).toEqual(["confirmed"]);
  await appendCall(service.ledger, callOf(tenantId));
  await appendCall(service.ledger, callOf(tenantId, { appId: "later" }));
  service.checkpoints.run();

  expect(Buffer.from(await collect(archive)).equals(first)).toBe(true);
  expect((await verifyArchive(inPieces(first))).summary).toMatchObject({ rows: 1 });
  const now = await verifyArchive(service.exportOf(tenantId));
  expect(now.summary).toMatchObject({ rows: 3, checkpoints: 2 });
});

test("an archive comes in pieces of one file each, so memory does not grow with the archive", async () => {
  const service = openService();
  const { tenantId } = service.tenants.createKey({ tenantName: "A" });
  const calls = Array.from({ length: 4_500 }, () => callOf(tenantId));
  await Promise.all(calls.map((call) => appendCall(service.ledger, call)));
  const sizes: number[] = [];
  for await (const piece of service.exportOf(tenantId)) sizes.push(piece.byteLength);
  // 2,000 rows of about 900 bytes.
  expect(Math.max(...sizes)).toBeLessThan(2_200_000);
  expect(sizes.filter((size) => size > 1_000_000)).toHaveLength(2);
});
