import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { verifySignature } from "../../src/crypto/ed25519.ts";
import { sha256Hex } from "../../src/crypto/hash.ts";
import { CheckpointChainChecker } from "../../src/ledger/checkpoint-check.ts";
import { openKit } from "../trust-kit.ts";
import { appendAll, callOf, type Lab, START_MS } from "../trust-lab.ts";

const HOUR_MS = 3_600_000;
const ZEROS = "0".repeat(64);

async function addRows(kit: Lab, name: string, count = 1): Promise<string> {
  const { tenantId } = kit.tenants.createKey({ tenantName: name });
  await appendAll(
    kit.ledger,
    Array.from({ length: count }, () => callOf(tenantId)),
  );
  return tenantId;
}

const members = (record: Uint8Array): Record<string, unknown> =>
  JSON.parse(Buffer.from(record).toString()) as Record<string, unknown>;

test("the first checkpoint has every head under one signed root, and the files say the same", async () => {
  const kit = openKit();
  const a = await addRows(kit, "A", 3);
  const b = await addRows(kit, "B", 1);
  const { checkpoint, isNew } = kit.checkpoints.run();
  expect(isNew).toBe(true);
  const leaf = (tenantId: string, height: number): string => {
    const { headHash } = kit.ledger.head(tenantId, "default");
    const data = `{"app_id":"default","head_hash":"${headHash}","height":${height},"tenant_id":"${tenantId}"}`;
    return sha256Hex(Buffer.from(`\0${data}`));
  };
  const [left = "", right = ""] = a < b ? [leaf(a, 3), leaf(b, 1)] : [leaf(b, 1), leaf(a, 3)];
  const root = sha256Hex(Buffer.from(`01${left}${right}`, "hex"));
  expect(members(checkpoint.record)).toEqual({
    capture_ts: START_MS,
    keys: 1,
    keys_head: kit.keys.chainHead().hash,
    kid: kit.keys.current.kid,
    n: 1,
    origin: kit.keys.origin,
    partitions: 2,
    prev: ZEROS,
    rev: "0123456789ab",
    t: "svc.checkpoint",
    tree_root: root,
    tree_size: 2,
    v: 1,
  });
  const hash = sha256Hex(checkpoint.record);
  expect(kit.checkpoints.globalHead()).toBe(hash);
  const text =
    `${kit.keys.origin}\n2\n${Buffer.from(root, "hex").toString("base64")}\n` +
    `svc-checkpoint 1 ${hash}\n`;
  expect(checkpoint.note.startsWith(`${text}\n— ${kit.keys.origin} `)).toBe(true);
  const directory = join(kit.dataDir, "checkpoints");
  expect(readdirSync(directory).sort()).toEqual(["00000001.json", "00000001.note"]);
  expect(readFileSync(join(directory, "00000001.json"))).toEqual(Buffer.from(checkpoint.record));
  expect(readFileSync(join(directory, "00000001.note"), "utf8")).toBe(checkpoint.note);
});

test("an hour has one checkpoint however often it is asked for; missed hours stay missed", async () => {
  const kit = openKit();
  await addRows(kit, "A");
  expect(kit.checkpoints.run().isNew).toBe(true);
  kit.clock.nowMs = START_MS + HOUR_MS - 1;
  expect(kit.checkpoints.run()).toMatchObject({ isNew: false, checkpoint: { n: 1 } });
  kit.clock.nowMs = START_MS + HOUR_MS;
  expect(kit.checkpoints.run()).toMatchObject({ isNew: true, checkpoint: { n: 2 } });
  kit.clock.nowMs = START_MS + 5 * HOUR_MS + 17;
  const { checkpoint } = kit.checkpoints.run();
  expect(members(checkpoint.record)).toMatchObject({
    n: 3,
    capture_ts: START_MS + 5 * HOUR_MS + 17,
    prev: sha256Hex(kit.checkpoints.from(2, 1)[0]?.record ?? ""),
  });
});

test("an idle hour is recorded with the same tree, and no anchor is queued for it", async () => {
  const kit = openKit();
  expect(kit.checkpoints.run().checkpoint.n).toBe(1);
  expect(kit.anchored).toEqual([]);
  await addRows(kit, "A");
  kit.clock.nowMs += HOUR_MS;
  const busy = members(kit.checkpoints.run().checkpoint.record);
  kit.clock.nowMs += HOUR_MS;
  const idle = members(kit.checkpoints.run().checkpoint.record);
  expect(kit.anchored).toEqual([2]);
  expect(idle["tree_root"]).toBe(busy["tree_root"]);
  expect(idle["tree_size"]).toBe(1);
});

