/**
 * Prints a JSON Schema as a sketch: the compact form that svc-tiny reads in its system prompt, and
 * that costs other models a third of the tokens of the schema itself, for example
 * `{id:string,total:number,currency:"EUR"|"USD",due?:date}`.
 * The bytes are frozen: svc-tiny is trained on them. It is an aid to the model; the lock is what
 * enforces the schema.
 *
 * Grammar: object `{key:T,optional?:T,[key]:T}`, array `[T]` or `[T](1..3)`, tuple `[T,U]`, string
 * `string` or the name of its format, `number` and `integer`, with bounds `integer(1..5)`, literals
 * as JSON, alternatives joined by `|`, anything else `any`. A description (else a title) follows
 * its type as a comment.
 */

/** Deeper or larger schemas print `any` from there on: a prompt has no room for more. */
const DEPTH_MAX = 12;
const NODES_MAX = 1000;
const DESCRIPTION_CODE_POINTS_MAX = 160;

const BARE_KEY = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

type Json = Readonly<Record<string, unknown>>;

interface Walk {
  readonly root: unknown;
  nodes: number;
}

/** Never throws: what it does not know prints as `any`. Same schema, same bytes. */
export function printSketch(schema: unknown): string {
  return print({ root: schema, nodes: 0 }, schema, 0, true);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function print(walk: Walk, schema: unknown, depth: number, described: boolean): string {
  walk.nodes += 1;
  if (!isObject(schema) || depth > DEPTH_MAX || walk.nodes > NODES_MAX) return "any";
  const type = printType(walk, schema, depth);
  return described ? type + printNote(schema) : type;
}

function printNote(schema: Json): string {
  const text = [schema["description"], schema["title"]].find(
    (x) => typeof x === "string" && x !== "",
  );
  if (typeof text !== "string") return "";
  const flat = text.replace(/\s+/g, " ").replaceAll("*/", "* /").trim();
  return `/*${[...flat].slice(0, DESCRIPTION_CODE_POINTS_MAX).join("")}*/`;
}

function printType(walk: Walk, schema: Json, depth: number): string {
  const ref = schema["$ref"];
  if (typeof ref === "string") return print(walk, resolve(walk.root, ref), depth + 1, false);
  if ("const" in schema) return JSON.stringify(schema["const"]) ?? "any";
  if (Array.isArray(schema["enum"])) return schema["enum"].map((x) => JSON.stringify(x)).join("|");
  for (const word of ["anyOf", "oneOf"]) {
    const branches = schema[word];
    if (Array.isArray(branches))
      return branches.map((x) => print(walk, x, depth + 1, true)).join("|");
  }
  const all = schema["allOf"];
  if (Array.isArray(all)) return all.map((x) => print(walk, x, depth + 1, true)).join("&");
  const type = schema["type"];
  if (Array.isArray(type)) return type.map((x) => printNamed(walk, schema, x, depth)).join("|");
  if (type !== undefined) return printNamed(walk, schema, type, depth);
  if ("properties" in schema) return printNamed(walk, schema, "object", depth);
  if ("items" in schema || "prefixItems" in schema) return printNamed(walk, schema, "array", depth);
  return "any";
}

function printNamed(walk: Walk, schema: Json, type: unknown, depth: number): string {
  switch (type) {
    case "string":
      return typeof schema["format"] === "string" ? schema["format"] : "string";
    case "integer":
    case "number":
      return type + range(bound(schema, "minimum"), bound(schema, "maximum"));
    case "boolean":
    case "null":
      return type;
    case "array":
      return printArray(walk, schema, depth);
    case "object":
      return printObject(walk, schema, depth);
    default:
      return "any";
  }
}

function bound(schema: Json, word: "minimum" | "maximum"): unknown {
  return schema[word] ?? schema[word === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum"];
}

function range(low: unknown, high: unknown): string {
  const [from, to] = [low, high].map((x) => (typeof x === "number" ? String(x) : ""));
  return from === "" && to === "" ? "" : `(${from}..${to})`;
}

function printArray(walk: Walk, schema: Json, depth: number): string {
  const first = schema["prefixItems"];
  const items = Array.isArray(first) ? first : [schema["items"]];
  const inner = items.map((x) => print(walk, x, depth + 1, true)).join(",");
  return `[${inner}]${range(schema["minItems"], schema["maxItems"])}`;
}

function printObject(walk: Walk, schema: Json, depth: number): string {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const parts = Object.entries(properties).map(([key, value]) => {
    const name = BARE_KEY.test(key) ? key : JSON.stringify(key);
    return `${name}${required.includes(key) ? "" : "?"}:${print(walk, value, depth + 1, true)}`;
  });
  const rest = schema["additionalProperties"];
  if (isObject(rest)) parts.push(`[key]:${print(walk, rest, depth + 1, true)}`);
  return `{${parts.join(",")}}`;
}

/** A local JSON Pointer (`#`, `#/$defs/x`); anything else is unknown here. */
function resolve(root: unknown, ref: string): unknown {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const part of ref.split("/").slice(1)) {
    const key = decodePointerPart(part);
    if (Array.isArray(at)) at = at[Number(key)];
    else if (isObject(at)) at = Object.hasOwn(at, key) ? at[key] : undefined;
    else return undefined;
  }
  return at;
}

function decodePointerPart(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return part;
  }
}
