/**
 * A position between the members of an object: what may follow, worked out when it is first asked
 * for, and kept. Immutable to the outside; equal histories share one frame.
 */

import type { Schema } from "../schema/schema.ts";
import { ContainerFrame } from "./container-frame.ts";
import { canAlwaysEnd, type LooseMembers, looseMembers } from "./loose-members.ts";
import { type Completion, completeObject, completePlan } from "./object-completion.ts";
import { escapesNeeded } from "./object-escapes.ts";
import type { KeyClass, ObjectPlan, ObjectShape } from "./object-shape.ts";
import { emptyObject, type ObjectState } from "./object-state.ts";
import type { Literal, Place, Verdict } from "./place.ts";
import type { WritableKeys } from "./writable-keys.ts";

/** A key that may be written: where its value stands, and what follows the value. */
export interface Member {
  readonly place: Place;
  /** The position after the value, unless the value made atoms fail. */
  readonly next: ObjectFrame;
  /** For each observed schema of the place, the atoms that fail with it. */
  readonly failsWith: readonly (readonly number[])[];
}

export class ObjectFrame extends ContainerFrame<ObjectShape, ObjectState, Completion> {
  readonly #lazyLoose: LazyLoose;
  // Most positions are passed once: their maps are made when there is something to keep.
  #named: Map<number, Member | null> | undefined;
  /** By rank, for those of which no more was asked yet. */
  #allowed: Map<number, boolean> | undefined;
  #samples: Map<number, Member | null> | undefined;
  #failed: Map<string, ObjectFrame> | undefined;
  #planned: Map<ObjectPlan, Completion | null> | undefined;
  #hasMember: boolean | undefined;
  #unnamedKeys: WritableKeys | null | undefined;

  /** @param loose shared by all frames of a shape. */
  constructor(state: ObjectState, loose: LazyLoose) {
    super(state);
    this.#lazyLoose = loose;
  }

