/** `type`, `enum`, `const`, and the keywords for numbers and strings. */
import { compare, decimalOf, ZERO } from "../automaton/decimal.ts";
import { formatLanguage } from "../automaton/format.ts";
import { AutomatonTooLargeError } from "../automaton/nfa.ts";
import { PatternError } from "../automaton/regex.ts";
import { canonicalJson, type JsonValue } from "../bytes/canonical-json.ts";
import { ANY_TYPE, ARRAY, BOOLEAN, NULL, NUMBER, OBJECT, STRING } from "./json-type.ts";
import type { KeywordReader } from "./keyword-reader.ts";
import type { Bound, NamedLanguage, NumberRules, Schema, StringRules } from "./schema.ts";

const TYPE_BITS: Readonly<Record<string, number>> = {
  null: NULL,
  boolean: BOOLEAN,
  number: NUMBER,
  integer: NUMBER,
  string: STRING,
  array: ARRAY,
  object: OBJECT,
};

export function readTypes(reader: KeywordReader, schema: Schema): number {
  const value = reader.value("type");
  if (value === undefined) return ANY_TYPE;
  const names = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
  let bits = 0;
  for (const name of names) {
    const bit = typeof name === "string" && Object.hasOwn(TYPE_BITS, name) ? TYPE_BITS[name] : 0;
    if (!bit)
      reader.invalid("type", `one of ${Object.keys(TYPE_BITS).join(", ")}, or a list of them`);
    bits |= bit as number;
  }
  schema.integer = names.includes("integer") && !names.includes("number");
  return bits;
}

export function readValues(reader: KeywordReader): readonly JsonValue[] | null {
  const list = reader.value("enum");
  if (list !== undefined && !Array.isArray(list)) reader.invalid("enum", "a list of values");
  const values = list as readonly JsonValue[] | undefined;
  const constant = reader.value("const");
  if (constant === undefined) return values ?? null;
  if (values === undefined) return [constant];
  const key = canonicalJson(constant);
  return values.filter((value) => canonicalJson(value) === key);
}

export function readNumberRules(reader: KeywordReader): NumberRules | null {
  const minimum = bound(reader, "minimum", "exclusiveMinimum", 1);
  const maximum = bound(reader, "maximum", "exclusiveMaximum", -1);
  const step = reader.number("multipleOf");
  if (step !== undefined && step <= 0) reader.invalid("multipleOf", "greater than 0");
  const multipleOf = step === undefined ? null : decimalOf(step);
  if (!minimum && !maximum && !multipleOf) return null;
  if (multipleOf && compare(multipleOf, ZERO) === 0) {
    throw reader.error("too_complex", "multipleOf", "the step is too small");
  }
  return { minimum, maximum, multipleOf };
}

/**
 * The tighter of the inclusive and the exclusive bound; draft-04's boolean form makes the first one
 * exclusive.
 */
function bound(
  reader: KeywordReader,
  inclusive: string,
  exclusive: string,
  tighterSign: 1 | -1,
): Bound | null {
  const value = reader.number(inclusive);
  const other = reader.value(exclusive);
  if (typeof other === "boolean") {
    return value === undefined ? null : { value: decimalOf(value), exclusive: other };
  }
  const strict = reader.number(exclusive);
  const loose = value === undefined ? null : { value: decimalOf(value), exclusive: false };
  if (strict === undefined) return loose;
  const tight = { value: decimalOf(strict), exclusive: true };
  return loose && compare(loose.value, tight.value) === tighterSign ? loose : tight;
}

export function readStringRules(reader: KeywordReader): StringRules | null {
  const minLength = reader.demand("minLength");
  const maxLength = reader.count("maxLength") ?? Number.POSITIVE_INFINITY;
  const languages: NamedLanguage[] = [];
  const pattern = reader.string("pattern");
  if (pattern !== undefined) languages.push(readPattern(reader, "pattern", pattern));
  const format = readFormat(reader);
  if (format) languages.push(format);
  if (minLength === 0 && maxLength === Number.POSITIVE_INFINITY && languages.length === 0)
    return null;
  return { minLength, maxLength, languages };
}

/** @throws SchemaError for a pattern that is not ECMAScript, or that has no (small) automaton. */
export function readPattern(reader: KeywordReader, keyword: string, source: string): NamedLanguage {
  try {
    return { name: `/${source}/`, language: reader.pattern(source) };
  } catch (cause) {
    if (cause instanceof AutomatonTooLargeError) {
      const message = `the pattern ${source} needs ${cause.message}: make it simpler`;
      throw reader.error("too_complex", keyword, message, cause);
    }
    if (!(cause instanceof PatternError)) throw cause;
    if (cause.code === "invalid_pattern") {
      const what = "not an ECMAScript regular expression";
      const message = `the pattern ${source} is ${what}: ${cause.message}`;
      throw reader.error("invalid_schema", keyword, message, cause);
    }
    const message = `the pattern ${source} cannot be enforced: ${cause.message}`;
    throw reader.error("unsupported_keyword", keyword, message, cause);
  }
}

function readFormat(reader: KeywordReader): NamedLanguage | null {
  const format = reader.string("format");
  if (format === undefined) return null;
  const language = formatLanguage(format);
  if (language) return { name: format, language };
  // No draft defines it.
  reader.annotate("format");
  return null;
}
