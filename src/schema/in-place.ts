/** Schemas that apply themselves to the same value say nothing, and would never be done. */
import { SCHEMA_DEPTH_MAX } from "./limits.ts";
import type { Schema } from "./schema.ts";
import { SchemaError } from "./schema-error.ts";

/** Chains of references in place may be this much longer than schemas are nested. */
const IN_PLACE_DEPTH_MAX = 2 * SCHEMA_DEPTH_MAX;

/** @throws SchemaError infinite_recursion, or too_complex for a chain that is too long. */
export function checkInPlaceRecursion(schemas: readonly Schema[]): void {
  const depths = new Int32Array(schemas.length);
  for (const schema of schemas) depthOf(schema, depths);
}

const ACTIVE = -1;

/** Longest chain of schemas in place, by a depth-first walk with a stack of its own. */
function depthOf(start: Schema, depths: Int32Array): void {
  const stack: { readonly schema: Schema; readonly parts: readonly Schema[]; next: number }[] = [];
  const enter = (schema: Schema): void => {
    const known = depths[schema.id] as number;
    if (known > 0) return;
    if (known === ACTIVE) throw recursion(schema);
    if (stack.length > IN_PLACE_DEPTH_MAX) throw tooDeep(schema);
    depths[schema.id] = ACTIVE;
    stack.push({ schema, parts: partsOf(schema), next: 0 });
  };
  enter(start);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const part = top.parts[top.next];
    top.next += 1;
    if (part) {
      enter(part);
      continue;
    }
    const below = top.parts.map((other) => depths[other.id] as number);
    depths[top.schema.id] = 1 + Math.max(0, ...below);
    if ((depths[top.schema.id] as number) > IN_PLACE_DEPTH_MAX) throw tooDeep(top.schema);
    stack.pop();
  }
}

function partsOf(schema: Schema): Schema[] {
  const parts = [...schema.allOf, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  if (schema.not) parts.push(schema.not);
  for (const { condition, consequence, alternative } of schema.conditionals) {
    parts.push(condition);
    if (consequence) parts.push(consequence);
    if (alternative) parts.push(alternative);
  }
  return parts;
}

function recursion(schema: Schema): SchemaError {
  return new SchemaError(
    "this schema applies itself to the same value, through $ref, allOf, anyOf, oneOf, not or if: " +
      "let it recur only inside properties or items",
    { code: "infinite_recursion", pointer: schema.pointer, keyword: "$ref" },
  );
}

function tooDeep(schema: Schema): SchemaError {
  return new SchemaError(`more than ${IN_PLACE_DEPTH_MAX} schemas in a chain apply to one value`, {
    code: "too_complex",
    pointer: schema.pointer,
    keyword: "$ref",
  });
}
