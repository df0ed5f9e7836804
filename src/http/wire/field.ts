/** Reads a parsed body with its paths, so that each refusal says where and what to send. */
import { type ApiError, badRequest } from "../../service/api-error.ts";

export class Field {
  readonly value: unknown;
  /** As OpenAI writes it: `messages[2].content`. */
  readonly path: string;

  constructor(value: unknown, path: string) {
    this.value = value;
    this.path = path;
  }

  /** Missing, or null: clients send null for what they do not set. */
  get isAbsent(): boolean {
    return this.value === undefined || this.value === null;
  }

  /** @throws ApiError `missing_required_parameter`, `invalid_type`. */
  object(): ObjectField {
    if (isRecord(this.value)) return new ObjectField(this.value, this.path);
    throw this.wrongType("an object");
  }

  array(itemsMax: number): Field[] {
    if (!Array.isArray(this.value)) throw this.wrongType("an array");
    if (this.value.length > itemsMax) {
      const message = `${this.path} has ${this.value.length} items; ${itemsMax} are allowed`;
      throw badRequest("invalid_value", this.path, message);
    }
    return this.value.map((item, index) => new Field(item, `${this.path}[${index}]`));
  }

  string(): string {
    if (typeof this.value === "string") return this.value;
    throw this.wrongType("a string");
  }

  boolean(): boolean {
    if (typeof this.value === "boolean") return this.value;
    throw this.wrongType("true or false");
  }

  number(min: number, max: number): number {
    if (typeof this.value !== "number") throw this.wrongType("a number");
    if (this.value >= min && this.value <= max) return this.value;
    throw this.wrongValue(`from ${min} to ${max}`);
  }

  integer(min: number, max: number): number {
    if (typeof this.value !== "number") throw this.wrongType("an integer");
    const { value } = this;
    if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
    const range =
      max < Number.MAX_SAFE_INTEGER
        ? `an integer from ${min} to ${max}`
        : `an integer, ${min} or more`;
    throw this.wrongValue(min > Number.MIN_SAFE_INTEGER ? range : "an integer within ±(2^53 - 1)");
  }

  oneOf<T extends string>(words: readonly T[]): T {
    const word = this.string();
    const known = words.find((candidate) => candidate === word);
    if (known !== undefined) return known;
    throw this.wrongValue(`one of ${words.map((each) => JSON.stringify(each)).join(", ")}`);
  }

  /** What the value should have been. */
  wrongType(wanted: string): ApiError {
    if (this.isAbsent) {
      const message = `${this.path} is missing; it must be ${wanted}`;
      return badRequest("missing_required_parameter", this.path, message);
    }
    const message = `${this.path} must be ${wanted}, not ${typeName(this.value)}`;
    return badRequest("invalid_type", this.path, message);
  }

  wrongValue(wanted: string): ApiError {
    const message = `${this.path} must be ${wanted}, not ${shown(this.value)}`;
    return badRequest("invalid_value", this.path, message);
  }

  /** @param hint what to do instead. */
  unsupported(hint: string): ApiError {
    const message = `${this.path} is not supported: ${hint}`;
    return badRequest("unsupported_parameter", this.path, message);
  }
}

/** A whole body. @throws ApiError for what is no object. */
export function bodyObject(body: unknown): ObjectField {
  if (isRecord(body)) return new ObjectField(body, "");
  throw badRequest("invalid_type", null, "the body must be a JSON object");
}

export class ObjectField {
  readonly path: string;
  readonly #members: Readonly<Record<string, unknown>>;

  constructor(members: Readonly<Record<string, unknown>>, path: string) {
    this.#members = members;
    this.path = path;
  }

  field(name: string): Field {
    const value = Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
    return new Field(value, this.#pathOf(name));
  }

  /** Null where the member is absent. */
  optional<T>(name: string, read: (field: Field) => T): T | null {
    const field = this.field(name);
    return field.isAbsent ? null : read(field);
  }

  entries(): [string, Field][] {
    return Object.entries(this.#members).map(([name, value]) => [
      name,
      new Field(value, this.#pathOf(name)),
    ]);
  }

  /** @throws ApiError `unknown_parameter` for a member that is none of these. */
  allowOnly(names: ReadonlySet<string>): void {
    for (const [name, field] of this.entries()) {
      if (names.has(name)) continue;
      throw badRequest("unknown_parameter", field.path, `${field.path} is not a known parameter`);
    }
  }

  #pathOf(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  return typeof value === "boolean" ? String(value) : `a ${typeof value}`;
}

/** Short enough for a message. */
function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${[...text].slice(0, 57).join("")}…`;
}
