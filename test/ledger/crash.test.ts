/**
 * `kill -9` under load, judged only from what was answered and from the directory as it opens again.
 * `SLOW=1`: 200 rounds. And what a full disk, a read-only file and an I/O error at fsync leave.
 */
import { expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { verifySignature } from "../../src/crypto/ed25519.ts";
import { appendCall } from "../../src/ledger/append.ts";
import { CheckpointChainChecker } from "../../src/ledger/checkpoint-check.ts";
import { parseAttestation } from "../../src/receipt/attestation.ts";
import { openTrust, type Trust } from "../../src/service/open-trust.ts";
import { verifyArchive } from "../trust-export.ts";
import { openKit, temporaryDirectory } from "../trust-kit.ts";
import { callOf } from "../trust-lab.ts";

const isSlow = process.env["SLOW"] === "1";
const ROUNDS = isSlow ? 200 : 4;
const CHILD = new URL("crash-child.ts", import.meta.url).pathname;

interface Answer {
  readonly tenantId: string;
  readonly appId: string;
  readonly requestId: string;
  readonly seq: number;
  readonly rowHash: string;
  readonly attestation: string;
}

let seed = 1;
function random(below: number): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % below;
}

/** Where each round's child dies: every second one inside an open transaction. */
const PLACES = ["outside", "begun", "committed", "inserted"] as const;

/** Runs a child until it is dead. @returns what it answered before, and whether it was inside. */
async function killedRound(
  dataDir: string,
  round: number,
): Promise<{ readonly answers: Answer[]; readonly diedInside: boolean }> {
  const mode = PLACES[round % PLACES.length] ?? "outside";
  const child = Bun.spawn(["bun", CHILD, dataDir, mode, String(1 + random(30))], {
    stdout: "pipe",
    stderr: "pipe",
  });
  let text = "";
  for await (const piece of child.stdout) {
    const isFirst = text === "";
    text += Buffer.from(piece).toString();
    if (isFirst && mode === "outside") setTimeout(() => child.kill("SIGKILL"), random(40));
  }
  await child.exited;
  if (child.signalCode !== "SIGKILL") {
    throw new Error(`the child ended by itself: ${await new Response(child.stderr).text()}`);
  }
  expect(text).toStartWith("serving\n");
  return { answers: answersIn(text), diedInside: text.includes("\ndies inside\n") };
}

/** What comes after the last newline was cut off by the kill. */
function answersIn(text: string): Answer[] {
  const lines = text.split("\n").slice(0, -1);
  return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Answer);
}

function open(dataDir: string): Trust {
  return openTrust({
    dataDir,
    rev: "0123456789ab",
    onFatal: (error) => {
      throw error;
    },
    log: () => undefined,
  });
}

/** The whole judgement: every answer has its row and its key, every chain verifies. */
async function judge(dataDir: string, answers: readonly Answer[]): Promise<void> {
  const trust = open(dataDir);
  try {
    // The newest first: most answers to judge are of the last starts.
    const keys = trust.keys
      .history()
      .keys.map((key) => Buffer.from(key.public_key, "hex"))
      .reverse();
    const heads = new Map<string, Answer[]>();
    const lost: Answer[] = [];
    for (const answer of answers) {
      const row = trust.ledger.reader.byRequestId(answer.tenantId, answer.requestId)?.row;
      const token = parseAttestation(answer.attestation);
      const isWhole =
        row?.seq === answer.seq &&
        Buffer.from(row.rowHash).toString("hex") === answer.rowHash &&
        token?.payload.chainHead === answer.rowHash &&
        keys.some((key) => verifySignature(key, token.signedBytes, token.signature));
      if (!isWhole) lost.push(answer);
      const own = heads.get(answer.tenantId) ?? [];
      own.push(answer);
      heads.set(answer.tenantId, own);
    }
    expect(lost).toEqual([]);
    for (const [tenantId, own] of heads) {
      const heldHeads = own.map(({ appId, seq, rowHash }) => ({
        appId,
        height: seq,
        headHash: rowHash,
      }));
      const hmacSecrets = [trust.tenants.hmacSecret(tenantId)];
      const report = await verifyArchive(trust.exportOf(tenantId), { heldHeads, hmacSecrets });
      expect(report.finding).toBeNull();
    }
    expect(trust.checkpointChecker.check(true).ok).toBe(true);
  } finally {
    trust.close();
  }
}

test(
  "killed at any moment, inside a transaction or not, no acknowledged row is lost and no chain breaks",
  async () => {
    const dataDir = temporaryDirectory();
    const answers: Answer[] = [];
    let judged = 0;
    let diedInside = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const killed = await killedRound(dataDir, round);
      answers.push(...killed.answers);
      if (killed.diedInside) diedInside += 1;
      if (round % 10 !== 9 && round !== ROUNDS - 1) continue;
      await judge(dataDir, answers);
      judged += answers.splice(0).length;
    }
    expect(judged).toBeGreaterThan(ROUNDS);
    expect(diedInside).toBe(ROUNDS / 2);
    const figures = `${ROUNDS} kills, ${diedInside} in a transaction, ${judged} answers judged\n`;
    if (isSlow) process.stdout.write(figures);
  },
  isSlow ? 900_000 : 120_000,
);

