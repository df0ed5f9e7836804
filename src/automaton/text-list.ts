/**
 * A finite set of texts, read byte by byte. The texts are sorted once; a state is the range of them
 * that begins with what was read, so that 5,000 enum values cost nothing until they are walked.
 */
import { utf8Encode } from "../bytes/utf8.ts";

export class TextList {
  /** Ascending by bytes, without duplicates. */
  readonly texts: readonly Uint8Array[];
  /** What each text was made from: an index into the list given. */
  readonly sources: readonly number[];
  readonly #lo: number[] = [];
  readonly #hi: number[] = [];
  readonly #depth: number[] = [];
  /** Children of a state once it was expanded: bytes and states side by side. */
  readonly #bytes: (Uint8Array | undefined)[] = [];
  readonly #targets: (Int32Array | undefined)[] = [];

  constructor(texts: readonly string[]) {
    const encoded = texts.map((text, source) => ({ bytes: utf8Encode(text), source }));
    encoded.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
    const unique = encoded.filter(
      ({ bytes }, i) => i === 0 || Buffer.compare(bytes, encoded[i - 1]?.bytes as Uint8Array) !== 0,
    );
    this.texts = unique.map(({ bytes }) => bytes);
    this.sources = unique.map(({ source }) => source);
    this.#add(0, this.texts.length, 0);
  }

  /** State after a byte, or -1. State 0 is the start. */
  step(state: number, byte: number): number {
    const bytes = this.#bytes[state] ?? this.#expand(state);
    const index = bytes.indexOf(byte);
    return index < 0 ? -1 : ((this.#targets[state] as Int32Array)[index] as number);
  }

  /** Bytes that may come next, ascending. */
  nextBytes(state: number): Uint8Array {
    return this.#bytes[state] ?? this.#expand(state);
  }

  /** Index of the text that ends here, or -1. */
  endOf(state: number): number {
    const first = this.#lo[state] as number;
    return this.texts[first]?.length === this.#depth[state] ? first : -1;
  }

  /** The texts that go on from here are those from `first` to before `end`. */
  first(state: number): number {
    return this.#lo[state] as number;
  }

  end(state: number): number {
    return this.#hi[state] as number;
  }

  /** Bytes read. */
  depth(state: number): number {
    return this.#depth[state] as number;
  }

  /** Bytes that the shortest text from here still needs. */
  rest(state: number): number {
    let least = Number.POSITIVE_INFINITY;
    for (let i = this.first(state); i < this.end(state); i++) {
      least = Math.min(least, (this.texts[i] as Uint8Array).length);
    }
    return least - (this.#depth[state] as number);
  }

  #expand(state: number): Uint8Array {
    const depth = this.#depth[state] as number;
    const end = this.#hi[state] as number;
    const bytes: number[] = [];
    const targets: number[] = [];
    let at = this.#lo[state] as number;
    if ((this.texts[at]?.length ?? 0) === depth) at += 1;
    while (at < end) {
      const byte = this.texts[at]?.[depth] as number;
      let next = at + 1;
      while (next < end && this.texts[next]?.[depth] === byte) next += 1;
      bytes.push(byte);
      targets.push(this.#add(at, next, depth + 1));
      at = next;
    }
    this.#targets[state] = Int32Array.from(targets);
    const packed = Uint8Array.from(bytes);
    this.#bytes[state] = packed;
    return packed;
  }

  #add(lo: number, hi: number, depth: number): number {
    this.#lo.push(lo);
    this.#hi.push(hi);
    this.#depth.push(depth);
    return this.#lo.length - 1;
  }
}
