/**
 * References between the steps of a composition: `{"$from": "id#/pointer"}` stands for a value of
 * an earlier step's output, `{"$literal": …}` protects data that looks like a reference. Nothing
 * else is computed here; mapping is the processes' work.
 */
import { assert } from "../bytes/assert.ts";
import { canonicalJson, type JsonValue } from "../bytes/canonical-json.ts";
import { ProcessInputError } from "./input-error.ts";
import { parsePointer, printPointer, resolvePointer } from "./pointer.ts";

/** Longer pointers have no use: outputs are a few levels deep. */
const REFERENCE_LENGTH_MAX = 512;

interface Reference {
  readonly id: string;
  readonly tokens: readonly string[];
}

export interface Sources {
  /** Values by step id, `input` included. */
  readonly values: ReadonlyMap<string, JsonValue>;
  /** Canonical length of what each reference stands for; filled as references are met. */
  readonly sizes: Map<string, number>;
  /** A template that grows past this many characters is refused before it is built. */
  readonly sizeMax: number;
}

/**
 * Calls `visit` for every reference in the template, in document order.
 * @throws ProcessInputError `invalid_step` for a reference that is malformed.
 */
export function forEachReference(
  template: JsonValue,
  path: readonly (string | number)[],
  visit: (id: string, path: readonly (string | number)[]) => void,
): void {
  const form = formOf(template, path);
  if (form === "literal") return;
  if (form !== "plain") visit(form.id, path);
  else if (Array.isArray(template)) {
    for (const [index, item] of template.entries()) forEachReference(item, [...path, index], visit);
  } else if (typeof template === "object" && template !== null) {
    for (const [key, item] of Object.entries(template))
      forEachReference(item, [...path, key], visit);
  }
}

/**
 * The template with every reference replaced. Values are shared, not copied.
 * @throws ProcessInputError `step_input_invalid` for a pointer that leads nowhere, or past the
 *   size.
 */
export function resolveReferences(
  template: JsonValue,
  path: readonly (string | number)[],
  sources: Sources,
): JsonValue {
  let size = canonicalJson(template).length;
  const resolve = (value: JsonValue, at: readonly (string | number)[]): JsonValue => {
    const form = formOf(value, at);
    if (form === "literal") return (value as { readonly $literal: JsonValue }).$literal;
    if (form !== "plain") {
      const target = targetOf(form, at, sources);
      size += sizeOf(form, target, sources);
      if (size > sources.sizeMax)
        refuse("step_input_invalid", at, `grows past ${sources.sizeMax} characters`);
      return target;
    }
    if (Array.isArray(value)) return value.map((item, index) => resolve(item, [...at, index]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, resolve(item, [...at, key])]),
    );
  };
  return resolve(template, path);
}

function formOf(
  value: JsonValue,
  path: readonly (string | number)[],
): "plain" | "literal" | Reference {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "plain";
  const record = value as { readonly [key: string]: JsonValue };
  const keys = Object.keys(record);
  if (!keys.includes("$from") && !keys.includes("$literal")) return "plain";
  if (keys.length > 1) refuse("invalid_step", path, "a reference has no other members");
  return keys[0] === "$literal" ? "literal" : parseReference(record["$from"], path);
}

function parseReference(
  text: JsonValue | undefined,
  path: readonly (string | number)[],
): Reference {
  const at = [...path, "$from"];
  if (typeof text !== "string" || text.length > REFERENCE_LENGTH_MAX)
    return refuse("invalid_step", at, `must be text of at most ${REFERENCE_LENGTH_MAX} characters`);
  const hash = text.indexOf("#");
  const tokens = hash === -1 ? null : parsePointer(text.slice(hash + 1));
  if (!tokens) return refuse("invalid_step", at, 'must have the form "id#/json/pointer"');
  return { id: text.slice(0, hash), tokens };
}

function targetOf(
  { id, tokens }: Reference,
  path: readonly (string | number)[],
  { values }: Sources,
): JsonValue {
  const root = values.get(id);
  assert(root !== undefined, "references were checked before the first step ran");
  const target = resolvePointer(root, tokens);
  if (target === undefined)
    return refuse("step_input_invalid", path, `${id} has nothing at ${printPointer(tokens)}`);
  return target;
}

/** A large value that is referred to many times is measured once. */
function sizeOf({ id, tokens }: Reference, target: JsonValue, { sizes }: Sources): number {
  const key = `${id}#${printPointer(tokens)}`;
  const size = sizes.get(key) ?? canonicalJson(target).length;
  sizes.set(key, size);
  return size;
}

function refuse(
  code: "invalid_step" | "step_input_invalid",
  path: readonly (string | number)[],
  message: string,
): never {
  throw new ProcessInputError(code, printPointer(path), message);
}
