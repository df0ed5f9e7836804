import { expect, test } from "bun:test";
import { type AnchorConfig, NO_ANCHORS } from "../../src/anchor/anchor-config.ts";
import { appendCall } from "../../src/ledger/append.ts";
import { verifyArchive } from "../trust-export.ts";
import { onTestEnd, temporaryDirectory } from "../trust-kit.ts";
import { callOf } from "../trust-lab.ts";
import { openService, type Service } from "../trust-service.ts";
import { type FakeCalendar, startCalendar } from "./fake-calendar.ts";

const HOUR_MS = 3_600_000;

function calendars(count: number): FakeCalendar[] {
  return Array.from({ length: count }, () => {
    const calendar = startCalendar();
    onTestEnd(() => calendar.stop());
    return calendar;
  });
}

function configOf(asked: readonly FakeCalendar[]): AnchorConfig {
  return { ...NO_ANCHORS, calendars: asked.map(({ url }) => url) };
}

/** A row, and a checkpoint in a later hour that has it. */
async function checkpointed(service: Service, tenantId: string): Promise<number> {
  service.clock.nowMs += HOUR_MS;
  await appendCall(service.ledger, callOf(tenantId));
  return service.checkpoints.run().checkpoint.n;
}

test("a checkpoint goes to every calendar, waits for its block, and is then proven by it", async () => {
  const asked = calendars(2);
  const service = openService({ anchors: configOf(asked) });
  const { tenantId } = service.tenants.createKey({ tenantName: "A" });
  const n = await checkpointed(service, tenantId);
  expect(service.anchors.counts()).toEqual({ queued: 2, pending: 0, confirmed: 0 });
  expect(service.anchors.files(n).size).toBe(0);

  await service.anchors.work();
  expect(service.anchors.counts()).toEqual({ queued: 0, pending: 2, confirmed: 0 });
  expect(asked.map((calendar) => calendar.submitted.length)).toEqual([1, 1]);
  // Calendars see a salted hash, and not the same one.
  expect(new Set(asked.flatMap((calendar) => calendar.submitted)).size).toBe(2);
  const record = Buffer.from(service.checkpoints.latest()?.recordHash ?? []).toString("hex");
  expect(asked.flatMap((calendar) => calendar.submitted)).not.toContain(record);
  const pending = await verifyArchive(service.exportOf(tenantId));
  expect(pending.finding).toBeNull();
  expect(pending.summary.anchors.map(({ n: of, kind, state }) => [of, kind, state])).toEqual([
    [n, "ots", "pending"],
    [n, "ots", "pending"],
  ]);

  asked[0]?.mine(900_000);
  service.clock.nowMs += HOUR_MS;
  await service.anchors.work();
  expect(service.anchors.counts()).toEqual({ queued: 0, pending: 1, confirmed: 1 });
  const blockRoots = asked[0]?.blockRoots ?? new Map<number, string>();
  const report = await verifyArchive(service.exportOf(tenantId), { blockRoots });
  expect(report.finding).toBeNull();
  expect(report.summary.anchors.map(({ state }) => state).sort()).toEqual(["confirmed", "pending"]);
  const lies = new Map([[900_000, "00".repeat(32)]]);
  const denied = await verifyArchive(service.exportOf(tenantId), { blockRoots: lies });
  expect(denied.finding).toMatchObject({ file: "checkpoints/00000001.json.ots", field: "block" });
});

test("while no calendar answers the queue waits, over a restart too, and then goes out", async () => {
  const dataDir = temporaryDirectory();
  const [calendar] = calendars(1);
  if (calendar === undefined) throw new Error("no calendar was started");
  const port = Number(new URL(calendar.url).port);
  const config = configOf([calendar]);
  calendar.stop();
  const first = openService({ dataDir, anchors: config });
  const { tenantId } = first.tenants.createKey({ tenantName: "A" });
  for (let hour = 0; hour < 20; hour++) await checkpointed(first, tenantId);
  await first.anchors.work();
  expect(first.logged.filter((event) => event === "anchor_failed")).toHaveLength(20);
  // Asked again at once, nothing is due yet.
  await first.anchors.work();
  expect(first.logged.filter((event) => event === "anchor_failed")).toHaveLength(20);
  first.close();

  const back = startCalendar(port);
  onTestEnd(() => back.stop());
  const startMs = first.clock.nowMs + 2 * 60_000;
  const second = openService({ dataDir, anchors: config, startMs });
  expect(second.anchors.counts()).toEqual({ queued: 20, pending: 0, confirmed: 0 });
  await second.anchors.work();
  expect(second.anchors.counts()).toEqual({ queued: 0, pending: 20, confirmed: 0 });
  expect(back.submitted).toHaveLength(20);
});

