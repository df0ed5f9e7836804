/**
 * Where schemas must fail, a value may have to see to it: what is asked of the value under a key so
 * that the object can still be finished.
 */
import type { Schema } from "../schema/schema.ts";
import { type Completion, completePlan, openClauses } from "./object-completion.ts";
import type { Demand, KeyClass, ObjectPlan } from "./object-shape.ts";
import type { ObjectState } from "./object-state.ts";
import type { Literal } from "./place.ts";

/**
 * What the value under a key just written must also satisfy so that the plan can be met: nothing,
 * or one of several lists of literals, each making an atom fail that nothing later would.
 * @param canAlwaysEnd the plan can be met from any state without open clauses.
 * @param before how the plan could be met before the key.
 */
export function escapesNeeded(
  after: ObjectState,
  plan: ObjectPlan,
  keyClass: KeyClass,
  canAlwaysEnd: boolean,
  before: Completion | null,
): readonly (readonly Literal[])[] {
  if (before && survives(before, keyClass, after)) return NOTHING_MORE;
  const state = withExcluded(after, plan, keyClass);
  if (canAlwaysEnd && openClauses(state, plan).length === 0) return NOTHING_MORE;
  return escapesFrom(state, plan, keyClass);
}

/** What was planned can follow the key as well. */
function survives(before: Completion, keyClass: KeyClass, { shape }: ObjectState): boolean {
  const { members, absent, isLoose } = before;
  if (!isLoose || (keyClass.name !== null && absent.has(keyClass.name))) return false;
  const isOrdered = shape.context.objects === "closed";
  return members.every((member) => {
    if (member.keyClass === keyClass) return keyClass.name !== null && !member.isSpecial;
    return !isOrdered || (keyClass.name !== null && member.keyClass.index > keyClass.index);
  });
}

const NOTHING_MORE: readonly (readonly Literal[])[] = [[]];

/** The state in which atoms that no value here could satisfy have failed. */
function withExcluded(after: ObjectState, plan: ObjectPlan, keyClass: KeyClass): ObjectState {
  const failing = openClauses(after, plan)
    .flat()
    .filter((atom) => after.shape.excludes(plan, keyClass, atom));
  return failing.length > 0 ? after.withFailed(failing) : after;
}

function escapesFrom(
  after: ObjectState,
  plan: ObjectPlan,
  keyClass: KeyClass,
): readonly (readonly Literal[])[] {
  if (completePlan(after, plan)) return [[]];
  const escapes: Literal[][] = [];
  for (const atoms of failuresNeeded(after, plan, keyClass)) {
    const choices = atoms.map((atom) => (keyClass.demands[atom] as Demand).schemas);
    if (completePlan(after.withFailed(atoms), plan)) escapes.push(...choose(choices));
  }
  return escapes.slice(0, ESCAPES_MAX);
}

/** Ways in which one value can help a plan; further ones are not offered. */
const ESCAPES_MAX = 32;

/**
 * Sets of atoms that may have to fail with the value under this key, each enough as far as we see.
 */
function failuresNeeded(
  after: ObjectState,
  plan: ObjectPlan,
  keyClass: KeyClass,
): readonly (readonly number[])[] {
  const open = openClauses(after, plan);
  const canFailHere = (atom: number): boolean =>
    (keyClass.demands[atom] as Demand).schemas.length > 0;
  // A clause that nothing later can serve must be served here.
  const needed = open.filter((clause) => !completePlan(after, { ...plan, fails: [clause] }));
  const forced = needed.map((clause) => clause.filter(canFailHere));
  if (forced.some((atoms) => atoms.length === 0)) return [];
  const sets = forced.reduce<number[][]>(
    (lists, atoms) =>
      lists.flatMap((list) => atoms.map((atom) => [...list, atom])).slice(0, ESCAPES_MAX),
    [[]],
  );
  // Clauses that compete for the same key later: one of them can be served here.
  const others = open.flat().filter(canFailHere);
  const wider = others.map((atom) => [...(sets[0] as number[]), atom]);
  const all = [...new Set(others)];
  const enough = sets.some((set) => set.length > 0 && completePlan(after.withFailed(set), plan));
  return enough ? sets : [...wider, all];
}

/** One schema of each list, to be false. */
function choose(choices: readonly (readonly Schema[])[]): Literal[][] {
  return choices.reduce<Literal[][]>(
    (lists, schemas) =>
      lists
        .flatMap((list) => schemas.map((schema) => [...list, { schema, positive: false }]))
        .slice(0, ESCAPES_MAX),
    [[]],
  );
}
