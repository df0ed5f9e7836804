/** What `svc doctor` looks at of the machine itself: runtime, cores, memory, binaries, GPU. */
import { existsSync, readdirSync } from "node:fs";
import { arch, platform } from "node:os";
import packageJson from "../../package.json" with { type: "json" };
import { machineMemory } from "../runtime/memory.ts";
import { realCores } from "../runtime/threads.ts";
import type { Check } from "./check.ts";
import { mebibytes } from "./units.ts";

/** The version that everything here is tested with. */
const BUN_TESTED = "1.4.5";

export function checkBun(version: string): Check {
  const detail = `Bun ${version}`;
  if (Bun.semver.order(version, BUN_TESTED) >= 0) return ok("runtime", detail);
  const fix = `use at least ${BUN_TESTED}: npx -y bun@${BUN_TESTED} run svc …`;
  return { name: "runtime", status: "fail", detail, fix };
}

/** @param threads as configured; null: one per core. */
export function checkCores(threads: number | null, cores = realCores()): Check {
  const name = "cores";
  const there = `${cores} real ${cores === 1 ? "core" : "cores"}`;
  if (threads === null) return ok(name, `${there}: as many threads decode`);
  if (threads <= cores) return ok(name, `${there}, of which ${threads} decode`);
  const detail = `${there}, and ${threads} threads: they wait for each other, and all is slow`;
  return { name, status: "warn", detail, fix: `--threads ${cores}, or leave it out` };
}

export function checkMemory(): Check {
  const { freeBytes, totalBytes } = machineMemory();
  const detail = `${mebibytes(freeBytes)} free of ${mebibytes(totalBytes)}`;
  if (freeBytes >= 512 * 2 ** 20) return ok("memory", detail);
  return { name: "memory", status: "warn", detail, fix: "close other programs before serving" };
}

/** The package of native binaries for the CPU of this platform. */
export function checkBinaries(): Check {
  const name = `@node-llama-cpp/${platformName()}`;
  const { "node-llama-cpp": version } = packageJson.dependencies;
  if (isInstalled(name)) return ok("binaries", `${name} ${version}`);
  const detail = `${name} is not installed: no model can run`;
  return { name: "binaries", status: "fail", detail, fix: `bun add ${name}@${version}` };
}

export interface GpuFacts {
  readonly hasNvidia: boolean;
  readonly hasOther: boolean;
  readonly isInstalled: (name: string) => boolean;
}

/** Whether a GPU is there, and the binaries that would use it. */
export function checkGpu(isForcedToCpu: boolean, facts: GpuFacts = gpuFacts()): Check {
  const { hasNvidia, hasOther } = facts;
  const name = "gpu";
  if (!hasNvidia && !hasOther) return ok(name, "none found: models run on the CPU");
  const kind = hasNvidia ? "cuda" : "vulkan";
  const packages = gpuPackages(kind);
  const found = hasNvidia ? "an NVIDIA GPU" : "a GPU";
  if (isForcedToCpu) return ok(name, `${found} is there; --cpu leaves it unused`);
  const isReady = packages.every((spec) => facts.isInstalled(spec.slice(0, spec.lastIndexOf("@"))));
  if (isReady) return ok(name, `${found}, with binaries for ${kind}`);
  const detail = `${found} is there, its binaries are not: models run on the CPU`;
  return { name, status: "warn", detail, fix: `bun add ${packages.join(" ")}` };
}

/** What to add for a GPU; the version is that of node-llama-cpp, exactly. */
function gpuPackages(kind: "cuda" | "vulkan"): string[] {
  const { "node-llama-cpp": version } = packageJson.dependencies;
  const names = kind === "cuda" ? ["cuda", "cuda-ext"] : ["vulkan"];
  return names.map((suffix) => `@node-llama-cpp/${platformName()}-${suffix}@${version}`);
}

function platformName(): string {
  const systems: Readonly<Record<string, string>> = { darwin: "mac", win32: "win" };
  const system = systems[platform()] ?? platform();
  return system === "mac" && arch() === "arm64" ? "mac-arm64-metal" : `${system}-${arch()}`;
}

function gpuFacts(): GpuFacts {
  const devices = existsSync("/dev/dri") ? readdirSync("/dev/dri") : [];
  return {
    hasNvidia: existsSync("/proc/driver/nvidia/version") || existsSync("/dev/nvidiactl"),
    hasOther: devices.some((device) => device.startsWith("render")),
    isInstalled,
  };
}

function isInstalled(name: string): boolean {
  try {
    Bun.resolveSync(`${name}/package.json`, import.meta.dir);
    return true;
  } catch {
    return false;
  }
}

function ok(name: string, detail: string): Check {
  return { name, status: "ok", detail, fix: null };
}
