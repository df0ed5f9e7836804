/**
 * A large ledger as its tenant sees it: slices and the export over HTTP, and what `svc verify` makes
 * of it, each in a process of its own whose memory is measured.
 * `bun test/bench/audit.ts [--rows N] [--dir D]` prints one JSON line last.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { appendCall } from "../../src/ledger/append.ts";
import { openTrust } from "../../src/service/open-trust.ts";
import { callOf } from "../trust-lab.ts";
import { round, startServer } from "./server.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    dir: { type: "string", default: tmpdir() },
  },
});
const rows = Number(values.rows);
const SLICES = 100;
const AT_ONCE = 512;

const directory = mkdtempSync(join(values.dir, "svc-bench-"));
const dataDir = join(directory, "data");
const path = join(directory, "export.tar");
try {
  const filled = await fill();
  const server = await startServer(dataDir);
  try {
    const rssBefore = rssMib(server.pid, "VmRSS");
    const slices = await timeSlices(server.url, filled.apiKey);
    const rssSlices = rssMib(server.pid, "VmHWM");
    const exported = await download(server.url, filled.apiKey);
    const rssExport = rssMib(server.pid, "VmHWM");
    const verified = verify([]);
    const noble = verify(["--noble"]);
    process.stdout.write(
      `${JSON.stringify({
        rows,
        append_rows_per_s: filled.rowsPerSecond,
        slice_1000_ms: slices,
        export: exported,
        verify: verified,
        verify_noble: noble,
        server_mib: { started: rssBefore, after_slices: rssSlices, after_export: rssExport },
      })}\n`,
    );
  } finally {
    await server.stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function fill(): Promise<{ readonly apiKey: string; readonly rowsPerSecond: number }> {
  const trust = openTrust({
    dataDir,
    rev: "bench",
    onFatal: (error) => {
      throw error;
    },
    log: () => undefined,
  });
  const { tenantId, apiKey } = trust.tenants.createKey({ tenantName: "bench" });
  const startedMs = performance.now();
  let next = 0;
  const client = async (): Promise<void> => {
    while (next++ < rows) await appendCall(trust.ledger, callOf(tenantId));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  const rowsPerSecond = Math.round((rows * 1000) / (performance.now() - startedMs));
  trust.checkpoints.run();
  trust.close();
  return { apiKey, rowsPerSecond };
}

/** Slices of a thousand rows, all over the chain, one after the other. */
async function timeSlices(url: string, apiKey: string) {
  const times: number[] = [];
  for (let index = 0; index < SLICES; index++) {
    const seq = Math.floor((Math.max(0, rows - 1000) * index) / (SLICES - 1));
    const startedMs = performance.now();
    const response = await fetch(`${url}/v1/audit?limit=1000&after=0.${seq}.default`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    const text = await response.text();
    times.push(performance.now() - startedMs);
    if (!text.includes('"chain_ok":true')) throw new Error("a slice does not hold");
  }
  const first = times[0];
  times.sort((a, b) => a - b);
  return { p50: round(times[SLICES >> 1]), p90: round(times[90]), max: round(times.at(-1)), first };
}

async function download(url: string, apiKey: string) {
  const startedMs = performance.now();
  const response = await fetch(`${url}/v1/audit/export`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const sealedMs = performance.now() - startedMs;
  await Bun.write(path, response);
  const seconds = (performance.now() - startedMs) / 1000;
  const mib = Math.round(statSync(path).size / 2 ** 20);
  return { mib, seconds: round(seconds), seconds_to_first_byte: round(sealedMs / 1000) };
}

/** The verifier in a process of its own. */
function verify(options: readonly string[]) {
  const child = new URL("verify-child.ts", import.meta.url).pathname;
  const run = Bun.spawnSync([process.execPath, child, path, ...options]);
  const printed = run.stdout.toString();
  if (run.exitCode !== 0) throw new Error(`${printed}${run.stderr.toString()}`);
  const { ms, cpu_ms } = JSON.parse(printed) as { readonly ms: number; readonly cpu_ms: number };
  return {
    rows_per_s: Math.round((rows * 1000) / ms),
    cpu_us_per_row: round((cpu_ms * 1000) / rows),
    mib: Math.round(run.resourceUsage.maxRSS / 2 ** 20),
  };
}

function rssMib(pid: number, name: "VmRSS" | "VmHWM"): number {
  const kib = new RegExp(`${name}:\\s*(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Math.round(Number(kib?.[1] ?? 0) / 1024);
}
