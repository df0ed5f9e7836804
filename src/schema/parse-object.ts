/** Keywords for objects. */
import type { KeywordReader } from "./keyword-reader.ts";
import { readPattern } from "./parse-scalars.ts";
import type { ObjectRules, Schema } from "./schema.ts";

export function readObjectRules(reader: KeywordReader): ObjectRules | null {
  const properties = readProperties(reader);
  const patterns = Object.entries(reader.object("patternProperties") ?? {}).map(
    ([source, json]) => ({
      language: readPattern(reader, "patternProperties", source),
      schema: reader.at(json, "patternProperties", source),
    }),
  );
  const additional = reader.schema("additionalProperties");
  const names = reader.schema("propertyNames");
  const required = reader.strings("required") ?? [];
  const minProperties = reader.demand("minProperties");
  const maxProperties = reader.count("maxProperties") ?? Number.POSITIVE_INFINITY;
  const dependents = readDependents(reader);
  const rules: ObjectRules = {
    properties,
    patterns,
    additional,
    additionalStated: additional !== null,
    names,
    required,
    minProperties,
    maxProperties,
    dependents,
  };
  return isVacuous(rules) ? null : rules;
}

function isVacuous(rules: ObjectRules): boolean {
  return (
    rules.properties.size === 0 &&
    rules.patterns.length === 0 &&
    rules.additional === null &&
    rules.names === null &&
    rules.required.length === 0 &&
    rules.minProperties === 0 &&
    rules.maxProperties === Number.POSITIVE_INFINITY &&
    rules.dependents.size === 0
  );
}

function readProperties(reader: KeywordReader): ReadonlyMap<string, Schema> {
  const properties = new Map<string, Schema>();
  for (const [name, json] of Object.entries(reader.object("properties") ?? {})) {
    properties.set(name, reader.at(json, "properties", name));
  }
  return properties;
}

function readDependents(reader: KeywordReader): ReadonlyMap<string, readonly string[]> {
  const dependents = new Map<string, readonly string[]>();
  for (const keyword of ["dependentRequired", "dependencies"]) {
    for (const [name, value] of Object.entries(reader.object(keyword) ?? {})) {
      // The schemas among "dependencies" are applicators: parse-applicators.ts reads them.
      if (keyword === "dependencies" && !Array.isArray(value) && typeof value !== "string")
        continue;
      const needed = typeof value === "string" ? [value] : reader.strings(keyword, value);
      dependents.set(name, [...(dependents.get(name) ?? []), ...(needed ?? [])]);
    }
  }
  return dependents;
}
