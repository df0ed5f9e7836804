/**
 * How many items an array has, which atoms have failed, how many items matched each `contains`, and
 * which values were used: a value, without the questions of what may follow (array-frame.ts).
 */
import { canonicalJson, type JsonValue } from "../bytes/canonical-json.ts";
import { ARRAY } from "../schema/json-type.ts";
import type { Schema } from "../schema/schema.ts";
import type { ArrayShape } from "./array-shape.ts";
import type { Verdict } from "./place.ts";
import { verdictAt } from "./place-plans.ts";

export interface ArrayFields {
  /** Items so far, up to the shape's saturation. */
  readonly count: number;
  /** By atom: items so far that satisfy its `contains`, up to the saturation. */
  readonly matches: readonly number[];
  /** By atom: 1 where it has failed. */
  readonly failed: Uint8Array;
  /** The items' values where some atom asks for them. */
  readonly values: readonly JsonValue[];
  readonly hasDuplicate: boolean;
}

export class ArrayState implements ArrayFields {
  readonly shape: ArrayShape;
  readonly count: number;
  readonly matches: readonly number[];
  readonly failed: Uint8Array;
  readonly values: readonly JsonValue[];
  readonly hasDuplicate: boolean;

  constructor(shape: ArrayShape, fields: ArrayFields) {
    this.shape = shape;
    this.count = fields.count;
    this.matches = fields.matches;
    this.failed = fields.failed;
    this.values = fields.values;
    this.hasDuplicate = fields.hasDuplicate;
  }

  /** The atom would hold if the array ended here. */
  atomHolds(index: number): boolean {
    if (this.failed[index] === 1) return false;
    const rules = this.shape.atoms[index]?.rules;
    if (!rules) return true;
    if (this.count < rules.minItems || this.count > rules.maxItems) return false;
    if (rules.uniqueItems && this.hasDuplicate) return false;
    const matches = this.matches[index] as number;
    return !rules.contains || (matches >= rules.contains.min && matches <= rules.contains.max);
  }

  /** Truth of the place's schemas if the array ended here. */
  verdict(): Verdict {
    const { place, atoms } = this.shape;
    return verdictAt(place, ARRAY, atoms, (index) => this.atomHolds(index));
  }

  /**
   * After one more item.
   * @param holds truth of the schemas that the item was checked against.
   * @param value the item, where the shape needs it.
   */
  after(holds: (schema: Schema) => boolean, value: JsonValue | undefined): ArrayState {
    const { atoms, saturation } = this.shape;
    const failed = this.failed.slice();
    const matches = this.matches.slice();
    const isTrue = (schema: Schema): boolean => schema.always ?? holds(schema);
    for (const [index, { rules }] of atoms.entries()) {
      const demand = this.shape.demand(index, this.count);
      if ((demand && !isTrue(demand)) || this.count + 1 > rules.maxItems) failed[index] = 1;
      if (rules.contains && isTrue(rules.contains.schema)) {
        matches[index] = Math.min((matches[index] as number) + 1, saturation);
      }
    }
    const count = Math.min(this.count + 1, saturation);
    const fields = { count, matches, failed, ...this.#withValue(value) };
    return this.#isSame(fields) ? this : new ArrayState(this.shape, fields);
  }

  #withValue(value: JsonValue | undefined): Pick<ArrayFields, "values" | "hasDuplicate"> {
    const { values, hasDuplicate } = this;
    if (value === undefined || !this.shape.needsValues) return { values, hasDuplicate };
    const key = canonicalJson(value);
    const repeats = values.some((other) => canonicalJson(other) === key);
    return { values: [...values, value], hasDuplicate: hasDuplicate || repeats };
  }

  #isSame(other: ArrayFields): boolean {
    return (
      other.count === this.count &&
      other.values === this.values &&
      other.matches.every((matches, i) => matches === this.matches[i]) &&
      other.failed.every((failed, i) => failed === this.failed[i])
    );
  }
}

export function emptyArray(shape: ArrayShape): ArrayState {
  return new ArrayState(shape, {
    count: 0,
    matches: shape.atoms.map(() => 0),
    failed: new Uint8Array(shape.atoms.length),
    values: [],
    hasDuplicate: false,
  });
}
