/**
 * Deadlines. Sources: Committee Note on Rules, 2009 Amendment, to Fed. R. Civ. P. 6(a)(5) (the
 * examples of September 2007) and to 6(a)(6); Committee Note, 2005 Amendment, to 6(e), now 6(d)
 * (three days after the period expires); OPM's list of federal holidays.
 */
import { describe, expect, test } from "bun:test";
import type { JsonValue } from "../../src/bytes/canonical-json.ts";
import { formatDate } from "../../src/process/civil-date.ts";
import { federalHolidays } from "../../src/process/deadline/federal-holidays.ts";
import { deadlineCompute } from "../../src/process/deadline/process.ts";
import type { DeadlineInput, DeadlineRequest } from "../../src/process/deadline/schema.ts";
import { ProcessInputError } from "../../src/process/input-error.ts";

interface Output {
  readonly due: string;
  readonly due_time?: string;
  readonly weekday: string;
  readonly steps: readonly {
    readonly code: string;
    readonly date: string;
    readonly rule: string;
  }[];
  readonly alternatives: readonly { readonly due: string; readonly reading: string }[];
  readonly warnings: readonly string[];
}

type Extra = Partial<
  Pick<DeadlineInput, "daylight_saving" | "holidays" | "rules" | "saturday_holidays">
>;

/** @param at a day, or a day and a time of day. */
function compute(
  at: string,
  period: DeadlineRequest["period"],
  service: DeadlineRequest["service"] = "none",
  extra: Extra = {},
): Output {
  const [date = "", time] = at.split(" ");
  const trigger = { date, ...(time === undefined ? {} : { time }) };
  const input = {
    rules: "FRCP-6",
    deadlines: [{ id: "d", trigger, period, service }],
    ...extra,
  };
  const { deadlines } = deadlineCompute.run(input as JsonValue);
  return (deadlines as unknown as readonly Output[])[0] as Output;
}

const days = (count: number): DeadlineRequest["period"] => ({ count, unit: "days" });
const daysBack = (count: number): DeadlineRequest["period"] => ({
  count,
  unit: "days",
  direction: "before",
});

describe("the examples of the 2009 Committee Note", () => {
  test("10 days after: Saturday 1 September 2007, then Labor Day, so Tuesday 4 September", () => {
    expect(compute("2007-08-22", days(10))).toMatchObject({
      due: "2007-09-04",
      weekday: "Tuesday",
      warnings: ["BEFORE_2009_AMENDMENTS"],
    });
  });

  test("10 days before: Saturday 1 September 2007, so Friday 31 August", () => {
    expect(compute("2007-09-11", daysBack(10))).toMatchObject({
      due: "2007-08-31",
      weekday: "Friday",
    });
  });

  test("with the clerk's office inaccessible on 31 August: no earlier than Tuesday 4 September", () => {
    const holidays = [{ date: "2007-08-31", name: "flood", kind: "clerk_inaccessible" as const }];
    expect(compute("2007-09-11", daysBack(10), "none", { holidays }).due).toBe("2007-09-04");
  });
});

describe("service", () => {
  test("30 days from 31 July 2025 by mail: 30 August, moved to 2 September, and 3 days more", () => {
    const output = compute("2025-07-31", days(30), "mail");
    expect(output.due).toBe("2025-09-05");
    expect(output.steps.map(({ code, date, rule }) => `${code} ${date} ${rule}`)).toEqual([
      "TRIGGER_EXCLUDED 2025-07-31 FRCP 6(a)(1)(A)",
      "PERIOD_COUNTED 2025-08-30 FRCP 6(a)(1)(B)",
      "LAST_DAY_MOVED 2025-08-31 FRCP 6(a)(1)(C)",
      "LAST_DAY_MOVED 2025-09-01 FRCP 6(a)(1)(C)",
      "LAST_DAY_MOVED 2025-09-02 FRCP 6(a)(1)(C)",
      "SERVICE_DAYS_ADDED 2025-09-05 FRCP 6(d)",
    ]);
  });

  const cases: readonly (readonly [DeadlineRequest["service"], string, string])[] = [
    ["none", "2025-03-03", "2025-03-17"],
    ["personal", "2025-03-03", "2025-03-17"],
    ["electronic", "2025-03-03", "2025-03-17"],
    ["mail", "2025-03-03", "2025-03-20"],
    ["clerk", "2025-03-03", "2025-03-20"],
    ["other_consented", "2025-03-03", "2025-03-20"],
    // The 2016 amendments took electronic service out of 6(d) on 1 December 2016.
    ["electronic", "2016-11-30", "2016-12-19"],
    ["electronic", "2016-12-01", "2016-12-15"],
  ];
  test.each(cases)("%s on %s: 14 days end on %s", (service, date, due) => {
    expect(compute(date, days(14), service).due).toBe(due);
  });
});

