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
  readonly weekday: string;
  readonly steps: readonly {
    readonly code: string;
    readonly date: string;
    readonly rule: string;
  }[];
  readonly alternatives: readonly { readonly due: string; readonly reading: string }[];
  readonly warnings: readonly string[];
}

type Extra = Partial<Pick<DeadlineInput, "holidays" | "rules" | "saturday_holidays">>;

function compute(
  date: string,
  period: DeadlineRequest["period"],
  service: DeadlineRequest["service"] = "none",
  extra: Extra = {},
): Output {
  const input = {
    rules: "FRCP-6",
    deadlines: [{ id: "d", trigger: { date }, period, service }],
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
