/**
 * Objects at one place, before any key is written: the atoms to follow, the plans, the names that
 * some schema mentions, and for every kind of key what each atom asks of the value under it.
 */
import { accepts } from "../automaton/dfa.ts";
import type { PatternLanguage } from "../automaton/regex.ts";
import { TextList } from "../automaton/text-list.ts";
import type { JsonValue } from "../bytes/canonical-json.ts";
import type { Atom, ObjectAtom } from "../schema/formula.ts";
import { OBJECT } from "../schema/json-type.ts";
import type { Schema } from "../schema/schema.ts";
import { KeyLanguage } from "./key-language.ts";
import type { Literal, Place } from "./place.ts";
import { type PlacePlan, plansAt } from "./place-plans.ts";

/** What an atom asks of the value under a key. */
export interface Demand {
  /** The atom fails as soon as the key is written. */
  readonly never: boolean;
  /** Schemas that the value must satisfy. */
  readonly schemas: readonly Schema[];
  /**
   * The atom's schema speaks of this key: by name, by pattern, or by a stated rule for the rest.
   */
  readonly stated: boolean;
}

/** Keys that every atom treats alike: one name, or all unnamed keys of one colour. */
export interface KeyClass {
  /** Rank of the name, or the number of names plus the colour. */
  readonly index: number;
  readonly name: string | null;
  /** By atom. */
  readonly demands: readonly Demand[];
}

export interface ObjectPlan extends PlacePlan {
  /** Ranks of the names that must be written. */
  readonly required: readonly number[];
  readonly minProperties: number;
  readonly maxProperties: number;
  /** Some key of the plan demands others. */
  readonly hasDependents: boolean;
}

/** What a shape needs from the compilation around it. */
export interface ShapeContext {
  readonly objects: "closed" | "open";
  place(wants: readonly (readonly Literal[])[], observed: readonly Schema[]): Place;
  /** Bytes of the shortest value at a place; infinite where there is none. */
  cost(place: Place): number;
  /** Literals that keep a value apart from all of these. */
  noneOf(values: readonly JsonValue[]): readonly Literal[];
  /** The literal that only this value satisfies. */
  equalTo(value: JsonValue): Literal;
  /**
   * No value stands at a place, as its scalars alone show; true at any stage of a search for costs.
   */
  isSurelyEmpty(place: Place): boolean;
  /** A lower bound on the number of different values at a place. */
  distinctValues(place: Place): number;
  /** Whatever values were used, one that begins at the place can still become another. */
  canLeaveUsed(place: Place): boolean;
  /** The keys that `propertyNames` allows. */
  namesLanguage(schema: Schema): PatternLanguage;
}

export class ObjectShape {
  readonly place: Place;
  readonly context: ShapeContext;
  /** By the atoms that a plan holds, then by key and atom. */
  readonly #excluded = new Map<readonly number[], Map<number, boolean>>();
  readonly #basePlaces = new Map<readonly number[], Map<number, Place | null>>();
  /** By the atoms that a plan holds, then by atom. */
  readonly #escapes = new Map<readonly number[], (readonly number[])[]>();
  /** By the atoms that a plan holds, then by key. */
  readonly #bases = new Map<readonly number[], Map<number, readonly Literal[] | null>>();
  readonly atoms: readonly ObjectAtom[];
  readonly plans: readonly ObjectPlan[];
  /** Names by rank: the order in which a closed object writes them. */
  readonly names: readonly string[];
  readonly rankOf: ReadonlyMap<string, number>;
  /** The names as JSON writes them between the quotes; `sources` are ranks. */
  readonly nameTexts: TextList;
  /** One plan, nothing that must fail, nothing to report: what can be written is right. */
  readonly isGuided: boolean;
  readonly #languages: readonly PatternLanguage[];
  readonly #classes = new Map<number, KeyClass>();
  /** By rank of a name. */
  readonly #colours: number[] = [];
  #keys: KeyLanguage | undefined;

