/** A data directory of its own for each test; everything is closed and removed after it. */
import { afterAll, afterEach } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Lab, type LabOptions, openLab } from "./trust-lab.ts";

type Closer = () => void;

const afterTest: Closer[] = [];
const afterFile: Closer[] = [];

afterEach(() => closeAll(afterTest));
afterAll(() => closeAll(afterFile));

function closeAll(closers: Closer[]): void {
  for (const close of closers.splice(0).reverse()) close();
}

/** Where to leave what must be closed: after this test, or after all tests of the file. */
export type OnEnd = (close: Closer) => void;

/** Runs after the test; the last registered goes first. */
export const onTestEnd: OnEnd = (close) => void afterTest.push(close);

/** The same after all tests of the file, for what they share. */
export const onFileEnd: OnEnd = (close) => void afterFile.push(close);

/** A new directory that is removed at the end. */
export function temporaryDirectory(onEnd: OnEnd = onTestEnd): string {
  // In memory where there is such a place: thousands of fsyncs on a busy disk would take minutes.
  const base = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const path = mkdtempSync(join(base, "svc-test-"));
  onEnd(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Opens a data directory, a new one by default, as a start of the service does. */
export function openKit(options: Partial<LabOptions> = {}): Lab {
  const lab = openLab({ ...options, dataDir: options.dataDir ?? temporaryDirectory() });
  onTestEnd(() => lab.store.close());
  return lab;
}
