/**
 * The part of a mask that depends on the string being read alone: tokens that stay inside it, and
 * the places where tokens close it. Kept per reader and state; a limit on the length enters only
 * where it is near.
 */
import type { Verdict } from "../grammar/place.ts";
import type { StringReader } from "../grammar/string-reader.ts";
import {
  type Closer,
  type ContentTables,
  IN_SLICE,
  QUOTE_BELOW,
  SLICES,
} from "./content-tables.ts";
import { RoomMasks } from "./room-masks.ts";
import { addAll, addToken, type TokenWords, tokenWords } from "./token-set.ts";
import type { Vocabulary } from "./vocabulary.ts";

const QUOTE = 0x22;

interface ContentParts {
  readonly words: TokenWords;
  readonly closings: readonly Closing[];
}

export interface ContentMask extends ContentParts {
  /** Another number for each mask. */
  readonly serial: number;
}

/** A place where a token may close the string, and what the string then was. */
export interface Closing {
  readonly closer: Closer;
  readonly verdict: Verdict;
}

interface WalkStart {
  readonly state: number;
  readonly count: number;
  /** A limit on the length may be reached. */
  readonly isNear: boolean;
  /** Tokens of this slice are known; -1 for none. */
  readonly slice: number;
  /** Tokens of so many bytes of content are known. */
  readonly room: number;
  /** On bytes that the state loops on, so many code points may be spent. */
  readonly loopRoom: number;
}

interface Walk {
  readonly reader: StringReader;
  readonly isNear: boolean;
  readonly words: TokenWords;
  readonly closings: Closing[];
}

/** States of which a walk remembers what they are. */
const TRAITS_KEPT = 4096;
const KNOWN = 1;
/** Some end can be reached. */
const LIVE = 2;
/** Any content may come for a while. */
const OPENS = 4;

/** With less room than this, too few tokens are known beforehand. */
const ROOM_MIN = 16;

/** Masks kept at once: 16 KB each for 128,000 tokens. */
const KEPT_MAX = 512;

/** Bytes of each slice, as lists. */
const SLICE_BYTES: readonly (readonly number[])[] = SLICES.map((contains) =>
  Array.from({ length: 128 }, (_, byte) => byte).filter(contains),
);

