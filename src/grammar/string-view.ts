/** The strings that may stand at a place: a finite list, or an automaton with lengths. */
import { accepts, type Dfa } from "../automaton/dfa.ts";
import { intersect, NOTHING } from "../automaton/dfa-algebra.ts";
import { AutomatonTooLargeError } from "../automaton/nfa.ts";
import { TextList } from "../automaton/text-list.ts";
import type { Atom, Formula } from "../schema/formula.ts";
import { STRING } from "../schema/json-type.ts";
import { plansOf } from "../schema/plan.ts";
import type { StringRules } from "../schema/schema.ts";
import type { Languages } from "./languages.ts";
import type { Place, Verdict } from "./place.ts";
import type { RangedStrings } from "./ranged-strings.ts";
import { stringProduct } from "./string-product.ts";
import type { StringReader } from "./string-reader.ts";
import { StringUnion } from "./string-union.ts";

export type StringView = StringList | StringText;

/** Finitely many strings. */
export interface StringList {
  readonly kind: "list";
  readonly values: readonly string[];
  /** The values as JSON writes them between the quotes. */
  readonly texts: TextList;
  /** Verdict of each value, by its index. */
  verdict(index: number): Verdict;
}

/** Strings by automaton and length. */
interface StringText {
  readonly kind: "text";
  readonly reader: StringReader;
  /** The languages that the reader reads side by side. */
  readonly parts: readonly RangedStrings[];
}

/** @returns null where no string may stand. */
export function stringView(place: Place, languages: Languages): StringView | null {
  const wants = place.wantFormulas(STRING).filter((want) => !isNever(want));
  if (wants.length === 0) return null;
  const candidates = finiteValues(wants);
  if (candidates) return listView(place, candidates);
  const parts = place.observed.length === 0 ? conjunctions(wants) : null;
  if (!parts) return productView(place);
  return textView(parts.map((rules) => simpleLanguage(rules, languages)));
}

function textView(readers: readonly (RangedStrings | null)[]): StringText | null {
  const parts = readers.filter((reader) => reader !== null);
  const [only] = parts;
  if (!only) return null;
  return { kind: "text", reader: parts.length === 1 ? only : new StringUnion(parts), parts };
}

function isNever(formula: Formula): boolean {
  return formula.kind === "constant" && !formula.value;
}

/** Values one of which every want demands; null if some want allows infinitely many. */
function finiteValues(wants: readonly Formula[]): ReadonlySet<string> | null {
  const values = new Set<string>();
  for (const want of wants) {
    const own = valuesOf(want);
    if (own === null) return null;
    for (const value of own) values.add(value);
  }
  return values;
}

function valuesOf(formula: Formula): ReadonlySet<string> | null {
  switch (formula.kind) {
    case "constant":
      return formula.value ? null : new Set();
    case "atom":
      return formula.positive && formula.atom.kind === "strings"
        ? new Set(formula.atom.values)
        : null;
    case "and": {
      for (const item of formula.items) {
        const own = valuesOf(item);
        if (own) return own;
      }
      return null;
    }
    case "or":
      return finiteValues(formula.items);
  }
}

function listView(place: Place, candidates: ReadonlySet<string>): StringList | null {
  // Lists can have tens of thousands of values: each is looked up, not searched for.
  const sets = new Map<number, ReadonlySet<string>>();
  const verdictOf = (value: string): Verdict =>
    place.verdictOf(STRING, (atom) => stringHolds(atom, value, sets));
  const values = [...candidates].filter(
    (value) => value.isWellFormed() && place.isSatisfiedBy(verdictOf(value)),
  );
  if (values.length === 0) return null;
  const texts = new TextList(values.map((value) => JSON.stringify(value).slice(1, -1)));
  const verdict = (index: number): Verdict =>
    verdictOf(values[texts.sources[index] as number] as string);
  return { kind: "list", values, texts, verdict };
}

function stringHolds(atom: Atom, value: string, sets: Map<number, ReadonlySet<string>>): boolean {
  if (atom.kind === "strings") {
    const values = sets.get(atom.id) ?? new Set(atom.values);
    sets.set(atom.id, values);
    return values.has(value);
  }
  if (atom.kind !== "string") return true;
  const length = [...value].length;
  const { minLength, maxLength, languages } = atom.rules;
  if (length < minLength || length > maxLength) return false;
  return languages.every(
    ({ language }) =>
      length >= language.minLength && length <= language.maxLength && accepts(language.dfa, value),
  );
}

/**
 * Each way to satisfy one of the formulas, as rules that hold together; null if something must
 * fail.
 */
function conjunctions(wants: readonly Formula[]): StringRules[][] | null {
  const plans = wants.flatMap(plansOf);
  if (plans.length > LANGUAGES_MAX) return null;
  const parts: StringRules[][] = [];
  for (const { holds, fails } of plans) {
    if (fails.length > 0 || holds.some((atom) => atom.kind !== "string")) return null;
    parts.push(holds.flatMap((atom) => (atom.kind === "string" ? [atom.rules] : [])));
  }
  return parts;
}

/** More languages than these are better read as one product. */
const LANGUAGES_MAX = 8;

function simpleLanguage(rules: readonly StringRules[], languages: Languages): RangedStrings | null {
  const named = rules.flatMap((rule) => rule.languages);
  const key = named
    .map(({ name }) => name)
    .sort()
    .join("\n");
  const dfa = languages.conjunction(key, () =>
    intersectOrNothing(named.map(({ language }) => language.dfa)),
  );
  const bounds = [...rules, ...named.map(({ language }) => language)];
  const minLength = Math.max(0, ...bounds.map((bound) => bound.minLength));
  const maxLength = Math.min(...bounds.map((bound) => bound.maxLength), Number.POSITIVE_INFINITY);
  return languages.strings(dfa, minLength, maxLength);
}

/** An intersection too large to build is left out: narrower, never wider. */
function intersectOrNothing(operands: readonly Dfa[]): Dfa {
  try {
    return intersect(operands);
  } catch (error) {
    if (error instanceof AutomatonTooLargeError) return NOTHING;
    throw error;
  }
}

/** Everything that the formulas speak of at once; null where it needs too large an automaton. */
function productView(place: Place): StringText | null {
  try {
    const reader = stringProduct(place);
    return reader && { kind: "text", reader, parts: [] };
  } catch (error) {
    if (error instanceof AutomatonTooLargeError) return null;
    throw error;
  }
}
