/** `svc backup` while calls are recorded, and `svc restore`: nothing is lost, and it is recorded. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openKit, temporaryDirectory } from "../trust-kit.ts";
import { appendAll, callOf } from "../trust-lab.ts";
import { jsonOf, run } from "./kit.ts";

setDefaultTimeout(30_000);

async function backedUp() {
  const directory = temporaryDirectory();
  const kit = openKit({ dataDir: join(directory, "data"), nowMs: Date.now() });
  const { hmacSecret, tenantId } = kit.tenants.createKey({ tenantName: "acme" });
  await appendAll(kit.ledger, [callOf(tenantId), callOf(tenantId), callOf(tenantId)]);
  kit.checkpoints.run();
  const head = kit.ledger.head(tenantId, "default");
  // The directory is open and locked all the while.
  const backup = await run({ directory }, "backup", "copy", "--json");
  await appendAll(kit.ledger, [callOf(tenantId)]);
  kit.close();
  return { directory, backup, tenantId, head, hmacSecret };
}

test("a backup of a running server restores its rows, keys and checkpoints", async () => {
  const { backup, directory, head, hmacSecret, tenantId } = await backedUp();
  expect([backup.code, backup.err]).toEqual([0, ""]);
  expect(Object.keys(jsonOf(backup)["files"] as object)).toEqual([
    "checkpoints/00000001.json",
    "checkpoints/00000001.note",
    "master.key",
    "root.key",
    "svc.sqlite",
  ]);
  expect(statSync(join(directory, "copy")).mode & 0o777).toBe(0o700);
  const restored = await run({ directory }, "restore", "copy", "--data-dir", "again", "--json");
  expect([restored.code, restored.err]).toEqual([0, ""]);
  const kit = openKit({ dataDir: join(directory, "again"), nowMs: Date.now() });
  expect(kit.ledger.head(tenantId, "default")).toEqual(head);
  expect(kit.tenants.hmacSecret(tenantId)).toBe(hmacSecret);
  expect(kit.checkpoints.latest()?.n).toBe(1);
  // The restore is a row of the operator's own chain.
  const operator = [...kit.ledger.heads.all()].find(({ chain }) => chain.appId === "admin");
  expect(operator?.position.rowHash).toBe(String(jsonOf(restored)["row_hash"]));
});

test("nothing is ever written over, and what is no whole backup is refused", async () => {
  const { directory } = await backedUp();
  const again = await run({ directory }, "backup", "copy");
  expect([again.code, again.err]).toEqual([2, expect.stringContaining("exists already")]);
  const over = await run({ directory }, "restore", "copy");
  expect([over.code, over.err]).toEqual([2, expect.stringContaining("is not empty")]);
  const none = await run({ directory }, "restore", "data", "--data-dir", "again");
  expect([none.code, none.err]).toEqual([1, expect.stringContaining("no whole backup")]);
  appendFileSync(join(directory, "copy", "svc.sqlite"), "x");
  const damaged = await run({ directory }, "restore", "copy", "--data-dir", "again");
  expect([damaged.code, damaged.err]).toEqual([1, expect.stringContaining("svc.sqlite")]);
  expect(existsSync(join(directory, "again"))).toBe(false);
  const nowhere = await run({ directory }, "backup", "b", "--data-dir", "none");
  expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining("no data directory")]);
  expect(existsSync(join(directory, "b"))).toBe(false);
  expect(readFileSync(join(directory, "copy", "backup.json"), "utf8")).toContain("created_at");
});
