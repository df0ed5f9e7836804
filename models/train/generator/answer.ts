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
const STRUCTURE = 0.7;
export const COPIED = 1;
/** Not always as the text has it: separators go. The month and the day of a date count as a beginning. */
const COMPUTED = 2;
/**
 * The first token of a value says which stretch of the text it is. So weighs what opens a string or a
 * list too: that token is the choice against null or an empty list, before either is written.
 */
export const BEGINNING = 4;
/** Null and the empty list: as much as what would stand there, so that the likelier one wins. */
const ABSENT = BEGINNING;
/** Its end, or that of an object, says how far it goes. */
const ENDING = 2;
/** Whether a list goes on: one wrong choice here is wrong items to the end of it. */
const LISTING = 4;
/** Few tokens that decide much: without the weight classes stay near chance (measured). */
export const DECIDED = 8;

/** Compact JSON. */
export function printAnswer(value: AnswerValue): Piece[] {
  if (value === null) return [["null", ABSENT]];
  if (typeof value === "boolean") return [[String(value), DECIDED]];
  if (typeof value === "string") return printString(value);
  if (value instanceof NumberLiteral) return printStretch(value.text, COMPUTED);
  if (value instanceof Label) {
    return [
      ['"', BEGINNING],
      [JSON.stringify(value.text).slice(1, -1), DECIDED],
      ['"', STRUCTURE],
    ];
  }
  const pieces: Piece[] = [];
  if (value instanceof Map) {
    let before = "{";
    for (const [key, member] of value) {
      // Where nothing opens a string behind it, the colon has decided for null.
      const colon = member === null ? ABSENT : STRUCTURE;
      pieces.push([`${before}${JSON.stringify(key)}`, STRUCTURE], [":", colon]);
      pieces.push(...printAnswer(member));
      before = ",";
    }
    pieces.push([before === "{" ? "{}" : "}", ENDING]);
    return pieces;
  }
  // Whether the list goes on is the model's choice.
  const items = value as readonly AnswerValue[];
  pieces.push(["[", BEGINNING]);
  items.forEach((item, i) => {
    if (i > 0) pieces.push([",", LISTING]);
    pieces.push(...printAnswer(item));
  });
  pieces.push(["]", items.length === 0 ? ABSENT : LISTING]);
  return pieces;
}

function printString(value: string): Piece[] {
  const text = JSON.stringify(value).slice(1, -1);
  const rest = /^\d{4}-\d\d-\d\d$/.test(text) ? BEGINNING : COPIED;
  return [['"', BEGINNING], ...printStretch(text, rest), ['"', ENDING]];
}

function printStretch(text: string, rest: number): Piece[] {
  const [first = ""] = text;
  return [
    [first, BEGINNING],
    [text.slice(first.length), rest],
  ];
}

export const answerText = (pieces: readonly Piece[]): string =>
  pieces.map(([text]) => text).join("");
