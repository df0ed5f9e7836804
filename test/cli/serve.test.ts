/** `svc serve` as a process manager and a person see it: start, readiness, keys, stop. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { runProcess } from "../../src/process/definition.ts";
import { PROCESS_ENGINES } from "../../src/process/processes.ts";
import { onTestEnd, temporaryDirectory } from "../trust-kit.ts";
import { jsonOf, type RunningServer, run, startServer } from "./kit.ts";

// Models load and programs start: seconds on a busy machine.
setDefaultTimeout(30_000);

function goldenOf(slug: string) {
  const engine = PROCESS_ENGINES.find((each) => each.slug === slug);
  const [golden] = engine?.goldens ?? [];
  if (engine === undefined || golden === undefined) throw new Error(`${slug} has no golden`);
  return { engine, input: golden.input };
}

async function serverIn(directory: string, ...args: readonly string[]): Promise<RunningServer> {
  const server = await startServer({ directory }, ...args);
  onTestEnd(() => void server.stop());
  return server;
}

test("a first start makes a key that works; a second start keeps it and shows none", async () => {
  const directory = temporaryDirectory();
  const first = await serverIn(directory);
  expect(first.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(first.ready["tiers"]).toMatchObject([
    { tier: "svc-tier-a", model: "svc-tiny" },
    { tier: "svc-tier-b", model: "svc-tiny" },
  ]);
  const headers = { authorization: `Bearer ${first.firstKey?.["api_key"]}` };
  const me = await fetch(`${first.url}/v1/me`, { headers });
  expect([me.status, await me.json()]).toMatchObject([200, { key_id: first.firstKey?.["key_id"] }]);
  expect((await fetch(`${first.url}/ready`)).status).toBe(200);
  // On the thread that a server has for them.
  const { engine, input } = goldenOf("iolta-reconcile");
  const reconciled = await fetch(`${first.url}/v1/process/iolta-reconcile`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  const { outputHash } = runProcess(engine, input);
  expect(await reconciled.json()).toMatchObject({ receipt: { output_hash: outputHash } });
  expect((await first.stop()).code).toBe(0);

  const second = await serverIn(directory);
  expect(second.firstKey).toBeNull();
  expect((await fetch(`${second.url}/v1/me`, { headers })).status).toBe(200);
  await second.stop();
});

test("keys are made and revoked while the server runs", async () => {
  const directory = temporaryDirectory();
  const server = await serverIn(directory);
  const made = jsonOf(await run({ directory }, "keys", "create", "--tenant", "acme", "--json"));
  const headers = { authorization: `Bearer ${String(made["api_key"])}` };
  expect((await fetch(`${server.url}/v1/me`, { headers })).status).toBe(200);
  expect((await run({ directory }, "keys", "revoke", String(made["key_id"]))).code).toBe(0);
  expect((await fetch(`${server.url}/v1/me`, { headers })).status).toBe(401);
  const checkpoint = await run({ directory }, "checkpoint", "--json");
  expect(jsonOf(checkpoint)).toMatchObject({ n: expect.any(Number), is_new: expect.any(Boolean) });
  await server.stop();
});

test("a data directory that is in use is refused with what to do, as is a port", async () => {
  const directory = temporaryDirectory();
  const server = await serverIn(directory);
  const same = await run({ directory }, "serve", "--port", "0", "--json");
  expect([same.code, jsonOf(same)]).toMatchObject([1, { error: { code: "directory_locked" } }]);
  const port = new URL(server.url).port;
  const elsewhere = await run({ directory }, "serve", "--port", port, "--data-dir", "other");
  expect([elsewhere.code, elsewhere.err]).toEqual([1, expect.stringContaining("another --port")]);
  // What failed has let go of its data directory.
  expect((await run({ directory }, "keys", "list", "--data-dir", "other")).code).toBe(0);
  await server.stop();
});

test("a stopped server leaves no socket behind, and nothing in the write-ahead log", async () => {
  const directory = temporaryDirectory();
  const server = await serverIn(directory);
  expect(existsSync(join(directory, "data", "control.sock"))).toBe(true);
  await server.stop();
  expect(existsSync(join(directory, "data", "control.sock"))).toBe(false);
  const log = join(directory, "data", "svc.sqlite-wal");
  expect(existsSync(log) ? statSync(log).size : 0).toBe(0);
});

test("a model that does not exist ends the start with its name", async () => {
  const never = new Promise<string>(() => {});
  const world = { directory: temporaryDirectory(), stopRequested: never };
  for (const model of ["nope", "hf:a/b.gguf", "./missing.gguf"]) {
    const { code, err } = await run(world, "serve", "--port", "0", "--tier-a", model);
    expect(code).toBe(1);
    expect(err).toContain(model.replace("./", ""));
  }
});

const missing = ["bash", "curl", "openssl"].filter((name) => Bun.which(name) === null);
if (missing.length > 0) {
  process.stderr.write(`the printed snippets are NOT pasted: no ${missing.join(", ")} here\n`);
}

test.skipIf(missing.length > 0)("what is printed at a first start works when pasted", async () => {
  const directory = temporaryDirectory();
  const ready = Promise.withResolvers<void>();
  const stop = Promise.withResolvers<string>();
  let seen = "";
  const onOutput = (text: string): void => {
    seen += text;
    if (text.includes("Ready.")) ready.resolve();
  };
  const world = { directory, stopRequested: stop.promise, onOutput };
  const serving = run(world, "quickstart", "--port", "0");
  await ready.promise;
  const url = /listens on (http:\/\/\S+),/.exec(seen)?.[1] ?? "none";
  for (const text of [`baseURL: "${url}/v1"`, `base_url="${url}/v1"`, "svc-tiny on CPU"]) {
    expect(seen).toContain(text);
  }
  const [, page = ""] = /^console +(\S+)$/m.exec(seen) ?? [];
  expect((await fetch(page)).headers.get("content-type")).toStartWith("text/html");
  const begin = seen.indexOf("# A first answer");
  const pasted = Bun.spawn(["bash", "-c", seen.slice(begin, seen.indexOf("\naddress"))], {
    cwd: directory,
    stderr: "pipe",
  });
  expect(await pasted.exited).toBe(0);
  const out = await pasted.stdout.text();
  stop.resolve("SIGINT");
  expect((await serving).code).toBe(0);
  const [answer = "", ...checks] = out.trim().split("\n");
  expect(answer).toContain(String.raw`{\"invoice_number\":\"INV-2041\",`);
  expect(checks).toEqual([
    "signature OK",
    "Signature Verified Successfully",
    "answer OK",
    "request OK",
  ]);
});

test("--print-config shows the settings and starts nothing", async () => {
  const directory = temporaryDirectory();
  const environment = { SVC_ADMIN_KEY: "do-not-show", SVC_TYPO: "1" };
  const world = { directory, environment };
  const { code, err, out } = await run(world, "serve", "--print-config", "--rows", "2");
  expect(code).toBe(0);
  expect(out).toMatch(/^rows +2 {2}\[flag\]$/m);
  expect(out).not.toContain("do-not-show");
  expect(err).toContain("SVC_TYPO");
  expect(existsSync(join(directory, "data"))).toBe(false);
});
