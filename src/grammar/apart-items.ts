/**
 * Places whose values can be kept apart from used ones without a schema that rules those out.
 * Strings part from others byte by byte. An object or an array may be anything until it ends; if it
 * is then one that was used, it must be possible to go on: with one more key, or one more item.
 */
import type { ArrayShape } from "./array-shape.ts";
import type { ObjectPlan, ObjectShape } from "./object-shape.ts";
import type { PlaceViews } from "./place-views.ts";

/** Keys that no array of objects uses up. */
const MANY_KEYS = 100_000;

export function canLeaveUsed({ numbers, object, array }: PlaceViews): boolean {
  // One number has many spellings.
  if (numbers !== null) return false;
  if (object?.completion && !canGrow(object.shape)) return false;
  return !array?.completion || canLengthen(array.shape);
}

/** Wherever the object could end, another key may come instead. */
function canGrow(shape: ObjectShape): boolean {
  return shape.plans.every(
    (plan) =>
      plan.maxProperties === Number.POSITIVE_INFINITY &&
      // Nothing that has failed holds again for one key more.
      plan.fails.flat().every((atom) => shape.atoms[atom]?.rules.minProperties === 0) &&
      [...shape.keys.colours.keys()].some((colour) => takesKeys(shape, plan, colour)),
  );
}

function takesKeys(shape: ObjectShape, plan: ObjectPlan, colour: number): boolean {
  const base = shape.base(plan, shape.restClass(colour));
  if (base === null) return false;
  const { context, keys } = shape;
  if (!Number.isFinite(context.cost(context.place([base], [])))) return false;
  return keys.writable([colour]).countFrom(0, 0) >= MANY_KEYS;
}

/** Wherever the array could end, another item may come instead. */
function canLengthen(shape: ArrayShape): boolean {
  const { atoms, plans, context, prefixEnd } = shape;
  if (shape.needsValues || atoms.some(({ rules }) => rules.contains !== null)) return false;
  return plans.every((plan) => {
    if (plan.fails.length > 0 || plan.maxItems !== Number.POSITIVE_INFINITY) return false;
    for (let position = 0; position <= prefixEnd; position++) {
      const base = shape.base(plan, position);
      if (base === null || !Number.isFinite(context.cost(context.place([base], [])))) return false;
    }
    return true;
  });
}
