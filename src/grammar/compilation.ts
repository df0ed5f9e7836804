/**
 * Everything that one compiled schema knows: its places, and for each place, once it is asked,
 * which values of each type may stand there. Made lazily, kept for the life of the grammar. Places
 * that rule out the items before them are new in every answer: who keeps a grammar for long asks
 * whether it is overgrown.
 */
import { NOTHING, product } from "../automaton/dfa-algebra.ts";
import { minimize } from "../automaton/minimize.ts";
import type { NumberSpelling } from "../automaton/number-set.ts";
import type { PatternLanguage } from "../automaton/regex.ts";
import type { JsonValue } from "../bytes/canonical-json.ts";
import { type Formula, Formulas } from "../schema/formula.ts";
import { ARRAY, FALSE, type JsonType, NULL, OBJECT, TRUE } from "../schema/json-type.ts";
import { emptySchema, type Schema } from "../schema/schema.ts";
import { canLeaveUsed } from "./apart-items.ts";
import { completeArray } from "./array-completion.ts";
import { Costs } from "./costs.ts";
import { distinctValues } from "./distinct-values.ts";
import type { Languages } from "./languages.ts";
import { completeObject } from "./object-completion.ts";
import type { ShapeContext } from "./object-shape.ts";
import { type Literal, Place, placeKey, type Verdict } from "./place.ts";
import { LazyViews, type PlaceViews } from "./place-views.ts";
import type { RangedStrings } from "./ranged-strings.ts";
import { hasStringApart } from "./rival-strings.ts";
import { stringProduct } from "./string-product.ts";
import type { StringView } from "./string-view.ts";
import type { UsedValues } from "./used-values.ts";

/** Places of single answers that a grammar may keep: about 10 KB each. */
const ANSWER_PLACES_MAX = 2000;

const CONSTANT_TEXTS: readonly (readonly [JsonType, string])[] = [
  [NULL, "null"],
  [TRUE, "true"],
  [FALSE, "false"],
];

export interface CompileOptions {
  readonly objects: "closed" | "open";
  readonly whitespace: "compact" | "flexible";
}

export class Compilation implements ShapeContext {
  readonly objects: "closed" | "open";
  readonly costs: Costs;
  readonly #spelling: NumberSpelling;
  readonly #formulas: Formulas;
  readonly #languages: Languages;
  readonly #places = new Map<string, Place>();
  readonly #lazy = new Map<Place, LazyViews>();
  readonly #namesLanguages = new Map<Schema, PatternLanguage>();
  readonly #exclusions = new WeakMap<readonly JsonValue[], readonly Literal[]>();
  readonly #distinct = new Map<Place, number>();
  readonly #surelyEmpty = new Map<Place, boolean>();
  readonly #rough = new Map<Place, boolean>();
  readonly #ownSchemas: number;
  #schemaCount: number;
  #answerPlaces = 0;