export class ContentMasks {
  readonly #vocabulary: Vocabulary;
  readonly #tables: ContentTables;
  #kept = new Map<StringReader, Map<number, ContentMask>>();
  #keptCount = 0;
  #serial = 0;
  readonly #rooms: RoomMasks;
  readonly #states: Int32Array;
  readonly #counts: Int32Array;
  /** By depth: any content is allowed from here on. */
  readonly #free: Uint8Array;
  readonly #loops = new Uint8Array(256);
  /** By state of the reader, during one walk. */
  readonly #traits = new Uint8Array(TRAITS_KEPT);

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
    this.#tables = vocabulary.content;
    const { trie, content, size } = vocabulary;
    this.#rooms = new RoomMasks(trie, content, size);
    const depths = trie.depthMax + 1;
    this.#states = new Int32Array(depths);
    this.#counts = new Int32Array(depths);
    this.#free = new Uint8Array(depths);
  }

  /** @param count code points begun so far. */
  of(reader: StringReader, state: number, count: number): ContentMask {
    const near = reader.lengthKey(count, this.#tables.countMax);
    const key = near * 2 ** 24 + state;
    const known = this.#kept.get(reader)?.get(key);
    if (known) return known;
    this.#serial += 1;
    const parts = this.#compute(reader, state, count, near >= 0);
    const mask = { ...parts, serial: this.#serial };
    this.#keep(reader, key, mask);
    return mask;
  }

  #keep(reader: StringReader, key: number, mask: ContentMask): void {
    if (this.#keptCount >= KEPT_MAX) {
      this.#kept = new Map();
      this.#keptCount = 0;
    }
    const masks = this.#kept.get(reader) ?? new Map<number, ContentMask>();
    this.#kept.set(reader, masks.set(key, mask));
    this.#keptCount += 1;
  }

  /** @param isNear a limit on the length is. */
  #compute(reader: StringReader, state: number, count: number, isNear: boolean): ContentParts {
    const room = reader.freedom(state, count);
    if (room >= 0) return this.#freeMask(reader, state, count, room);
    const closings: Closing[] = [];
    const roomForAny = reader.roomForAny(state, count);
    if (roomForAny >= ROOM_MIN) {
      const known = this.#tables.words(roomForAny);
      const words = roomForAny >= this.#tables.countMax ? known : known.slice();
      const start = { state, count, isNear, slice: -1, room: roomForAny, loopRoom: 0 };
      this.#walk(reader, start, words, closings);
      return { words, closings };
    }
    const { bounds } = reader;
    if (bounds && count >= bounds.lo && isNear) {
      return this.#roomMask(reader, state, count, bounds.hi - count);
    }
    const words = tokenWords(this.#vocabulary.size);
    const loopRoom = reader.roomToLoop(state, count);
    const slice = loopRoom > 0 ? this.#sliceOf(reader, state) : -1;
    if (slice >= 0) addAll(words, this.#tables.sliceWords(slice, loopRoom));
    this.#walk(reader, { state, count, isNear, slice, room: 0, loopRoom }, words, closings);
    return { words, closings };
  }

  /** Any token of content may come. */
  #isOpen(reader: StringReader, state: number, count: number): boolean {
    return reader.roomForAny(state, count) >= this.#tables.countMax;
  }

  #roomMask(reader: StringReader, state: number, count: number, room: number): ContentParts {
    const table = this.#rooms.table(reader, state);
    const closings: Closing[] = [];
    for (const { closer, state: end, points } of table.closings) {
      const length = count + points;
      if (!reader.accepts(end, length)) continue;
      closings.push({ closer, verdict: reader.verdict(end, length) });
    }
    return { words: this.#rooms.words(table, room), closings };
  }

  #freeMask(reader: StringReader, state: number, count: number, room: number): ContentParts {
    const closings: Closing[] = [];
    for (const closer of this.#tables.closers) {
      const length = count + closer.count;
      if (closer.count > room || !reader.accepts(state, length)) continue;
      closings.push({ closer, verdict: reader.verdict(state, length) });
    }
    return { words: this.#tables.words(room), closings };
  }

  /** The largest slice on whose bytes the state stays the same; -1 for none. */
  #sliceOf(reader: StringReader, state: number): number {
    if (!reader.isBetween(state)) return -1;
    return SLICE_BYTES.findIndex((bytes) =>
      bytes.every((byte) => reader.step(state, byte) === state),
    );
  }

  /** By byte: 1 for those after which the state is the same. */
  #loopsOf(reader: StringReader, state: number, room: number): Uint8Array {
    const loops = this.#loops.fill(0);
    if (room <= 0 || !reader.isBetween(state)) return loops;
    for (let byte = 0x20; byte < 0x80; byte++) {
      if (byte !== QUOTE && reader.step(state, byte) === state) loops[byte] = 1;
    }
    return loops;
  }

  /** Depth-first over the tokens that are not known already. */
  #walk(reader: StringReader, start: WalkStart, words: TokenWords, closings: Closing[]): void {
    const { state, count, slice, room, loopRoom } = start;
    const { bytes, depths, ends } = this.#vocabulary.trie;
    const skip = slice < 0 ? 0 : (IN_SLICE[slice] as number);
    const states = this.#states;
    const counts = this.#counts;
    const free = this.#free;
    states[0] = state;
    counts[0] = count;
    free[0] = room >= this.#tables.countMax ? 1 : 0;
    this.#traits.fill(0);
    const loops = this.#loopsOf(reader, state, loopRoom);
    const loopEnd = count + loopRoom;
    const walk = { reader, isNear: start.isNear, words, closings };
    const end = ends[0] as number;
    for (let at = 1; at < end; ) {
      const depth = depths[at] as number;
      if (this.#isKnown(at, skip, room, free[depth - 1] === 1)) {
        at = ends[at] as number;
        continue;
      }
      const before = counts[depth - 1] as number;
      const isLoop = states[depth - 1] === state && loops[bytes[at] as number] === 1;
      if (isLoop && before < loopEnd) {
        this.#allow(at, words);
        states[depth] = state;
        counts[depth] = before + 1;
        free[depth] = free[depth - 1] as number;
        at += 1;
      } else at = this.#visit(walk, at) ? at + 1 : (ends[at] as number);
    }
  }

  /** @returns whether to go below the node. */
  #visit({ reader, isNear, words, closings }: Walk, at: number): boolean {
    const { bytes, depths, ends } = this.#vocabulary.trie;
    const depth = depths[at] as number;
    const from = this.#states[depth - 1] as number;
    const before = this.#counts[depth - 1] as number;
    const byte = bytes[at] as number;
    const begins = reader.isBetween(from);
    if (byte === QUOTE && begins) {
      this.#close(reader, at, from, before, closings);
      return false;
    }
    const next = reader.step(from, byte);
    const count = before + (begins ? 1 : 0);
    const traits = next < 0 ? 0 : this.#traitsOf(reader, next, count, isNear);
    if ((traits & LIVE) === 0) return false;
    const isFree = this.#free[depth - 1] === 1;
    if (!isFree) this.#allow(at, words);
    this.#states[depth] = next;
    this.#counts[depth] = count;
    const opens = !isFree && (traits & OPENS) !== 0 && at + 1 < (ends[at] as number);
    if (opens) this.#enter(reader, at, next, count, words);
    this.#free[depth] = isFree || opens ? 1 : 0;
    return true;
  }

  /** Of a state with some code points begun: far from any limit, however many. */
  #traitsOf(reader: StringReader, state: number, count: number, isNear: boolean): number {
    const isKept = !isNear && state < TRAITS_KEPT;
    const known = isKept ? (this.#traits[state] as number) : 0;
    if (known !== 0) return known;
    let traits = KNOWN;
    if (reader.isLive(state, count)) {
      traits |= LIVE;
      const opens =
        reader.isBetween(state) &&
        (this.#isOpen(reader, state, count) || reader.freedom(state, count) >= 0);
      if (opens) traits |= OPENS;
    }
    if (isKept) this.#traits[state] = traits;
    return traits;
  }

  /** All that lies at or below the node was allowed at once. */
  #isKnown(node: number, skip: number, room: number, inFree: boolean): boolean {
    const flags = this.#tables.flags[node] as number;
    if ((flags & skip) !== 0) return true;
    const { bytes, reaches } = this.#vocabulary.trie;
    if ((flags & QUOTE_BELOW) !== 0 || bytes[node] === QUOTE) return false;
    return inFree || (reaches[node] as number) <= room;
  }

  #allow(node: number, words: TokenWords): void {
    const { tokens, twins } = this.#vocabulary.trie;
    const token = tokens[node] as number;
    if (token < 0) return;
    addToken(words, token);
    const others = twins.get(token);
    if (others) for (const twin of others) addToken(words, twin);
  }

  #close(
    reader: StringReader,
    node: number,
    state: number,
    count: number,
    closings: Closing[],
  ): void {
    if (!reader.accepts(state, count)) return;
    closings.push({ closer: this.#tables.closerAt(node), verdict: reader.verdict(state, count) });
  }

  /** Where any content is allowed from now on, all content below the node is. */
  #enter(
    reader: StringReader,
    node: number,
    state: number,
    count: number,
    words: TokenWords,
  ): void {
    const isOpen = this.#isOpen(reader, state, count);
    const room = isOpen ? this.#tables.countMax : reader.freedom(state, count);
    const { tokens, counts } = this.#tables.under(node);
    for (let i = 0; i < tokens.length && (counts[i] as number) <= room; i++) {
      addToken(words, tokens[i] as number);
    }
  }
}