  constructor(place: Place, context: ShapeContext) {
    this.place = place;
    this.context = context;
    const { atoms, plans, isTracked } = plansAt(place, OBJECT, isObjectAtom);
    this.atoms = atoms;
    this.isGuided = !isTracked;
    const planned = plans.flatMap(({ holds }) => holds.map((i) => atoms[i] as ObjectAtom));
    this.names = namesOf([...planned, ...atoms]);
    this.rankOf = new Map(this.names.map((name, rank) => [name, rank]));
    this.nameTexts = new TextList(this.names.map((name) => JSON.stringify(name).slice(1, -1)));
    this.plans = plans.map((plan) => this.#plan(plan));
    this.#languages = this.#keyLanguages();
  }

  /** The keys that no schema names. */
  get keys(): KeyLanguage {
    this.#keys ??= new KeyLanguage(this.#languages);
    return this.#keys;
  }

  /** The colour that a name would have as an unnamed key. */
  colourOfName(rank: number): number {
    this.#colours[rank] ??= this.keys.colourOf(this.names[rank] as string);
    return this.#colours[rank];
  }

  nameClass(rank: number): KeyClass {
    const known = this.#classes.get(rank);
    if (known) return known;
    const name = this.names[rank] as string;
    const length = [...name].length;
    const matches = ({ dfa, minLength, maxLength }: PatternLanguage): boolean =>
      length >= minLength && length <= maxLength && accepts(dfa, name);
    return this.#addClass(rank, name, matches);
  }

  restClass(colour: number): KeyClass {
    const index = this.names.length + colour;
    const known = this.#classes.get(index);
    if (known) return known;
    const accepted = this.keys.colours[colour] ?? [];
    const matches = (language: PatternLanguage): boolean =>
      accepted[this.#languages.indexOf(language)] ?? false;
    return this.#addClass(index, null, matches);
  }

  classAt(index: number): KeyClass {
    const { length } = this.names;
    return index < length ? this.nameClass(index) : this.restClass(index - length);
  }

  /**
   * The literals that a plan asks of the value under a key; null where the plan has no such key.
   */
  base(plan: ObjectPlan, keyClass: KeyClass): readonly Literal[] | null {
    const known = this.#bases.get(plan.holds) ?? new Map<number, readonly Literal[] | null>();
    this.#bases.set(plan.holds, known);
    let base = known.get(keyClass.index);
    if (base !== undefined) return base;
    base = this.#base(plan, keyClass);
    known.set(keyClass.index, base);
    return base;
  }

  #base(plan: ObjectPlan, keyClass: KeyClass): readonly Literal[] | null {
    const literals: Literal[] = [];
    let stated = this.context.objects === "open";
    for (const index of plan.holds) {
      const demand = keyClass.demands[index] as Demand;
      if (demand.never) return null;
      stated ||= demand.stated;
      for (const schema of demand.schemas) literals.push({ schema, positive: true });
    }
    return stated ? literals : null;
  }

  /** The place of a value of which the plan asks that and no more; null for no such key. */
  basePlace(plan: ObjectPlan, keyClass: KeyClass): Place | null {
    const known = this.#basePlaces.get(plan.holds) ?? new Map<number, Place | null>();
    this.#basePlaces.set(plan.holds, known);
    let place = known.get(keyClass.index);
    if (place !== undefined) return place;
    const base = this.base(plan, keyClass);
    place = base && this.context.place([base], []);
    known.set(keyClass.index, place);
    return place;
  }

  /** Indexes of the key classes that a plan may write and an atom forbids or asks something of. */
  escapes(plan: ObjectPlan, atom: number): readonly number[] {
    const known = this.#escapes.get(plan.holds) ?? [];
    this.#escapes.set(plan.holds, known);
    known[atom] ??= this.#findEscapes(plan, atom);
    return known[atom];
  }

  #findEscapes(plan: ObjectPlan, atom: number): number[] {
    const count = this.names.length + this.keys.colours.length;
    return Array.from({ length: count }, (_, index) => index).filter((index) => {
      const keyClass = this.classAt(index);
      const { never, schemas } = keyClass.demands[atom] as Demand;
      return (never || schemas.length > 0) && this.base(plan, keyClass) !== null;
    });
  }

