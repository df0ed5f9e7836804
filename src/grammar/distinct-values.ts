/**
 * How many different values a place has at least: arrays of unique items must not run out of them.
 */

import { classSizes } from "../automaton/char-classes.ts";
import type { Dfa } from "../automaton/dfa.ts";
import { FALSE, type JsonType, NULL, TRUE } from "../schema/json-type.ts";
import { completeArray } from "./array-completion.ts";
import type { ArrayState } from "./array-state.ts";
import { completeObject } from "./object-completion.ts";
import type { KeyClass } from "./object-shape.ts";
import type { ObjectState } from "./object-state.ts";
import type { Place, Verdict } from "./place.ts";
import type { PlaceViews } from "./place-views.ts";
import { RangedStrings } from "./ranged-strings.ts";
import type { StringView } from "./string-view.ts";

export interface ValueSource {
  views(place: Place): PlaceViews;
  constant(place: Place, type: JsonType): Verdict | null;
  cost(place: Place): number;
  distinctValues(place: Place): number;
}

/** More than any array could hold. */
const MANY = 1_000_000;
/** Strings longer than this are not needed to find many. */
const COUNTED_LENGTH_MAX = 100;

export function distinctValues(place: Place, source: ValueSource): number {
  const { strings, numbers, array, object } = source.views(place);
  let count = 0;
  for (const type of [NULL, TRUE, FALSE]) {
    if (source.constant(place, type as JsonType)) count += 1;
  }
  if (strings) count += distinctTexts(strings);
  if (numbers) count += numbers.distinct;
  if (array && completeArray(array.state)) count += distinctArrays(array.state, source);
  if (object) count += distinctObjects(object.state, source);
  return count;
}

function distinctTexts(view: StringView): number {
  if (view.kind === "list") return view.values.length;
  const { parts, reader } = view;
  // A product of automata has no parts: it is one reader.
  const readers = reader instanceof RangedStrings ? [reader] : parts;
  return Math.max(1, ...readers.map(distinctStrings));
}

function distinctStrings({ automaton, ranges }: RangedStrings): number {
  const { dfa } = automaton;
  const sizes = classSizes(dfa.classes);
  const last = Math.max(...ranges.map(({ lo, hi }) => Math.min(hi, lo + COUNTED_LENGTH_MAX)));
  let counts = new Float64Array(dfa.size);
  counts[0] = 1;
  let total = 0;
  for (let length = 0; length <= last && total < MANY; length++) {
    for (const { lo, hi, accepts } of ranges) {
      if (length < lo || length > hi) continue;
      for (const [state, count] of counts.entries()) if (accepts[state] !== 0) total += count;
    }
    counts = extend(dfa, counts, sizes);
  }
  return Math.min(total, MANY);
}

/** How many strings of one more code point lead to each state. */
function extend(dfa: Dfa, counts: Float64Array, sizes: Float64Array): Float64Array<ArrayBuffer> {
  const next = new Float64Array(dfa.size);
  const { count } = dfa.classes;
  for (const [state, ways] of counts.entries()) {
    if (ways === 0) continue;
    for (let c = 0; c < count; c++) {
      const target = dfa.table[state * count + c] as number;
      if (target >= 0)
        next[target] = Math.min(MANY, (next[target] as number) + ways * (sizes[c] as number));
    }
  }
  return next;
}

function distinctArrays({ shape, count }: ArrayState, source: ValueSource): number {
  let most = 1;
  for (const plan of shape.plans) {
    const rest = shape.base(plan, shape.saturation);
    const open = rest !== null && plan.maxItems === Number.POSITIVE_INFINITY && !plan.unique;
    if (open && Number.isFinite(source.cost(shape.context.place([rest], [])))) return MANY;
    const first = shape.base(plan, count);
    if (plan.minItems > 0 && first) {
      most = Math.max(most, source.distinctValues(shape.context.place([first], [])));
    }
  }
  return most;
}

function distinctObjects(state: ObjectState, source: ValueSource): number {
  const completion = completeObject(state);
  if (!completion) return 0;
  const { shape } = state;
  let most = 1;
  for (const { place } of completion.members) most = Math.max(most, source.distinctValues(place));
  for (const plan of shape.plans) {
    if (plan.maxProperties < Number.POSITIVE_INFINITY || plan.fails.length > 0) continue;
    const placeOf = (keyClass: KeyClass): Place | null => {
      const base = shape.base(plan, keyClass);
      const place = base && shape.context.place([base], []);
      return place && Number.isFinite(source.cost(place)) ? place : null;
    };
    for (const [rank] of shape.names.entries()) {
      const place = plan.required.includes(rank) ? null : placeOf(shape.nameClass(rank));
      if (place) most = Math.max(most, 1 + source.distinctValues(place));
    }
    const colours = [...shape.keys.colours.keys()].filter((c) => placeOf(shape.restClass(c)));
    const unnamed = shape.keys.writable(colours).countFrom(0, 0);
    if (unnamed > shape.names.length) most = Math.max(most, unnamed);
  }
  return Math.min(most, MANY);
}
