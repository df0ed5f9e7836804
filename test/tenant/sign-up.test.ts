import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { networkOf, normalizeEmail, SignUps } from "../../src/tenant/sign-up.ts";
import { openKit, temporaryDirectory } from "../trust-kit.ts";
import { countingBytes } from "../trust-lab.ts";

function open(dataDir = temporaryDirectory()) {
  const kit = openKit({ dataDir });
  const { store, tenants, clock } = kit;
  const deps = { store, tenants, randomBytes: countingBytes("sign-up"), nowMs: () => clock.nowMs };
  return { ...kit, signUps: new SignUps(deps) };
}

function issued(signUps: SignUps, email: string) {
  const result = signUps.issue(email);
  if (result.kind !== "issued") throw new Error(`no key was issued for ${email}`);
  return result.key;
}

test("an address gets one free key, in whatever spelling it comes again, after a restart too", () => {
  const dataDir = temporaryDirectory();
  const first = open(dataDir);
  const key = issued(first.signUps, " Ada@Example.COM ");
  expect(first.tenants.authenticateBearer(key.apiKey)).toMatchObject({
    tenantId: key.tenantId,
    tier: "free",
    packageId: "free",
  });
  expect(first.signUps.issue("ada@example.com")).toEqual({ kind: "exists" });
  expect(first.signUps.emailOf(key.tenantId)).toBe("ada@example.com");
  first.close();
  const second = open(dataDir);
  expect(second.signUps.issue("ADA@EXAMPLE.COM")).toEqual({ kind: "exists" });
  second.tenants.rotateMasterKey();
  expect(second.signUps.issue("ada@example.com")).toEqual({ kind: "exists" });
  expect(second.signUps.emailOf(key.tenantId)).toBe("ada@example.com");
});

test("without an address every request gets a key of its own", () => {
  const { signUps } = open();
  const keys = ["", "  ", ""].map((email) => issued(signUps, email));
  expect(new Set(keys.map((key) => key.tenantId)).size).toBe(3);
  expect(signUps.emailOf(keys[0]?.tenantId ?? "")).toBeNull();
});

test("the database file does not show an address", () => {
  const { signUps, dataDir, close } = open();
  issued(signUps, "ada@example.com");
  close();
  expect(readFileSync(join(dataDir, "svc.sqlite")).includes("ada@example")).toBe(false);
});

test("a sign-up that cannot be stored leaves no tenant and no key", () => {
  const { signUps, store, tenants } = open();
  store.writer.run("PRAGMA query_only = ON");
  expect(() => signUps.issue("ada@example.com")).toThrow("cannot be written");
  store.writer.run("PRAGMA query_only = OFF");
  expect(tenants.listKeys()).toEqual([]);
  issued(signUps, "ada@example.com");
});

test.each([
  "ada",
  "@example.com",
  "ada@",
  "a@b@c",
  "a b@c.d",
  "a@b\n.c",
  "<a@b.c>",
  "a@.c",
  `${"x".repeat(250)}@b.cd`,
])("%j is no address", (email) => {
  expect(() => normalizeEmail(email)).toThrow("not an e-mail address");
});

test("addresses of one network count as one", () => {
  expect(networkOf("192.0.2.7")).toBe("192.0.2.7");
  expect(networkOf("::ffff:192.0.2.7")).toBe("192.0.2.7");
  expect(networkOf("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
  expect(networkOf("2001:0DB8:1:2::9")).toBe("2001:db8:1:2::/64");
  expect(networkOf("2001:db8::1")).toBe("2001:db8:0:0::/64");
  expect(networkOf("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
  expect(networkOf("::1")).toBe("0:0:0:0::/64");
});
