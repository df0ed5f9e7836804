/**
 * An automaton over code points, read as the bytes between the quotes of a JSON string.
 *
 * Canonical spelling only, one per string: literal UTF-8, and escapes where JSON demands them:
 * `\"`, `\\`, `\b`, `\f`, `\n`, `\r`, `\t`, and `\u00xx` in lowercase for the other control
 * characters. So lengths, patterns and keys mean the decoded text, and nothing has two spellings.
 *
 * States are made when they are first reached. A state is "between" code points, or inside one.
 */
import { classOf, segmentOf } from "./char-classes.ts";
import type { Dfa } from "./dfa.ts";
import { isUniversal } from "./dfa-algebra.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const UNKNOWN = -2;

/** The letter after a backslash → the code point that it stands for. */
const SHORT_ESCAPES: readonly (readonly [number, number])[] = [
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
];
const LOWERCASE_HEX = "0123456789abcdef";

/** Inside a UTF-8 sequence: the bits so far, and how many bytes are missing. */
interface Partial {
  readonly from: number;
  readonly bits: number;
  readonly missing: number;
  /** The least code point that a sequence of this length may spell: below it is "overlong". */
  readonly least: number;
}

/** The same where what is missing makes no difference: any continuation leads to `target`. */
interface Skip {
  readonly target: number;
  readonly missing: number;
}

/** Inside `\u00xx`: the text after the backslash so far. */
interface Escape {
  readonly from: number;
  readonly text: string;
}

export class JsonStringAutomaton {
  readonly dfa: Dfa;
  /** Every string is in the language, from every state between code points. */
  readonly universal: boolean;
  /** Per state: the automaton's state between code points, -1 inside one. */
  readonly between: number[] = [];
  readonly #insides = new Map<number, Partial | Skip | Escape>();
  readonly #ids = new Map<string, number>();
  readonly #betweenIds: Int32Array;
  readonly #targets = new Map<number, readonly number[]>();
  readonly #freeState: number;
  #rows = new Int32Array(256 * 4).fill(UNKNOWN);

  constructor(dfa: Dfa) {
    this.dfa = dfa;
    this.universal = isUniversal(dfa);
    this.#freeState = freeStateOf(dfa);
    this.#betweenIds = new Int32Array(dfa.size).fill(-1);
    if (dfa.size > 0) this.#betweenState(0);
  }

  /**
   * State after a byte of content, or -1. The closing quote is not content. State 0 is the start.
   */
  step(state: number, byte: number): number {
    const next = this.#rows[(state << 8) | byte] as number;
    if (next !== UNKNOWN) return next;
    return this.#compute(state, byte);
  }

  /** Any content may follow and the string may end at any time; always between code points. */
  isFree(state: number): boolean {
    const at = this.between[state] as number;
    return at >= 0 && at === this.#freeState;
  }

  /**
   * States of the DFA that the code point now being read can lead to; the state itself between two.
   */
  targetsOf(state: number): readonly number[] {
    const at = this.between[state] as number;
    if (at >= 0) return [at];
    const known = this.#targets.get(state);
    if (known) return known;
    const targets = this.#insideTargets(this.#insides.get(state) as Partial | Skip | Escape);
    this.#targets.set(state, targets);
    return targets;
  }

  /** Bytes that end the code point now being read, so that `isGood` says yes to where it leads. */
  leave(
    state: number,
    isGood: (dfaState: number) => boolean,
  ): { readonly bytes: Uint8Array; readonly dfaState: number } {
    let frontier: { readonly state: number; readonly bytes: readonly number[] }[] = [
      { state, bytes: [] },
    ];
    // A code point has at most six bytes: an escape \u00xx.
    for (let depth = 0; depth <= 6; depth++) {
      for (const at of frontier) {
        const dfaState = this.between[at.state] as number;
        if (dfaState >= 0 && isGood(dfaState))
          return { bytes: Uint8Array.from(at.bytes), dfaState };
      }
      frontier = frontier
        .filter((at) => (this.between[at.state] as number) < 0)
        .flatMap(({ state: from, bytes }) =>
          this.#distinctSteps(from).map(([byte, to]) => ({ state: to, bytes: [...bytes, byte] })),
        );
    }
    throw new Error("a string state without an end");
  }

