/** What src/tenant/README.md tells people to paste works: registering a key and signing with it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { type RunningServer, startServer } from "../cli/kit.ts";
import { onFileEnd, temporaryDirectory } from "../trust-kit.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

const root = new URL("../..", import.meta.url).pathname;
const readme = await Bun.file(join(root, "src/tenant/README.md")).text();
const textsOf = (kind: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\`$`, "gms"))].map(
    ([, text = ""]) => text,
  );
const missing = ["bash", "curl", "openssl"].filter((name) => Bun.which(name) === null);
// For two minutes after a machine's start the server takes no signatures that may be older.
if (uptime() < 150) missing.push("machine that has been up for longer");
if (missing.length > 0) {
  process.stderr.write(
    `src/tenant/README.md's blocks are NOT tested: no ${missing.join(", ")} here\n`,
  );
}

const directory = temporaryDirectory(onFileEnd);
let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ directory });
});
afterAll(async () => {
  await server.stop();
});

test.skipIf(missing.length > 0)("the README's signing works as it is pasted", async () => {
  const seed = "openssl pkey -in signer.pem -outform DER | tail -c 32 | openssl base64 -A";
  const [program = "", ...others] = textsOf("ts");
  expect(others).toEqual([]);
  // Beside the sources, where a program finds the packages that it names.
  const path = join(root, "test", "tenant", `.readme-${process.pid}.ts`);
  writeFileSync(path, program);
  const steps = [
    "set -eo pipefail",
    ...textsOf("sh"),
    `echo; SEED=$(${seed}) KEY_ID=$KEY_ID "${process.execPath}" "${path}"`,
  ];
  const run = Bun.spawn(["bash", "-c", steps.join("\n")], {
    cwd: directory,
    env: { ...process.env, URL: server.url, KEY: String(server.firstKey?.["api_key"]) },
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([run.stdout.text(), run.stderr.text()]).finally(() =>
    Bun.file(path).delete(),
  );
  expect([await run.exited, err]).toEqual([0, ""]);
  expect(out).toContain('"scheme":"ed25519"');
  expect(out).toContain('"provider":"none"');
  expect(out).toMatch(/"path":"\/v1\/search"/);
  expect(out).toContain("\nsvc-tier-a svc-tier-b\n");
});
