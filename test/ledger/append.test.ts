import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createHash, createHmac, hkdfSync } from "node:crypto";
import { join } from "node:path";
import { appendCall } from "../../src/ledger/append.ts";
import type { Transactions } from "../../src/store/store.ts";
import { openKit } from "../trust-kit.ts";
import { appendAll, callOf, type Lab, START_MS } from "../trust-lab.ts";

const ZEROS = "0".repeat(64);

/** Re-derives everything from the file alone, with code of its own; returns the bodies. */
function rederive(kit: Lab): Map<string, Record<string, unknown>[]> {
  const db = new Database(join(kit.dataDir, "svc.sqlite"), { readonly: true });
  const chains = new Map<string, Record<string, unknown>[]>();
  const macs = new Map<string, Buffer>();
  const rows = db
    .query<
      Record<"tenant_id" | "app_id", string> & Record<"body" | "row_hash" | "row_mac", Uint8Array>,
      []
    >("SELECT * FROM ledger_row JOIN chain ON chain.id = chain_id ORDER BY ledger_row.id")
    .all();
  let previousTs = 0;
  for (const row of rows) {
    const name = `${row.tenant_id}/${row.app_id}`;
    const chain = chains.get(name) ?? [];
    chains.set(name, chain);
    const body = JSON.parse(Buffer.from(row.body).toString()) as Record<string, unknown>;
    const before = chain.at(-1);
    expect(body["seq"]).toBe(chain.length + 1);
    expect(body["prev_hash"]).toBe(before?.["row_hash"] ?? ZEROS);
    expect(Number(body["ts"])).toBeGreaterThanOrEqual(previousTs);
    previousTs = Number(body["ts"]);
    const hash = createHash("sha256").update(row.body).digest();
    expect(Buffer.from(row.row_hash).equals(hash)).toBe(true);
    const secret = kit.tenants.hmacSecret(row.tenant_id);
    const key = Buffer.from(hkdfSync("sha256", secret, "", "svc/audit-chain/v1", 32));
    const mac = createHmac("sha256", key)
      .update(macs.get(name) ?? Buffer.alloc(32))
      .update(hash)
      .digest();
    expect(Buffer.from(row.row_mac).equals(mac)).toBe(true);
    macs.set(name, mac);
    chain.push({ ...body, row_hash: hash.toString("hex") });
  }
  db.close();
  return chains;
}

test("rows of calls that arrive together form one chain per tenant and app, in order", async () => {
  const kit = openKit();
  const a = kit.tenants.createKey({ tenantName: "A" }).tenantId;
  const b = kit.tenants.createKey({ tenantName: "B" }).tenantId;
  const calls = Array.from({ length: 60 }, (_, i) =>
    callOf(i % 2 === 0 ? a : b, { appId: i % 3 === 0 ? "x" : "y" }),
  );
  const appended = await appendAll(kit.ledger, calls);
  const chains = rederive(kit);
  expect([...chains.values()].map((chain) => chain.length).sort()).toEqual([10, 10, 20, 20]);
  for (const [index, call] of calls.entries()) {
    const row = appended[index];
    const stored = chains.get(`${call.tenantId}/${call.appId}`)?.[(row?.seq ?? 0) - 1];
    expect(stored).toMatchObject({ request_id: call.requestId, row_hash: row?.rowHash });
  }
  const head = chains.get(`${a}/x`)?.at(-1);
  expect(kit.ledger.head(a, "x")).toEqual({ height: 10, headHash: String(head?.["row_hash"]) });
  expect(kit.ledger.head(a, "none")).toEqual({ height: 0, headHash: ZEROS });
});

