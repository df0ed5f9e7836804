/** Query parameters: each at most once, each in one spelling, none that means nothing. */
import { badRequest } from "../../service/api-error.ts";

const WHOLE = /^(0|[1-9][0-9]{0,15})$/;

export class QueryReader {
  readonly #query: URLSearchParams;

  /** @throws ApiError for a parameter that is unknown or given twice. */
  constructor(query: URLSearchParams, names: readonly string[]) {
    this.#query = query;
    for (const name of query.keys()) {
      if (!names.includes(name)) {
        const known = names.join(", ");
        const message = `${name} is not a parameter here; the parameters are ${known}`;
        throw badRequest("unknown_parameter", name, message);
      }
      if (query.getAll(name).length > 1) {
        throw badRequest("invalid_value", name, `${name} is given more than once`);
      }
    }
  }

  /** @returns null where the parameter is missing. */
  integer(name: string, min: number, max: number): number | null {
    const text = this.#query.get(name);
    if (text === null) return null;
    const value = WHOLE.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
    const range = max < Number.MAX_SAFE_INTEGER ? `from ${min} to ${max}` : `${min} or more`;
    const message = `${name} must be a whole number, ${range}, not ${JSON.stringify(text)}`;
    throw badRequest("invalid_value", name, message);
  }

  requiredInteger(name: string): number {
    const value = this.integer(name, 0, Number.MAX_SAFE_INTEGER);
    if (value !== null) return value;
    throw badRequest("missing_required_parameter", name, `${name} is missing`);
  }

  /** @returns null where the parameter is missing. */
  text(name: string, form: RegExp): string | null {
    const text = this.#query.get(name);
    if (text === null || form.test(text)) return text;
    const message = `${name} cannot be ${JSON.stringify(text)}`;
    throw badRequest("invalid_value", name, message);
  }
}
