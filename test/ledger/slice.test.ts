import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { canonicalJson } from "../../src/bytes/canonical-json.ts";
import { sha256Hex } from "../../src/crypto/hash.ts";
import { appendCall } from "../../src/ledger/append.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { parseCursor, sliceText } from "../../src/ledger/read-slice.ts";
import { openKit } from "../trust-kit.ts";
import { appendAll, callOf, type Lab, rowsIn, type SeenRow, START_MS } from "../trust-lab.ts";

/** `count` rows a millisecond apart over three apps, two of them sharing every time. */
async function filled(count: number): Promise<{ kit: Lab; tenantId: string }> {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  const other = kit.tenants.createKey({ tenantName: "B" }).tenantId;
  for (let i = 0; i < count; i++) {
    kit.clock.nowMs = START_MS + i;
    await appendAll(kit.ledger, [
      callOf(tenantId, { appId: "b" }),
      callOf(tenantId, { appId: "a" }),
      callOf(other, { appId: "a" }),
      ...(i % 3 === 0 ? [callOf(tenantId, { appId: "c" })] : []),
    ]);
  }
  return { kit, tenantId };
}

function pages(
  ledger: Ledger,
  query: { tenantId: string; since: number; appId?: string },
  limit: number,
): SeenRow[] {
  const rows: SeenRow[] = [];
  let after: ReturnType<typeof parseCursor> = null;
  for (;;) {
    const slice = ledger.readSlice({ ...query, limit, ...(after && { after }) });
    expect(slice).toMatchObject({ chain_ok: true, chain_break: null });
    expect(slice.rows.length).toBeLessThanOrEqual(limit);
    rows.push(...rowsIn(slice));
    if (slice.next === null) return rows;
    expect(slice.rows).toHaveLength(limit);
    after = parseCursor(slice.next);
    expect(after).not.toBeNull();
  }
}

const order = (row: SeenRow): string =>
  `${row["ts"]} ${row["app_id"]} ${String(row["seq"]).padStart(9, "0")}`;

test("a served row hashes to its row_hash without the two members that were added", async () => {
  const { kit, tenantId } = await filled(3);
  const rows = rowsIn(kit.ledger.readSlice({ tenantId, since: 0, limit: 100 }));
  expect(rows).toHaveLength(7);
  for (const row of rows) {
    const { row_hash, row_mac, ...members } = row;
    expect(sha256Hex(canonicalJson(members))).toBe(String(row_hash));
    expect(row_mac).toMatch(/^[0-9a-f]{64}$/);
    expect(row["tenant_id"]).toBe(tenantId);
  }
});

test("any page size gives all rows once, in order of time, app and seq", async () => {
  const { kit, tenantId } = await filled(20);
  const all = pages(kit.ledger, { tenantId, since: 0 }, 1000);
  expect(all).toHaveLength(47);
  expect(all.map(order)).toEqual([...all.map(order)].sort());
  for (const limit of [1, 2, 3, 5, 46, 47, 48]) {
    expect(pages(kit.ledger, { tenantId, since: 0 }, limit)).toEqual(all);
  }
  for (let since = START_MS - 1; since <= START_MS + 21; since++) {
    const expected = all.filter((row) => Number(row["ts"]) >= since);
    expect(pages(kit.ledger, { tenantId, since }, 4)).toEqual(expected);
    expect(kit.ledger.countSince(tenantId, since)).toBe(expected.length);
    for (const appId of ["a", "b", "c", "none"]) {
      const ofApp = expected.filter((row) => row["app_id"] === appId);
      expect(pages(kit.ledger, { tenantId, since, appId }, 7)).toEqual(ofApp);
    }
  }
});

test("rows of a clock that stands still are paged without loss", async () => {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  const calls = Array.from({ length: 90 }, (_, i) =>
    callOf(tenantId, { appId: "abc"[i % 3] ?? "" }),
  );
  await appendAll(kit.ledger, calls);
  const rows = pages(kit.ledger, { tenantId, since: 0 }, 7);
  expect(rows.map(order)).toEqual([...rows.map(order)].sort());
  expect(new Set(rows.map((row) => row["request_id"])).size).toBe(90);
});

test("no query of one tenant shows a row of another, whatever the app", async () => {
  const { kit } = await filled(3);
  const stranger = kit.tenants.createKey({ tenantName: "C" }).tenantId;
  for (const appId of [undefined, "a", "b"]) {
    const slice = kit.ledger.readSlice({ tenantId: stranger, appId, since: 0, limit: 1000 });
    expect(slice).toEqual({ rows: [], chain_ok: true, chain_break: null, next: null });
  }
  const row = kit.ledger.readSlice({ tenantId: stranger, since: 0, limit: 1 });
  expect(row.rows).toEqual([]);
});

test("a cursor is read strictly", () => {
  expect(parseCursor("5.1.app-1.x")).toEqual({ ts: 5, seq: 1, appId: "app-1.x" });
  for (const text of [
    "",
    "5.1",
    "5.1.",
    "05.1.a",
    "5.01.a",
    "5.1.A",
    " 5.1.a",
    "5.1.a\n",
    "-5.1.a",
    "1e3.1.a",
  ]) {
    expect(parseCursor(text)).toBeNull();
  }
});

/** Changes the database behind the program's back, triggers gone, as its owner could. */
function tamper(kit: Lab, sql: string): void {
  const db = new Database(join(kit.dataDir, "svc.sqlite"));
  for (const name of ["no_update", "no_delete", "must_link"])
    db.run(`DROP TRIGGER ledger_row_${name}`);
  db.run(sql);
  db.close();
}