test("an idle hour submits nothing, and without services nothing is queued", async () => {
  const [calendar] = calendars(1);
  if (calendar === undefined) throw new Error("no calendar was started");
  const service = openService({ anchors: configOf([calendar]) });
  const { tenantId } = service.tenants.createKey({ tenantName: "A" });
  await checkpointed(service, tenantId);
  service.clock.nowMs += HOUR_MS;
  expect(service.checkpoints.run().isNew).toBe(true);
  await service.anchors.work();
  expect(service.anchors.counts()).toEqual({ queued: 0, pending: 1, confirmed: 0 });
  expect(calendar.requests).toEqual(["POST /digest"]);
  expect(service.anchors.statesOf(2)).toEqual([]);

  const closed = openService();
  const other = closed.tenants.createKey({ tenantName: "B" });
  await checkpointed(closed, other.tenantId);
  await closed.anchors.work();
  expect(closed.anchors.counts()).toEqual({ queued: 0, pending: 0, confirmed: 0 });
});

const BAD_ANSWERS: readonly (readonly [string, () => Response])[] = [
  ["an error", () => new Response("out of order\r\n\0", { status: 500 })],
  ["no timestamp", () => new Response("hello")],
  ["an empty answer", () => new Response("")],
  ["an answer without an end", () => new Response(new Uint8Array(100_000))],
  ["a redirect elsewhere", () => Response.redirect("http://127.0.0.1:1/stolen")],
  [
    "a timestamp with a tail",
    () => new Response(Buffer.from("0083dfe30d2ef90c8e03026161ff", "hex")),
  ],
];

test.each(BAD_ANSWERS)(
  "%s from a calendar is noted, and asked for again later",
  async (_n, bad) => {
    const [calendar] = calendars(1);
    if (calendar === undefined) throw new Error("no calendar was started");
    const service = openService({ anchors: configOf([calendar]) });
    const { tenantId } = service.tenants.createKey({ tenantName: "A" });
    const n = await checkpointed(service, tenantId);
    calendar.failWith = bad;
    await service.anchors.work();
    expect(service.anchors.counts()).toEqual({ queued: 1, pending: 0, confirmed: 0 });
    expect(service.logged).toContain("anchor_failed");
    calendar.failWith = null;
    service.clock.nowMs += 2 * 60_000;
    await service.anchors.work();
    expect(service.anchors.statesOf(n)).toEqual([
      { kind: "ots", target: calendar.url, state: "pending" },
    ]);
  },
);

test("a promise that names another address is not asked for there", async () => {
  const [calendar, stranger] = calendars(2);
  if (calendar === undefined || stranger === undefined) throw new Error("no calendar was started");
  const service = openService({ anchors: configOf([calendar]) });
  const { tenantId } = service.tenants.createKey({ tenantName: "A" });
  await checkpointed(service, tenantId);
  const uri = Buffer.from(stranger.url);
  const pending = [0, 0x83, 0xdf, 0xe3, 0x0d, 0x2e, 0xf9, 0x0c, 0x8e, uri.length + 1, uri.length];
  calendar.failWith = () => new Response(Buffer.concat([Buffer.from(pending), uri]));
  await service.anchors.work();
  service.clock.nowMs += HOUR_MS;
  await service.anchors.work();
  expect(service.anchors.counts()).toEqual({ queued: 0, pending: 1, confirmed: 0 });
  expect(stranger.requests).toEqual([]);
});

/** What a crash leaves of an answer, and what the next start makes of it. */
const CRASHES: readonly (readonly [string, boolean, "queued" | "pending", number])[] = [
  ["before the answer is durable", false, "queued", 2],
  ["after it is durable", true, "pending", 1],
];

test.each(CRASHES)("a crash %s asks no more than needed", async (_n, persists, state, asks) => {
  const [calendar] = calendars(1);
  if (calendar === undefined) throw new Error("no calendar was started");
  const dataDir = temporaryDirectory();
  let failing = false;
  const fatal: string[] = [];
  const first = openService({
    dataDir,
    anchors: configOf([calendar]),
    onFatal: (error) => void fatal.push(error.code),
    wrapTransactions: (plain) => ({
      ...plain,
      commit: () => {
        if (!failing) return plain.commit();
        if (persists) plain.commit();
        else plain.rollback();
        throw Object.assign(new Error("disk I/O error"), { errno: 1034 });
      },
    }),
  });
  const { tenantId } = first.tenants.createKey({ tenantName: "A" });
  const n = await checkpointed(first, tenantId);
  failing = true;
  await expect(first.anchors.work()).rejects.toMatchObject({ code: "state_unknown" });
  expect(fatal).toEqual(["state_unknown"]);
  first.close();
  const startMs = first.clock.nowMs + 60_000;
  const second = openService({ dataDir, anchors: configOf([calendar]), startMs });
  expect(second.anchors.statesOf(n).map((each) => each.state)).toEqual([state]);
  await second.anchors.work();
  expect(second.anchors.statesOf(n).map((each) => each.state)).toEqual(["pending"]);
  expect(calendar.submitted).toHaveLength(asks);
});
