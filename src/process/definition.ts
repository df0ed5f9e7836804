/**
 * What a process is: a pure function with an engine version and an input schema. Formulas over its
 * bytes are in FORMAT.md and frozen.
 */
import type { Static, TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { canonicalJson, canonicalJsonBytes, type JsonValue } from "../bytes/canonical-json.ts";
import { sha256Hex } from "../crypto/hash.ts";
import { ProcessInputError } from "./input-error.ts";
import { checkPlainJson } from "./plain-json.ts";
import { printPointer } from "./pointer.ts";

export type JsonObject = { readonly [key: string]: JsonValue };

/** An input whose output is known, run again at every start. */
export interface Golden {
  readonly name: string;
  readonly input: JsonValue;
  readonly outputHash: string;
}

/** One engine version of one process. */
export interface ProcessEngine {
  readonly slug: string;
  /** MAJOR.MINOR.PATCH: any change of any output bytes is a new MAJOR or MINOR. */
  readonly version: string;
  /** `slug@version`; the catalogue's `model_id`. */
  readonly id: string;
  readonly description: string;
  /** JSON Schema 2020-12, as served with the catalogue entry. */
  readonly inputSchema: JsonObject;
  /** SHA-256 over the canonical JSON of every table that the engine decides by. */
  readonly tablesHash: string;
  readonly goldens: readonly Golden[];
  /** @throws ProcessInputError for input that does not fit the schema. Runs nothing. */
  check(input: JsonValue): void;
  /** @throws ProcessInputError for input that the engine does not take. */
  run(input: JsonValue): JsonObject;
}

export interface ProcessSource<Schema extends TSchema> {
  readonly slug: string;
  readonly version: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly tables: JsonValue;
  readonly goldens: readonly Golden[];
  /** Pure: no clock, randomness, locale, floats or module state. May throw ProcessInputError. */
  readonly compute: (input: Static<Schema>) => JsonObject;
}

export function defineProcess<Schema extends TSchema>(
  source: ProcessSource<Schema>,
): ProcessEngine {
  const validator = Compile(source.inputSchema);
  const id = `${source.slug}@${source.version}`;
  const checked = (input: JsonValue): Static<Schema> => {
    checkPlainJson(input);
    return checkShape(validator, input);
  };
  return {
    slug: source.slug,
    version: source.version,
    id,
    description: source.description,
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: `svc:process/${source.slug}/${source.version}/input`,
      ...plainSchema(source.inputSchema),
    },
    tablesHash: sha256Hex(canonicalJsonBytes(source.tables)),
    goldens: source.goldens,
    check: (input) => {
      checked(input);
    },
    run: (input) => source.compute(checked(input)),
  };
}

/**
 * The result of one run: everything a receipt says about it except who asked and how long it took.
 */
export interface ProcessRun {
  /** `slug@version`. */
  readonly engine: string;
  readonly output: JsonObject;
  readonly inputHash: string;
  readonly outputHash: string;
  readonly deterministicHash: string;
}

/** @throws ProcessInputError for input that the engine does not take. */
export function runProcess(engine: ProcessEngine, input: JsonValue): ProcessRun {
  const output = engine.run(input);
  const inputHash = sha256Hex(canonicalJson(input));
  const outputHash = sha256Hex(canonicalJson(output));
  const lines = ["svc-process/1", engine.id, engine.tablesHash, inputHash, outputHash];
  return {
    engine: engine.id,
    output,
    inputHash,
    outputHash,
    deterministicHash: sha256Hex(lines.join("\n")),
  };
}

/**
 * @returns the input, now known to have the schema's type.
 * @throws ProcessInputError `invalid_input` with the pointer of the first thing that does not fit.
 */
export function checkShape<Schema extends TSchema>(
  validator: Validator<Record<never, never>, Schema>,
  input: JsonValue,
): Static<Schema> {
  if (validator.Check(input)) return input as Static<Schema>;
  const [error] = validator.Errors(input).filter(({ keyword }) => keyword !== "boolean");
  if (!error) throw new ProcessInputError("invalid_input", "", "does not fit the input schema");
  throw new ProcessInputError("invalid_input", errorPointer(error), error.message);
}

/** Points at the member that is missing or not allowed, not at the object around it. */
function errorPointer(error: { readonly instancePath: string; readonly params: object }): string {
  const params = error.params as {
    readonly requiredProperties?: readonly string[];
    readonly additionalProperties?: readonly string[];
  };
  const [key] = params.requiredProperties ?? params.additionalProperties ?? [];
  return key === undefined ? error.instancePath : error.instancePath + printPointer([key]);
}

/** The schema as plain data: TypeBox keeps hidden members on its objects. */
function plainSchema(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}
