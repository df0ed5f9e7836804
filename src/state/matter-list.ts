/** The filters of `GET /v1/state/matters`, from the query string to SQL. */
import { ProcessInputError } from "../process/input-error.ts";
import { ftsQuery } from "./matter-text.ts";

const LIST_LIMIT = { default: 100, max: 1000 } as const;

export interface ListQuery {
  readonly status: string | null;
  readonly practiceArea: string | null;
  readonly personId: string | null;
  readonly client: string | null;
  readonly party: string | null;
  readonly text: string | null;
  /** Unix milliseconds. */
  readonly updatedSince: number | null;
  readonly fields: readonly string[] | null;
  readonly limit: number;
  /** The last id of the page before. */
  readonly cursor: string | null;
}

const KNOWN = [
  "status",
  "practice_area",
  "person_id",
  "client",
  "party",
  "q",
  "updated_since",
  "fields",
  "limit",
  "cursor",
] as const;

/** @throws ProcessInputError `invalid_input`, pointing at the parameter. */
export function parseListQuery(params: URLSearchParams): ListQuery {
  for (const key of params.keys()) {
    if (!(KNOWN as readonly string[]).includes(key))
      refuse(key, `is no parameter; known are ${KNOWN.join(", ")}`);
  }
  return {
    status: params.get("status"),
    practiceArea: params.get("practice_area"),
    personId: params.get("person_id"),
    client: params.get("client"),
    party: params.get("party"),
    text: params.get("q"),
    updatedSince: params.has("updated_since") ? wholeNumber(params, "updated_since") : null,
    fields: params.get("fields")?.split(",") ?? null,
    limit: parseLimit(params),
    cursor: params.get("cursor"),
  };
}

/** @throws ProcessInputError `invalid_input` for what is no number from 1 to the maximum. */
function parseLimit(params: URLSearchParams): number {
  if (!params.has("limit")) return LIST_LIMIT.default;
  const limit = wholeNumber(params, "limit");
  if (limit < 1 || limit > LIST_LIMIT.max) refuse("limit", `must be 1 to ${LIST_LIMIT.max}`);
  return limit;
}

function wholeNumber(params: URLSearchParams, key: string): number {
  const text = params.get(key) ?? "";
  if (!/^(?:0|[1-9][0-9]{0,14})$/.test(text)) refuse(key, "must be a whole number");
  return Number(text);
}

function refuse(key: string, message: string): never {
  throw new ProcessInputError("invalid_input", `/${key}`, message);
}

/** @returns values for the placeholders after tenant and app. */
export function listSql(query: ListQuery): {
  readonly sql: string;
  readonly values: (string | number)[];
} {
  const conditions = ["tenant_id = ?", "app_id = ?", "deleted = 0"];
  const values: (string | number)[] = [];
  const add = (condition: string, value: string | number | null): void => {
    if (value === null) return;
    conditions.push(condition);
    values.push(value);
  };
  const textOf = (text: string | null, column?: "clients" | "parties"): string | null =>
    // Text without words matches nothing: no column holds an empty string.
    text === null ? null : (ftsQuery(text, column) ?? '""');
  const matches = "n IN (SELECT rowid FROM matter_text WHERE matter_text MATCH ?)";
  add("body ->> '$.status' = ?", query.status);
  add("body ->> '$.classification.practice_area' = ?", query.practiceArea);
  add(
    `EXISTS (SELECT 1 FROM json_each(body, '$.people') AS person
             WHERE person.value ->> '$.person_id' = ?)`,
    query.personId,
  );
  add(matches, textOf(query.client, "clients"));
  add(matches, textOf(query.party, "parties"));
  add(matches, textOf(query.text));
  add("ts >= ?", query.updatedSince);
  add("matter_id > ?", query.cursor);
  values.push(query.limit + 1);
  const where = conditions.join(" AND ");
  return { sql: `SELECT * FROM matter WHERE ${where} ORDER BY matter_id LIMIT ?`, values };
}
