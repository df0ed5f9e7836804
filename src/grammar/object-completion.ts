/**
 * Can an object still be finished, and how shortly? A completion is found, not guessed: a set of
 * keys still to be written, each with a place that some value satisfies, such that every atom that
 * must hold does and in every clause some atom fails.
 *
 * Keys and their values are independent of each other, so the search is local to the object, except
 * that two clauses may want the same key for their failures: that is tried in order, with a bound
 * on the steps. A search that runs out of steps has found nothing, which is narrower, never wider.
 */
import type { Demand, KeyClass, ObjectPlan, ObjectShape } from "./object-shape.ts";
import type { ObjectState } from "./object-state.ts";
import type { Literal, Place } from "./place.ts";

export interface Completion {
  /**
   * Bytes from here to the closing brace, which is included; a comma before each member but a
   * first.
   */
  readonly bytes: number;
  readonly members: readonly PlannedMember[];
  /** Names that must not be written, so that some atom fails. */
  readonly absent: ReadonlySet<string>;
  /** Members that are not planned neither fill the object up nor ask for others. */
  readonly isLoose: boolean;
}

interface PlannedMember {
  readonly key: string;
  readonly keyClass: KeyClass;
  readonly place: Place;
  /** The value must satisfy more than the plan asks of it. */
  readonly isSpecial: boolean;
}

const SEARCH_STEPS_MAX = 1000;

/** The shortest completion over all plans that were found; null where none was. */
export function completeObject(state: ObjectState): Completion | null {
  let best: Completion | null = null;
  for (const plan of state.shape.plans) {
    const found = completePlan(state, plan);
    if (found && (best === null || found.bytes < best.bytes)) best = found;
  }
  return best;
}

/** The shortest completion of one plan that was found; null where none was. */
export function completePlan(state: ObjectState, plan: ObjectPlan): Completion | null {
  if (plan.holds.some((index) => state.failed[index] === 1)) return null;
  return new Search(state, plan).run();
}

/** Lists of atoms, one of which must still fail. */
export function openClauses(state: ObjectState, plan: ObjectPlan): readonly (readonly number[])[] {
  return plan.fails.filter((clause) => !clause.some((atom) => state.failed[atom] === 1));
}

/** A key that the search has decided to write, and what its value must satisfy beyond the plan. */
interface Planned {
  readonly keyClass: KeyClass;
  readonly key: string;
  readonly extra: readonly Literal[];
}

class Search {
  readonly #state: ObjectState;
  readonly #shape: ObjectShape;
  readonly #plan: ObjectPlan;
  #planned = new Map<string, Planned>();
  #absent = new Set<string>();
  /** The number of members at the end must stay within these. */
  #countMax: number;
  #countMin: number;
  #steps = 0;
  #found: Completion | null = null;

  constructor(state: ObjectState, plan: ObjectPlan) {
    this.#state = state;
    this.#shape = state.shape;
    this.#plan = plan;
    this.#countMax = plan.maxProperties;
    this.#countMin = plan.minProperties;
  }

