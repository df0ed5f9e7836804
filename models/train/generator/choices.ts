/**
 * Where in the sketch the labels of each question end, and which one is right; and the ends of the yes or no's. Training
 * lets the network choose among them while it reads (../trainer/model.py): one token of an answer teaches little
 * of how each label bears on the text.
 */
import { answerText } from "./answer.ts";
import type { Sample } from "./sample.ts";
import { tokenFinder } from "./tags.ts";
import type { Tokenizer } from "./tokenizer.ts";

export interface Question {
  /** Indices into the tokens of the system's text: of the last one of each label, or of `boolean`. */
  readonly ends: readonly number[];
  /** Index of the right label; of a yes or no, which has one end, 0 for yes and 1 for no. */
  readonly right: number;
}

interface Asked {
  readonly enum?: readonly unknown[];
  readonly type?: unknown;
}

/**
 * Of the properties at the top alone, with a value in the answer.
 * @param tokens of the system's text, which begins with the sketch.
 */
export function questionsOf(
  tokenizer: Tokenizer,
  { schema, system, answer }: Sample,
  tokens: readonly number[],
): Question[] {
  const { properties } = (schema ?? {}) as { properties?: Readonly<Record<string, Asked>> };
  if (properties === undefined) return [];
  const values = JSON.parse(answerText(answer)) as Readonly<Record<string, unknown>>;
  const tokenAt = tokenFinder(tokenizer, system, tokens);
  return Object.entries(properties).flatMap(([name, { enum: labels, type }]) => {
    const value = values[name];
    const printed =
      labels?.map((label) => JSON.stringify(label)) ?? (type === "boolean" ? ["boolean"] : []);
    const right = labels?.indexOf(value) ?? [true, false].indexOf(value as boolean);
    const start = placeOf(system, name, printed.join("|"));
    if (printed.length === 0 || right < 0 || start === null) return [];
    let end = start;
    const ends = printed.map((label) => {
      end += label.length + 1;
      return tokenAt(end - 2);
    });
    return { ends, right };
  });
}

/** Where a property's type begins in the sketch. */
function placeOf(sketch: string, name: string, type: string): number | null {
  for (const before of ["{", ","])
    for (const after of [":", "?:"]) {
      const key = `${before}${name}${after}`;
      const at = sketch.indexOf(`${key}${type}`);
      if (at >= 0) return at + key.length;
    }
  return null;
}
