/**
 * The registers while a key is read. Named and unnamed keys are followed side by side: `state` is
 * the names' state and `count` that of the unnamed keys' automaton, each -1 once none of its keys
 * begins like this; `lo` to `hi` are the unnamed keys already written that do.
 */
import type { Member } from "../grammar/object-frame.ts";
import type { ObjectCell } from "./cell.ts";
import { KEY, type Registers } from "./registers.ts";

/** Kinds of lengths that signatures tell apart. */
const NEAR_MAX = 63;

/** At the opening quote, before it counts as read. */
export function beginKey(at: Registers): void {
  const { frame } = at.cell as ObjectCell;
  at.state = 0;
  at.count = frame.unnamedKeys === null ? -1 : 0;
  at.points = 0;
  at.lo = 0;
  at.hi = frame.state.used.length;
  at.start = at.length + 1;
}

/** The next byte begins a code point. */
export function isBetweenPoints(at: Registers): boolean {
  if (at.count < 0) return true;
  const { automaton } = (at.cell as ObjectCell).frame.shape.keys;
  return (automaton.between[at.count] as number) >= 0;
}

/** @returns false, with nothing changed, for a byte after which no key can be right. */
export function stepKey(at: Registers, byte: number): boolean {
  const { frame } = at.cell as ObjectCell;
  const { nameTexts } = frame.shape;
  const names = at.state < 0 ? -1 : nameTexts.step(at.state, byte);
  const rest = at.count < 0 ? -1 : frame.shape.keys.automaton.step(at.count, byte);
  const { used } = frame.state;
  const depth = at.length - at.start;
  let { lo, hi } = at;
  while (lo < hi && !((used[lo]?.[depth] ?? -1) >= byte)) lo += 1;
  while (lo < hi && used[hi - 1]?.[depth] !== byte) hi -= 1;
  const points = isBetweenPoints(at) ? at.points + 1 : at.points;
  const alive = rest >= 0 && frame.hasUnnamed(rest, points, names, hi - lo);
  if (!alive && !(names >= 0 && frame.hasNamed(names))) return false;
  at.state = names;
  at.count = alive ? rest : -1;
  at.points = points;
  at.lo = lo;
  at.hi = hi;
  return true;
}

/** The member that the key read so far belongs to; null where the key must not end here. */
export function memberOfKey(at: Registers): Member | null {
  const { frame } = at.cell as ObjectCell;
  const { nameTexts, keys } = frame.shape;
  const index = at.state < 0 ? -1 : nameTexts.endOf(at.state);
  if (index >= 0) return frame.named(nameTexts.sources[index] as number);
  if (at.count < 0) return null;
  const colour = keys.colourAt(keys.automaton.between[at.count] as number, at.points);
  if (!frame.unnamedKeys?.has(colour)) return null;
  const depth = at.length - at.start;
  for (let i = at.lo; i < at.hi; i++) if (frame.state.used[i]?.length === depth) return null;
  return frame.unnamed(colour, at.textFrom(at.start, at.length).slice());
}

/** As `JsonMachine.signature`, inside a key. */
export function keySignature(at: Registers, far: number): number {
  if (at.lo < at.hi) return -1;
  let near = -1;
  if (at.count >= 0) {
    near = (at.cell as ObjectCell).frame.unnamedKeys?.lengthKey(at.points, far) ?? -1;
    if (near >= 0 || near < -NEAR_MAX) return -1;
  }
  return (((at.state + 1) * 2 ** 20 + at.count + 1) * (NEAR_MAX + 1) - near) * 16 + KEY;
}
