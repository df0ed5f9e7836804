/** The values of each type that may stand at a place. */
import type { NumberSpelling } from "../automaton/number-set.ts";
import { type ArrayFrame, initialArray } from "./array-frame.ts";
import { ArrayShape } from "./array-shape.ts";
import type { Languages } from "./languages.ts";
import { type NumberView, numberView } from "./number-view.ts";
import { initialObject, type ObjectFrame } from "./object-frame.ts";
import { ObjectShape, type ShapeContext } from "./object-shape.ts";
import type { Place } from "./place.ts";
import { type StringView, stringView } from "./string-view.ts";

/** What may stand at a place, by type; null where nothing of that type may. */
export interface PlaceViews {
  readonly strings: StringView | null;
  readonly numbers: NumberView | null;
  readonly object: ObjectFrame | null;
  readonly array: ArrayFrame | null;
}

/** Builds each view when it is first read. */
export class LazyViews implements PlaceViews {
  readonly #place: Place;
  readonly #context: ShapeContext;
  readonly #languages: Languages;
  readonly #spelling: NumberSpelling;
  #strings: StringView | null | undefined;
  #numbers: NumberView | null | undefined;
  #object: ObjectFrame | null | undefined;
  #array: ArrayFrame | null | undefined;

  constructor(place: Place, context: ShapeContext, languages: Languages, spelling: NumberSpelling) {
    this.#place = place;
    this.#context = context;
    this.#languages = languages;
    this.#spelling = spelling;
  }

  get strings(): StringView | null {
    if (this.#strings === undefined) this.#strings = stringView(this.#place, this.#languages);
    return this.#strings;
  }

  get numbers(): NumberView | null {
    if (this.#numbers === undefined)
      this.#numbers = numberView(this.#place, this.#spelling, this.#languages);
    return this.#numbers;
  }

  get object(): ObjectFrame | null {
    if (this.#object === undefined) {
      const shape = new ObjectShape(this.#place, this.#context);
      this.#object = shape.plans.length > 0 ? initialObject(shape) : null;
    }
    return this.#object;
  }

  get array(): ArrayFrame | null {
    if (this.#array === undefined) {
      const shape = new ArrayShape(this.#place, this.#context);
      this.#array = shape.plans.length > 0 ? initialArray(shape) : null;
    }
    return this.#array;
  }
}
