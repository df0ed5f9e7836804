/**
 * How many threads decode. One per real core: the library's own default of at least four is 100
 * times slower than two on two cores (measured), because its threads wait for each other by
 * spinning.
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Beyond this, threads of one call mostly wait for memory and for each other. */
const THREADS_MAX = 64;

/** @returns cores this process may use, counting hardware threads of one core once. */
export function realCores(): number {
  const usable = Math.min(availableParallelism(), cgroupCores());
  const physical = physicalCores();
  return Math.max(1, Math.min(usable, physical ?? usable, THREADS_MAX));
}

/** Linux tells which core a hardware thread belongs to. */
function physicalCores(): number | null {
  const text = readText("/proc/cpuinfo");
  const cores = new Set<string>();
  for (const processor of text.split("\n\n")) {
    const core = /^core id\s*:\s*(\d+)/m.exec(processor)?.[1];
    const socket = /^physical id\s*:\s*(\d+)/m.exec(processor)?.[1];
    if (core !== undefined && socket !== undefined) cores.add(`${socket}:${core}`);
  }
  return cores.size === 0 ? null : cores.size;
}

/** A container's CPU quota, in whole cores. */
function cgroupCores(): number {
  // Version 2: "<quota> <period>" or "max <period>"; version 1: two files.
  const [quota, period] = readText("/sys/fs/cgroup/cpu.max").trim().split(" ");
  const quotaUs = Number(quota ?? readText("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
  const periodUs = Number(period ?? readText("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
  const cores = quotaUs / periodUs;
  return Number.isFinite(cores) && cores > 0 ? Math.max(1, Math.floor(cores)) : THREADS_MAX;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
