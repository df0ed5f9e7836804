/**
 * Strings that must not come again: can a string being read still turn out to be another one? They
 * are held as bytes between the quotes, ascending; those that begin like what was read are a range.
 */
import type { StringReader } from "./string-reader.ts";
import type { StringList, StringView } from "./string-view.ts";

export interface Rivals {
  readonly texts: readonly Uint8Array[];
  readonly lo: number;
  readonly hi: number;
  /** Bytes read. */
  readonly depth: number;
}

/** The rivals that have this byte next. */
export function narrowed({ texts, lo, hi, depth }: Rivals, byte: number): Rivals {
  let first = lo;
  let end = hi;
  while (first < end && !((texts[first]?.[depth] ?? -1) >= byte)) first += 1;
  while (first < end && texts[end - 1]?.[depth] !== byte) end -= 1;
  return { texts, lo: first, hi: end, depth: depth + 1 };
}

/** One of the rivals ends here. */
export function isRival({ texts, lo, hi, depth }: Rivals): boolean {
  return lo < hi && texts[lo]?.length === depth;
}

/**
 * The end of some string that is none of the rivals, closing quote included.
 * @returns null where every way on leads to one of them.
 */
export function endApart(
  reader: StringReader,
  state: number,
  count: number,
  rivals: Rivals,
): Uint8Array | null {
  if (rivals.lo === rivals.hi) return reader.end(state, count);
  const begins = reader.isBetween(state);
  if (begins && reader.accepts(state, count) && !isRival(rivals)) return Uint8Array.of(QUOTE);
  const now = begins ? count + 1 : count;
  const shared: number[] = [];
  for (let byte = 0x20; byte < 0x100; byte++) {
    if (byte === QUOTE && begins) continue;
    const next = reader.step(state, byte);
    if (next < 0 || !reader.isLive(next, now)) continue;
    const { lo, hi } = narrowed(rivals, byte);
    if (lo === hi) return Buffer.concat([Uint8Array.of(byte), reader.end(next, now)]);
    shared.push(byte);
  }
  for (const byte of shared) {
    const end = endApart(reader, reader.step(state, byte), now, narrowed(rivals, byte));
    if (end) return Buffer.concat([Uint8Array.of(byte), end]);
  }
  return null;
}

/** Some string that goes on from here is none of the rivals. */
export function leavesRivals(
  reader: StringReader,
  state: number,
  count: number,
  rivals: Rivals,
): boolean {
  const others = rivals.hi - rivals.lo;
  // More bytes may come next than the rivals have.
  if (others < 64 && reader.roomForAny(state, count) >= 1) return true;
  return endApart(reader, state, count, rivals) !== null;
}

/** The shortest of the list's texts from a state that is none of the rivals, or -1. */
export function textApart({ texts }: StringList, state: number, rivals: Rivals): number {
  let best = -1;
  for (let i = texts.first(state); i < texts.end(state); i++) {
    const text = texts.texts[i] as Uint8Array;
    if (hasText(rivals, text)) continue;
    if (best < 0 || text.length < (texts.texts[best] as Uint8Array).length) best = i;
  }
  return best;
}

/** Some string of the view is none of these. */
export function hasStringApart(view: StringView, texts: readonly Uint8Array[]): boolean {
  const rivals = { texts, lo: 0, hi: texts.length, depth: 0 };
  if (view.kind === "list") return textApart(view, 0, rivals) >= 0;
  return leavesRivals(view.reader, 0, 0, rivals);
}

function hasText({ texts, lo, hi }: Rivals, text: Uint8Array): boolean {
  let first = lo;
  let end = hi;
  while (first < end) {
    const middle = (first + end) >> 1;
    const order = Buffer.compare(texts[middle] as Uint8Array, text);
    if (order === 0) return true;
    if (order < 0) first = middle + 1;
    else end = middle;
  }
  return false;
}

const QUOTE = 0x22;