describe("the last day", () => {
  const cases: readonly (readonly [string, string, DeadlineRequest["period"], string])[] = [
    ["a weekday", "2026-07-01", days(1), "2026-07-02"],
    ["a Saturday", "2026-06-26", days(15), "2026-07-13"],
    ["the Friday before a Saturday's holiday", "2026-06-26", days(7), "2026-07-06"],
    ["a Sunday", "2026-06-28", days(14), "2026-07-13"],
    ["Christmas", "2026-12-11", days(14), "2026-12-28"],
    ["the Monday after a Sunday's holiday", "2027-06-21", days(14), "2027-07-06"],
    ["21 days over months", "2026-01-20", days(21), "2026-02-10"],
    ["weeks", "2026-01-20", { count: 3, unit: "weeks" }, "2026-02-10"],
    ["a month without such a day", "2026-01-31", { count: 1, unit: "months" }, "2026-03-02"],
    ["a leap day", "2024-02-29", { count: 1, unit: "years" }, "2025-02-28"],
    ["a year back", "2026-03-10", { count: 1, unit: "years", direction: "before" }, "2025-03-10"],
  ];
  test.each(cases)("%s", (_name, date, period, due) => {
    expect(compute(date, period).due).toBe(due);
  });

  test("where the Friday's reading matters, both are given", () => {
    const given = compute("2026-06-19", days(14));
    expect(given.due).toBe("2026-07-06");
    expect(given.alternatives).toMatchObject([
      { due: "2026-07-03", reading: "friday_does_not_count" },
    ]);
    const other = compute("2026-06-19", days(14), "none", {
      saturday_holidays: "friday_does_not_count",
    });
    expect(other).toMatchObject({ due: "2026-07-03", alternatives: [{ due: "2026-07-06" }] });
    expect(compute("2026-06-18", days(14)).alternatives).toEqual([]);
  });

  test("state holidays lengthen periods after an event, not before one", () => {
    const holidays = [{ date: "2026-03-31", name: "César Chávez Day", kind: "state" as const }];
    expect(compute("2026-03-17", days(14), "none", { holidays }).due).toBe("2026-04-01");
    expect(compute("2026-04-14", daysBack(14), "none", { holidays }).due).toBe("2026-03-31");
    const declared = holidays.map((one) => ({ ...one, kind: "declared" as const }));
    expect(compute("2026-04-14", daysBack(14), "none", { holidays: declared }).due).toBe(
      "2026-03-30",
    );
  });

  test("the other rule books count alike and name their own paragraphs", () => {
    for (const [rules, rule] of [
      ["FRAP-26", "FRAP 26(c)"],
      ["FRBP-9006", "FRBP 9006(f)"],
    ] as const) {
      const output = compute("2025-07-31", days(30), "mail", { rules });
      expect(output.due).toBe("2025-09-05");
      expect(output.steps.at(-1)?.rule).toBe(rule);
    }
  });
});

