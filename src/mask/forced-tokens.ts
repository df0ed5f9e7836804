/**
 * Tokens that a grammar leaves no choice about, as the model's tokenizer would write them. Bytes
 * are forced one by one; at both seams only tokens count that the model would have produced too:
 * on the left the text so far must end with the token it did end with, on the right a token only
 * counts once nothing that may follow could have become part of it.
 */
import type { BpeEncoder } from "./bpe.ts";
import { MaskCaches } from "./mask-caches.ts";
import type { ForcedBytes, Recogniser } from "./recogniser.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Bytes looked at in one go. */
const FORCED_MAX = 1024;
/** States of one container of which it is kept what they force. */
const KEPT_MAX = 1000;
/** Tokens of the text so far that the left seam looks at. */
const TAIL_MAX = 8;

export function forcedTokens(
  recogniser: Recogniser<object>,
  vocabulary: Vocabulary,
  accepted: readonly number[],
): number[] {
  const { encoder } = vocabulary;
  if (encoder === null) return [];
  const { bytes, next } = forcedBytes(recogniser, MaskCaches.of(vocabulary).forced);
  if (bytes.length === 0) return [];
  const first = Math.max(0, accepted.length - TAIL_MAX);
  let size = bytes.length;
  for (let i = first; i < accepted.length; i++) {
    size += vocabulary.tokenBytes(accepted[i] as number).length;
  }
  const whole = new Uint8Array(size);
  let end = 0;
  for (let i = first; i < accepted.length; i++) {
    const token = vocabulary.tokenBytes(accepted[i] as number);
    whole.set(token, end);
    end += token.length;
  }
  whole.set(bytes, end);
  const start = beginOfPoint(whole, end);
  const text = decode(whole.subarray(start));
  if (text === null) return [];
  return seam(encoder, text, end - start, accepted.at(-1) ?? null, next);
}

function forcedBytes(
  recogniser: Recogniser<object>,
  kept: WeakMap<object, Map<number, ForcedBytes>>,
): ForcedBytes {
  const { forcedKey } = recogniser;
  if (forcedKey === null) return walk(recogniser);
  const { at, state } = forcedKey;
  const states = kept.get(at) ?? new Map<number, ForcedBytes>();
  const known = states.get(state);
  if (known) return known;
  const forced = walk(recogniser);
  if (states.size >= KEPT_MAX) states.clear();
  kept.set(at, states.set(state, forced));
  return forced;
}

function walk(recogniser: Recogniser<object>): ForcedBytes {
  // Nothing is forced where two bytes may come: which others may is of no interest then.
  const first = recogniser.nextBytes(2);
  if (first?.length !== 1) return NOTHING_FORCED;
  const { machine } = recogniser;
  const here = machine.save();
  const bytes: number[] = [];
  let next: readonly number[] | null = first;
  while (bytes.length < FORCED_MAX) {
    const [only] = next ?? [];
    if (only === undefined || next?.length !== 1 || machine.canEnd || !machine.step(only)) break;
    bytes.push(only);
    next = recogniser.nextBytes(Number.POSITIVE_INFINITY);
  }
  // What may end here may also be followed by nothing: any piece is settled then.
  if (bytes.length === FORCED_MAX) next = null;
  machine.undo(here);
  return { bytes: Uint8Array.from(bytes), next };
}

/** @param from offset in bytes of the forced part. */
function seam(
  encoder: BpeEncoder,
  text: string,
  from: number,
  last: number | null,
  next: readonly number[] | null,
): number[] {
  const tokens: number[] = [];
  let end = 0;
  let lastPiece = "";
  /** Of `tokens`, without those of the last piece. */
  let before = 0;
  for (const piece of encoder.piecesOf(text)) {
    const start = end;
    end += Buffer.byteLength(piece);
    // What the model wrote before the seam is nobody's concern here, and seldom the same twice.
    if (end < from) continue;
    const encoded = encoder.encodePiece(piece);
    if (encoded.length === 0) return [];
    const first = start < from ? behindSeam(encoder, encoded, from - start, last) : 0;
    if (first < 0) return [];
    before = tokens.length;
    for (let i = first; i < encoded.length; i++) tokens.push(encoded[i] as number);
    lastPiece = piece;
  }
  return isEndSettled(encoder, lastPiece, next) ? tokens : tokens.slice(0, before);
}

/**
 * @param size bytes of a piece that came before the seam.
 * @returns the first of its tokens behind the seam; -1 where the one before is not the last one.
 */
function behindSeam(
  encoder: BpeEncoder,
  piece: readonly number[],
  size: number,
  last: number | null,
): number {
  let end = 0;
  for (let i = 0; i < piece.length && end < size; i++) {
    const token = piece[i] as number;
    end += encoder.sizeOf(token);
    if (end === size) return token === last ? i + 1 : -1;
  }
  return -1;
}

function isEndSettled(
  encoder: BpeEncoder,
  lastPiece: string,
  next: readonly number[] | null,
): boolean {
  if (next === null || next.some((byte) => byte >= 0x80)) return false;
  return encoder.isSettled(lastPiece, String.fromCharCode(...next));
}

/** Past the rest of a code point that began before. */
function beginOfPoint(bytes: Uint8Array, end: number): number {
  let start = 0;
  while (start < 3 && start < end && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return start;
}

const NOTHING_FORCED: ForcedBytes = { bytes: new Uint8Array(0), next: null };
const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string | null {
  try {
    return STRICT.decode(bytes);
  } catch {
    return null;
  }
}
