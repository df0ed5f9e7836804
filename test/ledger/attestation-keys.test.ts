/** The crash-point table of keys: the attestation key of a start, and a tenant's next secret. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { appendCall } from "../../src/ledger/append.ts";
import { CheckpointChainChecker } from "../../src/ledger/checkpoint-check.ts";
import type { Transactions } from "../../src/store/store.ts";
import { openKit, temporaryDirectory } from "../trust-kit.ts";
import { callOf, type Lab, rowsIn } from "../trust-lab.ts";

const HOUR_MS = 3_600_000;
const IOERR_FSYNC = 1034;

/** What the failing COMMIT does before it reports an I/O error. */
const EFFECTS: readonly (readonly [string, (plain: Transactions) => void, boolean])[] = [
  ["failed", (plain) => plain.rollback(), false],
  ["failed but persisted", (plain) => plain.commit(), true],
];

/** Lets the COMMIT of every transaction fail once `armed` says so. */
function failing(
  armed: () => boolean,
  effect: (plain: Transactions) => void,
): (plain: Transactions) => Transactions {
  return (plain) => ({
    ...plain,
    commit: () => {
      if (!armed()) return plain.commit();
      effect(plain);
      throw Object.assign(new Error("disk I/O error"), { errno: IOERR_FSYNC });
    },
  });
}

/** Every key's record names the one before, and checkpoints hold with it. */
function expectSound(kit: Lab, keys: number): void {
  expect(kit.keys.history().keys).toHaveLength(keys);
  kit.clock.nowMs += HOUR_MS;
  kit.checkpoints.run();
  expect(new CheckpointChainChecker(kit).check(true).ok).toBe(true);
}

test.each(EFFECTS)(
  "the record of a start's key, %s: nothing was signed, and the next start has its own",
  async (_name, effect, persists) => {
    const first = openKit();
    const { tenantId } = first.tenants.createKey({ tenantName: "A" });
    await appendCall(first.ledger, callOf(tenantId));
    first.checkpoints.run();
    first.close();
    // A start writes twice: it takes the ledger over, then it records its key.
    let transactions = 0;
    const wrapTransactions = failing(() => ++transactions === 2, effect);
    const { dataDir } = first;
    const nowMs = first.clock.nowMs + HOUR_MS;
    expect(() => openKit({ dataDir, nowMs, wrapTransactions })).toThrow("unknown state");

    const second = openKit({ dataDir, nowMs });
    await appendCall(second.ledger, callOf(tenantId));
    expectSound(second, persists ? 3 : 2);
    expect(second.ledger.readSlice({ tenantId, since: 0, limit: 10 })).toMatchObject({
      chain_ok: true,
    });
  },
);

test.each(EFFECTS)(
  "the first start's key, %s: the root key that was written is the one that stays",
  (_name, effect, persists) => {
    const dataDir = temporaryDirectory();
    let transactions = 0;
    // Before them, the master key's canary.
    const wrapTransactions = failing(() => ++transactions === 3, effect);
    expect(() => openKit({ dataDir, wrapTransactions })).toThrow("unknown state");
    expect(existsSync(join(dataDir, "root.key"))).toBe(true);
    expectSound(openKit({ dataDir }), persists ? 2 : 1);
  },
);

test.each(EFFECTS)(
  "a tenant's next secret, %s: rows go on under the one that is durable",
  async (_name, effect, persists) => {
    let armed = false;
    const first = openKit({ wrapTransactions: failing(() => armed, effect) });
    const { tenantId, hmacSecret } = first.tenants.createKey({ tenantName: "A" });
    await appendCall(first.ledger, callOf(tenantId));
    armed = true;
    expect(() => first.tenants.rotateSecret(tenantId)).toThrow("unknown state");
    expect(first.fatal).toHaveLength(1);
    first.close();

    const second = openKit({ dataDir: first.dataDir });
    expect(second.tenants.hmacSecret(tenantId) === hmacSecret).toBe(!persists);
    await appendCall(second.ledger, callOf(tenantId));
    const slice = second.ledger.readSlice({ tenantId, since: 0, limit: 10 });
    expect(slice.chain_ok).toBe(true);
    expect(rowsIn(slice).map((row) => row["mac_epoch"])).toEqual([1, persists ? 2 : 1]);
  },
);