describe("hours", () => {
  const hours = (count: number, direction: "after" | "before" = "after") => ({
    count,
    unit: "hours" as const,
    direction,
  });

  test("the Committee Note of 2009: 72 hours over the end of daylight saving time", () => {
    const output = compute("2007-11-02 10:23", hours(72));
    expect(output).toMatchObject({ due: "2007-11-05", due_time: "09:23", weekday: "Monday" });
    expect(output.steps.map(({ code, date, rule }) => `${code} ${date} ${rule}`)).toEqual([
      "COUNT_BEGINS 2007-11-02 FRCP 6(a)(2)(A)",
      "CLOCKS_CHANGED 2007-11-05 FRCP 6(a)(2)(B)",
      "PERIOD_COUNTED 2007-11-05 FRCP 6(a)(2)(B)",
    ]);
    const none = compute("2007-11-02 10:23", hours(72), "none", { daylight_saving: "none" });
    expect(none).toMatchObject({ due: "2007-11-05", due_time: "10:23" });
  });

  const cases: readonly (readonly [string, string, DeadlineRequest["period"], string])[] = [
    ["nothing is rounded", "2026-07-01 10:23", hours(1), "2026-07-01 11:23"],
    ["over midnight", "2026-07-01 23:59", hours(1), "2026-07-02 00:59"],
    [
      "over the beginning of daylight saving time",
      "2026-03-06 12:00",
      hours(72),
      "2026-03-09 13:00",
    ],
    ["the hour before it", "2026-03-08 00:59", hours(1), "2026-03-09 01:59"],
    ["the hour of it", "2026-03-08 01:00", hours(1), "2026-03-09 03:00"],
    ["the hour that comes twice", "2026-11-01 01:30", hours(1), "2026-11-02 01:30"],
    ["two hours of it", "2026-11-01 01:30", hours(2), "2026-11-02 02:30"],
    ["a Saturday: the same time on Monday", "2026-07-09 15:00", hours(48), "2026-07-13 15:00"],
    ["a holiday's Friday and weekend", "2026-07-02 09:00", hours(24), "2026-07-06 09:00"],
    ["back over a weekend", "2026-07-06 09:00", hours(24, "before"), "2026-07-02 09:00"],
    ["back over a change", "2026-11-02 09:00", hours(72, "before"), "2026-10-30 10:00"],
  ];
  test.each(cases)("%s", (_name, begin, period, due) => {
    const output = compute(begin, period);
    expect(`${output.due} ${output.due_time}`).toBe(due);
  });

  test("the clerk's office may be out of reach, and paper come by mail", () => {
    const holidays = [{ date: "2026-07-09", name: "flood", kind: "clerk_inaccessible" as const }];
    expect(compute("2026-07-08 10:00", hours(24), "none", { holidays })).toMatchObject({
      due: "2026-07-10",
      due_time: "10:00",
    });
    expect(compute("2026-07-06 10:00", hours(24), "mail").due).toBe("2026-07-10");
  });

  test("days have no time", () => {
    expect(compute("2026-07-01", days(1))).not.toHaveProperty("due_time");
  });
});

describe("every step and warning, with and without", () => {
  const holidays = [{ date: "2026-07-02", name: "flood", kind: "clerk_inaccessible" as const }];
  const july = "2026-07-01";
  const month = { count: 1, unit: "months" as const };
  const hour = { count: 72, unit: "hours" as const };
  const cases: readonly (readonly [string, Output, Output])[] = [
    ["TRIGGER_EXCLUDED", compute(july, days(1)), compute(`${july} 09:00`, hour)],
    ["COUNT_BEGINS", compute(`${july} 09:00`, hour), compute(july, days(3))],
    ["CLOCKS_CHANGED", compute("2026-10-31 09:00", hour), compute("2026-10-27 09:00", hour)],
    ["MONTH_END_CLAMPED", compute("2026-01-29", month), compute("2026-01-28", month)],
    ["LAST_DAY_MOVED", compute("2026-07-10", days(1)), compute("2026-07-10", days(3))],
    ["SERVICE_DAYS_ADDED", compute(july, days(1), "mail"), compute(july, days(1), "personal")],
    [
      "CLERK_INACCESSIBLE",
      compute(july, days(1), "none", { holidays }),
      compute(july, days(5), "none", { holidays }),
    ],
    ["BEFORE_2009_AMENDMENTS", compute("2009-11-30", days(1)), compute("2009-12-01", days(1))],
    ["MONTH_END_READING", compute("2026-01-29", month), compute("2026-01-28", month)],
    ["DAYLIGHT_SAVING_ASSUMED", compute("2026-10-31 09:00", hour), compute(july, days(1))],
    ["COUNTED_BACKWARD", compute(july, daysBack(1)), compute(july, days(1))],
  ];
  const codesOf = ({ steps, warnings }: Output): readonly string[] => [
    ...steps.map(({ code }) => code),
    ...warnings,
  ];
  test.each(cases)("%s", (code, withIt, without) => {
    expect(codesOf(withIt)).toContain(code);
    expect(codesOf(without)).not.toContain(code);
  });
});

