/**
 * `{"records": {"from": "state"}}` in a conflict check's input stands for the caller's matters. It
 * is replaced before anything is checked or hashed, so that the function stays pure and an archived
 * input reproduces the output.
 */
import type { JsonValue } from "../bytes/canonical-json.ts";

type JsonRecord = { readonly [key: string]: JsonValue };

const SLUG = "svc-conflict-check";

/** @param records made once, and only where something stands for them. */
export function expandProcessInput(
  slug: string,
  input: JsonValue,
  records: () => JsonValue,
): JsonValue {
  if (slug !== SLUG || !isRecord(input) || !isFromState(input["records"])) return input;
  return { ...input, records: records() };
}

/** The same for every step of a composition. */
export function expandComposition(body: JsonValue, records: () => JsonValue): JsonValue {
  if (!isRecord(body) || !Array.isArray(body["steps"])) return body;
  let made: JsonValue | null = null;
  const once = (): JsonValue => {
    made ??= records();
    return made;
  };
  const steps = (body["steps"] as readonly JsonValue[]).map((step) => {
    if (!isRecord(step) || step["process"] !== SLUG || step["input"] === undefined) return step;
    const input = expandProcessInput(SLUG, step["input"], once);
    return input === step["input"] ? step : { ...step, input };
  });
  return { ...body, steps };
}

function isFromState(value: JsonValue | undefined): boolean {
  return isRecord(value) && Object.keys(value).length === 1 && value["from"] === "state";
}

function isRecord(value: JsonValue | undefined): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
