/**
 * The whole gateway over sockets: signed, durable `iolta-reconcile` calls of 128 connections, one
 * answer in a hundred verified meanwhile; then the ledger alone, appends and an export's check.
 * `bun test/bench/gateway.ts [--seconds N] [--rows N]` prints one JSON line last.
 */
import { createHash, createHmac, createPublicKey, verify } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import v4 from "../vectors/iolta/v4-masked.json";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    rows: { type: "string", default: "50000" },
  },
});
const CONNECTIONS = 128;
const VERIFY_EVERY = 100;

const root = new URL("../../", import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
const body = JSON.stringify(v4.input);

interface Key {
  readonly api_key: string;
  readonly hmac_secret: string;
}

try {
  const calls = await measureCalls();
  const ledger = lastLine(
    Bun.spawnSync([process.execPath, `${root}test/bench/ledger.ts`, "--rows", values.rows]).stdout,
  );
  const { append_rows_per_s, verify_rows_per_s } = ledger;
  process.stdout.write(`${JSON.stringify({ ...calls, append_rows_per_s, verify_rows_per_s })}\n`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function measureCalls(): Promise<Readonly<Record<string, number>>> {
  const command = [process.execPath, `${root}src/main.ts`];
  const place = ["--data-dir", join(directory, "data")];
  const server = Bun.spawn([...command, "serve", ...place, "--port", "0", "--json"], {
    stdout: "pipe",
    stderr: "ignore",
  });
  try {
    const url = await listeningUrl(server.stdout);
    const made = Bun.spawnSync([
      ...[...command, "keys", "create", ...place, "--tenant", "bench", "--json"],
    ]);
    const key = lastLine(made.stdout) as unknown as Key;
    const pem = await (await fetch(`${url}/attestation.pub`)).text();
    const untilMs = performance.now() + Number(values.seconds) * 1000;
    const startedMs = performance.now();
    const times: number[] = [];
    const client = async (): Promise<void> => {
      while (performance.now() < untilMs) {
        const { ms, check } = await call(url, key);
        times.push(ms);
        if (times.length % VERIFY_EVERY === 0) check(pem);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
    const seconds = (performance.now() - startedMs) / 1000;
    times.sort((a, b) => a - b);
    const p99 = times[Math.floor(times.length * 0.99)] ?? 0;
    return {
      requests: times.length,
      requests_per_s: Math.round(times.length / seconds),
      p50_ms: round(times[Math.floor(times.length / 2)] ?? 0),
      p99_ms: round(p99),
    };
  } finally {
    server.kill("SIGTERM");
    await server.exited;
  }
}

async function call(
  url: string,
  key: Key,
): Promise<{ readonly ms: number; readonly check: (pem: string) => void }> {
  const startedMs = performance.now();
  const response = await fetch(`${url}/v1/process/iolta-reconcile`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.api_key}`, "content-type": "application/json" },
    body,
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const ms = performance.now() - startedMs;
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  return { ms, check: (pem) => checkSeal(response.headers, bytes, key, pem) };
}

/** Signature and attestation, with other code than the server's. */
function checkSeal(headers: Headers, bytes: Uint8Array, key: Key, pem: string): void {
  const signature = createHmac("sha256", key.hmac_secret).update(bytes).digest("hex");
  const [payload = "", signed = ""] = (headers.get("x-svc-attestation") ?? "").split(".");
  const text = Buffer.from(payload, "base64url");
  const isAttested = verify(null, text, createPublicKey(pem), Buffer.from(signed, "base64url"));
  const hash = createHash("sha256").update(bytes).digest("hex");
  const isBound = text.toString().includes(`"resp_hash":"${hash}"`);
  if (signature !== headers.get("x-svc-signature") || !isAttested || !isBound) {
    throw new Error("an answer does not verify");
  }
}

async function listeningUrl(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of output) {
    text += new TextDecoder().decode(piece);
    const url = /"url":"([^"]+)"/.exec(text)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error("the server did not start");
}

function lastLine(output: Uint8Array): Readonly<Record<string, number>> {
  const lines = new TextDecoder().decode(output).trim().split("\n");
  return JSON.parse(lines.at(-1) ?? "{}") as Readonly<Record<string, number>>;
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
