/**
 * The registers around an item of an array. Where items are compared, the array's cell holds where
 * the item begins; where they are kept apart as they are read, it holds what was used as well.
 */
import type { JsonValue } from "../bytes/canonical-json.ts";
import type { Compilation } from "../grammar/compilation.ts";
import type { Verdict } from "../grammar/place.ts";
import type { UsedValues } from "../grammar/used-values.ts";
import { ArrayCell, arrayBetween, type Cell } from "./cell.ts";
import type { Registers } from "./registers.ts";

/** What the item that is due, or the scalar being read as one, must not be; null for no array. */
export function usedOf({ cell }: Registers): UsedValues | null {
  return cell.kind === "array" ? cell.used : null;
}

/** Between the items of an array: another may begin. */
export function hasItem({ cell }: Registers, compilation: Compilation): boolean {
  const { frame, used } = cell as ArrayCell;
  if (frame.item === null) return false;
  return used === null || compilation.hasValueApart(frame.item, used);
}

/** Where an item begins, remembers that. */
export function markItem(at: Registers): void {
  const { cell } = at;
  if (cell.kind !== "array" || (cell.used === null && !cell.frame.shape.comparesItems)) return;
  at.cell = new ArrayCell(cell.parent, cell.frame, at.length, cell.used);
}

/** The container that ends with the byte just written is an item that its array has already. */
export function isUsedItem(at: Registers, parent: Cell): boolean {
  if (parent.kind !== "array" || parent.used === null) return false;
  return parent.used.hasContainer(at.textFrom(parent.itemStart, at.length + 1));
}

/** @param end offset behind the item's last byte. */
export function afterItem(
  at: Registers,
  { parent, frame, used, itemStart }: ArrayCell,
  verdict: Verdict,
  end: number,
): ArrayCell {
  if (itemStart < 0) return arrayBetween(parent, frame.settle(verdict, undefined));
  const text = at.textFrom(itemStart, end);
  if (used) return new ArrayCell(parent, frame.settle(verdict, undefined), -1, used.with(text));
  const value = JSON.parse(Buffer.from(text).toString()) as JsonValue;
  return arrayBetween(parent, frame.settle(verdict, value));
}
