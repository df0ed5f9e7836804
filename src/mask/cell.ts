/**
 * The open containers of a text, innermost first. Immutable and shared: the same containers in the
 * same positions are the same cell, so that what was worked out for one (masks, for instance) can
 * be kept on it. Cells that hold the offset of an item's text are the exception. Those of arrays
 * that keep their items apart have a twin among the shared ones, which takes any item: what it
 * allows needs little to be taken away from.
 */
import type { ArrayFrame } from "../grammar/array-frame.ts";
import type { Member, ObjectFrame } from "../grammar/object-frame.ts";
import type { Place } from "../grammar/place.ts";
import { UsedValues } from "../grammar/used-values.ts";

/** What may be kept on a cell by those who use it: by phase. */
export type CellMemo = Map<number, object>;

/** What is kept on a cell, made when there is something to keep. */
abstract class Shared {
  #memo: CellMemo | undefined;
  #lists: CellMemo | undefined;
  #children: Map<object, ObjectCell | ArrayCell> | undefined;
  /** Bytes to the end of the text once the value due here is written; undefined: not known yet. */
  closingBytes: number | undefined = undefined;

  get memo(): CellMemo {
    this.#memo ??= new Map();
    return this.#memo;
  }

  /** Masks of few tokens, as lists. */
  get lists(): CellMemo {
    this.#lists ??= new Map();
    return this.#lists;
  }

  /** Cells of the containers that stand here, by their frame or member. */
  get children(): Map<object, ObjectCell | ArrayCell> {
    this.#children ??= new Map();
    return this.#children;
  }
}

export type Cell = RootCell | ObjectCell | ArrayCell;

/** Below all containers: the place of the whole value. */
export class RootCell extends Shared {
  readonly kind = "root";
  readonly place: Place;
  /** The value stands inside of others: white space may come before it. */
  readonly isInner: boolean;
  readonly root: RootCell = this;
  readonly isCompared = false;
  readonly isApart = false;
  readonly twin: RootCell = this;
  /** How many cells to be shared there have been. */
  cellsBelow = 0;

  constructor(place: Place, isInner = false) {
    super();
    this.place = place;
    this.isInner = isInner;
  }
}

export class ObjectCell extends Shared {
  readonly kind = "object";
  readonly parent: Cell;
  readonly root: RootCell;
  /** What stands here is part of an item that an array will compare with its others, as a text. */
  readonly isCompared: boolean;
  /** It stands in an array that keeps its items apart. */
  readonly isApart: boolean;
  readonly frame: ObjectFrame;
  /** The member whose colon or value is being written; null between members. */
  readonly member: Member | null;

  constructor(parent: Cell, frame: ObjectFrame, member: Member | null) {
    super();
    this.parent = parent;
    this.root = parent.root;
    this.isApart = parent.isApart;
    if (!this.isApart) this.root.cellsBelow += 1;
    this.isCompared = parent.isCompared;
    this.frame = frame;
    this.member = member;
  }

  /** The same containers without what their items must be kept apart from. */
  get twin(): ObjectCell {
    if (!this.isApart) return this;
    const { parent, frame, member } = this;
    return member ? objectInMember(parent.twin, frame, member) : objectBetween(parent.twin, frame);
  }
}

export class ArrayCell extends Shared {
  readonly kind = "array";
  readonly parent: Cell;
  readonly root: RootCell;
  /** As in `ObjectCell`. */
  readonly isCompared: boolean;
  readonly isApart: boolean;
  readonly frame: ArrayFrame;
  /** Where the text of the current item begins; -1 where nobody needs its value. */
  readonly itemStart: number;
  /** The items so far, of which none may come again; null where any may. */
  readonly used: UsedValues | null;

  constructor(parent: Cell, frame: ArrayFrame, itemStart: number, used: UsedValues | null = null) {
    super();
    this.parent = parent;
    this.root = parent.root;
    this.isApart = parent.isApart || used !== null;
    if (!this.isApart) this.root.cellsBelow += 1;
    this.isCompared = parent.isCompared || (itemStart >= 0 && used === null);
    this.frame = frame;
    this.itemStart = itemStart;
    this.used = used;
  }

  get twin(): ArrayCell {
    return this.isApart ? arrayBetween(this.parent.twin, this.frame) : this;
  }
}

export function objectBetween(parent: Cell, frame: ObjectFrame): ObjectCell {
  const known = parent.children.get(frame);
  if (known) return known as ObjectCell;
  const cell = new ObjectCell(parent, frame, null);
  parent.children.set(frame, cell);
  return cell;
}

export function objectInMember(parent: Cell, frame: ObjectFrame, member: Member): ObjectCell {
  const known = parent.children.get(member);
  if (known) return known as ObjectCell;
  const cell = new ObjectCell(parent, frame, member);
  parent.children.set(member, cell);
  return cell;
}

export function arrayBetween(parent: Cell, frame: ArrayFrame): ArrayCell {
  const known = parent.children.get(frame);
  if (known) return known as ArrayCell;
  const cell = new ArrayCell(parent, frame, -1);
  parent.children.set(frame, cell);
  return cell;
}

/** Before the first item. */
export function arrayFirst(parent: Cell, frame: ArrayFrame): ArrayCell {
  if (!frame.shape.keepsApart) return arrayBetween(parent, frame);
  return new ArrayCell(parent, frame, -1, UsedValues.NONE);
}
