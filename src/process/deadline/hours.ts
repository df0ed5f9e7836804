/** Hours on a wall clock, across the changes to and from daylight saving time. */
import { civilDate, dayNumber, weekday } from "../civil-date.ts";

/** 15 U.S.C. 260a since 2007: second Sunday of March to first Sunday of November, at 2 o'clock. */
export const US_CLOCK = { start: [3, 2], end: [11, 1], hour: 2, first_year: 2007 } as const;

export type Clock = "us" | "none";

export interface ClockTime {
  readonly day: number;
  /** Minutes after midnight. */
  readonly minute: number;
}

const DAY_MINUTES = 1440;
const HOUR = 60;

/**
 * @param hours negative counts backward.
 * @returns the wall time then, and by how many minutes the clocks were moved on the way.
 */
export function hoursAfter(
  { day, minute }: ClockTime,
  hours: number,
  clock: Clock,
): ClockTime & { readonly moved: number } {
  const wall = day * DAY_MINUTES + minute;
  // Of an hour that comes twice, the first; a time that never was is read an hour later.
  const start = isDaylight(wall - HOUR, clock) ? wall - HOUR : wall;
  const end = start + hours * HOUR;
  const shown = isDaylight(end, clock) ? end + HOUR : end;
  const endDay = Math.floor(shown / DAY_MINUTES);
  return {
    day: endDay,
    minute: shown - endDay * DAY_MINUTES,
    moved: shown - end - (wall - start),
  };
}

/** @param minutes since day 0, in standard time. */
function isDaylight(minutes: number, clock: Clock): boolean {
  if (clock === "none") return false;
  const { year } = civilDate(Math.floor(minutes / DAY_MINUTES));
  const [march, second] = US_CLOCK.start;
  const [november, first] = US_CLOCK.end;
  const change = US_CLOCK.hour * HOUR;
  const start = sundayOf(year, march, second) * DAY_MINUTES + change;
  // Two o'clock daylight time is one o'clock standard time.
  const end = sundayOf(year, november, first) * DAY_MINUTES + change - HOUR;
  return minutes >= start && minutes < end;
}

function sundayOf(year: number, month: number, count: number): number {
  const first = dayNumber(year, month, 1);
  return first + ((7 - weekday(first)) % 7) + 7 * (count - 1);
}

/** @param text HH:MM, as the schema lets it through. */
export function minuteOf(text: string): number {
  return Number(text.slice(0, 2)) * HOUR + Number(text.slice(3, 5));
}

export function formatMinute(minute: number): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${two(Math.floor(minute / HOUR))}:${two(minute % HOUR)}`;
}