  get #loose(): LooseMembers | null {
    return this.#lazyLoose.members;
  }

  /** The member under a name, by rank, or null where it may not be written. */
  named(rank: number): Member | null {
    const known = this.#named?.get(rank);
    if (known !== undefined) return known;
    const isBlocked = this.#isBlocked(rank) || this.#allowed?.get(rank) === false;
    const member = isBlocked ? null : this.#member(this.shape.nameClass(rank), null);
    this.#named ??= new Map();
    this.#named.set(rank, member);
    return member;
  }

  /** The member under an unnamed key of a colour; the key must not be among `state.used`. */
  unnamed(colour: number, key: Uint8Array): Member | null {
    return this.#member(this.shape.restClass(colour), key);
  }

  /** As `unnamed`, for any key of the colour: not to be kept, since it does not know the key. */
  anyUnnamed(colour: number): Member | null {
    const known = this.#samples?.get(colour);
    if (known !== undefined) return known;
    const member = this.#member(this.shape.restClass(colour), NO_KEY);
    this.#samples ??= new Map();
    this.#samples.set(colour, member);
    return member;
  }

  /** The unnamed keys that may be written; null for none. */
  get unnamedKeys(): WritableKeys | null {
    if (this.#unnamedKeys !== undefined) return this.#unnamedKeys;
    const { keys } = this.shape;
    const loose = this.#loose;
    const colours = loose
      ? loose.colours(this.state)
      : [...keys.colours.keys()].filter((colour) => this.anyUnnamed(colour) !== null);
    this.#unnamedKeys = colours.length > 0 ? keys.writable(colours) : null;
    return this.#unnamedKeys;
  }

  /** Some member may be written. */
  get hasMember(): boolean {
    if (this.#hasMember === undefined) {
      const unnamed = this.unnamedKeys !== null && this.hasUnnamed(0, 0, 0, this.state.used.length);
      this.#hasMember = unnamed || this.hasNamed(0);
    }
    return this.#hasMember;
  }

  /** A name that may be written goes on from a state of `shape.nameTexts`. */
  hasNamed(names: number): boolean {
    const { nameTexts } = this.shape;
    return this.hasNamedAmong(nameTexts.first(names), nameTexts.end(names));
  }

  /** One of the texts of `shape.nameTexts` from `first` to before `end` may be written. */
  hasNamedAmong(first: number, end: number): boolean {
    const { sources } = this.shape.nameTexts;
    for (let i = first; i < end; i++) if (this.allows(sources[i] as number)) return true;
    return false;
  }

  /** The name of this rank may be written. */
  allows(rank: number): boolean {
    const loose = this.#loose;
    if (loose) return loose.allows(this.state, rank);
    const member = this.#named?.get(rank);
    if (member !== undefined) return member !== null;
    const known = this.#allowed?.get(rank);
    if (known !== undefined) return known;
    const allowed = !this.#isBlocked(rank) && this.#hasWant(this.shape.nameClass(rank));
    this.#allowed ??= new Map();
    this.#allowed.set(rank, allowed);
    return allowed;
  }

  #isBlocked(rank: number): boolean {
    return this.state.hasSeen(rank) || rank < this.state.cursor;
  }

  #hasWant(keyClass: KeyClass): boolean {
    const { done } = this.#wantsAt(this.state.afterKey(keyClass, null), keyClass).next();
    return done !== true;
  }

  /**
   * An unnamed key that may be written goes on from a state of `unnamedKeys`, `length` code points
   * of it begun.
   * @param names state of `shape.nameTexts` for the same text, -1 where no name begins like that.
   * @param used how many of the unnamed keys written begin like that.
   */
  hasUnnamed(rest: number, length: number, names: number, used: number): boolean {
    const keys = this.unnamedKeys as WritableKeys;
    if (!keys.isLive(rest, length)) return false;
    if (used === 0 && names < 0) return true;
    // Only keys that are neither used nor names count.
    const taken = used + (names < 0 ? 0 : this.#namesAmong(keys, names));
    return taken === 0 || keys.countFrom(rest, length, taken + 1) > taken;
  }

  /** Names that unnamed keys of the colours could spell, and must not. */
  #namesAmong(keys: WritableKeys, names: number): number {
    const { shape } = this;
    const end = shape.nameTexts.end(names);
    let count = 0;
    for (let i = shape.nameTexts.first(names); i < end; i++) {
      if (keys.has(shape.colourOfName(shape.nameTexts.sources[i] as number))) count += 1;
    }
    return count;
  }

  protected override complete(): Completion | null {
    return completeObject(this.state);
  }

  /** The position after a member's value, given the truth of what was observed of it. */
  settle(member: Member, verdict: Verdict): ObjectFrame {
    const failing = new Set<number>();
    for (const [i, atoms] of member.failsWith.entries()) {
      if (verdict[i] === 0) for (const atom of atoms) failing.add(atom);
    }
    return failing.size === 0 ? member.next : member.next.#withFailed([...failing]);
  }

  #withFailed(atoms: readonly number[]): ObjectFrame {
    const key = atoms.toSorted((a, b) => a - b).join();
    const known = this.#failed?.get(key);
    if (known) return known;
    const frame = new ObjectFrame(this.state.withFailed(atoms), this.#lazyLoose);
    this.#failed ??= new Map();
    this.#failed.set(key, frame);
    return frame;
  }

  /**
   * For each plan that can still be met after this key: what its value must satisfy, and the place
   * of such values.
   */
  *#wantsAt(after: ObjectState, keyClass: KeyClass): Generator<[Place, Literal[]]> {
    const { shape } = this;
    const { context } = shape;
    const { alwaysEnd } = this.#lazyLoose;
    for (const [index, plan] of shape.plans.entries()) {
      if (plan.holds.some((atom) => after.failed[atom] === 1)) continue;
      const base = shape.base(plan, keyClass);
      if (base === null) continue;
      const canEnd = alwaysEnd[index] as boolean;
      const isFree = canEnd && plan.fails.length === 0;
      const before = isFree ? null : this.#plannedFor(plan);
      // What cannot be met now is not met for one key more.
      if (!isFree && before === null) continue;
      for (const extra of escapesNeeded(after, plan, keyClass, canEnd, before)) {
        const want = [...base, ...extra];
        const place = context.place([want], []);
        if (Number.isFinite(context.cost(place))) yield [place, want];
      }
    }
  }

  #plannedFor(plan: ObjectPlan): Completion | null {
    let planned = this.#planned?.get(plan);
    if (planned === undefined) {
      planned = completePlan(this.state, plan);
      this.#planned ??= new Map();
      this.#planned.set(plan, planned);
    }
    return planned;
  }

  #member(keyClass: KeyClass, key: Uint8Array | null): Member | null {
    const loose = this.#loose;
    if (loose) {
      const place = loose.place(keyClass);
      if (place === null || !loose.isNext(this.state, keyClass)) return null;
      const next = new ObjectFrame(this.state.afterKey(keyClass, key), this.#lazyLoose);
      return { place, next, failsWith: [] };
    }
    const after = this.state.afterKey(keyClass, key);
    // By place: plans often ask the same of a value.
    const wanted = new Map(this.#wantsAt(after, keyClass));
    if (wanted.size === 0) return null;
    const wants = [...wanted.values()];
    const next = new ObjectFrame(after, this.#lazyLoose);
    const { context, isGuided } = this.shape;
    if (isGuided) return { place: context.place(wants, []), next, failsWith: [] };
    const watchers = watchersOf(after, keyClass);
    for (const schema of settledBy(wants)) watchers.delete(schema);
    const place = context.place(wants, [...watchers.keys()]);
    return { place, next, failsWith: place.observed.map((schema) => watchers.get(schema) ?? []) };
  }
}

/** Worked out on first use: while costs are still being found, it could be wrong. */
class LazyLoose {
  readonly #shape: ObjectShape;
  #members: LooseMembers | null | undefined;
  #alwaysEnd: readonly boolean[] | undefined;

  constructor(shape: ObjectShape) {
    this.#shape = shape;
  }

  get members(): LooseMembers | null {
    if (this.#members === undefined) this.#members = looseMembers(this.#shape);
    return this.#members;
  }

  /** By plan: once nothing more must fail, the object can be finished from wherever it stands. */
  get alwaysEnd(): readonly boolean[] {
    const shape = this.#shape;
    const isOpen = shape.context.objects === "open";
    this.#alwaysEnd ??= shape.plans.map((plan) => isOpen && canAlwaysEnd(shape, plan));
    return this.#alwaysEnd;
  }
}

const NO_KEY = new Uint8Array(0);

export function initialObject(shape: ObjectShape): ObjectFrame {
  return new ObjectFrame(emptyObject(shape), new LazyLoose(shape));
}

/** Atoms that fail if the value does not satisfy a schema. */
function watchersOf(after: ObjectState, keyClass: KeyClass): Map<Schema, number[]> {
  const watchers = new Map<Schema, number[]>();
  for (const [index, demand] of keyClass.demands.entries()) {
    if (after.failed[index] === 1) continue;
    for (const schema of demand.schemas) {
      const atoms = watchers.get(schema) ?? [];
      atoms.push(index);
      watchers.set(schema, atoms);
    }
  }
  return watchers;
}

/** Schemas that hold whichever want is met: nothing is to be learnt about them. */
function settledBy(wants: readonly (readonly Literal[])[]): Schema[] {
  const [first = []] = wants;
  return first
    .filter(
      (literal) => literal.positive && wants.every((want) => hasPositive(want, literal.schema)),
    )
    .map((literal) => literal.schema);
}

function hasPositive(want: readonly Literal[], schema: Schema): boolean {
  return want.some((literal) => literal.positive && literal.schema === schema);
}
