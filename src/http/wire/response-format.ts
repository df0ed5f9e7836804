/**
 * `response_format`, in the three forms that clients send: the schema nested under `json_schema`,
 * beside `type: "json_schema"`, or beside `type: "json_object"`.
 */
import { badRequest } from "../../service/api-error.ts";
import type { ResponseFormat } from "../../service/chat-request.ts";
import { Field, type ObjectField } from "./field.ts";

const MEMBERS: ReadonlySet<string> = new Set([
  ...["type", "strict", "schema", "json_schema"],
  // What the nested form has inside.
  ...["name", "description"],
]);
const NESTED: ReadonlySet<string> = new Set(["name", "description", "strict", "schema"]);
const TYPES = ["text", "json_object", "json_schema"] as const;

export function readResponseFormat(field: Field, schemaBytesMax: number): ResponseFormat {
  if (field.isAbsent) return { kind: "text" };
  const format = field.object();
  format.allowOnly(MEMBERS);
  const type = format.field("type").oneOf(TYPES);
  const nested = format.optional("json_schema", (json) => json.object());
  nested?.allowOnly(NESTED);
  for (const name of ["name", "description"]) {
    format.optional(name, (text) => text.string());
    nested?.optional(name, (text) => text.string());
  }
  const schema = readSchema(format, nested);
  const strict = readStrict(format, nested);
  if (schema === null) {
    if (type !== "json_schema") return { kind: type };
    // A name of its own says which of the forms was meant.
    const isFlat = nested === null && !format.field("name").isAbsent;
    const place = isFlat ? "schema" : "json_schema.schema";
    throw new Field(undefined, `${field.path}.${place}`).wrongType("a JSON Schema");
  }
  if (type === "text") {
    const message = `${schema.path} has no effect with type "text"; use "json_schema"`;
    throw badRequest("invalid_value", schema.path, message);
  }
  const bytes = Buffer.byteLength(JSON.stringify(schema.value));
  if (bytes > schemaBytesMax) {
    const message = `${schema.path} has ${bytes} bytes; ${schemaBytesMax} are allowed`;
    throw badRequest("json_schema_too_complex", schema.path, message);
  }
  return { kind: "schema", schema: schema.value, strict, param: schema.path };
}

function readSchema(format: ObjectField, nested: ObjectField | null): Field | null {
  const flat = format.field("schema");
  const inner = nested?.field("schema");
  if (inner === undefined || inner.isAbsent) return flat.isAbsent ? null : flat;
  if (!flat.isAbsent && JSON.stringify(flat.value) !== JSON.stringify(inner.value)) {
    const message = `${flat.path} and ${inner.path} differ; send one`;
    throw badRequest("invalid_value", flat.path, message);
  }
  return inner;
}

function readStrict(format: ObjectField, nested: ObjectField | null): boolean {
  const flat = format.optional("strict", (field) => field.boolean());
  const inner = nested?.optional("strict", (field) => field.boolean()) ?? null;
  if (flat !== null && inner !== null && flat !== inner) {
    const path = format.field("strict").path;
    throw badRequest("invalid_value", path, `${path} and json_schema.strict differ; send one`);
  }
  return inner ?? flat ?? false;
}
