/** `deadline-compute`: the last day of a period under the federal rules, with every step. */
import { formatDate, parseDate, weekday } from "../civil-date.ts";
import { defineProcess, type JsonObject } from "../definition.ts";
import { ProcessInputError } from "../input-error.ts";
import {
  addsServiceDays,
  type Calendar,
  type Counted,
  countPeriod,
  RULE_PARTS,
  SERVICE_TABLE,
  weekdayName,
} from "./count.ts";
import { FEDERAL_HOLIDAYS, federalHolidays, HOLIDAY_YEARS } from "./federal-holidays.ts";
import golden from "./golden.json";
import { US_CLOCK } from "./hours.ts";
import { DEADLINE_INPUT, type DeadlineInput, type DeadlineRequest } from "./schema.ts";

const VERSION = "1.0.0";

/** Before this day the rules counted short periods without weekends. */
const DAYS_ARE_DAYS_FROM = "2009-12-01";

export const deadlineCompute = defineProcess({
  slug: "deadline-compute",
  version: VERSION,
  description:
    "Last day of a period under Fed. R. Civ. P. 6, Fed. R. App. P. 26 or Fed. R. Bankr. P. 9006, " +
    "with every step of the count, and both readings where a rule is disputed. Local rules, " +
    "orders and statutes may set another time. It is not legal advice.",
  inputSchema: DEADLINE_INPUT,
  tables: {
    holidays: FEDERAL_HOLIDAYS.map((rule) => ({ ...rule })),
    years: HOLIDAY_YEARS,
    rules: RULE_PARTS,
    service: SERVICE_TABLE,
    days_are_days_from: DAYS_ARE_DAYS_FROM,
    clock: US_CLOCK,
  },
  goldens: golden,
  compute: computeDeadlines,
});

function computeDeadlines(input: DeadlineInput): JsonObject {
  const known = new Set<string>();
  const base = baseCalendar(input);
  const deadlines = input.deadlines.map((request, index) => {
    const pointer = `/deadlines/${index}`;
    if (known.has(request.id))
      throw new ProcessInputError("duplicate_id", `${pointer}/id`, `${request.id} is used twice`);
    known.add(request.id);
    return deadlineOutput(request, pointer, input, base);
  });
  return {
    engine: `deadline-compute@${VERSION}`,
    rules: input.rules,
    deadlines: deadlines.sort((a, b) => (a.id < b.id ? -1 : 1)),
    holidays_used: { table: "federal", ...HOLIDAY_YEARS, supplied: input.holidays?.length ?? 0 },
    verify: "Check local rules, standing orders and any statute that sets another time.",
  };
}

type MakeCalendar = (fridayCounts: boolean) => Calendar;

function deadlineOutput(
  request: DeadlineRequest,
  pointer: string,
  input: DeadlineInput,
  base: MakeCalendar,
) {
  const triggerDay = requireDay(request.trigger.date, `${pointer}/trigger/date`);
  if (request.period.direction === "before" && addsServiceDays(request)) {
    const message = "service adds no days to a period that is counted backward";
    throw new ProcessInputError("conflicting_input", `${pointer}/service`, message);
  }
  checkTime(request, pointer);
  const parts = RULE_PARTS[input.rules];
  const fridayCounts = input.saturday_holidays !== "friday_does_not_count";
  const result = countPeriod(request, triggerDay, base(fridayCounts), parts);
  const other = countPeriod(request, triggerDay, base(!fridayCounts), parts);
  requireCovered(triggerDay, `${pointer}/trigger/date`);
  requireCovered(result.day, `${pointer}/period`);
  return {
    id: request.id,
    ...(request.title === undefined ? {} : { title: request.title }),
    due: formatDate(result.day),
    ...(result.time === null ? {} : { due_time: result.time }),
    weekday: weekdayName(result.day),
    steps: result.steps.map((step) => ({ ...step })),
    alternatives: alternativesOf(result, other, fridayCounts),
    warnings: warningsOf(request, result),
  };
}

/** Hours begin at a time of day; days do not have one. */
function checkTime({ trigger, period }: DeadlineRequest, pointer: string): void {
  if ((period.unit === "hours") === (trigger.time !== undefined)) return;
  const message =
    period.unit === "hours"
      ? "a period in hours begins at a time of day: HH:MM"
      : "only a period in hours begins at a time of day";
  throw new ProcessInputError("conflicting_input", `${pointer}/trigger/time`, message);
}

function alternativesOf(result: Counted, other: Counted, fridayCounts: boolean): JsonObject[] {
  if (result.day === other.day) return [];
  return [
    {
      reading: fridayCounts ? "friday_does_not_count" : "friday_counts",
      due: formatDate(other.day),
      weekday: weekdayName(other.day),
      rule: "5 U.S.C. 6103(b)",
    },
  ];
}

function warningsOf({ trigger, period }: DeadlineRequest, { steps }: Counted): string[] {
  return [
    ...(trigger.date < DAYS_ARE_DAYS_FROM ? ["BEFORE_2009_AMENDMENTS"] : []),
    ...(steps.some(({ code }) => code === "MONTH_END_CLAMPED") ? ["MONTH_END_READING"] : []),
    ...(steps.some(({ code }) => code === "CLOCKS_CHANGED") ? ["DAYLIGHT_SAVING_ASSUMED"] : []),
    ...(period.direction === "before" ? ["COUNTED_BACKWARD"] : []),
  ];
}

function baseCalendar({
  holidays = [],
  daylight_saving: clock = "us",
}: DeadlineInput): MakeCalendar {
  const federal = federalHolidays();
  const declared = new Map<number, string>();
  const state = new Map<number, string>();
  const inaccessible = new Set<number>();
  for (const [index, { date, name, kind }] of holidays.entries()) {
    const day = requireDay(date, `/holidays/${index}/date`);
    if (kind === "declared") declared.set(day, name);
    else if (kind === "state") state.set(day, name);
    else inaccessible.add(day);
  }
  return (fridayCounts) => ({
    clock,
    isInaccessible: (day) => inaccessible.has(day),
    closedReason: (day, direction) => {
      if (weekday(day) === 6) return "Saturday";
      if (weekday(day) === 0) return "Sunday";
      const holiday = federal.get(day);
      if (holiday && (fridayCounts || !holiday.isSaturdaysFriday)) return holiday.name;
      // State holidays lengthen periods after an event only: 6(a)(6)(C).
      return declared.get(day) ?? (direction === "after" ? (state.get(day) ?? null) : null);
    },
  });
}

function requireDay(text: string, pointer: string): number {
  const day = parseDate(text);
  if (day === null)
    throw new ProcessInputError("invalid_date", pointer, `${text} is not a day of the calendar`);
  return day;
}

function requireCovered(day: number, pointer: string): void {
  const date = formatDate(day);
  const year = Number(date.slice(0, 4));
  if (year >= HOLIDAY_YEARS.first && year <= HOLIDAY_YEARS.last) return;
  const { first, last } = HOLIDAY_YEARS;
  const message = `${date} is outside the holiday table, which covers ${first} to ${last}`;
  throw new ProcessInputError("outside_tables", pointer, message);
}
