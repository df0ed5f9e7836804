/**
 * Arrays at one place, before any item: the atoms to follow, the plans, what each position asks.
 */
import type { ArrayAtom, Atom } from "../schema/formula.ts";
import { ARRAY } from "../schema/json-type.ts";
import type { Schema } from "../schema/schema.ts";
import type { ShapeContext } from "./object-shape.ts";
import type { Literal, Place } from "./place.ts";
import { type PlacePlan, plansAt } from "./place-plans.ts";

export interface ArrayPlan extends PlacePlan {
  readonly minItems: number;
  readonly maxItems: number;
  readonly unique: boolean;
}

export class ArrayShape {
  readonly place: Place;
  readonly context: ShapeContext;
  readonly atoms: readonly ArrayAtom[];
  readonly plans: readonly ArrayPlan[];
  /**
   * One plan, nothing that must fail, nothing to report, nothing to count: what can be written is
   * right.
   */
  readonly isGuided: boolean;
  /** Some atom needs to know the items' values. */
  readonly needsValues: boolean;
  #keepsApart: boolean | undefined;
  /** Positions from here on ask the same. */
  readonly prefixEnd: number;
  /** Positions and counts from here on are all alike. */
  readonly saturation: number;

  constructor(place: Place, context: ShapeContext) {
    this.place = place;
    this.context = context;
    const { atoms, plans, isTracked } = plansAt(place, ARRAY, isArrayAtom);
    this.atoms = atoms;
    this.isGuided = !isTracked && this.atoms.every((atom) => atom.rules.contains === null);
    this.needsValues = this.atoms.some((atom) => atom.rules.uniqueItems);
    this.plans = plans.map((plan) => this.#plan(plan));
    this.prefixEnd = Math.max(0, ...this.atoms.map(({ rules }) => rules.prefix.length));
    this.saturation = Math.max(0, ...this.atoms.map(({ rules }) => saturationOf(rules))) + 1;
  }

  /**
   * No item comes twice, and each can be kept apart from the others as it is read: the state need
   * not know their values.
   */
  get keepsApart(): boolean {
    this.#keepsApart ??= this.needsValues && keepsApart(this);
    return this.#keepsApart;
  }

  /** The state must know the items' values. */
  get comparesItems(): boolean {
    return this.needsValues && !this.keepsApart;
  }

  /** Schemas that an atom asks of the item at a position. */
  demand(atom: number, position: number): Schema | null {
    const rules = this.atoms[atom]?.rules;
    return rules?.prefix[position] ?? rules?.items ?? null;
  }

  /** The literals that a plan asks of the item at a position; null where there can be none. */
  base(plan: ArrayPlan, position: number): readonly Literal[] | null {
    if (position >= plan.maxItems) return null;
    const literals: Literal[] = [];
    for (const atom of plan.holds) {
      const schema = this.demand(atom, position);
      if (schema?.always === false) return null;
      if (schema && schema.always === null) literals.push({ schema, positive: true });
    }
    return literals;
  }

  #plan({ holds, fails }: PlacePlan): ArrayPlan {
    const rules = holds.map((index) => (this.atoms[index] as ArrayAtom).rules);
    return {
      holds,
      fails,
      minItems: Math.max(0, ...rules.map((rule) => rule.minItems)),
      maxItems: Math.min(Number.POSITIVE_INFINITY, ...rules.map((rule) => rule.maxItems)),
      unique: rules.some((rule) => rule.uniqueItems),
    };
  }
}

function saturationOf(rules: ArrayAtom["rules"]): number {
  const counts = [rules.minItems, rules.maxItems, rules.prefix.length];
  if (rules.contains) counts.push(rules.contains.min, rules.contains.max);
  return Math.max(...counts.filter(Number.isFinite));
}

function isArrayAtom(atom: Atom): atom is ArrayAtom {
  return atom.kind === "array";
}

/** Every plan wants all of its items unique, and nothing else asks for their values. */
function keepsApart(shape: ArrayShape): boolean {
  const { atoms, plans, context, saturation } = shape;
  if (plans.some((plan) => plan.fails.length > 0)) return false;
  const isAlwaysHeld = atoms.every(
    ({ rules }, index) =>
      rules.contains === null &&
      (!rules.uniqueItems || plans.every((plan) => plan.holds.includes(index))),
  );
  if (!isAlwaysHeld) return false;
  for (let position = 0; position <= saturation; position++) {
    const wants = plans.flatMap((plan) => {
      const base = shape.base(plan, position);
      return base ? [base] : [];
    });
    if (wants.length > 0 && !context.canLeaveUsed(context.place(wants, []))) return false;
  }
  return true;
}
