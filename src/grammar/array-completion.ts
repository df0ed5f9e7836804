/**
 * Can an array still be finished, and how shortly? As for objects, a completion is found: a list of
 * further items, each with a place that some value satisfies, after which every atom that must hold
 * does and in every clause some atom fails. The search is greedy: what it does not find is refused.
 */
import type { Contains, Schema } from "../schema/schema.ts";
import type { ArrayPlan, ArrayShape } from "./array-shape.ts";
import type { ArrayState } from "./array-state.ts";
import type { Literal, Place } from "./place.ts";

export interface ArrayCompletion {
  /**
   * Bytes from here to the closing bracket, which is included; a comma before each item but a
   * first.
   */
  readonly bytes: number;
  /** The items still to be written; the last one `repeats` times more. */
  readonly items: readonly Place[];
  readonly repeats: number;
}

/** Items written one by one in a search; what is alike beyond them is multiplied. */
const ITEMS_PLANNED_MAX = 300;

/**
 * With `uniqueItems`, values that are kept apart by a schema each; then no further item may start.
 */
const UNIQUE_ITEMS_MAX = 100;

export function completeArray(state: ArrayState): ArrayCompletion | null {
  let best: ArrayCompletion | null = null;
  for (const plan of state.shape.plans) {
    const found = completePlan(state, plan);
    if (found && (best === null || found.bytes < best.bytes)) best = found;
  }
  return best;
}

/** What the next item must satisfy so that the plan can be met: one of these lists of literals. */
export function itemOptions(state: ArrayState, plan: ArrayPlan): readonly (readonly Literal[])[] {
  const { shape } = state;
  if (plan.holds.some((index) => state.failed[index] === 1)) return [];
  const base = shape.base(plan, state.count);
  if (base === null) return [];
  const own = [...base, ...distinctFrom(state, plan)];
  if (plan.unique && state.values.length >= UNIQUE_ITEMS_MAX) return [];
  // Where there are more values than could be used up, none need be looked for.
  const others = plan.unique ? state.values.length : 0;
  const isPossible = (literals: readonly Literal[]): boolean =>
    (literals === own && shape.context.distinctValues(placeOf(shape, base)) > others) ||
    isInhabited(shape, literals);
  const asked = askedOf(state, plan);
  const options: Literal[][] = [];
  for (const signs of assignments(asked.length)) {
    const truth = new Map(asked.map((schema, i) => [schema, signs[i] as boolean]));
    const after = state.after((schema) => truth.get(schema) ?? true, undefined);
    if (completePlan(after, plan)) {
      options.push(asked.map((schema, i) => ({ schema, positive: signs[i] as boolean })));
    }
  }
  // Every outcome will do: nothing is asked of the item.
  if (options.length === 2 ** asked.length) return isPossible(own) ? [own] : [];
  return options.map((option) => [...own, ...option]).filter(isPossible);
}

/** Schemas whose truth for the next item decides how the array can go on. */
function askedOf(state: ArrayState, plan: ArrayPlan): Schema[] {
  const asked = new Set<Schema>();
  for (const index of plan.holds) {
    const schema = state.shape.atoms[index]?.rules.contains?.schema;
    if (schema && schema.always === null) asked.add(schema);
  }
  for (const clause of openClauses(state, plan)) {
    for (const index of clause) {
      const rules = state.shape.atoms[index]?.rules;
      for (const schema of [state.shape.demand(index, state.count), rules?.contains?.schema]) {
        if (schema && schema.always === null) asked.add(schema);
      }
    }
  }
  return [...asked].slice(0, 4);
}

/** All truth assignments of n schemas. */
function assignments(n: number): boolean[][] {
  return Array.from({ length: 2 ** n }, (_, bits) =>
    Array.from({ length: n }, (_, i) => ((bits >> i) & 1) === 1),
  );
}

function openClauses(state: ArrayState, plan: ArrayPlan): readonly (readonly number[])[] {
  return plan.fails.filter((clause) => !clause.some((atom) => state.failed[atom] === 1));
}

function distinctFrom(state: ArrayState, plan: ArrayPlan): readonly Literal[] {
  if (!plan.unique) return [];
  return state.shape.context.noneOf(state.values);
}

function isInhabited(shape: ArrayShape, literals: readonly Literal[]): boolean {
  return Number.isFinite(shape.context.cost(placeOf(shape, literals)));
}

function placeOf(shape: ArrayShape, literals: readonly Literal[]): Place {
  return shape.context.place([literals], []);
}

