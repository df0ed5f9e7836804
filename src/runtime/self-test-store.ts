/**
 * Results of self-tests, one file per engine, so that a start does not run the whole test again. A
 * file that is missing or unreadable costs a new test and nothing else.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SelfTestResult } from "./self-test.ts";

export interface StoredSelfTest extends SelfTestResult {
  /** What the lane's bits were right after the test. */
  readonly canary: string | null;
}

export interface SelfTestStore {
  read(key: string): StoredSelfTest | null;
  write(key: string, result: StoredSelfTest): void;
}

/** Keeps nothing: every start tests again. */
export const NO_SELF_TESTS: SelfTestStore = { read: () => null, write: () => {} };

/** @param directory made on first use. */
export function selfTestsIn(directory: string): SelfTestStore {
  const pathOf = (key: string) => join(directory, `${key}.json`);
  return {
    read(key) {
      try {
        return parse(JSON.parse(readFileSync(pathOf(key), "utf8")));
      } catch {
        return null;
      }
    },
    write(key, result) {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const draft = `${pathOf(key)}.${process.pid}`;
      writeFileSync(draft, `${JSON.stringify(result, null, 2)}\n`, { mode: 0o600 });
      renameSync(draft, pathOf(key));
    },
  };
}

function parse(value: unknown): StoredSelfTest | null {
  if (typeof value !== "object" || value === null) return null;
  const { classes, unstable, lengths, callMs, canary } = value as Readonly<Record<string, unknown>>;
  const isList = Array.isArray(classes) && classes.every(isCounts);
  if (!isList || !isCounts(unstable) || !isCounts(lengths) || !isTimes(callMs)) return null;
  if (canary !== null && typeof canary !== "string") return null;
  return { classes, unstable, lengths, callMs, canary };
}

function isTimes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => typeof item === "number" && item >= 0);
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isInteger(item) && item > 0);
}
