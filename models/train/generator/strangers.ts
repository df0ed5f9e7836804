/**
 * Labels of other sets among those of a set, so that a label has to be read and cannot be remembered with its
 * text or its set: `cause : burst pipe | burst pipe, frost`, and `power cut`, a cause of another text.
 */
import { inWords } from "./names.ts";
import type { Rng } from "./rng.ts";
import { isAlike } from "./topics.ts";
import { cosine, nearness, unitVectors, type Vector } from "./vectors.ts";

/** The most used words say nothing of a text's subject. */
const USUAL_WORDS = 60;
/** Labels that are nearer to each other than this may both be right. */
const NEAR = 0.5;
const TRIES = 16;

let telling: ReadonlyMap<string, Vector> | undefined;

/**
 * Up to `count` labels that are wrong: each is farther from the text than the right one is, by the words' vectors.
 * None where the vectors do not tell.
 */
export function strangers(
  rng: Rng,
  pool: readonly string[],
  text: string,
  right: string,
  count: number,
): string[] {
  telling ??= new Map([...unitVectors()].slice(USUAL_WORDS));
  const heard = vectorsIn(text);
  const rightWords = vectorsIn(right);
  const wanted = nearnessOf(rightWords, heard);
  const isOther = (label: string): boolean => {
    const its = vectorsIn(label);
    return (
      its.length > 0 &&
      nearnessOf(its, heard) < wanted &&
      !isAlike(namedBy(label), namedBy(right)) &&
      its.every((one) => rightWords.every((other) => cosine(one, other) < NEAR))
    );
  };
  const candidates = new Set(Array.from({ length: TRIES }, () => rng.pick(pool)));
  return [...candidates].filter(isOther).slice(0, count);
}

const namedBy = (label: string) => ({ names: inWords(label).split(" ") });

const vectorsIn = (text: string): Vector[] =>
  [...new Set(inWords(text).match(/[a-z]{3,}/g))].flatMap((word) => telling?.get(word) ?? []);

/** Of a label's words to those of a text, on average. */
function nearnessOf(label: readonly Vector[], heard: readonly Vector[]): number {
  if (label.length === 0 || heard.length < 2) return -1;
  const scores = label.map((one) => nearness(one, heard).score);
  return scores.reduce((sum, one) => sum + one, 0) / scores.length;
}
