/** A number on a scale instead of a label: how good, how urgent, how risky. */
import { NumberLiteral } from "./answer.ts";
import { type Extraction, objectSchema, objectValue, type Property } from "./properties.ts";
import type { Rng } from "./rng.ts";

/** Of the labels that are steps of a scale, by first name: from 0 to 1. */
const STEPS: Readonly<Record<string, number>> = {
  positive: 1,
  negative: 0,
  high: 1,
  medium: 0.5,
  low: 0,
};
const OPINIONS = new Set(["valence", "opinion"]);
const SCORED = new Set([...OPINIONS, "speed", "danger"]);
const SCALES = [
  [1, 5],
  [1, 5],
  [1, 10],
  [0, 10],
  [1, 3],
  [0, 100],
] as const;

/** Whether the labels of a group are the steps of a scale. */
export const isScored = (group: string): boolean => SCORED.has(group);

/** The ends of a scale are for what is said without doubt. */
export function scored(
  rng: Rng,
  text: string,
  own: {
    readonly group: string;
    readonly names: readonly string[];
    readonly properties: readonly string[];
  },
): Extraction {
  const [minimum, maximum] = rng.pick(SCALES);
  const step = STEPS[own.names[0] ?? ""] ?? 0.5;
  const value = Math.round(minimum + (maximum - minimum) * (0.05 + 0.9 * step));
  const name = rng.pick(own.properties);
  const names = OPINIONS.has(own.group) ? ["rating", "score", "stars", "satisfaction"] : [];
  const schema = { type: "integer", minimum, maximum };
  const property: Property = {
    name: rng.pick([name, `${name}_score`, ...names, ...names]),
    schema,
    value: new NumberLiteral(String(value)),
    isOptional: false,
  };
  return { text, schema: objectSchema([property]), value: objectValue([property]) };
}
