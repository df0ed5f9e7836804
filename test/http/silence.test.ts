import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { Silence } from "../../src/http/silence.ts";

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** What `value` came to so far: nothing yet, or a value. */
async function seen<T>(value: Promise<T>): Promise<T | "nothing yet"> {
  let found: T | "nothing yet" = "nothing yet";
  void value.then((result) => {
    found = result;
  });
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return found;
}

test("a long silence is told of, each time, and the value can still come", async () => {
  const silence = new Silence(1000);
  const value = Promise.withResolvers<string>();
  for (let time = 0; time < 2; time++) {
    const waited = silence.within(value.promise);
    jest.advanceTimersByTime(999);
    expect(await seen(waited)).toBe("nothing yet");
    jest.advanceTimersByTime(1);
    expect(await seen(waited)).toBeNull();
  }
  const last = silence.within(value.promise);
  value.resolve("late");
  expect(await last).toBe("late");
  silence.stop();
  expect(jest.getTimerCount()).toBe(0);
});

test("values that come soon one after another leave nothing to tell of", async () => {
  const silence = new Silence(1000);
  for (const value of [1, 2, 3]) {
    const next = Promise.withResolvers<number>();
    const waited = silence.within(next.promise);
    jest.advanceTimersByTime(600);
    expect(await seen(waited)).toBe("nothing yet");
    next.resolve(value);
    expect(await waited).toBe(value);
  }
  // One that is long enough, from when it began.
  const waited = silence.within(new Promise(() => {}));
  jest.advanceTimersByTime(999);
  expect(await seen(waited)).toBe("nothing yet");
  jest.advanceTimersByTime(1);
  expect(await seen(waited)).toBeNull();
});

test("time between two values in which nobody waits is no silence", async () => {
  const silence = new Silence(1000);
  expect(await silence.within(Promise.resolve(1))).toBe(1);
  jest.advanceTimersByTime(5000);
  const next = Promise.withResolvers<number>();
  const waited = silence.within(next.promise);
  jest.advanceTimersByTime(999);
  next.resolve(2);
  expect(await waited).toBe(2);
});

test("what fails fails", async () => {
  const failing = Promise.reject(new RangeError("no"));
  await expect(new Silence(1000).within(failing)).rejects.toThrow("no");
});
