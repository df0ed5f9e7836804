/**
 * The registers while a string value is read: `state` and `count` of its reader, or the state of a
 * list; in an array that keeps its items apart, `lo` to `hi` are the items that begin like it.
 */
import { leavesRivals, narrowed, type Rivals, textApart } from "../grammar/rival-strings.ts";
import type { StringReader } from "../grammar/string-reader.ts";
import type { StringList } from "../grammar/string-view.ts";
import type { ArrayCell } from "./cell.ts";
import type { Registers } from "./registers.ts";

/** The used strings that begin like the one being read; only where `lo < hi`. */
export function rivalsOf({ cell, lo, hi, length, start }: Registers): Rivals {
  return { texts: (cell as ArrayCell).used?.strings ?? [], lo, hi, depth: length - start };
}

/** @returns false, with nothing changed, for a byte after which no string can be right. */
export function stepString(at: Registers, byte: number): boolean {
  const reader = at.view as StringReader;
  const next = reader.step(at.state, byte);
  if (next < 0) return false;
  const count = reader.isBetween(at.state) ? at.count + 1 : at.count;
  if (!reader.isLive(next, count)) return false;
  if (at.lo < at.hi) {
    const isApart = (rivals: Rivals): boolean => leavesRivals(reader, next, count, rivals);
    if (!narrow(at, byte, isApart)) return false;
  }
  at.state = next;
  at.count = count;
  return true;
}

/** The same for a string of a list. */
export function stepListed(at: Registers, byte: number): boolean {
  const list = at.view as StringList;
  const next = list.texts.step(at.state, byte);
  if (next < 0) return false;
  if (at.lo < at.hi) {
    const isApart = (rivals: Rivals): boolean => textApart(list, next, rivals) >= 0;
    if (!narrow(at, byte, isApart)) return false;
  }
  at.state = next;
  return true;
}

function narrow(at: Registers, byte: number, isApart: (rivals: Rivals) => boolean): boolean {
  const rivals = narrowed(rivalsOf(at), byte);
  if (rivals.lo < rivals.hi && !isApart(rivals)) return false;
  at.lo = rivals.lo;
  at.hi = rivals.hi;
  return true;
}
