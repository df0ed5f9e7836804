/** A server that others can reach: TLS, the names it answers to, and signed requests over both. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { signRegistration, signRequest } from "../../src/exports/verify.ts";
import { onFileEnd, temporaryDirectory } from "../trust-kit.ts";
import { type RunningServer, run, startServer } from "./kit.ts";

// A model loads: seconds on a busy machine.
setDefaultTimeout(30_000);

const hasOpenssl = Bun.which("openssl") !== null;
if (!hasOpenssl) process.stderr.write("TLS is NOT tested: no openssl here to make a certificate\n");

const directory = temporaryDirectory(onFileEnd);
const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
let server: RunningServer | null = null;
let origin = "";
let tls = { ca: "" };

beforeAll(async () => {
  if (!hasOpenssl) return;
  const names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
  const made = Bun.spawnSync([
    ...["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
    ...["-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", names],
    ...["-keyout", key, "-out", cert],
  ]);
  expect(made.exitCode).toBe(0);
  const flags = ["--host", "0.0.0.0", "--tls-cert", cert, "--tls-key", key, "--hosts", "localhost"];
  server = await startServer({ directory }, ...flags);
  tls = { ca: readFileSync(cert, "utf8") };
  origin = `https://localhost:${new URL(server.url).port}`;
});
afterAll(async () => {
  await server?.stop();
});

test.skipIf(!hasOpenssl)("a key works over TLS, and nothing is answered without it", async () => {
  expect(server?.url).toStartWith("https://0.0.0.0:");
  const headers = { authorization: `Bearer ${server?.firstKey?.["api_key"]}` };
  expect((await fetch(`${origin}/v1/me`, { headers, tls })).status).toBe(200);
  const plain = fetch(`${origin.replace("https", "http")}/health`).then((answer) => answer.status);
  expect(await plain.catch(() => "no answer")).not.toBe(200);
  // The certificate is good for it, and the server is not.
  const other = await fetch(`${origin.replace("localhost", "127.0.0.1")}/health`, { tls });
  expect([other.status, await other.json()]).toMatchObject([
    421,
    { error: { code: "misdirected_request" } },
  ]);
});

test.skipIf(!hasOpenssl)(
  "a signed request names the host and port that it was sent to",
  async () => {
    const authorization = `Bearer ${server?.firstKey?.["api_key"]}`;
    const seed = crypto.getRandomValues(new Uint8Array(32));
    const asked = { method: "POST", headers: { authorization }, tls };
    const challenge = (await (await fetch(`${origin}/v1/keys/challenge`, asked)).json()) as {
      readonly challenge: string;
      readonly tenant_id: string;
      readonly app_id: string;
    };
    const made = await fetch(`${origin}/v1/keys`, {
      ...asked,
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(await signRegistration(challenge, seed)),
    });
    const { key_id: keyId } = (await made.json()) as { readonly key_id: string };
    const me = async (url: string): Promise<number> => {
      const headers = await signRequest({ method: "GET", url }, { keyId, seed });
      return (await fetch(`${origin}/v1/me`, { headers, tls })).status;
    };
    // A machine that has just started takes no signatures that may be older: see tenant/README.md.
    const isOpen = uptime() > 150;
    expect(await me(`${origin}/v1/me`)).toBe(isOpen ? 200 : 401);
    expect(await me("https://localhost/v1/me")).toBe(401);
  },
);

test("without TLS, a server that others can reach does not start", async () => {
  const refused = await run({ directory }, "serve", "--host", "0.0.0.0");
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain("--tls-cert");
});