/** Bounds on the end of the array, tightened by the ways chosen to make atoms fail. */
interface Goal {
  readonly lengthMin: number;
  readonly lengthMax: number;
  /** By atom with `contains`: how many items must match in the end. */
  readonly contains: ReadonlyMap<number, Contains>;
  /** Each to be added to what some further item must satisfy. */
  readonly extras: readonly Literal[];
  /** Some value must come twice. */
  readonly repeat: boolean;
}

function completePlan(state: ArrayState, plan: ArrayPlan): ArrayCompletion | null {
  if (plan.holds.some((index) => state.failed[index] === 1)) return null;
  const contains = new Map<number, Contains>();
  for (const index of plan.holds) {
    const own = state.shape.atoms[index]?.rules.contains;
    if (own) contains.set(index, own);
  }
  const goal: Goal = {
    lengthMin: plan.minItems,
    lengthMax: plan.maxItems,
    contains,
    extras: [],
    repeat: false,
  };
  for (const refined of refinements(state, openClauses(state, plan), goal)) {
    const found = reach(state, plan, refined);
    if (found) return found;
  }
  return null;
}

/** Goals in which some atom of each clause fails. */
function* refinements(
  state: ArrayState,
  clauses: readonly (readonly number[])[],
  goal: Goal,
): Generator<Goal> {
  const [clause, ...others] = clauses;
  if (!clause) {
    yield goal;
    return;
  }
  for (const atom of clause) {
    for (const next of failures(state, atom, goal)) yield* refinements(state, others, next);
  }
}

function* failures(state: ArrayState, atom: number, goal: Goal): Generator<Goal> {
  const rules = state.shape.atoms[atom]?.rules;
  if (!rules) return;
  if (rules.minItems > 0) {
    yield { ...goal, lengthMax: Math.min(goal.lengthMax, rules.minItems - 1) };
  }
  if (rules.contains) {
    const { schema, min, max } = rules.contains;
    const fewer = { schema, min: 0, max: min - 1 };
    if (min > 0) yield { ...goal, contains: new Map(goal.contains).set(atom, fewer) };
    const more = { schema, min: max + 1, max: Number.POSITIVE_INFINITY };
    if (Number.isFinite(max)) yield { ...goal, contains: new Map(goal.contains).set(atom, more) };
  }
  if (Number.isFinite(rules.maxItems)) {
    yield { ...goal, lengthMin: Math.max(goal.lengthMin, rules.maxItems + 1) };
  }
  if (rules.uniqueItems) yield { ...goal, repeat: true };
  for (const schema of new Set([...rules.prefix.slice(state.count), rules.items])) {
    if (schema?.always === null)
      yield { ...goal, extras: [...goal.extras, { schema, positive: false }] };
    if (schema?.always === false) {
      const position = rules.prefix.indexOf(schema);
      const length = position < 0 ? rules.prefix.length + 1 : position + 1;
      yield { ...goal, lengthMin: Math.max(goal.lengthMin, length) };
    }
  }
}

/** One more item: what it is for, what it must satisfy, and which `contains` it shall match. */
interface Attempt {
  readonly use: "repeat" | "extra" | "none";
  readonly literal: Literal | null;
  readonly matched: readonly number[];
}

function reach(state: ArrayState, plan: ArrayPlan, goal: Goal): ArrayCompletion | null {
  return new ItemPlanner(state, plan, goal).run();
}

class ItemPlanner {
  readonly #state: ArrayState;
  readonly #shape: ArrayShape;
  readonly #plan: ArrayPlan;
  readonly #goal: Goal;
  readonly #items: Place[] = [];
  readonly #matches: Map<number, number>;
  #extras: readonly Literal[];
  #repeat: boolean;

