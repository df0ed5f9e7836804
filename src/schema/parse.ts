/**
 * JSON → `Schema`: reads every schema that the root can reach, once, without recursion. What it
 * cannot read exactly it refuses; keywords that only annotate are listed, never lost.
 */
import type { JsonValue } from "../bytes/canonical-json.ts";
import { type Dialect, refHidesSiblings } from "./dialect.ts";
import { isObject, type JsonObject, type Location, SchemaDocument } from "./document.ts";
import { KeywordReader, type SchemaMaker } from "./keyword-reader.ts";
import { leafKey } from "./leaf.ts";
import { SCHEMA_DEPTH_MAX, SCHEMAS_MAX } from "./limits.ts";
import { readApplicators } from "./parse-applicators.ts";
import { readArrayRules } from "./parse-array.ts";
import { readObjectRules } from "./parse-object.ts";
import { readNumberRules, readStringRules, readTypes, readValues } from "./parse-scalars.ts";
import { emptySchema, type Schema } from "./schema.ts";
import { SchemaError } from "./schema-error.ts";

export interface ParsedSchema {
  readonly root: Schema;
  /** What the root's `$schema` names. */
  readonly dialect: Dialect;
  /** All schemas, by id. */
  readonly schemas: readonly Schema[];
  /** JSON Pointers of keywords that annotate and constrain nothing. */
  readonly annotations: readonly string[];
  /** Adds a schema that no document wrote. */
  readonly derive: (pointer: string, rules: Partial<Schema>) => Schema;
}

/**
 * @param pattern as `compilePattern`.
 * @throws SchemaError
 */
export function parseSchema(json: JsonValue, pattern: SchemaMaker["pattern"]): ParsedSchema {
  const parser = new SchemaParser(json, pattern);
  const root = parser.schemaAt(parser.document.root, 0);
  parser.readAll();
  const { schemas, annotations, document } = parser;
  const derive = (pointer: string, rules: Partial<Schema>): Schema =>
    parser.derived(pointer, rules);
  return { root, dialect: document.root.resource.dialect, schemas, annotations, derive };
}

interface Pending {
  readonly schema: Schema;
  readonly location: Location;
  readonly depth: number;
}

class SchemaParser implements SchemaMaker {
  readonly document: SchemaDocument;
  readonly pattern: SchemaMaker["pattern"];
  readonly schemas: Schema[] = [];
  readonly annotations: string[] = [];
  readonly #byJson = new Map<JsonObject, Schema>();
  readonly #leaves = new Map<string, Schema>();
  readonly #pending: Pending[] = [];

  constructor(json: JsonValue, pattern: SchemaMaker["pattern"]) {
    this.pattern = pattern;
    this.document = new SchemaDocument(json);
  }

  /** The schema at a place: made now, read later. */
  schemaAt(location: Location, depth: number): Schema {
    const { json, pointer } = location;
    if (typeof json === "boolean") return this.constant(json, pointer);
    if (!isObject(json)) {
      throw new SchemaError("a schema is an object, true or false", {
        code: "invalid_schema",
        pointer,
        keyword: "",
      });
    }
    const known = this.#byJson.get(json);
    if (known) return known;
    if (depth > SCHEMA_DEPTH_MAX) {
      throw tooComplex(pointer, `schemas are nested more than ${SCHEMA_DEPTH_MAX} deep`);
    }
    const key = leafKey(json, location.resource.dialect);
    const twin = key === null ? undefined : this.#leaves.get(key);
    const schema = twin ?? this.#create(pointer);
    this.#byJson.set(json, schema);
    if (key !== null) this.#leaves.set(key, schema);
    // A twin's keywords are read all the same: its annotations have a place of their own.
    this.#pending.push({ schema: twin ? emptySchema(-1, pointer) : schema, location, depth });
    return schema;
  }

  constant(always: boolean, pointer: string): Schema {
    const schema = this.#create(pointer);
    schema.always = always;
    return schema;
  }

  derived(pointer: string, rules: Partial<Schema>): Schema {
    return Object.assign(this.#create(pointer), rules);
  }

  readAll(): void {
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      this.#read(next);
    }
  }

  #create(pointer: string): Schema {
    if (this.schemas.length >= SCHEMAS_MAX) {
      throw tooComplex(pointer, `more than ${SCHEMAS_MAX} schemas`);
    }
    const schema = emptySchema(this.schemas.length, pointer);
    this.schemas.push(schema);
    return schema;
  }

  #read({ schema, location, depth }: Pending): void {
    const json = location.json as JsonObject;
    const reader = new KeywordReader(this, json, location, depth);
    if (typeof json["$ref"] === "string" && refHidesSiblings(location.resource.dialect)) {
      schema.allOf = [reader.reference("$ref", json["$ref"])];
      return;
    }
    schema.types = readTypes(reader, schema);
    schema.values = readValues(reader);
    schema.number = readNumberRules(reader);
    schema.string = readStringRules(reader);
    schema.array = readArrayRules(reader);
    schema.object = readObjectRules(reader);
    readApplicators(reader, schema);
    this.annotations.push(...reader.unread());
    if (isVacuous(schema)) schema.always = true;
  }
}

function isVacuous(schema: Schema): boolean {
  return (
    schema.types === 127 &&
    !schema.integer &&
    schema.values === null &&
    schema.number === null &&
    schema.string === null &&
    schema.array === null &&
    schema.object === null &&
    schema.allOf.length === 0 &&
    schema.anyOf === null &&
    schema.oneOf === null &&
    schema.not === null &&
    schema.conditionals.length === 0 &&
    schema.unevaluatedProperties === null &&
    schema.unevaluatedItems === null
  );
}

function tooComplex(pointer: string, message: string): SchemaError {
  return new SchemaError(message, { code: "too_complex", pointer, keyword: "" });
}
