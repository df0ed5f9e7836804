/** Typed access to the keywords of one schema object; remembers which were read. */
import type { PatternLanguage } from "../automaton/regex.ts";
import type { JsonValue } from "../bytes/canonical-json.ts";
import { type Dialect, definesKeyword } from "./dialect.ts";
import { isObject, type JsonObject, type Location, type SchemaDocument } from "./document.ts";
import { MIN_COUNT_MAX } from "./limits.ts";
import type { Schema } from "./schema.ts";
import { pointerTo, SchemaError, type SchemaErrorCode } from "./schema-error.ts";

/** Keywords that say nothing about a value, in any draft. */
const SILENT: ReadonlySet<string> = new Set([
  "$anchor",
  "$comment",
  "$defs",
  "$dynamicAnchor",
  "$id",
  "$recursiveAnchor",
  "$schema",
  "$vocabulary",
  "default",
  "definitions",
  "deprecated",
  "description",
  "example",
  "examples",
  "id",
  "readOnly",
  "title",
  "writeOnly",
]);

/** What a reader asks of the parser: schemas made now and read later. */
export interface SchemaMaker {
  readonly document: SchemaDocument;
  readonly annotations: string[];
  /** As `compilePattern`. */
  readonly pattern: (source: string) => PatternLanguage;
  schemaAt(location: Location, depth: number): Schema;
  /** A schema that stands in no document, made from another keyword's meaning. */
  derived(pointer: string, rules: Partial<Schema>): Schema;
}

export class KeywordReader {
  readonly json: JsonObject;
  readonly #parser: SchemaMaker;
  readonly #location: Location;
  readonly #depth: number;
  readonly #read = new Set<string>();

  constructor(parser: SchemaMaker, json: JsonObject, location: Location, depth: number) {
    this.json = json;
    this.#parser = parser;
    this.#location = location;
    this.#depth = depth;
  }

  /** As `compilePattern`. */
  pattern(source: string): PatternLanguage {
    return this.#parser.pattern(source);
  }

  get pointer(): string {
    return this.#location.pointer;
  }

  get dialect(): Dialect {
    return this.#location.resource.dialect;
  }

  /** The keyword's value, undefined where it is absent. */
  value(keyword: string): JsonValue | undefined {
    if (!definesKeyword(this.dialect, keyword)) return undefined;
    this.#read.add(keyword);
    return Object.hasOwn(this.json, keyword) ? this.json[keyword] : undefined;
  }

  has(keyword: string): boolean {
    return Object.hasOwn(this.json, keyword);
  }

  /** A finite number. */
  number(keyword: string): number | undefined {
    const value = this.value(keyword);
    if (value === undefined) return undefined;
    if (typeof value !== "number" || !Number.isFinite(value)) this.invalid(keyword, "a number");
    return value;
  }

  /** A count of characters, items or keys. */
  count(keyword: string): number | undefined {
    const value = this.number(keyword);
    if (value === undefined) return undefined;
    if (!Number.isInteger(value) || value < 0)
      this.invalid(keyword, "a whole number of at least 0");
    return value;
  }

  /** A count that an answer has to reach. */
  demand(keyword: string): number {
    const value = this.count(keyword) ?? 0;
    if (value <= MIN_COUNT_MAX) return value;
    throw this.error("too_complex", keyword, `more than ${MIN_COUNT_MAX} cannot be demanded`);
  }

  string(keyword: string): string | undefined {
    const value = this.value(keyword);
    if (value !== undefined && typeof value !== "string") this.invalid(keyword, "a string");
    return value;
  }

  strings(keyword: string, value = this.value(keyword)): readonly string[] | undefined {
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
      this.invalid(keyword, "a list of strings");
    }
    return value as readonly string[];
  }

  schema(keyword: string): Schema | null {
    const value = this.value(keyword);
    return value === undefined ? null : this.at(value, keyword);
  }

  schemas(keyword: string): readonly Schema[] | null {
    const value = this.value(keyword);
    if (value === undefined) return null;
    if (!Array.isArray(value)) this.invalid(keyword, "a list of schemas");
    const list = value as readonly JsonValue[];
    return list.map((item, index) => this.at(item, keyword, String(index)));
  }

  object(keyword: string): JsonObject | undefined {
    const value = this.value(keyword);
    if (value !== undefined && !isObject(value)) this.invalid(keyword, "an object");
    return value as JsonObject | undefined;
  }

  /** The schema at a place below this one. */
  at(json: JsonValue, ...tokens: readonly string[]): Schema {
    const pointer = pointerTo(this.pointer, ...tokens);
    const resource = this.#parser.document.enter(json, pointer, this.#location.resource);
    return this.#parser.schemaAt({ json, pointer, resource }, this.#depth + 1);
  }

  reference(keyword: string, ref: string): Schema {
    this.#read.add(keyword);
    if (keyword !== "$ref") this.#parser.document.checkDynamic(ref, this.#location, keyword);
    const target = this.#parser.document.resolve(ref, this.#location, keyword);
    return this.#parser.schemaAt(target, this.#depth);
  }

  derived(rules: Partial<Schema>, keyword: string): Schema {
    return this.#parser.derived(pointerTo(this.pointer, keyword), rules);
  }

  annotate(keyword: string): void {
    this.#parser.annotations.push(pointerTo(this.pointer, keyword));
  }

  /** Pointers of the keywords that nobody asked for. */
  unread(): string[] {
    return Object.keys(this.json)
      .filter((keyword) => !this.#read.has(keyword) && !SILENT.has(keyword))
      .map((keyword) => pointerTo(this.pointer, keyword));
  }

  invalid(keyword: string, expected: string): never {
    throw this.error("invalid_schema", keyword, `"${keyword}" must be ${expected}`);
  }

  error(code: SchemaErrorCode, keyword: string, message: string, cause?: unknown): SchemaError {
    const pointer = pointerTo(this.pointer, keyword);
    return new SchemaError(message, { code, pointer, keyword, cause });
  }
}
