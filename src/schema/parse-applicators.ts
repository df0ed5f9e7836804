/** Keywords that apply other schemas to the same value. */
import { OBJECT } from "./json-type.ts";
import type { KeywordReader } from "./keyword-reader.ts";
import type { Conditional, Schema } from "./schema.ts";

export function readApplicators(reader: KeywordReader, schema: Schema): void {
  schema.allOf = [...(reader.schemas("allOf") ?? []), ...readReferences(reader)];
  schema.anyOf = reader.schemas("anyOf");
  schema.oneOf = reader.schemas("oneOf");
  schema.not = reader.schema("not");
  schema.conditionals = [...readIf(reader), ...readDependentSchemas(reader)];
  schema.unevaluatedProperties = reader.schema("unevaluatedProperties");
  schema.unevaluatedItems = reader.schema("unevaluatedItems");
}

function readReferences(reader: KeywordReader): Schema[] {
  const found: Schema[] = [];
  for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
    const ref = reader.string(keyword);
    if (ref !== undefined) found.push(reader.reference(keyword, ref));
  }
  return found;
}

function readIf(reader: KeywordReader): Conditional[] {
  const condition = reader.schema("if");
  const consequence = reader.schema("then");
  const alternative = reader.schema("else");
  if (!condition || (!consequence && !alternative)) return [];
  return [{ condition, consequence, alternative }];
}

/** "With key k, also S" is "if k is there, then S". */
function readDependentSchemas(reader: KeywordReader): Conditional[] {
  const conditionals: Conditional[] = [];
  for (const keyword of ["dependentSchemas", "dependencies"]) {
    for (const [name, json] of Object.entries(reader.object(keyword) ?? {})) {
      if (Array.isArray(json) || typeof json === "string") continue;
      const condition = hasKey(reader, name, keyword);
      const consequence = reader.at(json, keyword, name);
      conditionals.push({ condition, consequence, alternative: null });
    }
  }
  return conditionals;
}

function hasKey(reader: KeywordReader, name: string, keyword: string): Schema {
  return reader.derived(
    {
      types: OBJECT,
      object: {
        properties: new Map(),
        patterns: [],
        additional: null,
        additionalStated: false,
        names: null,
        required: [name],
        minProperties: 0,
        maxProperties: Number.POSITIVE_INFINITY,
        dependents: new Map(),
      },
    },
    keyword,
  );
}
