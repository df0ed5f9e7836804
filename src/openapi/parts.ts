/** What operations of the OpenAPI document are put together from. */

/** A JSON Schema of the 2020-12 dialect, which OpenAPI 3.1 takes as it is. */
export type Schema = Readonly<Record<string, unknown>>;

type Method = "get" | "post" | "put" | "delete";

/** By path, with parameters in braces, then by method. */
export type Paths = Readonly<Record<string, Readonly<Partial<Record<Method, object>>>>>;

export const text: Schema = { type: "string" };
export const whole: Schema = { type: "integer", minimum: 0 };
export const flag: Schema = { type: "boolean" };
export const anything: Schema = { type: "object" };
export const hash: Schema = { type: "string", pattern: "^[0-9a-f]{64}$" };
export const timeMs: Schema = { type: "integer", description: "Unix milliseconds" };

export function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: "null" }] };
}

export function listOf(items: Schema): Schema {
  return { type: "array", items };
}

export function oneOf(...values: readonly string[]): Schema {
  return { type: "string", enum: values };
}

export function described(schema: Schema, description: string): Schema {
  return { ...schema, description };
}

/** All members are there, unless they are named as optional. */
export function object(members: Readonly<Record<string, Schema>>, ...optional: string[]): Schema {
  const required = Object.keys(members).filter((name) => !optional.includes(name));
  return { type: "object", properties: members, ...(required.length > 0 && { required }) };
}

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
  readonly description?: string;
}

export function inPath(name: string, schema: Schema = text): Parameter {
  return { name, in: "path", required: true, schema };
}

export function inQuery(name: string, schema: Schema, description?: string): Parameter {
  return { name, in: "query", required: false, schema, ...(description && { description }) };
}

export function inHeader(name: string, description: string): Parameter {
  return { name, in: "header", required: false, schema: text, description };
}

/** Answers once however often it is sent. */
const IDEMPOTENCY_KEY: Parameter = inHeader(
  "Idempotency-Key",
  "1 to 255 printable characters: the same request again gets the stored answer, and costs nothing",
);

/** Who may call: with a tenant's key, with the operator's, with monitoring's, or anybody. */
type Access = "key" | "admin" | "metrics" | "public";

export interface OperationParts {
  readonly tag: string;
  readonly summary: string;
  readonly access: Access;
  readonly parameters?: readonly Parameter[];
  /** JSON, unless it says otherwise. */
  readonly body?: Schema;
  readonly bodyType?: string;
  /** False: the body may be left out. */
  readonly bodyRequired?: boolean;
  /** Of a 200; JSON, unless `answerType` says otherwise. */
  readonly answer: Schema;
  readonly answerType?: string;
  /** Writes one row and counts against the quotas. */
  readonly metered?: boolean;
  /** Besides those that its access and body bring. */
  readonly errors?: readonly number[];
  /** Further answers that are no errors. */
  readonly also?: Readonly<Record<string, object>>;
}

const SECURITY: Readonly<Record<Access, readonly object[]>> = {
  key: [{ bearer: [] }, { signature: [] }],
  admin: [{ adminKey: [] }],
  metrics: [{ metricsKey: [] }],
  public: [],
};

export function operation(parts: OperationParts): object {
  const { access, also = {}, answer, answerType = "application/json", body, metered } = parts;
  const own = parts.parameters ?? [];
  const parameters = metered ? [...own, IDEMPOTENCY_KEY] : own;
  const content = { [answerType]: { schema: answer } };
  const ok = { description: "done", headers: SEAL_HEADERS, content };
  const errors = Object.fromEntries(
    errorsOf(parts).map((status) => [String(status), { $ref: "#/components/responses/Error" }]),
  );
  return {
    tags: [parts.tag],
    summary: parts.summary,
    security: SECURITY[access],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: parts.bodyRequired ?? true,
        content: { [parts.bodyType ?? "application/json"]: { schema: body } },
      },
    }),
    responses: { "200": ok, ...also, ...errors },
  };
}

/** Hosts and paths can be wrong anywhere; bodies, keys and limits where there are some. */
function errorsOf({ access, body, errors = [], metered = false }: OperationParts): number[] {
  const found = new Set([400, 421, ...errors]);
  if (access !== "public") found.add(401).add(429);
  if (body !== undefined) for (const status of [413, 415]) found.add(status);
  if (metered) for (const status of [422, 500, 503]) found.add(status);
  return [...found].sort((a, b) => a - b);
}

const SEAL_HEADERS = {
  "X-Request-Id": { $ref: "#/components/headers/RequestId" },
  "X-Svc-Attestation": { $ref: "#/components/headers/Attestation" },
  "X-Svc-Signature": { $ref: "#/components/headers/Signature" },
};
