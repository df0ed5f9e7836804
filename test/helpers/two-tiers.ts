/**
 * Run by a test as a process of its own: an engine with the same file behind both tiers, what it
 * answers, which network sockets the process has, and what it said about its memory.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { MANIFEST_PATH } from "../../src/runtime/manifest.ts";
import { openTestEngine, readAnswer, request } from "./engine.ts";

const file = "svc-tiny.gguf";
const path = join(MANIFEST_PATH, "..", file);
const messages: string[] = [];
const engine = await openTestEngine("svc-tiny", {
  tiers: { "svc-tier-a": "svc-tiny", "svc-tier-b": path },
  rows: 1,
  contextTokens: 256,
  log: (message) => messages.push(message),
});
const answers: string[] = [];
for (const tier of ["svc-tier-a", "svc-tier-b"] as const) {
  answers.push((await readAnswer(await engine.complete(request("Hello", { tier })))).text);
}
process.stdout.write(JSON.stringify({ answers, sockets: networkSockets(), messages }));
await engine.close();

/** Lines of the kernel's tables that belong to this process. */
function networkSockets(): string[] {
  const inodes = new Set(readdirSync("/proc/self/fd").map(inodeOf));
  return ["tcp", "tcp6", "udp", "udp6", "raw"].flatMap((kind) =>
    readFileSync(`/proc/self/net/${kind}`, "utf8")
      .split("\n")
      .slice(1)
      .filter((line) => inodes.has(line.trim().split(/\s+/)[9] ?? "")),
  );
}

function inodeOf(descriptor: string): string {
  try {
    const link = readlinkSync(`/proc/self/fd/${descriptor}`);
    return /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? "-";
  } catch {
    // The descriptor of the listing itself is closed already.
    return "-";
  }
}
