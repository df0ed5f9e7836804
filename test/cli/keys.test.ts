/** `svc keys`, with and without a running server, as a person or a script calls it. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openControlServer } from "../../src/cli/control-server.ts";
import { onTestEnd, openKit, temporaryDirectory } from "../trust-kit.ts";
import { jsonOf, run } from "./kit.ts";

const KEY_JSON = {
  api_key: expect.stringMatching(/^sk-svc-[0-9a-f]{32}$/),
  hmac_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
  tenant_id: expect.stringMatching(/^t_[0-9A-Z]{26}$/),
  app_id: "default",
  key_id: expect.stringMatching(/^k_[0-9A-Z]{26}$/),
};

test("keys create --json prints one line with key, secret and ids", async () => {
  const directory = temporaryDirectory();
  const args = ["keys", "create", "--data-dir", "d", "--tenant", "Acme", "--json"];
  const made = await run({ directory }, ...args);
  expect([made.code, made.err]).toEqual([0, ""]);
  expect(made.out.split("\n")).toHaveLength(2);
  expect(jsonOf(made)).toEqual(KEY_JSON);
});

test("another key for the same name keeps tenant and secret; another app has its own id", async () => {
  const world = { directory: temporaryDirectory() };
  const first = jsonOf(await run(world, "keys", "create", "--tenant", "acme", "--json"));
  const more = ["keys", "create", "--tenant", "acme", "--app", "nightly", "--json"];
  const second = jsonOf(await run(world, ...more));
  expect(second["tenant_id"]).toBe(first["tenant_id"]);
  expect(second["hmac_secret"]).toBe(first["hmac_secret"]);
  expect(second["api_key"]).not.toBe(first["api_key"]);
  expect(second["app_id"]).toBe("nightly");
});

test("a revoked key stays in the list as revoked, and no list shows a key or secret", async () => {
  const world = { directory: temporaryDirectory() };
  const made = jsonOf(await run(world, "keys", "create", "--tenant", "acme", "--json"));
  const keyId = String(made["key_id"]);
  expect((await run(world, "keys", "list")).out).toContain("active");
  const revoked = await run(world, "keys", "revoke", keyId, "--json");
  expect([revoked.code, jsonOf(revoked)]).toEqual([0, { revoked: keyId }]);
  const list = await run(world, "keys", "list", "--json");
  expect(jsonOf(list)["keys"]).toMatchObject([{ key_id: keyId, tenant: "acme", active: false }]);
  for (const secret of [made["api_key"], made["hmac_secret"]]) {
    expect(list.out).not.toContain(String(secret));
  }
});

test("errors have an exit code, a message, and what to do next", async () => {
  const world = { directory: temporaryDirectory() };
  await run(world, "keys", "create", "--tenant", "acme");
  const unknown = await run(world, "keys", "revoke", "k_unknown", "--json");
  expect(unknown.code).toBe(1);
  expect(jsonOf(unknown)).toMatchObject({ ok: false, error: { code: "unknown_key" } });
  expect(unknown.err).toContain("svc keys list");
  const cases: readonly [readonly string[], string][] = [
    [["keys", "create"], "required option '--tenant <NAME>' not specified"],
    [["keys", "create", "--tenant", "a", "--colour"], "unknown option '--colour'"],
    [["keys", "revoke"], "missing required argument 'KEY_ID'"],
    [["keys", "list", "--config", "none.toml"], "none.toml"],
    [["key"], "unknown command 'key'"],
  ];
  for (const [args, message] of cases) {
    const { code, err, out } = await run(world, ...args);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
  }
  const badApp = await run(world, "keys", "create", "--tenant", "acme", "--app", "No Good");
  expect([badApp.code, badApp.err]).toEqual([1, expect.stringContaining("an app's name matches")]);
});

test("only making a key makes a data directory", async () => {
  const directory = temporaryDirectory();
  for (const args of [["list"], ["revoke", "k_1"], ["rotate-master"]]) {
    const { code, err } = await run({ directory }, "keys", ...args, "--data-dir", "typo");
    expect([code, err]).toEqual([1, expect.stringContaining("there is no data directory")]);
  }
  expect(existsSync(join(directory, "typo"))).toBe(false);
});

test("settings come from a TOML file and from variables too", async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "svc.toml"), 'data-dir = "from-file"\n');
  await run({ directory }, "keys", "create", "--tenant", "a", "--config", "svc.toml");
  expect(existsSync(join(directory, "from-file", "svc.sqlite"))).toBe(true);
  const environment = { SVC_CONFIG: "svc.toml", SVC_DATA_DIR: "from-variable" };
  await run({ directory, environment }, "keys", "create", "--tenant", "a");
  expect(existsSync(join(directory, "from-variable", "svc.sqlite"))).toBe(true);
});

test("rotating the master key keeps every secret", async () => {
  const world = { directory: temporaryDirectory() };
  const before = jsonOf(await run(world, "keys", "create", "--tenant", "acme", "--json"));
  expect((await run(world, "keys", "rotate-master")).code).toBe(0);
  const after = jsonOf(await run(world, "keys", "create", "--tenant", "acme", "--json"));
  expect(after["hmac_secret"]).toBe(before["hmac_secret"]);
});

/** A directory whose socket's path is longer than a socket's path may be. */
function longPath(): string {
  const path = join(temporaryDirectory(), "long".repeat(30));
  mkdirSync(path);
  return path;
}

