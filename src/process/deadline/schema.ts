/** Input of `deadline-compute`, version 1. */
import Type, { type Static } from "typebox";
import { closed, DATE, ID, TEXT } from "../schema-parts.ts";

const DEADLINE = closed({
  id: ID,
  title: Type.Optional(TEXT),
  trigger: closed({
    date: DATE,
    /** Of a period in hours: when the event happened, on the court's clock. */
    time: Type.Optional(Type.String({ pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$" })),
    event: Type.Optional(TEXT),
  }),
  period: closed({
    count: Type.Integer({ minimum: 1, maximum: 3660 }),
    unit: Type.Enum(["hours", "days", "weeks", "months", "years"]),
    direction: Type.Optional(Type.Enum(["after", "before"])),
  }),
  /** How the paper that starts the period was served. */
  service: Type.Optional(
    Type.Enum(["none", "personal", "electronic", "mail", "clerk", "other_consented"]),
  ),
});

export const DEADLINE_INPUT = closed({
  schema: Type.Optional(Type.Literal("deadline-compute/1")),
  rules: Type.Enum(["FRCP-6", "FRAP-26", "FRBP-9006"]),
  deadlines: Type.Array(DEADLINE, { minItems: 1, maxItems: 500 }),
  /** Days beyond the federal table, for the court at hand. */
  holidays: Type.Optional(
    Type.Array(
      closed({
        date: DATE,
        name: TEXT,
        kind: Type.Enum(["declared", "state", "clerk_inaccessible"]),
      }),
      { maxItems: 2000 },
    ),
  ),
  /** Whether the court's clocks change to daylight saving time; hours are counted across. */
  daylight_saving: Type.Optional(Type.Enum(["us", "none"])),
  /** Whether the Friday before a Saturday's holiday counts as a legal holiday. */
  saturday_holidays: Type.Optional(Type.Enum(["friday_counts", "friday_does_not_count"])),
});

export type DeadlineInput = Static<typeof DEADLINE_INPUT>;
export type DeadlineRequest = DeadlineInput["deadlines"][number];
