/** The windows in which calls are counted: UTC days, and billing months from a tenant's anchor. */

/** From `startMs` on, up to and without `endMs`; Unix milliseconds. */
export interface Window {
  readonly startMs: number;
  readonly endMs: number;
}

const DAY_MS = 86_400_000;

export function utcDayAt(nowMs: number): Window {
  const startMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return { startMs, endMs: startMs + DAY_MS };
}

/**
 * The billing month that `nowMs` falls in. Months begin on the anchor's day and time of day (UTC),
 * or on a shorter month's last day: an anchor on January 31 gives February 28 and March 31.
 */
export function billingMonthAt(anchorMs: number, nowMs: number): Window {
  const anchor = new Date(anchorMs);
  const now = new Date(nowMs);
  let months =
    (now.getUTCFullYear() - anchor.getUTCFullYear()) * 12 +
    (now.getUTCMonth() - anchor.getUTCMonth());
  if (monthsAfter(anchor, months) > nowMs) months -= 1;
  return { startMs: monthsAfter(anchor, months), endMs: monthsAfter(anchor, months + 1) };
}

function monthsAfter(anchor: Date, months: number): number {
  const year = anchor.getUTCFullYear();
  const month = anchor.getUTCMonth() + months;
  // Day 0 of the month after is the month's last day.
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(anchor.getUTCDate(), lastDay);
  const timeOfDay = anchor.getTime() - utcDayAt(anchor.getTime()).startMs;
  return Date.UTC(year, month, day) + timeOfDay;
}
