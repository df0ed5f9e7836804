/**
 * A place in a text where a value stands, and what is asked of it: some of the schemas must hold
 * together (a "want"; any one of several will do), and of others the enclosing container needs to
 * know afterwards whether they held. A value that satisfies no want cannot be written there.
 */
import { type Atom, and, evaluate, type Formula, type Formulas } from "../schema/formula.ts";
import type { JsonType } from "../schema/json-type.ts";
import type { Schema } from "../schema/schema.ts";

/** A schema that must hold, or must not. */
export interface Literal {
  readonly schema: Schema;
  readonly positive: boolean;
}

/** Truth of `Place.schemas`, by index: 1 holds, 0 does not. */
export type Verdict = Uint8Array;

export class Place {
  readonly id: number;
  readonly wants: readonly (readonly Literal[])[];
  /** The schemas whose truth the container asks for. */
  readonly observed: readonly Schema[];
  /** All schemas of wants and `observed`, without repetition; the observed ones first. */
  readonly schemas: readonly Schema[];
  readonly #formulas: Formulas;
  readonly #indexOf: ReadonlyMap<number, number>;

  constructor(
    id: number,
    wants: readonly (readonly Literal[])[],
    observed: readonly Schema[],
    formulas: Formulas,
  ) {
    this.id = id;
    this.wants = wants;
    this.observed = observed;
    this.#formulas = formulas;
    const mentioned = [...observed, ...wants.flat().map((literal) => literal.schema)];
    this.schemas = [...new Map(mentioned.map((schema) => [schema.id, schema])).values()];
    this.#indexOf = new Map(this.schemas.map((schema, index) => [schema.id, index]));
  }

  /** One want and nothing to report: whatever can be written here is right. */
  get isSimple(): boolean {
    return this.wants.length === 1 && this.observed.length === 0;
  }

  /** What each want says of values of one type. */
  wantFormulas(type: JsonType): Formula[] {
    return this.wants.map((want) =>
      and(want.map(({ schema, positive }) => this.#formulas.of(schema, type, positive))),
    );
  }

  /** What each schema says of values of one type. */
  schemaFormulas(type: JsonType): Formula[] {
    return this.schemas.map((schema) => this.#formulas.of(schema, type, true));
  }

  /** Truth of every schema, given which atoms hold. */
  verdictOf(type: JsonType, holds: (atom: Atom) => boolean): Verdict {
    return Uint8Array.from(this.schemaFormulas(type), (formula) =>
      evaluate(formula, holds) ? 1 : 0,
    );
  }

  /** Some want holds. */
  isSatisfiedBy(verdict: Verdict): boolean {
    return this.wants.some((want) =>
      want.every(({ schema, positive }) => {
        const index = this.#indexOf.get(schema.id) as number;
        return (verdict[index] === 1) === positive;
      }),
    );
  }
}

/** Equal keys ask the same. */
export function placeKey(
  wants: readonly (readonly Literal[])[],
  observed: readonly Schema[],
): string {
  const parts = wants.map((want) =>
    want
      .map(({ schema, positive }) => (positive ? schema.id : -1 - schema.id))
      .sort((a, b) => a - b)
      .join(),
  );
  return `${[...new Set(parts)].sort().join("|")};${observed.map((schema) => schema.id).join()}`;
}