test("a row has the documented members and nothing else", async () => {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  const hash = (byte: string): string => byte.repeat(32);
  await appendCall(
    kit.ledger,
    callOf(tenantId, {
      requestId: "req_1",
      requestBodyHash: hash("aa"),
      responseBodyHash: hash("bb"),
      outputHash: hash("cc"),
      model: null,
    }),
  );
  const db = kit.store.reader;
  const { body } = db.query<{ body: Uint8Array }, []>("SELECT body FROM ledger_row").get() ?? {};
  // FORMAT.md, "A row", with the nonce that the kit's counting bytes give.
  expect(Buffer.from(body ?? []).toString()).toMatch(
    new RegExp(
      `^\\{"app_id":"default","completion_tokens":12,"deterministic":true,` +
        `"engine":"svc-tiny@0123456789abcdef",` +
        `"in_hash":"${hash("aa")}","key_id":"k_01ARZ3NDEKTSV4RRFFQ69G5FAV","mac_epoch":1,` +
        `"method":"POST","model":null,"ms":7,"nonce":"[0-9a-f]{32}","out_hash":"${hash("bb")}",` +
        `"output_hash":"${hash("cc")}","path":"/v1/chat/completions","prev_hash":"${ZEROS}",` +
        `"prompt_tokens":50,"request_id":"req_1","rev":"0123456789ab","seq":1,"status":200,` +
        `"t":"svc\\.row","tenant_id":"${tenantId}","ts":${START_MS},"v":1\\}$`,
    ),
  );
});

test("values that a row cannot hold are a bug, and no row is written", () => {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  for (const changes of [
    { path: "/v1/a b" },
    { path: '/v1/"' },
    { appId: "UPPER" },
    { tenantId: "t_x" },
    { requestBodyHash: "AB".repeat(32) },
    { status: 99 },
    { ms: -1 },
    { promptTokens: 1.5 },
    { rev: "" },
    { model: "é" },
  ]) {
    expect(() => appendCall(kit.ledger, callOf(tenantId, changes))).toThrow("a row's");
  }
  expect(rederive(kit).size).toBe(0);
});

test("a request id that is recorded already is refused, and its neighbours are recorded", async () => {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  const results = await Promise.allSettled([
    appendCall(kit.ledger, callOf(tenantId, { requestId: "same" })),
    appendCall(kit.ledger, callOf(tenantId, { requestId: "same" })),
    appendCall(kit.ledger, callOf(tenantId, { requestId: "same", appId: "new" })),
    appendCall(kit.ledger, callOf(tenantId)),
    appendCall(kit.ledger, callOf(tenantId, { appId: "new" })),
  ]);
  const outcomes = results.map((r) => (r.status === "fulfilled" ? r.value.seq : r.reason.code));
  expect(outcomes).toEqual([1, "duplicate_request_id", "duplicate_request_id", 2, 1]);
  rederive(kit);
});

test("after a restart every chain goes on where it was", async () => {
  const first = openKit();
  const { tenantId } = first.tenants.createKey({ tenantName: "A" });
  await appendAll(first.ledger, [callOf(tenantId), callOf(tenantId, { appId: "b" })]);
  const head = first.ledger.head(tenantId, "default");
  first.close();
  const second = openKit({ dataDir: first.dataDir });
  expect(second.ledger.head(tenantId, "default")).toEqual(head);
  await appendAll(second.ledger, [callOf(tenantId), callOf(tenantId, { appId: "b" })]);
  expect([...rederive(second).values()].map((chain) => chain.length)).toEqual([2, 2]);
});

test("closing writes what is waiting, and refuses what comes later", async () => {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  const waiting = appendAll(
    kit.ledger,
    Array.from({ length: 1200 }, () => callOf(tenantId)),
  );
  kit.ledger.close();
  const code = "closed";
  await expect(appendCall(kit.ledger, callOf(tenantId))).rejects.toMatchObject({ code });
  expect((await waiting).map((row) => row.seq)).toEqual(
    Array.from({ length: 1200 }, (_, i) => i + 1),
  );
  expect(rederive(kit).get(`${tenantId}/default`)).toHaveLength(1200);
});

test("past ten thousand waiting calls, the next is refused before anything is done", async () => {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  const waiting = appendAll(
    kit.ledger,
    Array.from({ length: 10_000 }, () => callOf(tenantId)),
  );
  const code = "ledger_busy";
  expect(() => kit.ledger.assertReady()).toThrow(expect.objectContaining({ code }));
  await expect(appendCall(kit.ledger, callOf(tenantId))).rejects.toMatchObject({ code });
  expect(await waiting).toHaveLength(10_000);
  expect(() => kit.ledger.assertReady()).not.toThrow();
});

