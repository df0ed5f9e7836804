/** The parties that a matched party is tied to, by the shortest path of relationships. */
import { compareText } from "../order.ts";
import type { Relationship } from "./schema.ts";

export interface Step {
  readonly from: string;
  readonly to: string;
  readonly type: Relationship["type"];
  /** Whether the path follows the relationship from its `to` to its `from`. */
  readonly reverse: boolean;
}

export interface Reached {
  readonly partyId: string;
  readonly path: readonly Step[];
}

export type Neighbours = ReadonlyMap<string, readonly Step[]>;

interface Limits {
  readonly asOf: string;
  readonly ownershipMinBp: number;
}

/** Relationships in force, from both of their ends, in a fixed order. */
export function neighboursOf(relationships: readonly Relationship[], limits: Limits): Neighbours {
  const steps = new Map<string, Step[]>();
  const add = (at: string, step: Step): void => {
    const known = steps.get(at);
    if (known) known.push(step);
    else steps.set(at, [step]);
  };
  for (const { from, to, type, ...rest } of relationships) {
    if (!isInForce(rest, limits)) continue;
    add(from, { from, to, type, reverse: false });
    add(to, { from, to, type, reverse: true });
  }
  for (const list of steps.values()) list.sort(compareSteps);
  return steps;
}

/** Dates are inclusive; YYYY-MM-DD compares as text. */
function isInForce(
  edge: Pick<Relationship, "share_bp" | "from_date" | "to_date">,
  { asOf, ownershipMinBp }: Limits,
): boolean {
  if (edge.share_bp !== undefined && edge.share_bp < ownershipMinBp) return false;
  if (edge.from_date !== undefined && edge.from_date > asOf) return false;
  return edge.to_date === undefined || edge.to_date >= asOf;
}

function compareSteps(a: Step, b: Step): number {
  return (
    compareText(endOf(a), endOf(b)) ||
    compareText(a.type, b.type) ||
    Number(a.reverse) - Number(b.reverse)
  );
}

const endOf = (step: Step): string => (step.reverse ? step.from : step.to);

/** Breadth first; the start itself comes first, with an empty path. */
export function reach(start: string, neighbours: Neighbours, hopsMax: number): readonly Reached[] {
  const reached: Reached[] = [{ partyId: start, path: [] }];
  const seen = new Set([start]);
  for (const { partyId, path } of reached) {
    if (path.length === hopsMax) continue;
    for (const step of neighbours.get(partyId) ?? []) {
      const next = endOf(step);
      if (seen.has(next)) continue;
      seen.add(next);
      reached.push({ partyId: next, path: [...path, step] });
    }
  }
  return reached;
}
