/** Counting a period by Fed. R. Civ. P. 6, Fed. R. App. P. 26 or Fed. R. Bankr. P. 9006. */
import { civilDate, dayNumber, daysInMonth, formatDate, weekday } from "../civil-date.ts";
import { type Clock, formatMinute, hoursAfter, minuteOf } from "./hours.ts";
import type { DeadlineRequest } from "./schema.ts";

export interface Calendar {
  /** Why the day is no day on which a period ends; null for a day on which it may. */
  closedReason(day: number, direction: "after" | "before"): string | null;
  /** Whether the clerk's office cannot be reached: extends a period's last day, forward only. */
  isInaccessible(day: number): boolean;
  readonly clock: Clock;
}

interface CountStep {
  readonly code:
    | "TRIGGER_EXCLUDED"
    | "COUNT_BEGINS"
    | "CLOCKS_CHANGED"
    | "PERIOD_COUNTED"
    | "MONTH_END_CLAMPED"
    | "LAST_DAY_MOVED"
    | "SERVICE_DAYS_ADDED"
    | "CLERK_INACCESSIBLE";
  readonly date: string;
  readonly rule: string;
  readonly detail?: string;
}

export interface Counted {
  readonly day: number;
  /** Of a period in hours: HH:MM; the same whichever day the period is moved to. */
  readonly time: string | null;
  readonly steps: readonly CountStep[];
}

/** Paragraph names of the three rules for the same arithmetic. */
export const RULE_PARTS = {
  "FRCP-6": {
    period: "FRCP 6(a)(1)",
    hours: "FRCP 6(a)(2)",
    clerk: "FRCP 6(a)(3)",
    next: "FRCP 6(a)(5)",
    add: "FRCP 6(d)",
  },
  "FRAP-26": {
    period: "FRAP 26(a)(1)",
    hours: "FRAP 26(a)(2)",
    clerk: "FRAP 26(a)(3)",
    next: "FRAP 26(a)(5)",
    add: "FRAP 26(c)",
  },
  "FRBP-9006": {
    period: "FRBP 9006(a)(1)",
    hours: "FRBP 9006(a)(2)",
    clerk: "FRBP 9006(a)(3)",
    next: "FRBP 9006(a)(5)",
    add: "FRBP 9006(f)",
  },
} as const;

/** Electronic service added days too until the amendments of 1 December 2016. */
const ELECTRONIC_ADDED_UNTIL = "2016-12-01";

const SERVICE_DAYS = 3;

export const SERVICE_TABLE = {
  days: SERVICE_DAYS,
  always: ["clerk", "mail", "other_consented"],
  electronic_until: ELECTRONIC_ADDED_UNTIL,
} as const;

const ADDING_SERVICE: ReadonlySet<string> = new Set(SERVICE_TABLE.always);

export function addsServiceDays({ service = "none", trigger }: DeadlineRequest): boolean {
  if (service === "electronic") return trigger.date < ELECTRONIC_ADDED_UNTIL;
  return ADDING_SERVICE.has(service);
}

type RuleParts = (typeof RULE_PARTS)[keyof typeof RULE_PARTS];

export function countPeriod(
  request: DeadlineRequest,
  triggerDay: number,
  calendar: Calendar,
  parts: RuleParts,
): Counted {
  const direction = request.period.direction ?? "after";
  const steps: CountStep[] = [];
  const add = (code: CountStep["code"], day: number, rule: string, detail?: string): void => {
    steps.push({ code, date: formatDate(day), rule, ...(detail === undefined ? {} : { detail }) });
  };
  const isHours = request.period.unit === "hours";
  const rule = isHours ? parts.hours : parts.period;
  const { day: counted, time } = isHours
    ? countHours(request, triggerDay, calendar.clock, rule, add)
    : countDays(request, triggerDay, rule, add);
  const move = (from: number, towards: "after" | "before"): number => {
    let day = from;
    for (let why = calendar.closedReason(day, direction); why !== null; ) {
      day += towards === "after" ? 1 : -1;
      add("LAST_DAY_MOVED", day, towards === "after" ? `${rule}(C)` : parts.next, why);
      why = calendar.closedReason(day, direction);
    }
    return day;
  };
  let day = move(counted, direction);
  if (addsServiceDays(request)) {
    // After the period would otherwise expire: the moved day, not the counted one.
    day += SERVICE_DAYS;
    add("SERVICE_DAYS_ADDED", day, parts.add, `${SERVICE_DAYS} days, ${request.service}`);
    day = move(day, "after");
  }
  while (calendar.isInaccessible(day)) {
    add("CLERK_INACCESSIBLE", day, parts.clerk);
    // Forward, whichever way the period was counted.
    day = move(day + 1, "after");
  }
  return { day, time, steps };
}

type AddStep = (code: CountStep["code"], day: number, rule: string, detail?: string) => void;

interface CountedTime {
  readonly day: number;
  readonly time: string | null;
}

function countDays(
  request: DeadlineRequest,
  triggerDay: number,
  rule: string,
  add: AddStep,
): CountedTime {
  const { count, unit, direction = "after" } = request.period;
  add("TRIGGER_EXCLUDED", triggerDay, `${rule}(A)`);
  const { day, clamped } = countedDay(request, triggerDay, direction);
  if (clamped) add("MONTH_END_CLAMPED", day, `${rule}(B)`, "the month has no such day");
  add("PERIOD_COUNTED", day, `${rule}(B)`, `${count} ${unit} ${direction}`);
  return { day, time: null };
}

/** Every hour counts, those of weekends and of changed clocks too; none is rounded. */
function countHours(
  { period: { count, direction = "after" }, trigger }: DeadlineRequest,
  triggerDay: number,
  clock: Clock,
  rule: string,
  add: AddStep,
): CountedTime {
  const begin = { day: triggerDay, minute: minuteOf(trigger.time ?? "00:00") };
  const { day, minute, moved } = hoursAfter(begin, direction === "after" ? count : -count, clock);
  const time = formatMinute(minute);
  add("COUNT_BEGINS", triggerDay, `${rule}(A)`, trigger.time);
  if (moved !== 0) add("CLOCKS_CHANGED", day, `${rule}(B)`, `${moved} minutes on the clock`);
  add("PERIOD_COUNTED", day, `${rule}(B)`, `${count} hours ${direction}: ${time}`);
  return { day, time };
}

/** Months and years end on the same day of the month, or on the month's last. */
function countedDay(
  { period: { count, unit } }: DeadlineRequest,
  triggerDay: number,
  direction: "after" | "before",
): { readonly day: number; readonly clamped: boolean } {
  const sign = direction === "after" ? 1 : -1;
  if (unit === "days" || unit === "weeks")
    return { day: triggerDay + sign * count * (unit === "weeks" ? 7 : 1), clamped: false };
  const { year, month, day } = civilDate(triggerDay);
  const months = year * 12 + month - 1 + sign * count * (unit === "years" ? 12 : 1);
  const toYear = Math.floor(months / 12);
  const toMonth = (months % 12) + 1;
  const toDay = Math.min(day, daysInMonth(toYear, toMonth));
  return { day: dayNumber(toYear, toMonth, toDay), clamped: toDay !== day };
}

const WEEKDAYS = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
] as const;

export function weekdayName(day: number): string {
  return WEEKDAYS[weekday(day)] ?? "";
}