test("while the clock is behind, times stand still; far behind, nothing is recorded", async () => {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  const stamp = async (): Promise<number> => (await appendCall(kit.ledger, callOf(tenantId))).ts;
  expect(await stamp()).toBe(START_MS);
  kit.clock.nowMs = START_MS - 4_000;
  expect(await stamp()).toBe(START_MS);
  expect(kit.logged).toEqual([]);
  kit.clock.nowMs = START_MS - 600_000;
  expect([await stamp(), await stamp()]).toEqual([START_MS, START_MS]);
  expect(kit.logged).toEqual(["ledger_clock_behind"]);
  kit.clock.nowMs = START_MS - 600_001;
  await expect(stamp()).rejects.toMatchObject({ code: "clock_behind" });
  expect(() => kit.ledger.assertReady()).toThrow("the clock is 600001 ms behind");
  kit.clock.nowMs = START_MS + 1;
  expect(await stamp()).toBe(START_MS + 1);
  expect(rederive(kit).get(`${tenantId}/default`)).toHaveLength(5);
});

test("a writer that another one replaced writes no more", async () => {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  await appendCall(kit.ledger, callOf(tenantId));
  // What a second process on a file system without working locks would do.
  kit.store.writer.run("UPDATE meta SET value = x'39' WHERE name = 'writer_epoch'");
  const code = "fenced";
  await expect(appendCall(kit.ledger, callOf(tenantId))).rejects.toMatchObject({ code });
  expect(rederive(kit).get(`${tenantId}/default`)).toHaveLength(1);
});

/** SQLite's own result codes. */
const FULL = 13;
const READONLY = 8;
const IOERR_FSYNC = 1034;
const sqliteError = (errno: number): Error => Object.assign(new Error("injected"), { errno });

/** The crash-point table of an append: what fails, whether it reached the disk, what follows. */
const CRASH_POINTS: readonly {
  readonly name: string;
  readonly step: "begin" | "commit";
  readonly errno: number;
  readonly persists: boolean;
  readonly code: string;
  readonly recovers: boolean;
}[] = [
  {
    name: "disk full",
    step: "commit",
    errno: FULL,
    persists: false,
    code: "disk_full",
    recovers: true,
  },
  {
    name: "read-only",
    step: "begin",
    errno: READONLY,
    persists: false,
    code: "read_only",
    recovers: true,
  },
  {
    name: "fsync error, lost",
    step: "commit",
    errno: IOERR_FSYNC,
    persists: false,
    code: "state_unknown",
    recovers: false,
  },
  {
    name: "fsync error, kept",
    step: "commit",
    errno: IOERR_FSYNC,
    persists: true,
    code: "state_unknown",
    recovers: false,
  },
];

test.each(CRASH_POINTS)(
  "append, $name: no answer, no fork, and the next start knows",
  async (point) => {
    let armed = false;
    const kit = openKit({
      wrapTransactions: (plain: Transactions): Transactions => ({
        ...plain,
        [point.step]: () => {
          if (!armed) return plain[point.step]();
          if (point.persists) plain.commit();
          throw sqliteError(point.errno);
        },
      }),
    });
    const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
    await appendCall(kit.ledger, callOf(tenantId));
    const head = kit.ledger.head(tenantId, "default");

    armed = true;
    const failed = await Promise.allSettled([
      appendCall(kit.ledger, callOf(tenantId)),
      appendCall(kit.ledger, callOf(tenantId, { appId: "b" })),
    ]);
    for (const result of failed) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: point.code } });
    }
    expect(kit.ledger.head(tenantId, "default")).toEqual(head);
    expect(kit.fatal).toHaveLength(point.recovers ? 0 : 1);

    armed = false;
    const next = await Promise.allSettled([appendCall(kit.ledger, callOf(tenantId))]);
    expect(next[0]?.status).toBe(point.recovers ? "fulfilled" : "rejected");
    kit.close();

    const second = openKit({ dataDir: kit.dataDir });
    const height = 1 + (point.persists ? 1 : 0) + (point.recovers ? 1 : 0);
    expect(second.ledger.head(tenantId, "default").height).toBe(height);
    const row = await appendCall(second.ledger, callOf(tenantId));
    expect(row.seq).toBe(height + 1);
    rederive(second);
  },
);
