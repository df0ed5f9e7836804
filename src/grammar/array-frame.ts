/**
 * A position between the items of an array: what may follow, worked out when it is first asked for,
 * and kept. Immutable to the outside.
 */
import type { JsonValue } from "../bytes/canonical-json.ts";
import type { Schema } from "../schema/schema.ts";
import { type ArrayCompletion, completeArray, itemOptions } from "./array-completion.ts";
import type { ArrayShape } from "./array-shape.ts";
import { type ArrayState, emptyArray } from "./array-state.ts";
import { ContainerFrame } from "./container-frame.ts";
import type { Place, Verdict } from "./place.ts";

export class ArrayFrame extends ContainerFrame<ArrayShape, ArrayState, ArrayCompletion> {
  #next: Map<string, ArrayFrame> | undefined;
  #item: Place | null | undefined;

  constructor(state: ArrayState) {
    super(state);
  }

  /** Where the next item stands, or null where there may be none. */
  get item(): Place | null {
    if (this.#item !== undefined) return this.#item;
    const { shape, state } = this;
    const wants = shape.plans.flatMap((plan) => itemOptions(state, plan));
    const observed = shape.isGuided ? [] : this.#observed();
    this.#item = wants.length === 0 ? null : shape.context.place(wants, observed);
    return this.#item;
  }

  protected override complete(): ArrayCompletion | null {
    return completeArray(this.state);
  }

  /**
   * The position after an item at `item`.
   * @param value the item, where `shape.needsValues`.
   */
  settle(verdict: Verdict, value: JsonValue | undefined): ArrayFrame {
    const { observed } = this.item as Place;
    const key = verdict.subarray(0, observed.length).join("");
    const known = value === undefined ? this.#next?.get(key) : undefined;
    if (known) return known;
    const truth = new Map(observed.map((schema, i) => [schema, verdict[i] === 1]));
    const after = this.state.after((schema) => truth.get(schema) ?? true, value);
    const next = after === this.state ? this : new ArrayFrame(after);
    if (value !== undefined) return next;
    this.#next ??= new Map();
    this.#next.set(key, next);
    return next;
  }

  /** Everything that some atom still wants to know about the next item. */
  #observed(): Schema[] {
    const schemas = new Set<Schema>();
    for (const [index, { rules }] of this.shape.atoms.entries()) {
      if (this.state.failed[index] === 1) continue;
      for (const schema of [this.shape.demand(index, this.state.count), rules.contains?.schema]) {
        if (schema && schema.always === null) schemas.add(schema);
      }
    }
    return [...schemas];
  }
}

export function initialArray(shape: ArrayShape): ArrayFrame {
  return new ArrayFrame(emptyArray(shape));
}
