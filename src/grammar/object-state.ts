/**
 * Which keys of an object were written and which atoms have failed: a value, without the questions
 * of what may follow (object-frame.ts).
 */
import { OBJECT } from "../schema/json-type.ts";
import type { KeyClass, ObjectShape } from "./object-shape.ts";
import type { Verdict } from "./place.ts";
import { verdictAt } from "./place-plans.ts";

export interface ObjectFields {
  /** Bit set of the ranks of the names written. */
  readonly seen: Uint32Array;
  readonly count: number;
  /** Closed objects: the least rank that may still be written. */
  readonly cursor: number;
  /** Unnamed keys written, as JSON writes them, ascending by bytes. */
  readonly used: readonly Uint8Array[];
  /** By atom: 1 where it has failed. */
  readonly failed: Uint8Array;
}

export class ObjectState implements ObjectFields {
  readonly shape: ObjectShape;
  readonly seen: Uint32Array;
  readonly count: number;
  readonly cursor: number;
  readonly used: readonly Uint8Array[];
  readonly failed: Uint8Array;

  constructor(shape: ObjectShape, fields: ObjectFields) {
    this.shape = shape;
    this.seen = fields.seen;
    this.count = fields.count;
    this.cursor = fields.cursor;
    this.used = fields.used;
    this.failed = fields.failed;
  }

  hasSeen(rank: number): boolean {
    return (((this.seen[rank >> 5] as number) >> (rank & 31)) & 1) === 1;
  }

  has(name: string): boolean {
    const rank = this.shape.rankOf.get(name);
    return rank !== undefined && this.hasSeen(rank);
  }

  /** The atom would hold if the object ended here. */
  atomHolds(index: number): boolean {
    if (this.failed[index] === 1) return false;
    const rules = this.shape.atoms[index]?.rules;
    if (!rules) return true;
    if (this.count < rules.minProperties || this.count > rules.maxProperties) return false;
    if (!rules.required.every((name) => this.has(name))) return false;
    for (const [name, others] of rules.dependents) {
      if (this.has(name) && !others.every((other) => this.has(other))) return false;
    }
    return true;
  }

  /** Truth of the place's schemas if the object ended here. */
  verdict(): Verdict {
    const { place, atoms } = this.shape;
    return verdictAt(place, OBJECT, atoms, (index) => this.atomHolds(index));
  }

  withFailed(atoms: readonly number[]): ObjectState {
    const failed = this.failed.slice();
    for (const atom of atoms) failed[atom] = 1;
    return new ObjectState(this.shape, { ...this, failed });
  }

  /** After a key of this class, its value not yet known. `key` is set for an unnamed one. */
  afterKey(keyClass: KeyClass, key: Uint8Array | null): ObjectState {
    const { shape } = this;
    const count = this.count + 1;
    const failed = this.failed.slice();
    for (const [index, demand] of keyClass.demands.entries()) {
      const max = shape.atoms[index]?.rules.maxProperties ?? Number.POSITIVE_INFINITY;
      if (demand.never || count > max) failed[index] = 1;
    }
    const named = keyClass.name !== null;
    const cursor = named ? keyClass.index + 1 : shape.names.length;
    return new ObjectState(shape, {
      seen: named ? withBit(this.seen, keyClass.index) : this.seen,
      count,
      failed,
      cursor: shape.context.objects === "closed" ? cursor : 0,
      used: key === null ? this.used : insert(this.used, key),
    });
  }
}

export function emptyObject(shape: ObjectShape): ObjectState {
  return new ObjectState(shape, {
    seen: new Uint32Array((shape.names.length + 31) >> 5),
    count: 0,
    cursor: 0,
    used: [],
    failed: new Uint8Array(shape.atoms.length),
  });
}

function withBit(bits: Uint32Array, index: number): Uint32Array {
  const copy = bits.slice();
  copy[index >> 5] = (copy[index >> 5] as number) | (1 << (index & 31));
  return copy;
}

/** @returns a new list with the key in its place. */
function insert(used: readonly Uint8Array[], key: Uint8Array): Uint8Array[] {
  const at = used.findIndex((other) => Buffer.compare(other, key) > 0);
  return at < 0 ? [...used, key] : [...used.slice(0, at), key, ...used.slice(at)];
}