test("a clock that steps back makes no second checkpoint for an hour, and no row before one", async () => {
  const kit = openKit();
  const tenantId = await addRows(kit, "A");
  kit.clock.nowMs = START_MS + HOUR_MS;
  kit.checkpoints.run();
  kit.clock.nowMs = START_MS + HOUR_MS - 60_000;
  expect(kit.checkpoints.run()).toMatchObject({ isNew: false, checkpoint: { n: 1 } });
  const [row] = await appendAll(kit.ledger, [callOf(tenantId)]);
  expect(row?.ts).toBe(START_MS + HOUR_MS);
  kit.close();
  // The same after a restart: the checkpoint's time is remembered.
  const second = openKit({ dataDir: kit.dataDir, nowMs: START_MS + HOUR_MS - 60_000 });
  expect(second.checkpoints.run().isNew).toBe(false);
  expect(second.keys.notBeforeMs).toBe(START_MS + HOUR_MS);
  second.clock.nowMs = START_MS;
  expect(() => second.checkpoints.run()).toThrow(expect.objectContaining({ code: "clock_behind" }));
});

test("the checkpoint of a time is the newest one captured then or before", async () => {
  const kit = openKit();
  await addRows(kit, "A");
  kit.checkpoints.run();
  kit.clock.nowMs = START_MS + HOUR_MS;
  kit.checkpoints.run();
  expect(kit.checkpoints.at(START_MS - 1)).toBeNull();
  expect(kit.checkpoints.at(START_MS)?.n).toBe(1);
  expect(kit.checkpoints.at(START_MS + HOUR_MS - 1)?.n).toBe(1);
  expect(kit.checkpoints.at(START_MS + HOUR_MS)?.n).toBe(2);
  expect(kit.checkpoints.at(START_MS + 9 * HOUR_MS)?.n).toBe(2);
});

/** The crash-point table of a checkpoint. */
test.each([
  ["lost at COMMIT", (): void => undefined, 0],
  ["kept at COMMIT", (commit: () => void): void => commit(), 1],
])("a checkpoint %s: the next start continues the chain", async (_name, effect, kept) => {
  let armed = false;
  const kit = openKit({
    wrapTransactions: (plain) => ({
      ...plain,
      commit: () => {
        if (!armed) return plain.commit();
        effect(plain.commit);
        throw Object.assign(new Error("injected"), { errno: 1034 });
      },
    }),
  });
  await addRows(kit, "A");
  armed = true;
  expect(() => kit.checkpoints.run()).toThrow("unknown state");
  expect(kit.checkpoints.latest()).toBeNull();
  kit.close();
  const directory = join(kit.dataDir, "checkpoints");
  expect(readdirSync(directory)).toEqual([]);

  const second = openKit({ dataDir: kit.dataDir, nowMs: START_MS + HOUR_MS });
  expect(second.checkpoints.latest()?.n ?? 0).toBe(kept);
  expect(readdirSync(directory)).toHaveLength(2 * kept);
  expect(second.checkpoints.run().checkpoint.n).toBe(kept + 1);
  expect(checker(second).check(true)).toMatchObject({ ok: true, checkpoints: kept + 1 });
});

test("checkpoints that were committed and not published are published at the next start", async () => {
  const kit = openKit();
  await addRows(kit, "A");
  const { checkpoint } = kit.checkpoints.run();
  kit.close();
  const path = join(kit.dataDir, "checkpoints", "00000001.json");
  rmSync(path);
  openKit({ dataDir: kit.dataDir });
  expect(readFileSync(path)).toEqual(Buffer.from(checkpoint.record));
});

test("an older copy of the database does not start once a later checkpoint was published", async () => {
  const kit = openKit();
  await addRows(kit, "A");
  kit.checkpoints.run();
  kit.close();
  const path = join(kit.dataDir, "svc.sqlite");
  copyFileSync(path, `${path}.old`);
  const second = openKit({ dataDir: kit.dataDir, nowMs: START_MS + HOUR_MS });
  second.checkpoints.run();
  second.close();
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  copyFileSync(`${path}.old`, path);
  expect(() => openKit({ dataDir: kit.dataDir, nowMs: START_MS + 2 * HOUR_MS })).toThrow(
    "checkpoint 2 was published, but the database ends at 1",
  );
});

test("a published checkpoint that the database contradicts stops the start", async () => {
  const kit = openKit();
  await addRows(kit, "A");
  kit.checkpoints.run();
  kit.close();
  writeFileSync(join(kit.dataDir, "checkpoints", "00000001.json"), "{}");
  expect(() => openKit({ dataDir: kit.dataDir })).toThrow("is not the one that was published");
});

function checker(kit: Lab): CheckpointChainChecker {
  return new CheckpointChainChecker(kit);
}

