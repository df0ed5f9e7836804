/**
 * Scores answers against the blind set (`test/vectors/tiny-blind.jsonl`): what counts as right, and
 * how it is counted. An expected value may be `{$any: [...]}`, `{$range: [low, high]}` or
 * `{$ignore: true}`.
 */

export interface Tally {
  right: number;
  of: number;
}

export interface Score {
  /** Scalars of extraction, those inside lists by position. */
  readonly fields: Tally;
  /** Extractions with every scalar and every list length right. */
  readonly documents: Tally;
  /** Classifications with every property right. */
  readonly classes: Tally;
  /** Scalars that should be null. */
  readonly absent: Tally;
  /** List items found anywhere in the answer's list, of the longer of both lists. */
  readonly items: Tally;
  readonly tools: Tally;
  readonly grounded: Tally;
  readonly chat: Tally;
}

export const newScore = (): Score => ({
  fields: { right: 0, of: 0 },
  documents: { right: 0, of: 0 },
  classes: { right: 0, of: 0 },
  absent: { right: 0, of: 0 },
  items: { right: 0, of: 0 },
  tools: { right: 0, of: 0 },
  grounded: { right: 0, of: 0 },
  chat: { right: 0, of: 0 },
});

export function count(tally: Tally, isRight: boolean): void {
  tally.of += 1;
  if (isRight) tally.right += 1;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @returns whether the whole value is right. */
export function scoreExtraction(score: Score, expected: unknown, actual: unknown): boolean {
  const isRight = scoreValue(score, expected, actual);
  count(score.documents, isRight);
  return isRight;
}

function scoreValue(score: Score, expected: unknown, actual: unknown): boolean {
  if (isIgnored(expected)) return true;
  if (Array.isArray(expected)) return scoreList(score, expected, actual);
  if (isObject(expected) && !isRule(expected)) {
    const answer = isObject(actual) ? actual : {};
    const members = Object.entries(expected).map(([key, value]) =>
      scoreValue(score, value, answer[key]),
    );
    return members.every((right) => right);
  }
  const isRight = matches(expected, actual);
  count(score.fields, isRight);
  if (expected === null) count(score.absent, isRight);
  return isRight;
}

function scoreList(score: Score, expected: readonly unknown[], actual: unknown): boolean {
  const answer: readonly unknown[] = Array.isArray(actual) ? actual : [];
  const left = [...answer];
  let found = 0;
  for (const item of expected) {
    const at = left.findIndex((one) => matches(item, one));
    if (at < 0) continue;
    left.splice(at, 1);
    found += 1;
  }
  score.items.right += found;
  score.items.of += Math.max(expected.length, answer.length);
  const members = expected.map((item, i) => scoreValue(score, item, answer[i]));
  return answer.length === expected.length && members.every((right) => right);
}

const isRule = (value: unknown): boolean =>
  isObject(value) && ("$any" in value || "$range" in value || "$ignore" in value);
const isIgnored = (value: unknown): boolean => isObject(value) && value["$ignore"] === true;

/** Strings are compared without white space around them, all else exactly. */
export function matches(expected: unknown, actual: unknown): boolean {
  if (isIgnored(expected)) return true;
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return false;
    return expected.every((item, i) => matches(item, actual[i]));
  }
  if (!isObject(expected)) {
    if (typeof expected === "string" && typeof actual === "string") {
      return expected.trim() === actual.trim();
    }
    return expected === actual;
  }
  if (Array.isArray(expected["$any"])) return expected["$any"].some((one) => matches(one, actual));
  if (Array.isArray(expected["$range"])) return isInRange(expected["$range"], actual);
  if (!isObject(actual)) return false;
  return Object.entries(expected).every(([key, value]) => matches(value, actual[key]));
}

function isInRange([low, high]: readonly unknown[], actual: unknown): boolean {
  return typeof actual === "number" && actual >= Number(low) && actual <= Number(high);
}

/** A grounded answer says what it should and cites the right snippets, and only those. */
export function isGrounded(
  contains: readonly string[] | null,
  cites: readonly number[],
  answer: string,
): boolean {
  const cited = new Set([...answer.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1])));
  const citesRight = cited.size === cites.length && cites.every((one) => cited.has(one));
  return citesRight && (contains ?? []).every((text) => answer.includes(text));
}

export const share = ({ right, of }: Tally): number =>
  of === 0 ? 1 : Math.round((1000 * right) / of) / 1000;
