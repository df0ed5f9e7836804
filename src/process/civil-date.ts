/**
 * Dates of the proleptic Gregorian calendar as day numbers, without the platform's clock, time
 * zones or date parsing. Day 0 is 1970-01-01.
 */

/** Cumulative days before each month of a common year. */
const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365] as const;

/** Days from 0001-01-01 to 1970-01-01. */
const EPOCH_OFFSET_DAYS = 719_162;

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

export function daysInMonth(year: number, month: number): number {
  const before = DAYS_BEFORE_MONTH[month - 1] ?? 0;
  const after = DAYS_BEFORE_MONTH[month] ?? 0;
  return after - before + (month === 2 && isLeapYear(year) ? 1 : 0);
}

/** @returns the day number, or null unless `text` is a real date written YYYY-MM-DD. */
export function parseDate(text: string): number | null {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) return null;
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8, 10));
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  return dayNumber(year, month, day);
}

/** @param month 1 to 12. @param day 1 to the length of that month. */
export function dayNumber(year: number, month: number, day: number): number {
  const past = year - 1;
  const leapDays = Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400);
  const leapDayPassed = month > 2 && isLeapYear(year) ? 1 : 0;
  const inYear = (DAYS_BEFORE_MONTH[month - 1] ?? 0) + leapDayPassed + day - 1;
  return past * 365 + leapDays + inYear - EPOCH_OFFSET_DAYS;
}

export interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

/** The inverse of `dayNumber`. */
export function civilDate(dayNumberValue: number): CivilDate {
  let days = dayNumberValue + EPOCH_OFFSET_DAYS;
  const cycles400 = Math.floor(days / 146_097);
  days -= cycles400 * 146_097;
  const cycles100 = Math.min(3, Math.floor(days / 36_524));
  days -= cycles100 * 36_524;
  const cycles4 = Math.floor(days / 1461);
  days -= cycles4 * 1461;
  const years = Math.min(3, Math.floor(days / 365));
  days -= years * 365;
  const year = cycles400 * 400 + cycles100 * 100 + cycles4 * 4 + years + 1;
  let month = 1;
  while (days >= daysInMonth(year, month)) {
    days -= daysInMonth(year, month);
    month += 1;
  }
  return { year, month, day: days + 1 };
}

/** YYYY-MM-DD. */
export function formatDate(day: number): string {
  const date = civilDate(day);
  return `${padded(date.year, 4)}-${padded(date.month, 2)}-${padded(date.day, 2)}`;
}

/** 0 is Sunday. */
export function weekday(day: number): number {
  // 1970-01-01 was a Thursday.
  return (((day + 4) % 7) + 7) % 7;
}

function padded(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
