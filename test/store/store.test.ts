import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { chainTable, rowTable } from "../../src/ledger/tables.ts";
import { readKeyFile, writeKeyFile } from "../../src/store/key-file.ts";
import { metaTable } from "../../src/store/meta.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import {
  apiKeyTable,
  appTable,
  checkoutTable,
  packageTable,
  paymentEventTable,
  replayTable,
  requestNonceTable,
  sealedTable,
  signupTable,
  subscriptionTable,
  tenantSecretTable,
  tenantTable,
} from "../../src/tenant/tables.ts";
import { onTestEnd, temporaryDirectory } from "../trust-kit.ts";

function open(dataDir: string): Store {
  const store = openStore(dataDir, { onFatal: () => undefined });
  onTestEnd(() => store.close());
  return store;
}

const ZEROS = "0".repeat(64);

/** Inserts a row whose hash is 32 times its seq. */
function insertRow(store: Store, row: { seq: number; ts: number; prevHash: string }, verb: string) {
  store.writer.run(
    `${verb} INTO ledger_row (chain_id, seq, ts, request_id, body, row_hash, row_mac)
     VALUES (1, ?, ?, ?, ?, ?, x'00')`,
    [
      row.seq,
      row.ts,
      `request ${row.seq}`,
      Buffer.from(JSON.stringify({ prev_hash: row.prevHash, seq: row.seq })),
      Buffer.alloc(32, row.seq),
    ],
  );
}

function storeWithTwoRows(): Store {
  const store = open(temporaryDirectory());
  store.writer.run("INSERT INTO chain VALUES (1, 't', 'a')");
  insertRow(store, { seq: 1, ts: 5, prevHash: ZEROS }, "INSERT");
  insertRow(store, { seq: 2, ts: 5, prevHash: "01".repeat(32) }, "INSERT");
  return store;
}

test("a data directory is private and opens again with what was written", () => {
  const dataDir = join(temporaryDirectory(), "data");
  const first = open(dataDir);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  first.transact(() => first.writer.run("INSERT INTO meta VALUES ('a', x'01')"));
  first.close();
  const rows = open(dataDir).reads.select().from(metaTable).all();
  expect(rows).toEqual([{ name: "a", value: Buffer.from([1]) }]);
});

test("the database runs with the settings that durability needs", () => {
  const { writer, reader } = open(temporaryDirectory());
  const pragma = (name: string): unknown =>
    Object.values(writer.query<Record<string, unknown>, []>(`PRAGMA ${name}`).get() ?? {})[0];
  expect(pragma("journal_mode")).toBe("wal");
  expect(pragma("synchronous")).toBe(2);
  expect(pragma("foreign_keys")).toBe(1);
  expect(pragma("recursive_triggers")).toBe(1);
  expect(() => reader.run("DELETE FROM meta")).toThrow("readonly");
});

test("a second opening of the same directory is refused and named, here and in another process", () => {
  const dataDir = temporaryDirectory();
  const first = open(dataDir);
  const message = `the data directory ${dataDir} is in use by process ${process.pid}`;
  expect(() => open(dataDir)).toThrow(message);
  const script = `
    import { openStore } from ${JSON.stringify(new URL("../../src/store/store.ts", import.meta.url).pathname)};
    try { openStore(${JSON.stringify(dataDir)}, { onFatal() {} }); } catch (e) {
      process.stdout.write(e.code + " " + e.message); process.exit(3);
    }`;
  const other = Bun.spawnSync([process.execPath, "-e", script]);
  expect(other.exitCode).toBe(3);
  expect(other.stdout.toString()).toContain(`directory_locked ${message}`);
  first.close();
  expect(() => open(dataDir)).not.toThrow();
});

test.each(["UPDATE ledger_row SET ts = 6", "DELETE FROM ledger_row", "DELETE FROM chain"])(
  "the database itself refuses %p",
  (statement) => {
    expect(() => storeWithTwoRows().writer.run(statement)).toThrow("append-only");
  },
);

