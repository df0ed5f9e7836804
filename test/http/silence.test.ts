import { afterEach, expect, test } from "bun:test";
import { Silence } from "../../src/http/silence.ts";

const open: Silence[] = [];
const silenceOf = (longestMs: number): Silence => {
  const silence = new Silence(longestMs);
  open.push(silence);
  return silence;
};
const after = <T>(ms: number, value: T): Promise<T> =>
  new Promise((resolve) => setTimeout(() => resolve(value), ms));

afterEach(() => {
  for (const silence of open.splice(0)) silence.stop();
});

test("a long silence is told of, each time, and the value can still come", async () => {
  const silence = silenceOf(2);
  const value = Promise.withResolvers<string>();
  expect(await silence.within(value.promise)).toBeNull();
  expect(await silence.within(value.promise)).toBeNull();
  const last = silence.within(value.promise);
  value.resolve("late");
  expect(await last).toBe("late");
});

test("values that come soon one after another leave nothing to tell of", async () => {
  const silence = silenceOf(30);
  // The third comes long after the first was waited for.
  for (const value of [1, 2, 3]) expect(await silence.within(after(15, value))).toBe(value);
});

test("time between two values in which nobody waits is no silence", async () => {
  const silence = silenceOf(5);
  expect(await silence.within(Promise.resolve(1))).toBe(1);
  await after(10, null);
  expect(await silence.within(Promise.resolve(2))).toBe(2);
});

test("what fails fails", async () => {
  await expect(silenceOf(1000).within(Promise.reject(new RangeError("no")))).rejects.toThrow("no");
});