  constructor(
    schemaCount: number,
    objects: "closed" | "open",
    spelling: NumberSpelling,
    languages: Languages,
  ) {
    this.#languages = languages;
    this.objects = objects;
    this.#spelling = spelling;
    this.#ownSchemas = schemaCount;
    this.#schemaCount = schemaCount;
    this.#formulas = new Formulas((rules) => this.#derive(rules));
    this.costs = new Costs((place) => this.#leastBytes(place));
  }

  place(wants: readonly (readonly Literal[])[], observed: readonly Schema[]): Place {
    const key = placeKey(wants, observed);
    const known = this.#places.get(key);
    if (known) return known;
    const place = new Place(this.#places.size, wants, observed, this.#formulas);
    this.#places.set(key, place);
    if (place.schemas.some(({ id }) => id >= this.#ownSchemas)) this.#answerPlaces += 1;
    return place;
  }

  /** Answers have left more behind than the next ones gain by it. */
  get isOvergrown(): boolean {
    return this.#answerPlaces > ANSWER_PLACES_MAX;
  }

  cost(place: Place): number {
    return this.costs.of(place);
  }

  /**
   * The place's shortest value may take more than its cost: it has an array of several items that
   * must differ.
   */
  isRough(place: Place): boolean {
    const known = this.#rough.get(place);
    if (known !== undefined) return known;
    // A place inside itself adds nothing to what the others say.
    this.#rough.set(place, false);
    const { array, object } = this.views(place);
    const items = array?.completion?.items ?? [];
    const isApart = array?.shape.needsValues === true && items.length > 0;
    const isRough =
      isApart ||
      items.some((item) => this.isRough(item)) ||
      (object?.completion?.members ?? []).some((member) => this.isRough(member.place));
    this.#rough.set(place, isRough);
    return isRough;
  }

  /** The verdict of a constant at a place, or null where it may not stand. */
  constant(place: Place, type: JsonType): Verdict | null {
    const verdict = place.verdictOf(type, () => true);
    return place.isSatisfiedBy(verdict) ? verdict : null;
  }

  isSurelyEmpty(place: Place): boolean {
    const known = this.#surelyEmpty.get(place);
    if (known !== undefined) return known;
    const isEmpty =
      [OBJECT, ARRAY].every((type) => place.wantFormulas(type as JsonType).every(isNever)) &&
      this.constantText(place) === null &&
      this.views(place).strings === null &&
      this.views(place).numbers === null;
    this.#surelyEmpty.set(place, isEmpty);
    return isEmpty;
  }

  /** The shortest of the constants that may stand at a place. */
  constantText(place: Place): string | null {
    const found = CONSTANT_TEXTS.find(([type]) => this.constant(place, type) !== null);
    return found?.[1] ?? null;
  }

  views(place: Place): PlaceViews {
    const known = this.#lazy.get(place);
    if (known) return known;
    const views = new LazyViews(place, this, this.#languages, this.#spelling);
    this.#lazy.set(place, views);
    return views;
  }

  namesLanguage(schema: Schema): PatternLanguage {
    const known = this.#namesLanguages.get(schema);
    if (known) return known;
    const place = this.place([[{ schema, positive: true }]], []);
    const language = namesLanguage(stringProduct(place));
    this.#namesLanguages.set(schema, language);
    return language;
  }

  noneOf(values: readonly JsonValue[]): readonly Literal[] {
    if (values.length === 0) return [];
    const known = this.#exclusions.get(values);
    if (known) return known;
    const literals = [{ schema: this.#derive({ values }), positive: false }];
    this.#exclusions.set(values, literals);
    return literals;
  }

  equalTo(value: JsonValue): Literal {
    return { schema: this.#formulas.constant(value), positive: true };
  }

  canLeaveUsed(place: Place): boolean {
    return canLeaveUsed(this.views(place));
  }

  /** Some value of the place is none of these; only where they can be left. */
  hasValueApart(place: Place, used: UsedValues): boolean {
    const { strings, object, array } = this.views(place);
    if (object?.completion || array?.completion) return true;
    if (strings && hasStringApart(strings, used.strings)) return true;
    return CONSTANT_TEXTS.some(
      ([type, text]) => !used.constants.includes(text) && this.constant(place, type) !== null,
    );
  }

  distinctValues(place: Place): number {
    const known = this.#distinct.get(place);
    if (known !== undefined) return known;
    // One, if there is any, for a place inside itself.
    this.#distinct.set(place, Number.isFinite(this.cost(place)) ? 1 : 0);
    const count = distinctValues(place, this);
    // While costs are still being found, a count may be too low: it is not kept.
    if (this.costs.isSettled) this.#distinct.set(place, count);
    else this.#distinct.delete(place);
    return count;
  }

  #derive(rules: Partial<Schema>): Schema {
    const schema = emptySchema(this.#schemaCount, "");
    this.#schemaCount += 1;
    return Object.assign(schema, rules);
  }

  #leastBytes(place: Place): number {
    const sizes = [this.constantText(place)?.length ?? Number.POSITIVE_INFINITY];
    const { strings, numbers } = this.views(place);
    if (strings) sizes.push(leastString(strings));
    if (numbers?.kind === "list") sizes.push(numbers.texts.rest(0));
    if (numbers?.kind === "language") sizes.push(numbers.automaton.rest(0));
    const views = this.views(place);
    const array = views.array && completeArray(views.array.state);
    if (array) sizes.push(1 + array.bytes);
    const object = views.object && completeObject(views.object.state);
    if (object) sizes.push(1 + object.bytes);
    return Math.min(...sizes);
  }
}

function isNever(formula: Formula): boolean {
  return formula.kind === "constant" && !formula.value;
}

function leastString(view: StringView): number {
  if (view.kind === "list") return 2 + view.texts.rest(0);
  return 1 + view.reader.end(0, 0).byteLength;
}

/** Strings as one automaton; more than one range of lengths is counted in its states. */
function namesLanguage(strings: RangedStrings | null): PatternLanguage {
  if (!strings) return { dfa: NOTHING, minLength: 0, maxLength: Number.POSITIVE_INFINITY };
  const { ranges, automaton } = strings;
  const [only] = ranges;
  if (ranges.length === 1 && only) {
    const dfa = minimize({ ...automaton.dfa, accepts: only.accepts });
    return { dfa, minLength: only.lo, maxLength: only.hi };
  }
  const countedMax = Math.max(...ranges.map(({ lo, hi }) => (Number.isFinite(hi) ? hi + 1 : lo)));
  const dfa = product(
    [automaton.dfa],
    ([state, length]) =>
      ranges.some(
        ({ lo, hi, accepts }) =>
          (length as number) >= lo && (length as number) <= hi && accepts[state as number] === 1,
      )
        ? 1
        : 0,
    { countedMax },
  );
  return { dfa, minLength: 0, maxLength: Number.POSITIVE_INFINITY };
}
