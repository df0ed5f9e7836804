/**
 * JSON Schema → grammar: parse, check that it can be satisfied, and be ready to lock texts to it.
 */
import { AutomatonTooLargeError } from "../automaton/nfa.ts";
import type { NumberSpelling } from "../automaton/number-set.ts";
import type { JsonValue } from "../bytes/canonical-json.ts";
import { sha256Hex } from "../crypto/hash.ts";
import { type Dialect, integersHaveNoFraction } from "../schema/dialect.ts";
import { checkInPlaceRecursion } from "../schema/in-place.ts";
import { parseSchema } from "../schema/parse.ts";
import type { Schema } from "../schema/schema.ts";
import { pointerTo, SchemaError } from "../schema/schema-error.ts";
import { writeOutUnevaluated } from "../schema/unevaluated.ts";
import { Compilation, type CompileOptions } from "./compilation.ts";
import { type Gbnf, printGbnf } from "./gbnf-printer.ts";
import { Languages } from "./languages.ts";
import type { Place } from "./place.ts";

/** A schema, compiled: what texts it allows. */
export class SchemaGrammar {
  readonly kind = "schema";
  /** Hex SHA-256 over the schema and the options: equal ids allow equal texts. */
  readonly id: string;
  readonly options: CompileOptions;
  readonly compilation: Compilation;
  readonly root: Place;
  /** JSON Pointers of keywords that annotate and constrain nothing. */
  readonly annotations: readonly string[];
  #gbnf: Gbnf | undefined;

  constructor(
    id: string,
    options: CompileOptions,
    compilation: Compilation,
    root: Place,
    annotations: readonly string[],
  ) {
    this.id = id;
    this.options = options;
    this.compilation = compilation;
    this.root = root;
    this.annotations = annotations;
  }

  /** Better compiled again than used for another answer: it would only get larger. */
  get isOvergrown(): boolean {
    return this.compilation.isOvergrown;
  }

  /** The schema as a GBNF text; printed when it is first asked for. */
  get gbnf(): string {
    return this.#printed.text;
  }

  /** Whether that text allows the same answers; else it allows more, as its first comment says. */
  get gbnfExact(): boolean {
    return this.#printed.isExact;
  }

  get #printed(): Gbnf {
    this.#gbnf ??= printGbnf(this.root, this.compilation, this.options);
    return this.#gbnf;
  }
}

const CLOSED_SPELLING: NumberSpelling = {
  integerDigitsMax: 15,
  fractionDigitsMax: 15,
  exponentDigitsMax: 2,
  zeroFraction: false,
};
const OPEN_SPELLING: NumberSpelling = {
  integerDigitsMax: 40,
  fractionDigitsMax: 40,
  exponentDigitsMax: 3,
  zeroFraction: true,
};

function openSpelling(dialect: Dialect): NumberSpelling {
  return { ...OPEN_SPELLING, zeroFraction: !integersHaveNoFraction(dialect) };
}

/**
 * @param languages those of earlier schemas: what both need is not built again.
 * @throws SchemaError
 */
export function compileSchema(
  schema: unknown,
  options: Partial<CompileOptions> = {},
  languages = new Languages(),
): SchemaGrammar {
  languages.trim();
  const full: CompileOptions = { objects: "closed", whitespace: "compact", ...options };
  const json = schema as JsonValue;
  const parsed = parseSchema(json, (source) => languages.pattern(source));
  checkInPlaceRecursion(parsed.schemas);
  writeOutUnevaluated(parsed.schemas, parsed.dialect, parsed.derive);
  const spelling = full.objects === "closed" ? CLOSED_SPELLING : openSpelling(parsed.dialect);
  const compilation = new Compilation(parsed.schemas.length, full.objects, spelling, languages);
  checkKeys(parsed.schemas, compilation);
  const root = compilation.place([[{ schema: parsed.root, positive: true }]], []);
  checkSatisfiable(root, parsed.root, compilation);
  // The order of properties is the order in which a closed object writes them: it counts.
  const id = sha256Hex(`${full.objects},${full.whitespace}\n${JSON.stringify(json)}`);
  return new SchemaGrammar(id, full, compilation, root, parsed.annotations);
}

/**
 * `propertyNames` becomes an automaton now, so that a refusal never depends on what is generated.
 */
function checkKeys(schemas: readonly Schema[], compilation: Compilation): void {
  for (const { object, pointer } of schemas) {
    if (!object?.names) continue;
    try {
      compilation.namesLanguage(object.names);
    } catch (cause) {
      if (cause instanceof AutomatonTooLargeError) throw tooManyKeys(pointer, cause);
      throw cause;
    }
  }
}

function tooManyKeys(pointer: string, cause: Error): SchemaError {
  const keyword = "propertyNames";
  return new SchemaError(
    `the keys that "${keyword}" describes need ${cause.message}: make it simpler`,
    { code: "too_complex", pointer: pointerTo(pointer, keyword), keyword, cause },
  );
}

function checkSatisfiable(place: Place, root: Schema, compilation: Compilation): void {
  if (Number.isFinite(compilation.cost(place))) return;
  const at = { pointer: root.pointer, keyword: "" };
  if (compilation.costs.isExhausted) {
    throw new SchemaError("no value was found within the search limit: make the schema simpler", {
      code: "too_complex",
      ...at,
    });
  }
  throw new SchemaError("no JSON value satisfies this schema", { code: "unsatisfiable", ...at });
}
