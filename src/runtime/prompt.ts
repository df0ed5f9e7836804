/**
 * From a rendered prompt to tokens. The template's own text may hold control tokens; foreign text
 * never does, in whatever way the two touch.
 */
import type { Span } from "./marks.ts";

/** The part of a model that turns text into tokens. */
export interface Tokenizer {
  readonly beginToken: number | null;
  readonly prependsBeginToken: boolean;
  /** @param special whether the text of a control token becomes that token. */
  tokenize(text: string, special: boolean): number[];
}

/** A token that text can spell and that means something to the model. */
export interface ControlToken {
  readonly id: number;
  readonly text: string;
  /** Whether it swallows the white space before and after itself. */
  readonly stripLeft: boolean;
  readonly stripRight: boolean;
}

/** The control tokens of a vocabulary, ready to be found in text. */
export class ControlTokens {
  readonly #byText: ReadonlyMap<string, ControlToken>;
  /** Matches every control token, the longest where several start at one place. */
  readonly pattern: RegExp;

  constructor(tokens: readonly ControlToken[]) {
    const spelled = tokens.filter(({ text }) => text !== "");
    this.#byText = new Map(spelled.map((token) => [token.text, token]));
    const alternatives = [...this.#byText.keys()]
      .sort((a, b) => b.length - a.length)
      .map((text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
    // An empty class matches nothing.
    this.pattern = new RegExp(alternatives.length === 0 ? "[]" : alternatives.join("|"), "g");
  }

  get(text: string): ControlToken | null {
    return this.#byText.get(text) ?? null;
  }
}

export function tokenizePrompt(
  tokenizer: Tokenizer,
  control: ControlTokens,
  spans: readonly Span[],
): number[] {
  const { text, foreign, cuts } = join(spans);
  const tokens: number[] = [];
  let runStart = 0;
  let dropSpace = false;
  const addRun = (end: number, next: ControlToken | null) => {
    let [from, to] = [runStart, end];
    if (dropSpace) while (from < to && isSpace(text[from])) from += 1;
    if (next?.stripLeft) while (to > from && isSpace(text[to - 1])) to -= 1;
    const places = [from, ...cuts.filter((cut) => cut > from && cut < to), to];
    for (const [index, place] of places.slice(0, -1).entries()) {
      const piece = text.slice(place, places[index + 1]);
      if (piece !== "") tokens.push(...tokenizer.tokenize(piece, false));
    }
  };
  for (const { token, start } of controlTokensOf(text, foreign, control, cuts)) {
    addRun(start, token);
    tokens.push(token.id);
    runStart = start + token.text.length;
    dropSpace = token.stripRight;
  }
  addRun(text.length, null);
  const { beginToken } = tokenizer;
  if (tokenizer.prependsBeginToken && beginToken !== null && tokens[0] !== beginToken) {
    tokens.unshift(beginToken);
  }
  return tokens;
}

/** White space as llama.cpp strips it around a token: C's isspace. */
const isSpace = (character: string | undefined): boolean =>
  character !== undefined && " \t\n\v\f\r".includes(character);

interface Joined {
  readonly text: string;
  /** Foreign stretches, as start and end. */
  readonly foreign: readonly (readonly [number, number])[];
  readonly cuts: number[];
}

function join(spans: readonly Span[]): Joined {
  let text = "";
  const foreign: [number, number][] = [];
  const cuts: number[] = [];
  for (const span of spans) {
    cuts.push(...span.cuts.map((cut) => text.length + cut));
    if (span.foreign) foreign.push([text.length, text.length + span.text.length]);
    text += span.text;
  }
  return { text, foreign, cuts };
}

/**
 * The control tokens that the template itself spells. A spelling that touches foreign text is none;
 * it gets a cut, so that the tokenizer does not see it either.
 */
function controlTokensOf(
  text: string,
  foreign: readonly (readonly [number, number])[],
  control: ControlTokens,
  cuts: number[],
): { readonly token: ControlToken; readonly start: number }[] {
  const found: { token: ControlToken; start: number }[] = [];
  const pattern = new RegExp(control.pattern);
  let span = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const start = match.index;
    const end = start + match[0].length;
    const broken = cuts.some((cut) => cut > start && cut < end);
    while ((foreign[span]?.[1] ?? Number.POSITIVE_INFINITY) <= start) span += 1;
    const touches = (foreign[span]?.[0] ?? Number.POSITIVE_INFINITY) < end;
    const token = control.get(match[0]);
    if (token !== null && !touches && !broken) found.push({ token, start });
    else {
      // Another spelling may start inside this one.
      const inside = start + String.fromCodePoint(text.codePointAt(start) ?? 0).length;
      pattern.lastIndex = inside;
      cuts.push(inside);
    }
  }
  cuts.sort((a, b) => a - b);
  return found;
}
