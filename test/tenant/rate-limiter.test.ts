import { expect, test } from "bun:test";
import { RateLimiter } from "../../src/tenant/rate-limiter.ts";

test("of more names than there is room for, the one longest not seen starts anew", () => {
  const rates = new RateLimiter(2);
  const isAllowed = (name: string, nowMs: number) => rates.take(name, 1, nowMs, 1).allowed;
  expect([isAllowed("a", 0), isAllowed("b", 1), isAllowed("a", 2)]).toEqual([true, true, false]);
  expect(isAllowed("c", 3)).toBe(true);
  expect([isAllowed("a", 4), isAllowed("b", 5)]).toEqual([false, true]);
});

test("a bucket that is full again is as good as a new one", () => {
  const rates = new RateLimiter();
  expect(rates.take("a", 2, 0, 1).remaining).toBe(1);
  expect(rates.take("b", 2, 60_000, 1).remaining).toBe(1);
  expect(rates.take("a", 2, 60_000, 0)).toEqual({
    allowed: true,
    remaining: 2,
    retryAfterMs: 0,
    fullAfterMs: 0,
  });
});
