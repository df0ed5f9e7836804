/** Objects whose members are independent of each other: most of them. */
import type { KeyClass, ObjectPlan, ObjectShape } from "./object-shape.ts";
import type { ObjectState } from "./object-state.ts";
import type { Place } from "./place.ts";

/**
 * Most objects have one plan, no dependents and no limit on their size. Then a key may be written
 * if it has not been and some value satisfies its place, and the object can always be finished.
 */
export class LooseMembers {
  readonly #shape: ObjectShape;
  readonly #plan: ObjectPlan;
  readonly #places = new Map<number, Place | null>();
  #colours: readonly number[] | undefined;

  constructor(shape: ObjectShape, plan: ObjectPlan) {
    this.#shape = shape;
    this.#plan = plan;
  }

  /** Where the value of a key stands; null where no value could. */
  place(keyClass: KeyClass): Place | null {
    const known = this.#places.get(keyClass.index);
    if (known !== undefined) return known;
    const base = this.#shape.base(this.#plan, keyClass);
    const { context } = this.#shape;
    const place = base && context.place([base], []);
    const found = place && Number.isFinite(context.cost(place)) ? place : null;
    this.#places.set(keyClass.index, found);
    return found;
  }

  /** The name of this rank may be written. */
  allows(state: ObjectState, rank: number): boolean {
    if (state.hasSeen(rank)) return false;
    const keyClass = this.#shape.nameClass(rank);
    return this.isNext(state, keyClass) && this.place(keyClass) !== null;
  }

  /** A closed object writes its names in order, and leaves no required one behind. */
  isNext(state: ObjectState, keyClass: KeyClass): boolean {
    if (this.#shape.context.objects === "open") return true;
    if (keyClass.name !== null && keyClass.index < state.cursor) return false;
    const due = this.#plan.required.find((rank) => !state.hasSeen(rank));
    return due === undefined || (keyClass.name !== null && keyClass.index <= due);
  }

  /** Colours of the unnamed keys that may be written. */
  colours(state: ObjectState): readonly number[] {
    this.#colours ??= [...this.#shape.keys.colours.keys()].filter(
      (colour) => this.place(this.#shape.restClass(colour)) !== null,
    );
    const [first] = this.#colours;
    if (first === undefined || !this.isNext(state, this.#shape.restClass(first))) return [];
    return this.#colours;
  }
}

/** @returns null where keys and values depend on each other. */
export function looseMembers(shape: ObjectShape): LooseMembers | null {
  const [plan] = shape.plans;
  if (!shape.isGuided || !plan || !canAlwaysEnd(shape, plan)) return null;
  return new LooseMembers(shape, plan);
}

/**
 * Whatever keys were written, those that the plan requires can follow, and nothing else is needed
 * but that every clause has an atom that fails. In a closed object, only from its beginning on.
 */
export function canAlwaysEnd(shape: ObjectShape, plan: ObjectPlan): boolean {
  if (plan.hasDependents || plan.maxProperties !== Number.POSITIVE_INFINITY) return false;
  if (plan.minProperties > plan.required.length || plan.required.includes(-1)) return false;
  return plan.required.every((rank) => {
    const base = shape.base(plan, shape.nameClass(rank));
    return base !== null && Number.isFinite(shape.context.cost(shape.context.place([base], [])));
  });
}
