/** Answers with how much each stretch of them counts in training. */

/** A JSON number as it is written. */
export class NumberLiteral {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type AnswerValue =
  | null
  | boolean
  | string
  | Label
  | NumberLiteral
  | readonly AnswerValue[]
  | ReadonlyMap<string, AnswerValue>;

/** A string that is one of an enum. */
export class Label {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A stretch of an answer, with its weight. */
export type Piece = readonly [text: string, weight: number];

/** Under the lock the model chooses none of it; unlocked it must know it all the same. */
const STRUCTURE = 0.4;
const COPIED = 1;
/** Few tokens that decide much: without the weight classes stay near chance (measured). */
const DECIDED = 6;

/** Compact JSON. */
export function printAnswer(value: AnswerValue): Piece[] {
  if (value === null || typeof value === "boolean") return [[String(value), DECIDED]];
  if (typeof value === "string") return [[JSON.stringify(value), COPIED]];
  if (value instanceof NumberLiteral) return [[value.text, COPIED]];
  if (value instanceof Label) {
    return [
      ['"', STRUCTURE],
      [JSON.stringify(value.text).slice(1, -1), DECIDED],
      ['"', STRUCTURE],
    ];
  }
  const pieces: Piece[] = [];
  if (value instanceof Map) {
    let before = "{";
    for (const [key, member] of value) {
      pieces.push([`${before}${JSON.stringify(key)}:`, STRUCTURE], ...printAnswer(member));
      before = ",";
    }
    pieces.push([before === "{" ? "{}" : "}", STRUCTURE]);
    return pieces;
  }
  // Whether the list goes on is the model's choice.
  const items = value as readonly AnswerValue[];
  pieces.push(["[", STRUCTURE]);
  items.forEach((item, i) => {
    if (i > 0) pieces.push([",", COPIED]);
    pieces.push(...printAnswer(item));
  });
  pieces.push(["]", items.length === 0 ? DECIDED : COPIED]);
  return pieces;
}

export const answerText = (pieces: readonly Piece[]): string =>
  pieces.map(([text]) => text).join("");
