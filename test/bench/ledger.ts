/**
 * The ledger alone: appends in groups, slices, an export and its verification.
 * `bun test/bench/ledger.ts [--rows N] [--dir D]` prints one JSON line last.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { appendCall } from "../../src/ledger/append.ts";
import { openTrust } from "../../src/service/open-trust.ts";
import { NOBLE } from "../../src/verify/primitives.ts";
import { verifyPath } from "../../src/verify/read-path.ts";
import { callOf } from "../trust-lab.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "100000" },
    dir: { type: "string", default: tmpdir() },
  },
});
const rows = Number(values.rows);
/** Calls that wait at the same time, as 128 connections make them. */
const AT_ONCE = 128;

const directory = mkdtempSync(join(values.dir, "svc-bench-"));
try {
  const trust = openTrust({
    dataDir: join(directory, "data"),
    rev: "bench",
    onFatal: (error) => {
      throw error;
    },
    log: () => undefined,
  });
  const { tenantId, hmacSecret } = trust.tenants.createKey({ tenantName: "bench" });

  const appended = await timed(async () => {
    let next = 0;
    const client = async (): Promise<void> => {
      while (next++ < rows) await appendCall(trust.ledger, callOf(tenantId));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
  });
  trust.checkpoints.run();

  const slices: number[] = [];
  let sliceCpuMs = 0;
  for (let index = 0; index < 50; index++) {
    const cursor = { ts: 0, appId: "default", seq: Math.floor((rows * index) / 50) };
    const query = { tenantId, since: 0, limit: 1000, after: cursor };
    const { seconds, cpuSeconds } = await timed(async () => {
      const slice = trust.ledger.readSlice(query);
      if (!slice.chain_ok) throw new Error("a slice does not verify");
      JSON.stringify(slice);
    });
    slices.push(seconds * 1000);
    sliceCpuMs += (cpuSeconds * 1000) / 50;
  }
  slices.sort((a, b) => a - b);

  const path = join(directory, "export.tar");
  const exported = await timed(async () => {
    const file = Bun.file(path).writer();
    for await (const piece of trust.exportOf(tenantId)) {
      file.write(piece);
      await file.flush();
    }
    await file.end();
  });
  trust.close();

  const verified = await timed(() => verify(path, {}));
  const withMacs = await timed(() => verify(path, { hmacSecrets: [hmacSecret] }));
  const noble = await timed(() => verify(path, { hashing: NOBLE }));
  const perSecond = ({ seconds }: { readonly seconds: number }): number =>
    Math.round(rows / seconds);
  const cpuOf = ({ cpuSeconds }: { readonly cpuSeconds: number }): number =>
    round((cpuSeconds * 1e6) / rows);
  process.stdout.write(
    `${JSON.stringify({
      rows,
      append_rows_per_s: perSecond(appended),
      slice_1000_ms: { p50: round(slices[25]), max: round(slices.at(-1)), cpu: round(sliceCpuMs) },
      export_rows_per_s: perSecond(exported),
      export_mib: Math.round(statSync(path).size / 2 ** 20),
      verify_rows_per_s: perSecond(verified),
      verify_with_macs_rows_per_s: perSecond(withMacs),
      verify_noble_rows_per_s: perSecond(noble),
      // Says the same on a busy machine.
      cpu_us_per_row: {
        append: cpuOf(appended),
        export: cpuOf(exported),
        verify: cpuOf(verified),
        verify_with_macs: cpuOf(withMacs),
        verify_noble: cpuOf(noble),
      },
      rss_mib: Math.round(process.memoryUsage().rss / 2 ** 20),
    })}\n`,
  );
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function verify(path: string, options: Parameters<typeof verifyPath>[1]): Promise<void> {
  const report = await verifyPath(path, options);
  if (!report.ok) throw new Error(`the export does not verify: ${report.finding?.message}`);
}

async function timed(
  work: () => Promise<void>,
): Promise<{ readonly seconds: number; readonly cpuSeconds: number }> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - start) / 1000, cpuSeconds: (user + system) / 1e6 };
}

function round(ms: number | undefined): number {
  return Math.round((ms ?? 0) * 100) / 100;
}