test("the holidays of 2021 and 2026 are those of OPM's list", () => {
  const table = federalHolidays();
  const of = (year: string): string[] =>
    [...table]
      .filter(([day]) => formatDate(day).startsWith(year))
      .sort(([a], [b]) => a - b)
      .map(([day, { name }]) => `${formatDate(day).slice(5)} ${name}`);
  expect(of("2026")).toEqual([
    "01-01 New Year's Day",
    "01-19 Birthday of Martin Luther King, Jr.",
    "02-16 Washington's Birthday",
    "05-25 Memorial Day",
    "06-19 Juneteenth National Independence Day",
    "07-03 Independence Day (observed)",
    "07-04 Independence Day",
    "09-07 Labor Day",
    "10-12 Columbus Day",
    "11-11 Veterans Day",
    "11-26 Thanksgiving Day",
    "12-25 Christmas Day",
  ]);
  expect(of("2021")).toContain("06-18 Juneteenth National Independence Day (observed)");
  expect(of("2021")).toContain("12-31 New Year's Day (observed)");
  expect(of("2020").join()).not.toContain("Juneteenth");
});

describe("refused", () => {
  const refusal = (run: () => unknown): string => {
    try {
      run();
    } catch (error) {
      if (error instanceof ProcessInputError) return `${error.code} ${error.pointer}`;
      throw error;
    }
    return "accepted";
  };
  const cases: readonly (readonly [string, () => unknown, string])[] = [
    [
      "a day that is none",
      () => compute("2026-02-30", days(1)),
      "invalid_date /deadlines/0/trigger/date",
    ],
    [
      "a year before the table",
      () => compute("2006-12-29", days(7)),
      "outside_tables /deadlines/0/trigger/date",
    ],
    ["the table's first year", () => compute("2007-01-01", days(7)), "accepted"],
    [
      "an end after the table",
      () => compute("2035-12-28", days(7)),
      "outside_tables /deadlines/0/period",
    ],
    [
      "mail before a hearing",
      () => compute("2026-03-10", daysBack(7), "mail"),
      "conflicting_input /deadlines/0/service",
    ],
    [
      "hours without a time of day",
      () => compute("2026-03-10", { count: 1, unit: "hours" }),
      "conflicting_input /deadlines/0/trigger/time",
    ],
    [
      "days with one",
      () => compute("2026-03-10 09:00", days(1)),
      "conflicting_input /deadlines/0/trigger/time",
    ],
    [
      "a time that is none",
      () => compute("2026-03-10 24:00", { count: 1, unit: "hours" }),
      "invalid_input /deadlines/0/trigger/time",
    ],
    ["no days", () => compute("2026-03-10", days(0)), "invalid_input /deadlines/0/period/count"],
    [
      "one id twice",
      () => {
        const deadline = {
          id: "d",
          trigger: { date: "2026-01-02" },
          period: { count: 1, unit: "days" },
        };
        deadlineCompute.run({ rules: "FRCP-6", deadlines: [deadline, deadline] });
      },
      "duplicate_id /deadlines/1/id",
    ],
  ];
  for (const [name, run, expected] of cases) {
    test(name, () => {
      expect(refusal(run)).toBe(expected);
    });
  }
});