for (const [what, makeDirectory] of [
  ["", temporaryDirectory],
  [", whose path is too long for a socket", longPath],
] as const) {
  test(`a running server does it for the command${what}`, async () => {
    const lab = openKit({ dataDir: makeDirectory() });
    const { checkpoints, dataDir, tenants } = lab;
    const control = await openControlServer(dataDir, { tenants, checkpoints, url: null });
    onTestEnd(() => void control.close());
    expect(statSync(join(dataDir, "control.sock")).mode & 0o777).toBe(0o600);
    const world = { directory: "/", environment: { SVC_DATA_DIR: dataDir } };
    const made = jsonOf(await run(world, "keys", "create", "--tenant", "acme", "--json"));
    expect(made).toEqual(KEY_JSON);
    expect(tenants.authenticateBearer(String(made["api_key"]))?.keyId).toBe(String(made["key_id"]));
    const refused = await run(world, "keys", "revoke", "k_unknown", "--json");
    expect(jsonOf(refused)).toMatchObject({ ok: false, error: { code: "unknown_key" } });
    expect((await run(world, "keys", "revoke", String(made["key_id"]))).code).toBe(0);
    expect(tenants.authenticateBearer(String(made["api_key"]))).toBeNull();
    await control.close();
    expect(existsSync(join(dataDir, "control.sock"))).toBe(false);
  });
}

test("a socket that a killed server left behind is no obstacle", async () => {
  const directory = temporaryDirectory();
  const first = openKit({ dataDir: directory });
  const control = await openControlServer(directory, { ...first, url: null });
  first.close();
  const script =
    'Bun.listen({ unix: "control.sock", socket: { data() {} } }); process.kill(process.pid, 9);';
  await control.close();
  Bun.spawnSync([process.execPath, "-e", script], { cwd: directory });
  expect(existsSync(join(directory, "control.sock"))).toBe(true);
  const made = await run({ directory }, "keys", "create", "--tenant", "a", "--data-dir", ".");
  expect(made.code).toBe(0);
  const again = openKit({ dataDir: directory });
  const reopened = await openControlServer(directory, { ...again, url: null });
  const listed = await run({ directory }, "keys", "list", "--data-dir", ".", "--json");
  expect(jsonOf(listed)["keys"]).toHaveLength(1);
  await reopened.close();
});

test("five commands at the same time all succeed", async () => {
  const world = { directory: temporaryDirectory() };
  const made = await Promise.all(
    Array.from({ length: 5 }, () => run(world, "keys", "create", "--tenant", "acme", "--json")),
  );
  expect(made.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
  expect(new Set(made.map((result) => jsonOf(result)["hmac_secret"])).size).toBe(1);
});