const ROW_5 = "WHERE seq = 5 AND chain_id = (SELECT id FROM chain WHERE app_id = 'b')";

test.each([
  [
    "an altered value",
    `UPDATE ledger_row SET body = CAST(replace(CAST(body AS TEXT), '"ms":7', '"ms":8') AS BLOB) ${ROW_5}`,
    5,
    "row_hash",
  ],
  ["an altered hash", `UPDATE ledger_row SET row_hash = zeroblob(32) ${ROW_5}`, 5, "row_hash"],
  ["an altered MAC", `UPDATE ledger_row SET row_mac = zeroblob(32) ${ROW_5}`, 5, "row_mac"],
  ["an altered time column", `UPDATE ledger_row SET ts = ts + 1 ${ROW_5}`, 5, "body"],
  ["a removed row", `DELETE FROM ledger_row ${ROW_5}`, 5, "seq"],
  ["a removed end", `DELETE FROM ledger_row WHERE seq >= 5`, 5, "seq"],
  ["a request id of another row", `UPDATE ledger_row SET request_id = 'x' ${ROW_5}`, 5, "body"],
  [
    "bytes that are no row",
    `UPDATE ledger_row SET body = CAST('x' AS BLOB), row_hash = x'2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881' ${ROW_5}`,
    5,
    "body",
  ],
])("%s is named by app, seq and reason, in a slice", async (_name, sql, seq, reason) => {
  const { kit, tenantId } = await filled(8);
  tamper(kit, sql);
  const slice = kit.ledger.readSlice({ tenantId, appId: "b", since: 0, limit: 100 });
  expect(slice.chain_ok).toBe(false);
  expect(slice.chain_break).toMatchObject({ app_id: "b", seq, reason });
  const { rows, ...rest } = slice;
  expect(JSON.parse(sliceText(slice))).toEqual({ rows: rowsIn({ rows }), ...rest });
});

test("a slice that begins right after a removed row names that row", async () => {
  const { kit, tenantId } = await filled(8);
  tamper(kit, `DELETE FROM ledger_row ${ROW_5}`);
  const query = { tenantId, appId: "b", since: START_MS + 5, limit: 100 };
  expect(kit.ledger.readSlice(query).chain_break).toMatchObject({ seq: 5, reason: "seq" });
  expect(kit.ledger.readSlice({ ...query, since: START_MS + 6 }).chain_ok).toBe(true);
});

test("rows that were rewritten, hashes and links too, fail on the MAC", async () => {
  const { kit, tenantId } = await filled(4);
  const db = new Database(join(kit.dataDir, "svc.sqlite"));
  for (const name of ["no_update", "no_delete", "must_link"])
    db.run(`DROP TRIGGER ledger_row_${name}`);
  const rows = db
    .query<{ id: number; body: Uint8Array }, []>(
      "SELECT ledger_row.id AS id, body FROM ledger_row JOIN chain ON chain.id = chain_id WHERE app_id = 'b' ORDER BY seq",
    )
    .all();
  let prev = "0".repeat(64);
  for (const row of rows) {
    const text = Buffer.from(row.body)
      .toString()
      .replace(/"prev_hash":"[0-9a-f]{64}"/, `"prev_hash":"${prev}"`)
      .replace('"seq":2,"status":200', '"seq":2,"status":500');
    prev = sha256Hex(text);
    db.query("UPDATE ledger_row SET body = ?, row_hash = ? WHERE id = ?").run(
      Buffer.from(text),
      Buffer.from(prev, "hex"),
      row.id,
    );
  }
  db.close();
  const slice = kit.ledger.readSlice({ tenantId, appId: "b", since: 0, limit: 100 });
  expect(slice.chain_break).toMatchObject({ app_id: "b", seq: 2, reason: "row_mac" });
});

test("a start on damaged rows is refused with the row's name", async () => {
  const { kit, tenantId } = await filled(4);
  kit.close();
  const db = new Database(join(kit.dataDir, "svc.sqlite"));
  const triggers = db
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'",
    )
    .all();
  for (const { name } of triggers) db.run(`DROP TRIGGER ${name}`);
  db.run(
    `UPDATE ledger_row SET body = CAST(replace(CAST(body AS TEXT), '"ms":7', '"ms":8') AS BLOB) WHERE seq = 2 AND chain_id = 1`,
  );
  for (const { sql } of triggers) db.run(sql);
  db.close();
  expect(() => openKit({ dataDir: kit.dataDir })).toThrow(
    `row 2 of ${tenantId}/b is damaged: row_hash`,
  );
});

test("a slice agrees with a plain list, whatever was appended", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ app: fc.constantFrom("a", "b", "c"), stepMs: fc.constantFrom(0, 0, 1, 5) }),
        { maxLength: 30 },
      ),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 0, max: 40 }),
      async (steps, limit, sinceOffset) => {
        const kit = openKit();
        const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
        const list: { ts: number; app: string; seq: number }[] = [];
        for (const { app, stepMs } of steps) {
          kit.clock.nowMs += stepMs;
          const row = await appendCall(kit.ledger, callOf(tenantId, { appId: app }));
          list.push({ ts: row.ts, app, seq: row.seq });
        }
        const since = START_MS + sinceOffset;
        const expected = list
          .filter((row) => row.ts >= since)
          .sort((x, y) => x.ts - y.ts || x.app.localeCompare(y.app) || x.seq - y.seq);
        const rows = pages(kit.ledger, { tenantId, since }, limit);
        expect(rows.map((row) => ({ ts: row["ts"], app: row["app_id"], seq: row["seq"] }))).toEqual(
          expected as never,
        );
        kit.close();
      },
    ),
    { numRuns: 40 },
  );
});
