/**
 * The whole gateway over sockets: signed, durable `iolta-reconcile` calls of 128 connections, one
 * answer in a hundred verified meanwhile; then the ledger alone, appends and an export's check. The
 * load comes from this process (`load.ts`), on the same machine.
 * `bun test/bench/gateway.ts [--seconds N] [--rows N]` prints one JSON line last.
 */
import { createHash, createHmac, createPublicKey, type KeyObject, verify } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import v4 from "../vectors/iolta/v4-masked.json";
import { load, type Received } from "./load.ts";
import { type BenchKey, createKey, round, startServer } from "./server.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    rows: { type: "string", default: "150000" },
  },
});
const CONNECTIONS = 128;
const VERIFY_EVERY = 100;
/** Before the measurement: what a server that has been up for a while has compiled already. */
const WARM_UP_SECONDS = 10;

const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));

try {
  const calls = await measureCalls();
  const { append_rows_per_s, verify_rows_per_s } = measureLedger();
  process.stdout.write(`${JSON.stringify({ ...calls, append_rows_per_s, verify_rows_per_s })}\n`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function measureCalls(): Promise<Readonly<Record<string, number>>> {
  const dataDir = join(directory, "data");
  const server = await startServer(dataDir);
  try {
    const key = createKey(dataDir);
    const pem = await (await fetch(`${server.url}/attestation.pub`)).text();
    const publicKey = createPublicKey(pem);
    const { hostname, port } = new URL(server.url);
    const shared = {
      hostname,
      port: Number(port),
      request: requestOf(key),
      connections: CONNECTIONS,
      checkEvery: VERIFY_EVERY,
      check: (received: Received) => checkSeal(received, key, publicKey),
    };
    await load({ ...shared, seconds: WARM_UP_SECONDS });
    const cpuBefore = [cpuSeconds(server.pid), ownCpuSeconds()] as const;
    const { times, seconds, checked } = await load({ ...shared, seconds: Number(values.seconds) });
    const micros = (before: number, after: number): number =>
      Math.round(((after - before) * 1e6) / times.length);
    return {
      requests: times.length,
      verified: checked,
      requests_per_s: Math.round(times.length / seconds),
      p50_ms: round(times[times.length >> 1]),
      p99_ms: round(times[Math.floor(times.length * 0.99)]),
      // Says the same on a busy machine.
      server_cpu_us: micros(cpuBefore[0], cpuSeconds(server.pid)),
      load_cpu_us: micros(cpuBefore[1], ownCpuSeconds()),
    };
  } finally {
    await server.stop();
  }
}

function measureLedger(): Readonly<Record<string, number>> {
  const script = new URL("ledger.ts", import.meta.url).pathname;
  const run = Bun.spawnSync([process.execPath, script, "--rows", values.rows]);
  const lines = run.stdout.toString().trim().split("\n");
  return JSON.parse(lines.at(-1) ?? "{}") as Readonly<Record<string, number>>;
}

function requestOf(key: BenchKey): Uint8Array {
  const body = JSON.stringify(v4.input);
  const head = [
    "POST /v1/process/iolta-reconcile HTTP/1.1",
    "host: localhost",
    `authorization: Bearer ${key.api_key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
}

/** Signature and attestation, with other code than the server's. */
function checkSeal({ headers, body }: Received, key: BenchKey, publicKey: KeyObject): void {
  const signature = createHmac("sha256", key.hmac_secret).update(body).digest("hex");
  const [payload = "", signed = ""] = (headers.get("x-svc-attestation") ?? "").split(".");
  const text = Buffer.from(payload, "base64url");
  const isAttested = verify(null, text, publicKey, Buffer.from(signed, "base64url"));
  const hash = createHash("sha256").update(body).digest("hex");
  const isBound = text.toString().includes(`"resp_hash":"${hash}"`);
  if (signature !== headers.get("x-svc-signature") || !isAttested || !isBound) {
    throw new Error("an answer does not verify");
  }
}

/** What a process used so far, in all its threads; 0 where the system does not tell. */
function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return 0;
  }
}

function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