test.each([
  ["a gap", { seq: 4, ts: 5, prevHash: "02".repeat(32) }],
  ["a doubled row", { seq: 2, ts: 5, prevHash: "01".repeat(32) }],
  ["another predecessor", { seq: 3, ts: 5, prevHash: "01".repeat(32) }],
  ["a time before the last row", { seq: 3, ts: 4, prevHash: "02".repeat(32) }],
])("the database itself refuses a row with %s", (_name, row) => {
  const store = storeWithTwoRows();
  for (const verb of ["INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE"]) {
    expect(() => insertRow(store, row, verb)).toThrow("does not continue its chain");
  }
  insertRow(store, { seq: 3, ts: 5, prevHash: "02".repeat(32) }, "INSERT");
});

test("replacing by primary key is refused with recursive triggers off as well", () => {
  const store = storeWithTwoRows();
  store.writer.run("PRAGMA recursive_triggers = OFF");
  const replace = `INSERT OR REPLACE INTO ledger_row
    SELECT 2, 1, 2, 9, 'new', body, x'09', x'09' FROM ledger_row WHERE seq = 2`;
  expect(() => store.writer.run(replace)).toThrow("does not continue its chain");
});

test.each([
  [
    "a dropped trigger",
    "DROP TRIGGER ledger_row_no_delete",
    "trigger ledger_row_no_delete is missing",
  ],
  ["a foreign table", "CREATE TABLE extra (a)", "table extra is not ours"],
  ["a dropped index", "DROP INDEX ledger_row_request", "index ledger_row_request is missing"],
  [
    "a migration from the future",
    "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('00', 9999999999999)",
    "was it opened by a newer one?",
  ],
])("a database with %s does not open", (_name, statement, message) => {
  const dataDir = temporaryDirectory();
  open(dataDir).close();
  const raw = new Database(join(dataDir, "svc.sqlite"));
  raw.run(statement);
  raw.close();
  expect(() => open(dataDir)).toThrow(message);
});

test("a file that is no database is refused, and left as it is", () => {
  const dataDir = temporaryDirectory();
  const path = join(dataDir, "svc.sqlite");
  writeFileSync(path, "not a database, but long enough to be looked at as one".repeat(20));
  const before = readFileSync(path);
  expect(() => open(dataDir)).toThrow("the database file is not a database");
  expect(readFileSync(path)).toEqual(before);
});

test("drizzle's tables name the columns that the migrations make, with their nullability", () => {
  const { writer } = open(temporaryDirectory());
  for (const table of [
    metaTable,
    packageTable,
    tenantTable,
    tenantSecretTable,
    sealedTable,
    signupTable,
    paymentEventTable,
    checkoutTable,
    subscriptionTable,
    appTable,
    apiKeyTable,
    requestNonceTable,
    replayTable,
    chainTable,
    rowTable,
  ]) {
    const { name, columns } = getTableConfig(table);
    const stored = writer
      .query<{ name: string; type: string; notnull: number; pk: number }, []>(
        `PRAGMA table_info(${name})`,
      )
      .all();
    expect(columns.map((c) => [c.name, c.getSQLType().toUpperCase(), c.notNull])).toEqual(
      stored.map((c) => [c.name, c.type, c.notnull === 1 || c.pk > 0]),
    );
  }
});

test("a transaction that throws leaves nothing behind", () => {
  const store = open(temporaryDirectory());
  const write = (): void => void store.writer.run("INSERT INTO meta VALUES ('a', x'01')");
  expect(() =>
    store.transact(() => {
      write();
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(store.reads.select().from(metaTable).all()).toEqual([]);
  store.transact(write);
  expect(store.reads.select().from(metaTable).all()).toHaveLength(1);
});

test("a transaction inside a transaction is a bug", () => {
  const store = open(temporaryDirectory());
  expect(() => store.transact(() => store.transact(() => undefined))).toThrow("begun inside");
});

test("a key file is written once, for its owner only, and read strictly", () => {
  const path = join(temporaryDirectory(), "master.key");
  expect(readKeyFile(path)).toBeNull();
  const key = new Uint8Array(32).fill(7);
  writeKeyFile(path, key);
  expect(readFileSync(path, "utf8")).toBe(`${"07".repeat(32)}\n`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readKeyFile(path)).toEqual(key);
  expect(() => writeKeyFile(path, key)).toThrow("EEXIST");
  chmodSync(path, 0o640);
  expect(() => readKeyFile(path)).toThrow(`run: chmod 600 ${path}`);
  chmodSync(path, 0o600);
  writeFileSync(path, `${"07".repeat(31)}0\n`);
  expect(() => readKeyFile(path)).toThrow("64 lowercase hex digits");
});