/** Runs SQL with every trigger gone for a moment, as the owner of the file could. */
function tamper(dataDir: string, sql: string): void {
  const db = new Database(join(dataDir, "svc.sqlite"));
  const triggers = db
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'",
    )
    .all();
  for (const { name } of triggers) db.run(`DROP TRIGGER ${name}`);
  db.run(sql);
  for (const trigger of triggers) db.run(trigger.sql);
  db.close();
}

test("rows removed below a checkpointed height stop the start, even where the chain stays sound", async () => {
  const kit = openKit();
  const tenantId = await addRows(kit, "A", 3);
  kit.checkpoints.run();
  kit.close();
  tamper(kit.dataDir, "DELETE FROM ledger_row WHERE seq = 3");
  expect(() => openKit({ dataDir: kit.dataDir })).toThrow(
    `row 3 of ${tenantId}/default is in a checkpoint`,
  );
});

async function threeCheckpoints(): Promise<Lab> {
  const kit = openKit();
  for (const name of ["A", "B", "C"]) {
    await addRows(kit, name, 2);
    await addRows(kit, "A");
    kit.checkpoints.run();
    kit.clock.nowMs += HOUR_MS;
  }
  return kit;
}

test.each([
  [
    "an altered record",
    "UPDATE checkpoint SET record = CAST(replace(CAST(record AS TEXT), '\"partitions\":2', '\"partitions\":3') AS BLOB) WHERE n = 2",
    2,
    "record_hash",
  ],
  [
    "an altered note",
    "UPDATE checkpoint SET note = replace(note, 'svc-checkpoint 3', 'svc-checkpoint 4') WHERE n = 3",
    3,
    "note",
  ],
  ["an altered time column", "UPDATE checkpoint SET capture_ts = 5 WHERE n = 1", 1, "capture_ts"],
  ["a removed checkpoint", "DELETE FROM checkpoint WHERE n = 2", 2, "n"],
  ["an altered leaf", "UPDATE head_leaf SET height = 1 WHERE leaf = 2", 2, "leaf"],
  ["a removed leaf", "DELETE FROM head_leaf WHERE leaf = 4", 3, "leaf"],
  [
    "an altered node",
    "UPDATE head_node SET hash = zeroblob(32) WHERE level = 1 AND position = 0",
    2,
    "leaf",
  ],
  ["a removed node", "DELETE FROM head_node WHERE level = 2 AND position = 0", 3, "leaf"],
  [
    "an altered row under a leaf",
    "UPDATE ledger_row SET row_hash = zeroblob(32) WHERE seq = 2 AND chain_id = 2",
    2,
    "leaf",
  ],
])("the checkpoint chain's own check finds %s", async (_name, sql, n, reason) => {
  const kit = await threeCheckpoints();
  const check = checker(kit);
  expect(check.check(false)).toMatchObject({ ok: true, checkpoints: 3, checkpoint_break: null });
  tamper(kit.dataDir, sql);
  expect(check.check(true)).toMatchObject({ ok: false, checkpoint_break: { n, reason } });
});

test("every key of every start is in the history, certified and chained, before it signs", async () => {
  const first = openKit();
  first.close();
  const second = openKit({ dataDir: first.dataDir, nowMs: START_MS + 5 });
  const { root, keys } = second.keys.history();
  expect(keys.map((key) => key.kid)).toEqual([first.keys.current.kid, second.keys.current.kid]);
  expect(keys.map((key) => key.not_before)).toEqual([START_MS, START_MS + 5]);
  let prev = ZEROS;
  for (const [index, key] of keys.entries()) {
    expect(JSON.parse(key.record)).toEqual({
      kid: key.kid,
      n: index + 1,
      not_before: key.not_before,
      prev,
      public_key: key.public_key,
      rev: "0123456789ab",
      root_kid: root.kid,
      t: "svc.key",
      v: 1,
    });
    prev = sha256Hex(key.record);
    const signature = Buffer.from(key.signature, "base64url");
    const rootKey = Buffer.from(root.public_key, "hex");
    expect(verifySignature(rootKey, Buffer.from(key.record), signature)).toBe(true);
  }
  expect(second.keys.chainHead()).toEqual({ count: 2, hash: prev });
});

test("another or a missing root key stops the start, and no key is recorded", () => {
  const kit = openKit();
  kit.close();
  const path = join(kit.dataDir, "root.key");
  rmSync(path);
  expect(() => openKit({ dataDir: kit.dataDir })).toThrow("is missing");
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, `${"ab".repeat(32)}\n`, { mode: 0o600 });
  expect(() => openKit({ dataDir: kit.dataDir })).toThrow("the key history belongs to root key");
});
