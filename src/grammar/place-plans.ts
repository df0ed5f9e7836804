/** The ways to satisfy a place with a container, as the frames of that container follow them. */
import { type Atom, and, atomsOf } from "../schema/formula.ts";
import type { JsonType } from "../schema/json-type.ts";
import { plansOf } from "../schema/plan.ts";
import type { Place, Verdict } from "./place.ts";

export interface PlacePlan {
  /** Atoms that must hold, by index. */
  readonly holds: readonly number[];
  /** Clauses of atoms, by index: one of each must fail. */
  readonly fails: readonly (readonly number[])[];
}

export interface PlacePlans<A extends Atom> {
  /** The atoms to follow. */
  readonly atoms: readonly A[];
  readonly plans: readonly PlacePlan[];
  /** Several plans, something that must fail, or something to report: truth must be followed. */
  readonly isTracked: boolean;
}

/** @param isOwn tells the atoms that speak of this type. */
export function plansAt<A extends Atom>(
  place: Place,
  type: JsonType,
  isOwn: (atom: Atom) => atom is A,
): PlacePlans<A> {
  const wants = place.wantFormulas(type);
  const plans = wants.flatMap((want) => plansOf(and([want])));
  const isTracked = plans.length > 1 || !place.isSimple || plans.some((p) => p.fails.length > 0);
  const followed = isTracked
    ? atomsOf([...place.schemaFormulas(type), ...wants])
    : (plans[0]?.holds ?? []);
  const atoms = followed.filter(isOwn);
  const indexOf = new Map(atoms.map((atom, index) => [atom.id, index]));
  const index = (atom: Atom): number => indexOf.get(atom.id) as number;
  return {
    atoms,
    isTracked,
    plans: plans.map(({ holds, fails }) => ({
      holds: holds.map(index),
      fails: fails.map((clause) => clause.map(index)),
    })),
  };
}

/** Truth of a place's schemas, given which of the followed atoms hold. */
export function verdictAt(
  place: Place,
  type: JsonType,
  atoms: readonly Atom[],
  holds: (index: number) => boolean,
): Verdict {
  return place.verdictOf(type, (atom) => {
    const index = atoms.findIndex((own) => own.id === atom.id);
    return index < 0 || holds(index);
  });
}
