/** Verifies one export and prints how long that took: `verify-child.ts PATH [--noble]`. */
import { NOBLE } from "../../src/verify/primitives.ts";
import { verifyPath } from "../../src/verify/read-path.ts";

const [path = "", hashing] = process.argv.slice(2);
const startedMs = performance.now();
const report = await verifyPath(path, hashing === "--noble" ? { hashing: NOBLE } : {});
const ms = performance.now() - startedMs;
if (!report.ok) throw new Error(`the export does not verify: ${report.finding?.message}`);
const { user, system } = process.cpuUsage();
process.stdout.write(`${JSON.stringify({ ms, cpu_ms: (user + system) / 1000 })}\n`);
