/**
 * How rows are put into calls. The bits of a row's logits depend on how many rows its call has, but
 * within a class of row counts they do not: nor on which rows, at which index, with what in them.
 * A lane is such a class, found by the self-test. A call that would have another count is filled up
 * with rows whose results nobody reads.
 */
import { assert } from "../bytes/assert.ts";

/** The row counts a call may have, ascending. */
export type Lane = readonly number[];

/** Rows `first`..`first + rows - 1`. Of these, slots that are not active get a filler. */
export interface Call {
  readonly first: number;
  readonly rows: number;
}

/** What a call with so many rows costs, in any unit. */
export type CallCost = (rows: number) => number;

/** Roughly, on most devices: reading the weights is most of it. */
export const TYPICAL_COST: CallCost = (rows) => 4 + rows;

export interface ChosenLane {
  readonly lane: Lane;
  /** Slots that can decode: all of them at once must be coverable by whole calls. */
  readonly rows: number;
}

/**
 * The class that serves one to `rows` answers cheapest. The choice depends on the classes alone,
 * not on times: a restart must not choose another one.
 * @returns null where there is none: then nothing makes answers repeat.
 */
export function chooseLane(classes: readonly Lane[], rows: number): ChosenLane | null {
  let chosen: (ChosenLane & { readonly cost: number }) | null = null;
  for (const lane of classes) {
    const usable = rowsCovered(lane, rows);
    if (usable === 0) continue;
    let cost = 0;
    for (let active = 1; active <= rows; active++) {
      const turns = Math.ceil(active / usable);
      const slots = Array.from({ length: Math.ceil(active / turns) }, (_, slot) => slot);
      const calls = planCalls(lane, slots, usable, TYPICAL_COST);
      cost += (turns * calls.reduce((sum, call) => sum + TYPICAL_COST(call.rows), 0)) / active;
    }
    if (chosen === null || cost < chosen.cost) chosen = { lane, rows: usable, cost };
  }
  return chosen === null ? null : { lane: chosen.lane, rows: chosen.rows };
}

/** The most slots, up to `rows`, that calls of these counts cover without a rest. */
function rowsCovered(lane: Lane, rows: number): number {
  const covered = new Set([0]);
  for (let count = 1; count <= rows; count++) {
    if (lane.some((size) => covered.has(count - size))) covered.add(count);
  }
  return Math.max(...covered);
}

/**
 * The cheapest calls that cover every active slot. Rows of a call are consecutive slots: llama.cpp
 * splits a call at a hole. Which counts of a class are taken changes no bits, so that it may depend
 * on what calls were measured to cost here.
 * @param active ascending, each below `slots`.
 */
export function planCalls(
  lane: Lane,
  active: readonly number[],
  slots: number,
  costOf: CallCost,
): readonly Call[] {
  const isActive = new Set(active);
  /** Per slot: the cheapest way to cover the active slots from there on. */
  const best: { cost: number; call: Call | null }[] = [];
  best[slots] = { cost: 0, call: null };
  for (let first = slots - 1; first >= 0; first--) {
    const skip = best[first + 1]?.cost ?? 0;
    best[first] = { cost: isActive.has(first) ? Number.POSITIVE_INFINITY : skip, call: null };
    for (const rows of lane) {
      const rest = best[first + rows];
      if (rest === undefined) continue;
      const total = costOf(rows) + rest.cost;
      if (total < (best[first]?.cost ?? 0)) best[first] = { cost: total, call: { first, rows } };
    }
  }
  assert(Number.isFinite(best[0]?.cost ?? 0), "the lane can cover every slot");
  const calls: Call[] = [];
  for (let slot = 0; slot < slots; ) {
    const call = best[slot]?.call ?? null;
    if (call !== null) calls.push(call);
    slot += call?.rows ?? 1;
  }
  return calls;
}