  constructor(state: ArrayState, plan: ArrayPlan, goal: Goal) {
    this.#state = state;
    this.#shape = state.shape;
    this.#plan = plan;
    this.#goal = goal;
    this.#extras = goal.extras;
    this.#repeat = goal.repeat && !state.hasDuplicate;
    this.#matches = new Map(
      [...goal.contains.keys()].map((atom) => [atom, state.matches[atom] as number]),
    );
  }

  run(): ArrayCompletion | null {
    if (!this.#hasEnoughValues()) return null;
    for (const [atom, { max }] of this.#goal.contains) {
      if ((this.#matches.get(atom) as number) > max) return null;
    }
    while (!this.#isDone()) {
      const alike = this.#length > this.#shape.prefixEnd && this.#items.length > 0;
      if (alike && this.#isOnlyLong()) return this.#repeated();
      if (this.#items.length >= ITEMS_PLANNED_MAX || !this.#addItem()) return null;
    }
    return this.#completion(0);
  }

  get #length(): number {
    return this.#state.count + this.#items.length;
  }

  #isDone(): boolean {
    return this.#length >= this.#goal.lengthMin && this.#isOnlyLong();
  }

  /** Nothing is missing but items of any kind. */
  #isOnlyLong(): boolean {
    return this.#extras.length === 0 && !this.#repeat && this.#lacking().length === 0;
  }

  #lacking(): number[] {
    return [...this.#goal.contains]
      .filter(([atom, { min }]) => (this.#matches.get(atom) as number) < min)
      .map(([atom]) => atom);
  }

  #addItem(): boolean {
    if (this.#length >= this.#goal.lengthMax) return false;
    const base = this.#shape.base(this.#plan, this.#length);
    if (base === null) return false;
    const full = [...this.#goal.contains].filter(
      ([atom, { max }]) => (this.#matches.get(atom) as number) >= max,
    );
    const bounds = full.map(([, { schema }]) => ({ schema, positive: false }));
    const avoid = full.map(([atom]) => atom);
    if (bounds.some(({ schema }) => schema.always === true)) return false;
    const own = [...base, ...distinctFrom(this.#state, this.#plan), ...bounds];
    return this.#tryItem(own, avoid);
  }

  /** The item that serves most: what is to repeat, to fail and to match; or else any item. */
  #tryItem(own: readonly Literal[], full: readonly number[]): boolean {
    const lacking = this.#lacking().filter((atom) => !full.includes(atom));
    const repeated = this.#repeat ? this.#repeatLiteral() : null;
    const matchings = [lacking, ...lacking.map((atom) => [atom]), []];
    const attempts: Attempt[] = repeated ? [{ use: "repeat", literal: repeated, matched: [] }] : [];
    for (const matched of matchings) {
      for (const literal of this.#extras.slice(0, 1))
        attempts.push({ use: "extra", literal, matched });
    }
    for (const matched of matchings) attempts.push({ use: "none", literal: null, matched });
    return attempts.some((attempt) => this.#add(own, full, attempt));
  }

  #add(own: readonly Literal[], full: readonly number[], attempt: Attempt): boolean {
    const literals = attempt.literal ? [...own, attempt.literal] : [...own];
    const matched = new Set(attempt.matched);
    for (const [atom, { schema, max }] of this.#goal.contains) {
      if (full.includes(atom)) continue;
      if (schema.always === true) matched.add(atom);
      // Where matches are limited, nothing is left to chance.
      if (matched.has(atom) || Number.isFinite(max)) {
        literals.push({ schema, positive: matched.has(atom) });
      }
    }
    const place = this.#placeOf(literals);
    if (!place) return false;
    this.#items.push(place);
    for (const atom of matched) this.#matches.set(atom, (this.#matches.get(atom) as number) + 1);
    if (attempt.use === "extra") this.#extras = this.#extras.slice(1);
    if (attempt.use === "repeat") this.#repeat = false;
    return true;
  }

  /** Some value again; where there is none yet, the item after the next can repeat it. */
  #repeatLiteral(): Literal | null {
    const [value] = this.#state.values;
    return value === undefined ? null : this.#shape.context.equalTo(value);
  }

  #placeOf(literals: readonly Literal[]): Place | null {
    const { context } = this.#shape;
    const proper = literals.filter(({ schema }) => schema.always === null);
    if (literals.some(({ schema, positive }) => schema.always === !positive)) return null;
    const place = context.place([proper], []);
    return Number.isFinite(context.cost(place)) ? place : null;
  }

  /** With `uniqueItems`, enough different values for the items that must come. */
  #hasEnoughValues(): boolean {
    const missing = this.#goal.lengthMin - this.#state.count;
    if (!this.#plan.unique || missing <= 1) return true;
    if (this.#goal.lengthMin > UNIQUE_ITEMS_MAX) return false;
    const positions = Array.from({ length: missing }, (_, i) => this.#state.count + i);
    return positions.every((position) => {
      const base = this.#shape.base(this.#plan, position);
      if (base === null) return false;
      const place = this.#shape.context.place([base], []);
      return this.#shape.context.distinctValues(place) >= this.#goal.lengthMin;
    });
  }

  #repeated(): ArrayCompletion | null {
    const repeats = this.#goal.lengthMin - this.#length;
    return this.#goal.lengthMin <= this.#goal.lengthMax ? this.#completion(repeats) : null;
  }

  #completion(repeats: number): ArrayCompletion {
    const costs = this.#items.map((place) => this.#shape.context.cost(place));
    const total = costs.reduce((sum, cost) => sum + cost, 0) + repeats * (costs.at(-1) ?? 0);
    const count = this.#items.length + repeats;
    const commas = count - (this.#state.count === 0 && count > 0 ? 1 : 0);
    return { bytes: total + commas + 1, items: this.#items, repeats };
  }
}
