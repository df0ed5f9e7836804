/** Answers kept for their Idempotency-Key: how many, for how long, and for whom. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { StoredAnswers } from "../../src/tenant/stored-answers.ts";
import { openKit, temporaryDirectory } from "../trust-kit.ts";
import type { Lab } from "../trust-lab.ts";

const KIB = 1024;
const hash = (text: string): Uint8Array =>
  new Uint8Array(createHash("sha256").update(text).digest());

function answersOf({ clock, store, tenants }: Lab): StoredAnswers {
  const nowMs = () => clock.nowMs;
  return new StoredAnswers({ store, sealed: tenants.sealed, bytesMax: 80 * KIB, nowMs });
}

function openAnswers(dataDir = temporaryDirectory()) {
  const kit = openKit({ dataDir });
  const [a = "", b = ""] = ["A", "B"].map(
    (tenantName) => kit.tenants.createKey({ tenantName }).tenantId,
  );
  const answers = answersOf(kit);
  const put = (tenantId: string, name: string, bytes = 8 * KIB - 200, keptMs = 1000): void => {
    const given = { requestHash: hash("request"), expiresTs: kit.clock.nowMs + keptMs };
    const answer = { contentType: "text/x", body: new Uint8Array(bytes).fill(name.length) };
    const written = kit.store.transact(() =>
      answers.write({ tenantId, nameHash: hash(name) }, given, answer),
    );
    written.publish();
  };
  const has = (tenantId: string, name: string): boolean =>
    answers.find({ tenantId, nameHash: hash(name) }) !== null;
  const rows = (): unknown => kit.store.reader.query("SELECT count(*) AS n FROM replay").get();
  return { kit, answers, put, has, rows, a, b };
}

test("an answer is found by tenant and name, byte for byte, after a restart too", () => {
  const dataDir = temporaryDirectory();
  const first = openAnswers(dataDir);
  first.put(first.a, "x", 5);
  const expected = {
    requestHash: Buffer.from(hash("request")),
    answer: { contentType: "text/x", body: Uint8Array.of(1, 1, 1, 1, 1) },
  };
  const name = { tenantId: first.a, nameHash: hash("x") };
  expect(first.answers.find(name)).toEqual(expected);
  expect(first.has(first.b, "x")).toBe(false);
  expect(first.has(first.a, "y")).toBe(false);
  first.kit.close();
  const second = openKit({ dataDir });
  expect(answersOf(second).find(name)).toEqual(expected);
});

test("one tenant keeps a quarter of the room at most; its oldest answer leaves for a new one", () => {
  const { a, b, has, put, rows } = openAnswers();
  put(b, "other");
  for (const name of ["1", "2", "3"]) put(a, name);
  expect(["1", "2", "3"].map((name) => has(a, name))).toEqual([false, true, true]);
  expect(has(b, "other")).toBe(true);
  expect(rows()).toEqual({ n: 3 });
});

test("what is too old is not found, and leaves with the next answer", () => {
  const { a, has, kit, put, rows } = openAnswers();
  put(a, "old");
  kit.clock.nowMs += 999;
  expect(has(a, "old")).toBe(true);
  kit.clock.nowMs += 1;
  expect(has(a, "old")).toBe(false);
  put(a, "new");
  expect([has(a, "new"), rows()]).toEqual([true, { n: 1 }]);
  kit.clock.nowMs += 1000;
  put(a, "new");
  expect([has(a, "new"), rows()]).toEqual([true, { n: 1 }]);
});

test("an answer whose transaction is undone was never there", () => {
  const { a, answers, has, kit, rows } = openAnswers();
  const given = { requestHash: hash("request"), expiresTs: kit.clock.nowMs + 1000 };
  const attempt = (): void =>
    kit.store.transact(() => {
      const answer = { contentType: "text/x", body: new Uint8Array(3) };
      answers.write({ tenantId: a, nameHash: hash("x") }, given, answer);
      throw new Error("the disk is full");
    });
  expect(attempt).toThrow("the disk is full");
  expect([has(a, "x"), rows()]).toEqual([false, { n: 0 }]);
});