const hasStrace = canTrace();

function canTrace(): boolean {
  try {
    return Bun.spawnSync(["strace", "-o", "/dev/null", "true"]).exitCode === 0;
  } catch {
    return false;
  }
}

/** Runs a child under strace to its end. @returns what it printed, and what strace saw. */
function traced(dataDir: string, options: readonly string[], calls: number) {
  const trace = join(dataDir, "..", `${dataDir.split("/").at(-1)}.trace`);
  const child = ["bun", CHILD, dataDir, "sequential", String(calls)];
  const run = Bun.spawnSync(["strace", "-f", "-o", trace, ...options, ...child]);
  const seen = readFileSync(trace, "utf8");
  rmSync(trace);
  return { printed: run.stdout.toString(), status: run.exitCode, seen };
}

test.skipIf(!hasStrace)("strace sees an fsync before every answer, not after it", () => {
  const { printed, seen } = traced(temporaryDirectory(), ["-e", "trace=fsync,fdatasync,write"], 12);
  expect(printed.split("\n").filter((line) => line.startsWith("{"))).toHaveLength(12);
  const events = seen.split("\n").flatMap((line) => {
    if (/\bf(?:data)?sync\(\d+/.test(line)) return ["sync"];
    return /\bwrite\(1, "\{/.test(line) ? ["answer"] : [];
  });
  const answers = events.flatMap((event, index) => (event === "answer" ? [index] : []));
  expect(answers).toHaveLength(12);
  for (const index of answers) expect(events[index - 1]).toBe("sync");
});

test.skipIf(!hasStrace)(
  "an I/O error at any fsync ends the process, and what it answered is there",
  async () => {
    const dataDir = temporaryDirectory();
    const answers: Answer[] = [];
    let failures = 0;
    for (const when of [1, 3, 9, 14]) {
      const inject = ["-e", "trace=fsync", "-e", `inject=fsync:error=EIO:when=${when}`];
      const { printed, seen, status } = traced(dataDir, inject, 10);
      answers.push(...answersIn(printed));
      if (!seen.includes("INJECTED")) continue;
      failures += 1;
      expect(status).not.toBe(0);
    }
    expect(failures).toBeGreaterThan(2);
    await judge(dataDir, answers);
  },
  60_000,
);

test("a full disk refuses rows and loses none; with space again the chain goes on", async () => {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  const pages = kit.store.writer
    .query<{ page_count: number }, []>("PRAGMA page_count")
    .get()?.page_count;
  kit.store.writer.run(`PRAGMA max_page_count = ${(pages ?? 0) + 6}`);
  let recorded = 0;
  let refused = 0;
  for (let count = 0; count < 60; count++) {
    try {
      await appendCall(kit.ledger, callOf(tenantId));
      recorded += 1;
    } catch (error) {
      expect(error).toMatchObject({ code: "disk_full" });
      refused += 1;
    }
  }
  expect(recorded).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
  expect(kit.ledger.head(tenantId, "default").height).toBe(recorded);
  const checkpointEveryHour = (): void => {
    for (let hour = 0; hour < 60; hour++) {
      kit.clock.nowMs += 3_600_000;
      kit.checkpoints.run();
    }
  };
  expect(checkpointEveryHour).toThrow("no space is left");
  const newest = kit.checkpoints.latest()?.n ?? 0;

  kit.store.writer.run("PRAGMA max_page_count = 1000000");
  expect((await appendCall(kit.ledger, callOf(tenantId))).seq).toBe(recorded + 1);
  expect(kit.checkpoints.run().checkpoint.n).toBe(newest + 1);
  const { checkpoints, keys, store } = kit;
  const checker = new CheckpointChainChecker({ checkpoints, keys, store });
  expect(checker.check(true)).toMatchObject({ ok: true, checkpoints: newest + 1 });
  const slice = kit.ledger.readSlice({ tenantId, since: 0, limit: 1000 });
  expect(slice).toMatchObject({ chain_ok: true });
  expect(slice.rows).toHaveLength(recorded + 1);
  expect(kit.fatal).toEqual([]);
});

test("a database that cannot be written refuses rows until it can", async () => {
  const kit = openKit();
  const { tenantId } = kit.tenants.createKey({ tenantName: "A" });
  kit.store.writer.run("PRAGMA query_only = ON");
  const code = "read_only";
  await expect(appendCall(kit.ledger, callOf(tenantId))).rejects.toMatchObject({ code });
  kit.store.writer.run("PRAGMA query_only = OFF");
  expect((await appendCall(kit.ledger, callOf(tenantId))).seq).toBe(1);
});

test("a nearly full disk is refused before any work is done", () => {
  let freeBytes = 64 * 2 ** 20;
  const kit = openKit({ freeBytes: () => freeBytes });
  kit.ledger.assertReady();
  freeBytes -= 1;
  kit.clock.nowMs += 999;
  // Looked at once a second.
  kit.ledger.assertReady();
  kit.clock.nowMs += 1;
  expect(() => kit.ledger.assertReady()).toThrow("has 63 MiB left");
  freeBytes += 1;
  kit.clock.nowMs += 1000;
  kit.ledger.assertReady();
});