  /** The closing quote may come here (lengths apart). */
  accepts(state: number): boolean {
    const at = this.between[state] as number;
    return at >= 0 && this.dfa.accepts[at] !== 0;
  }

  #compute(state: number, byte: number): number {
    const at = this.between[state] as number;
    const inside = this.#insides.get(state);
    let next = -1;
    if (at >= 0) next = this.#first(at, byte);
    else if (inside && "text" in inside) next = this.#escape(inside, byte);
    else if (inside && byte >= 0x80 && byte <= 0xbf) next = this.#continuation(inside, byte);
    this.#rows[(state << 8) | byte] = next;
    return next;
  }

  /** First byte of a code point. */
  #distinctSteps(state: number): [number, number][] {
    const steps = new Map<number, number>();
    for (let byte = 0; byte < 256; byte++) {
      const next = this.step(state, byte);
      if (next >= 0 && !steps.has(next)) steps.set(next, byte);
    }
    return [...steps].map(([next, byte]) => [byte, next]);
  }

  #insideTargets(inside: Partial | Skip | Escape): number[] {
    if ("target" in inside) return [inside.target];
    const { classes } = this.dfa;
    if ("text" in inside) {
      const points = [...escapable()].filter(([text]) => text.startsWith(inside.text));
      return unique(points.map(([, point]) => this.#target(inside.from, classOf(classes, point))));
    }
    const lo = Math.max(inside.bits << (6 * inside.missing), inside.least);
    const hi = ((inside.bits + 1) << (6 * inside.missing)) - 1;
    const targets: number[] = [];
    for (let segment = segmentOf(classes, lo); segment < classes.starts.length; segment++) {
      if ((classes.starts[segment] as number) > hi) break;
      targets.push(this.#target(inside.from, classes.classes[segment] as number));
    }
    return unique(targets);
  }

  #first(at: number, byte: number): number {
    if (byte < 0x20 || byte === QUOTE) return -1;
    if (byte === BACKSLASH) return this.#escapeState({ from: at, text: "" });
    if (byte < 0x80) return this.#after(at, byte);
    if (byte < 0xc2 || byte > 0xf4) return -1;
    if (byte < 0xe0) return this.#inside({ from: at, bits: byte & 0x1f, missing: 1, least: 0x80 });
    if (byte < 0xf0) return this.#inside({ from: at, bits: byte & 0x0f, missing: 2, least: 0x800 });
    return this.#inside({ from: at, bits: byte & 0x07, missing: 3, least: 0x10000 });
  }

  #continuation(inside: Partial | Skip, byte: number): number {
    const missing = inside.missing - 1;
    if ("target" in inside) {
      if (missing === 0) return this.#betweenState(inside.target);
      return this.#insideState(`skip ${inside.target},${missing}`, { ...inside, missing });
    }
    const bits = (inside.bits << 6) | (byte & 0x3f);
    if (missing > 0) return this.#inside({ ...inside, bits, missing });
    return bits < inside.least ? -1 : this.#after(inside.from, bits);
  }

  /** The state inside a sequence; -1 if no code point that it could spell can be read. */
  #inside(partial: Partial): number {
    const { from, bits, missing, least } = partial;
    const first = bits << (6 * missing);
    const lo = Math.max(first, least);
    const last = first + (1 << (6 * missing)) - 1;
    const hi = Math.min(last, 0x10ffff);
    if (lo > hi || !this.#readsRange(from, lo, hi)) return -1;
    const { classes } = this.dfa;
    const segment = segmentOf(classes, lo);
    if (lo === first && hi === last && segment === segmentOf(classes, hi)) {
      const target = this.#target(from, classes.classes[segment] as number);
      return this.#insideState(`skip ${target},${missing}`, { target, missing });
    }
    return this.#insideState(`${from},${bits},${missing},${least}`, partial);
  }

  #after(at: number, codePoint: number): number {
    const charClass = classOf(this.dfa.classes, codePoint);
    if (charClass < 0) return -1;
    const next = this.dfa.table[at * this.dfa.classes.count + charClass] as number;
    return next < 0 ? -1 : this.#betweenState(next);
  }

  #escape({ from, text }: Escape, byte: number): number {
    if (text === "") {
      for (const [letter, codePoint] of SHORT_ESCAPES) {
        if (byte === letter) return this.#after(from, codePoint);
      }
      return byte === 0x75 ? this.#escapeState({ from, text: "u" }) : -1;
    }
    const next = text + String.fromCharCode(byte);
    if (!LOWERCASE_HEX.includes(next.slice(-1))) return -1;
    if (next.length < 5) return this.#escapeState({ from, text: next });
    const codePoint = Number.parseInt(next.slice(1), 16);
    return needsLongEscape(codePoint) ? this.#after(from, codePoint) : -1;
  }

  #betweenState(at: number): number {
    const known = this.#betweenIds[at] as number;
    if (known >= 0) return known;
    const id = this.#addState(at);
    this.#betweenIds[at] = id;
    return id;
  }

  #escapeState(stage: Escape): number {
    // Dead ends are not entered: some control character must be readable after this prefix.
    const possible = [...escapable()].some(
      ([text, codePoint]) => text.startsWith(stage.text) && this.#reads(stage.from, codePoint),
    );
    return possible ? this.#insideState(`\\${stage.from}${stage.text}`, stage) : -1;
  }

  #insideState(key: string, inside: Partial | Skip | Escape): number {
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#addState(-1);
    this.#ids.set(key, id);
    this.#insides.set(id, inside);
    return id;
  }

  #addState(at: number): number {
    const id = this.between.length;
    this.between.push(at);
    if (this.#rows.length < (id + 1) << 8) {
      const rows = new Int32Array(this.#rows.length * 2).fill(UNKNOWN, this.#rows.length);
      rows.set(this.#rows);
      this.#rows = rows;
    }
    return id;
  }

  #reads(from: number, codePoint: number): boolean {
    return this.#target(from, classOf(this.dfa.classes, codePoint)) >= 0;
  }

  #readsRange(from: number, lo: number, hi: number): boolean {
    const { classes } = this.dfa;
    for (let segment = segmentOf(classes, lo); segment < classes.starts.length; segment++) {
      if ((classes.starts[segment] as number) > hi) return false;
      if (this.#target(from, classes.classes[segment] as number) >= 0) return true;
    }
    return false;
  }

  #target(from: number, charClass: number): number {
    return charClass < 0
      ? -1
      : (this.dfa.table[from * this.dfa.classes.count + charClass] as number);
  }
}

function unique(targets: readonly number[]): number[] {
  return [...new Set(targets)].filter((target) => target >= 0);
}

/** The one state of a minimal automaton from which every string is accepted; -1 if it has none. */
function freeStateOf(dfa: Dfa): number {
  const { count } = dfa.classes;
  for (let state = 0; state < dfa.size; state++) {
    const row = dfa.table.subarray(state * count, (state + 1) * count);
    if (dfa.accepts[state] !== 0 && row.every((target) => target === state)) return state;
  }
  return -1;
}

function needsLongEscape(codePoint: number): boolean {
  return codePoint < 0x20 && !SHORT_ESCAPES.some(([, short]) => short === codePoint);
}

function* escapable(): Generator<readonly [string, number]> {
  for (const [letter, codePoint] of SHORT_ESCAPES) yield [String.fromCharCode(letter), codePoint];
  for (let c = 0; c < 0x20; c++) {
    if (needsLongEscape(c)) yield [`u${c.toString(16).padStart(4, "0")}`, c];
  }
}
