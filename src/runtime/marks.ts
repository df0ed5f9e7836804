/**
 * Keeps text that came with a request apart from the template around it, so that none of it can
 * become a control token. Texts are marked before the template is rendered and the marks taken out
 * after: three code points of the private use area that occur nowhere in the request.
 *
 * - `open` and `close` stand around a text, inside its white space (templates trim).
 * - `broken` stands inside every spelling of a control token. Even if a template cuts a text in
 *   half and loses its marks, what is left spells no control token.
 */

export interface Marks {
  readonly open: string;
  readonly close: string;
  readonly broken: string;
}

/** A piece of a rendered prompt. */
export interface Span {
  readonly text: string;
  /** Whether it came with the request. */
  readonly foreign: boolean;
  /** Where, in UTF-16 units, the text must be cut so that no token spans the place; ascending. */
  readonly cuts: readonly number[];
}

const PRIVATE_USE: readonly (readonly [number, number])[] = [
  [0xe000, 0xf8ff],
  [0xf0000, 0xffffd],
];

/** @param texts everything the marks must not occur in; together far below 71,000 code points. */
export function chooseMarks(texts: Iterable<string>): Marks {
  const used = new Set<number>();
  for (const text of texts) {
    for (const [character] of text.matchAll(/[\u{e000}-\u{f8ff}\u{f0000}-\u{ffffd}]/gu)) {
      used.add(character.codePointAt(0) ?? 0);
    }
  }
  const free: string[] = [];
  for (const [first, last] of PRIVATE_USE) {
    for (let code = first; code <= last && free.length < 3; code++) {
      if (!used.has(code)) free.push(String.fromCodePoint(code));
    }
  }
  const [open, close, broken] = free;
  // 71,932 code points would have to be in a request of at most 4 MiB, each at least three bytes.
  if (open === undefined || close === undefined || broken === undefined) {
    throw new RangeError("the request uses every private code point");
  }
  return { open, close, broken };
}

/** @param control matches the text of every control token, with flag `g`. */
export function mark(text: string, marks: Marks, control: RegExp): string {
  const inner = text.trim();
  if (inner === "") return text;
  const start = text.indexOf(inner);
  const broken = inner.replace(control, (token) => breakToken(token, marks));
  return (
    text.slice(0, start) + marks.open + broken + marks.close + text.slice(start + inner.length)
  );
}

/** The mark goes behind the first character: what follows spells something else. */
function breakToken(token: string, { broken }: Marks): string {
  const first = String.fromCodePoint(token.codePointAt(0) ?? 0);
  return first + broken + token.slice(first.length);
}

/**
 * Takes the marks out of a rendered prompt.
 *
 * A template may have cut a text apart. What follows an `open` without a `close`, or precedes a
 * `close` without an `open`, up to the next mark, counts as foreign too.
 */
export function readMarks(rendered: string, marks: Marks): Span[] {
  const pieces = rendered.split(new RegExp(`([${marks.open}${marks.close}])`, "u"));
  const spans: Span[] = [];
  for (let index = 0; index < pieces.length; index += 2) {
    const foreign = pieces[index - 1] === marks.open || pieces[index + 1] === marks.close;
    const span = withoutBreaks(pieces[index] ?? "", foreign, marks);
    if (span.text !== "") spans.push(span);
  }
  return spans;
}

function withoutBreaks(piece: string, foreign: boolean, { broken }: Marks): Span {
  const parts = piece.split(broken);
  const cuts: number[] = [];
  let length = 0;
  for (const part of parts.slice(0, -1)) {
    length += part.length;
    cuts.push(length);
  }
  return { text: parts.join(""), foreign, cuts };
}