  /** Whatever stands under a key that the plan has written, an atom fails with it. */
  excludes(plan: ObjectPlan, keyClass: KeyClass, atom: number): boolean {
    const known = this.#excluded.get(plan.holds) ?? new Map<number, boolean>();
    this.#excluded.set(plan.holds, known);
    const key = keyClass.index * this.atoms.length + atom;
    let verdict = known.get(key);
    if (verdict === undefined) {
      const { schemas } = keyClass.demands[atom] as Demand;
      const base = schemas.length > 0 ? this.base(plan, keyClass) : null;
      const both = schemas.map((schema) => ({ schema, positive: true }));
      verdict =
        base !== null && this.context.isSurelyEmpty(this.context.place([[...base, ...both]], []));
      known.set(key, verdict);
    }
    return verdict;
  }

  #plan({ holds, fails }: PlacePlan): ObjectPlan {
    const rules = holds.map((index) => (this.atoms[index] as ObjectAtom).rules);
    const required = new Set(rules.flatMap((rule) => rule.required));
    return {
      holds,
      fails,
      required: [...required].map((name) => this.rankOf.get(name) ?? -1).sort((a, b) => a - b),
      minProperties: Math.max(0, ...rules.map((rule) => rule.minProperties)),
      maxProperties: Math.min(Number.POSITIVE_INFINITY, ...rules.map((rule) => rule.maxProperties)),
      hasDependents: rules.some((rule) => rule.dependents.size > 0),
    };
  }

  #keyLanguages(): PatternLanguage[] {
    const languages = new Set<PatternLanguage>();
    for (const { rules } of this.atoms) {
      for (const { language } of rules.patterns) languages.add(language.language);
      if (rules.names) languages.add(this.context.namesLanguage(rules.names));
    }
    return [...languages];
  }

  #addClass(
    index: number,
    name: string | null,
    matches: (language: PatternLanguage) => boolean,
  ): KeyClass {
    const demands = this.atoms.map((atom) => this.#demand(atom, name, matches));
    const keyClass = { index, name, demands };
    this.#classes.set(index, keyClass);
    return keyClass;
  }

  #demand(
    atom: ObjectAtom,
    name: string | null,
    matches: (language: PatternLanguage) => boolean,
  ): Demand {
    const { rules } = atom;
    const schemas: Schema[] = [];
    const own = name === null ? undefined : rules.properties.get(name);
    if (own) schemas.push(own);
    let covered = own !== undefined;
    for (const { language, schema } of rules.patterns) {
      if (!matches(language.language)) continue;
      covered = true;
      schemas.push(schema);
    }
    if (!covered && rules.additional) schemas.push(rules.additional);
    const named = rules.names === null || matches(this.context.namesLanguage(rules.names));
    const required = name !== null && rules.required.includes(name);
    return {
      never: !named || schemas.some((schema) => schema.always === false),
      schemas: schemas.filter((schema) => schema.always === null),
      stated: covered || rules.additionalStated || required,
    };
  }
}

/** In the order of `properties`, then what only `required` and the dependents mention. */
function namesOf(atoms: readonly ObjectAtom[]): string[] {
  const names = new Set<string>();
  for (const { rules } of atoms) for (const name of rules.properties.keys()) names.add(name);
  for (const { rules } of atoms) {
    for (const name of rules.required) names.add(name);
    for (const [name, others] of rules.dependents) for (const n of [name, ...others]) names.add(n);
  }
  return [...names].filter((name) => name.isWellFormed());
}

function isObjectAtom(atom: Atom): atom is ObjectAtom {
  return atom.kind === "object";
}
