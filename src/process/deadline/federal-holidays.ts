/**
 * Federal legal holidays (5 U.S.C. 6103(a), Fed. R. Civ. P. 6(a)(6)(A)) and the days on which they
 * are observed (6103(b); Executive Order 11582), for the years that were checked.
 */
import { dayNumber, daysInMonth, weekday } from "../civil-date.ts";

/** Outside of these years the statutes may have been, or may become, others. */
export const HOLIDAY_YEARS = { first: 2007, last: 2035 } as const;

type Rule =
  | { readonly name: string; readonly month: number; readonly day: number; readonly from?: number }
  /** `nth` 1 to 4, or -1 for the last; weekday 1 is Monday, 4 Thursday. */
  | {
      readonly name: string;
      readonly month: number;
      readonly nth: number;
      readonly weekday: number;
    };

export const FEDERAL_HOLIDAYS: readonly Rule[] = [
  { name: "New Year's Day", month: 1, day: 1 },
  { name: "Birthday of Martin Luther King, Jr.", month: 1, nth: 3, weekday: 1 },
  { name: "Washington's Birthday", month: 2, nth: 3, weekday: 1 },
  { name: "Memorial Day", month: 5, nth: -1, weekday: 1 },
  // Public Law 117-17 of 17 June 2021, in force at once.
  { name: "Juneteenth National Independence Day", month: 6, day: 19, from: 2021 },
  { name: "Independence Day", month: 7, day: 4 },
  { name: "Labor Day", month: 9, nth: 1, weekday: 1 },
  { name: "Columbus Day", month: 10, nth: 2, weekday: 1 },
  { name: "Veterans Day", month: 11, day: 11 },
  { name: "Thanksgiving Day", month: 11, nth: 4, weekday: 4 },
  { name: "Christmas Day", month: 12, day: 25 },
];

export interface Holiday {
  readonly name: string;
  /**
   * The Friday before a holiday that falls on a Saturday: a holiday of federal employees by
   * statute; whether it is a "legal holiday" of the rules is disputed.
   */
  readonly isSaturdaysFriday: boolean;
}

/** By day number. */
export function federalHolidays(): ReadonlyMap<number, Holiday> {
  const days = new Map<number, Holiday>();
  for (let year = HOLIDAY_YEARS.first; year <= HOLIDAY_YEARS.last + 1; year += 1) {
    for (const rule of FEDERAL_HOLIDAYS) {
      if ("from" in rule && year < (rule.from ?? 0)) continue;
      const day = dayOf(rule, year);
      days.set(day, { name: rule.name, isSaturdaysFriday: false });
      const name = `${rule.name} (observed)`;
      if (weekday(day) === 0) days.set(day + 1, { name, isSaturdaysFriday: false });
      if (weekday(day) === 6) days.set(day - 1, { name, isSaturdaysFriday: true });
    }
  }
  return days;
}

function dayOf(rule: Rule, year: number): number {
  if ("day" in rule) return dayNumber(year, rule.month, rule.day);
  const { month, nth } = rule;
  if (nth < 0) {
    const last = dayNumber(year, month, daysInMonth(year, month));
    return last - ((weekday(last) - rule.weekday + 7) % 7);
  }
  const first = dayNumber(year, month, 1);
  return first + ((rule.weekday - weekday(first) + 7) % 7) + 7 * (nth - 1);
}
