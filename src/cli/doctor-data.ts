/** What `svc doctor` looks at of the data directory, the clock and the port. */
import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import type { Check } from "./check.ts";
import { mebibytes } from "./units.ts";

const FREE_BYTES_MIN = 256 * 2 ** 20;

export function checkDataDir(dataDir: string): Check {
  const name = "data";
  const existing = nearestExisting(dataDir);
  try {
    accessSync(existing, constants.W_OK);
  } catch {
    const fix = `give another --data-dir, or: chown $(id -u) ${existing}`;
    return { name, status: "fail", detail: `${existing} is not writable`, fix };
  }
  const { bavail, bsize } = statfsSync(existing);
  const freeBytes = bavail * bsize;
  const space = `${mebibytes(freeBytes)} free`;
  if (existing !== dataDir) {
    return {
      name,
      status: "ok",
      detail: `${dataDir} is made at the first start, ${space}`,
      fix: null,
    };
  }
  const mode = statSync(dataDir).mode & 0o777;
  if ((mode & 0o077) !== 0) {
    const detail = `others can enter ${dataDir} (mode ${mode.toString(8)})`;
    return { name, status: "warn", detail, fix: `chmod 700 ${dataDir}` };
  }
  if (freeBytes < FREE_BYTES_MIN) {
    const fix = "free some space: without it no call can be recorded, so none is answered";
    return { name, status: "warn", detail: `${dataDir}, only ${space}`, fix };
  }
  return { name, status: "ok", detail: `${dataDir}, ${space}`, fix: null };
}

/** Rows must not go back in time: nothing in the data directory may come from the future. */
export function checkClock(dataDir: string, nowMs: number): Check {
  const newestMs = newestFileMs(dataDir);
  const now = new Date(nowMs).toISOString();
  if (newestMs <= nowMs + 1000) return { name: "clock", status: "ok", detail: now, fix: null };
  const newest = new Date(newestMs).toISOString();
  const detail = `it is ${now}, but the data directory was written at ${newest}`;
  return { name: "clock", status: "fail", detail, fix: "set the computer's clock" };
}

/** Port 0 is always free. */
export async function checkPort(host: string, port: number): Promise<Check> {
  const name = "port";
  const where = `${host}:${port}`;
  if (port === 0 || !(await answers(host, port))) {
    return { name, status: "ok", detail: `${where} is free`, fix: null };
  }
  if (await isSvc(where))
    return { name, status: "ok", detail: `${where} is svc itself`, fix: null };
  const fix = "choose another --port, or end that program";
  return { name, status: "warn", detail: `something listens on ${where}`, fix };
}

/** Whether our own server answers there; with TLS it cannot be told. */
async function isSvc(where: string): Promise<boolean> {
  try {
    const response = await fetch(`http://${where}/health`, { signal: AbortSignal.timeout(1000) });
    return ((await response.json()) as { readonly service?: unknown }).service === "svc";
  } catch {
    return false;
  }
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 500 });
    const end = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
    socket.once("timeout", () => end(false));
  });
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}

function newestFileMs(dataDir: string): number {
  if (!existsSync(dataDir)) return 0;
  return Math.max(0, ...readdirSync(dataDir).map((name) => statSync(join(dataDir, name)).mtimeMs));
}
