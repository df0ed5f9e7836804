/**
 * How many threads decode. At most one per real core: the library's own default of at least four is
 * 100 times slower than two on two cores (measured), because its threads wait for each other by
 * spinning. And only as many as a call keeps busy: llama.cpp starts its threads anew for each call,
 * and the kernel may put a new one beside its spinning maker until the next ticks move it away,
 * which costs some 10 ms.
 */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Beyond this, threads of one call mostly wait for memory and for each other. */
const THREADS_MAX = 64;

/**
 * What one thread computes in some 20 ms: bytes of weights, times the tokens that go through them.
 * Measured on a random Q8_0 model of 82 MB: 1 row takes 3.3 ms on one thread and 4.5 to 7.5 on two,
 * 8 rows 26 and 24 to 28, or 15 where the second thread is placed well.
 */
const BYTE_TOKENS_PER_THREAD = 400e6;

/**
 * Threads of one call. It depends on the model and the call's size alone, so that the self-test
 * sees every row count as it will be decoded later.
 * @param tokens of all rows of the call.
 * @param threadsMax one per core that may be used.
 */
export function threadsOfCall(tokens: number, weightsBytes: number, threadsMax: number): number {
  return Math.min(threadsMax, 1 + Math.floor((tokens * weightsBytes) / BYTE_TOKENS_PER_THREAD));
}

/** A call that takes longer on all threads is worth waiting for their start: some 100 ms. */
const SHORT_CALLS_BYTE_TOKENS = 5 * BYTE_TOKENS_PER_THREAD;

/**
 * Contexts that decode side by side, each with a share of the rows and of the threads: a thread
 * that computes on its own waits for no other, while those of one short call wait for each other
 * more than they compute. Longer calls share what they read from memory, and one context knows the
 * beginnings of all prompts.
 * @param rows of all contexts.
 * @param threads one per core that may be used.
 * @returns a divisor of the rows.
 */
export function contextsFor(rows: number, weightsBytes: number, threads: number): number {
  if (rows * weightsBytes > threads * SHORT_CALLS_BYTE_TOKENS) return 1;
  let contexts = Math.min(rows, threads);
  while (rows % contexts !== 0) contexts -= 1;
  return contexts;
}

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