  run(): Completion | null {
    for (const rank of this.#plan.required) {
      if (rank < 0 || !this.#write(rank, [])) return null;
    }
    if (!this.#addDependents()) return null;
    this.#fail(openClauses(this.#state, this.#plan));
    return this.#found;
  }

  /** Plans to write a name; false where that cannot be. */
  #write(rank: number, extra: readonly Literal[]): boolean {
    if (this.#state.hasSeen(rank)) return extra.length === 0;
    const name = this.#shape.names[rank] as string;
    if (rank < this.#state.cursor || this.#absent.has(name)) return false;
    const keyClass = this.#shape.nameClass(rank);
    const before = this.#planned.get(name);
    const all = [...(before?.extra ?? []), ...extra];
    if (this.#placeOf(keyClass, all) === null) return false;
    this.#planned.set(name, { keyClass, key: name, extra: all });
    return true;
  }

  #placeOf(keyClass: KeyClass, extra: readonly Literal[]): Place | null {
    const shape = this.#shape;
    let place = shape.basePlace(this.#plan, keyClass);
    if (place !== null && extra.length > 0) {
      const base = shape.base(this.#plan, keyClass) as readonly Literal[];
      place = shape.context.place([[...base, ...extra]], []);
    }
    return place !== null && Number.isFinite(shape.context.cost(place)) ? place : null;
  }

  /** Keys that other keys demand, until nothing changes. */
  #addDependents(): boolean {
    if (!this.#plan.hasDependents) return true;
    for (let size = -1; size !== this.#planned.size; ) {
      size = this.#planned.size;
      for (const index of this.#plan.holds) {
        for (const [name, others] of this.#shape.atoms[index]?.rules.dependents ?? []) {
          if (!this.#isPresent(name)) continue;
          const ranks = others.map((other) => this.#shape.rankOf.get(other) ?? -1);
          if (!ranks.every((rank) => rank >= 0 && this.#write(rank, []))) return false;
        }
      }
    }
    return true;
  }

  #isPresent(name: string): boolean {
    const rank = this.#shape.rankOf.get(name);
    return this.#planned.has(name) || (rank !== undefined && this.#state.hasSeen(rank));
  }

  /** Makes some atom of each clause fail; tries one way after another. */
  #fail(clauses: readonly (readonly number[])[]): boolean {
    const [clause, ...others] = clauses;
    if (!clause) {
      this.#found = this.#finish();
      return this.#found !== null;
    }
    if (clause.some((atom) => this.#failsAnyway(atom))) return this.#fail(others);
    for (const atom of clause) {
      for (const apply of this.#waysToFail(atom)) {
        this.#steps += 1;
        if (this.#steps > SEARCH_STEPS_MAX) return false;
        const saved = this.#save();
        if (apply() && this.#addDependents() && this.#fail(others)) return true;
        this.#restore(saved);
      }
    }
    return false;
  }

  /** What is planned already makes an atom fail. */
  #failsAnyway(atom: number): boolean {
    const rules = this.#shape.atoms[atom]?.rules;
    if (!rules) return false;
    if (rules.minProperties > this.#countMax || rules.maxProperties < this.#countMin) return true;
    if (rules.required.some((name) => this.#absent.has(name))) return true;
    for (const { keyClass, extra } of this.#planned.values()) {
      const demand = keyClass.demands[atom] as Demand;
      if (demand.never || this.#shape.excludes(this.#plan, keyClass, atom)) return true;
      if (extra.some((own) => !own.positive && demand.schemas.includes(own.schema))) return true;
    }
    return false;
  }

  /** Ways to make an atom fail, the cheap ones first. */
  *#waysToFail(atom: number): Generator<() => boolean> {
    const rules = this.#shape.atoms[atom]?.rules;
    if (!rules) return;
    for (const name of rules.required) {
      if (!this.#isPresent(name)) yield () => this.#omit(name);
    }
    for (const [name, others] of rules.dependents) {
      for (const other of others) {
        if (!this.#isPresent(other)) yield () => this.#writeName(name) && this.#omit(other);
      }
    }
    if (rules.minProperties > 0) yield () => this.#bound(0, rules.minProperties - 1);
    if (Number.isFinite(rules.maxProperties)) {
      yield () => this.#bound(rules.maxProperties + 1, Number.POSITIVE_INFINITY);
    }
    yield* this.#valueEscapes(atom);
  }

  /** A key that the atom forbids, or whose value it refuses. */
  *#valueEscapes(atom: number): Generator<() => boolean> {
    const shape = this.#shape;
    const named = shape.names.length;
    for (const index of shape.escapes(this.#plan, atom)) {
      if (index < named && this.#state.hasSeen(index)) continue;
      const write = (extra: readonly Literal[]): boolean =>
        index < named ? this.#write(index, extra) : this.#writeFresh(index - named, extra);
      const { never, schemas } = shape.classAt(index).demands[atom] as Demand;
      if (never) yield () => write([]);
      for (const schema of schemas) yield () => write([{ schema, positive: false }]);
    }
  }

  #writeName(name: string): boolean {
    const rank = this.#shape.rankOf.get(name);
    return rank !== undefined && this.#write(rank, []);
  }

  #omit(name: string): boolean {
    if (this.#isPresent(name)) return false;
    this.#absent.add(name);
    return true;
  }

  #bound(min: number, max: number): boolean {
    this.#countMin = Math.max(this.#countMin, min);
    this.#countMax = Math.min(this.#countMax, max);
    return this.#countsFit();
  }

  /** Plans to write an unnamed key of a colour. */
  #writeFresh(colour: number, extra: readonly Literal[]): boolean {
    if (this.#planned.size > this.#countMax) return false;
    const keyClass = this.#shape.restClass(colour);
    if (this.#placeOf(keyClass, extra) === null) return false;
    const [key] = this.#freshKeys([colour], 1);
    if (key === undefined) return false;
    this.#planned.set(key, { keyClass, key, extra });
    return true;
  }

  #freshKeys(colours: readonly number[], count: number): string[] {
    const { keys, rankOf } = this.#shape;
    const used = new Set(this.#state.used.map((bytes) => Buffer.from(bytes).toString()));
    const isTaken = (key: string): boolean =>
      rankOf.has(key) || this.#planned.has(key) || used.has(JSON.stringify(key).slice(1, -1));
    return keys.writable(colours).shortest(count, isTaken);
  }

  #countsFit(): boolean {
    const count = this.#state.count + this.#planned.size;
    return count <= this.#countMax && this.#countMin <= this.#countMax;
  }

  /** Fills up to the least number of members, and adds up the bytes. */
  #finish(): Completion | null {
    if (!this.#countsFit() || !this.#fillUp()) return null;
    const members = [...this.#planned.values()]
      .sort((a, b) => a.keyClass.index - b.keyClass.index)
      .map(({ keyClass, key, extra }) => ({
        key,
        keyClass,
        place: this.#placeOf(keyClass, extra) as Place,
        isSpecial: extra.length > 0,
      }));
    let bytes = 1 + members.length - (this.#state.count === 0 && members.length > 0 ? 1 : 0);
    for (const { key, place } of members) {
      bytes += Buffer.byteLength(JSON.stringify(key)) + 1 + this.#shape.context.cost(place);
    }
    const isLoose = this.#countMax === Number.POSITIVE_INFINITY && !this.#plan.hasDependents;
    return { bytes, members, absent: this.#absent, isLoose };
  }

  #fillUp(): boolean {
    const missing = (): number => this.#countMin - this.#state.count - this.#planned.size;
    for (const [rank, name] of this.#shape.names.entries()) {
      if (missing() <= 0) return true;
      // Names that were left out on purpose stay out: #write refuses them.
      if (!this.#isPresent(name) && !this.#demandsOthers(name)) this.#write(rank, []);
    }
    if (missing() <= 0) return true;
    const colours = [...this.#shape.keys.colours.keys()].filter(
      (colour) => this.#placeOf(this.#shape.restClass(colour), []) !== null,
    );
    for (const key of this.#freshKeys(colours, missing()).slice(0, missing())) {
      const keyClass = this.#shape.restClass(this.#shape.keys.colourOf(key));
      this.#planned.set(key, { keyClass, key, extra: [] });
    }
    return missing() <= 0;
  }

  #demandsOthers(name: string): boolean {
    return this.#plan.holds.some((index) => this.#shape.atoms[index]?.rules.dependents.has(name));
  }

  #save(): Saved {
    return {
      planned: new Map(this.#planned),
      absent: new Set(this.#absent),
      countMin: this.#countMin,
      countMax: this.#countMax,
    };
  }

  #restore(saved: Saved): void {
    this.#planned = saved.planned;
    this.#absent = saved.absent;
    this.#countMin = saved.countMin;
    this.#countMax = saved.countMax;
  }
}

interface Saved {
  readonly planned: Map<string, Planned>;
  readonly absent: Set<string>;
  readonly countMin: number;
  readonly countMax: number;
}
