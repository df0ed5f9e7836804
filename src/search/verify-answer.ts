/**
 * Whether the numbers, names and quotes of each cited sentence occur in the texts that it cites:
 * a deterministic check, by words. It does not understand: "not supported" means that a word is
 * not there, and "supported" does not mean that the sentence is true.
 */
import { wordsOf } from "../process/conflict/parse-name.ts";
import { citedIn } from "./citations.ts";
import type { SearchResult } from "./result.ts";

export type VerifyVerdict = "supported" | "partial" | "unsupported" | "not_checked";

interface SentenceCheck {
  /** Position among the answer's sentences. */
  readonly sentence: number;
  readonly citations: readonly number[];
  /** Claims that occur in none of the cited texts, in order of appearance. */
  readonly missing: readonly string[];
}

export interface Verification {
  readonly verdict: VerifyVerdict;
  readonly sentences: readonly SentenceCheck[];
}

export function verifyAnswer(answer: string, results: readonly SearchResult[]): Verification {
  const sentences = sentencesOf(answer).flatMap((text, sentence) => {
    const citations = citedIn(text);
    if (citations.length === 0) return [];
    const cited = citations.flatMap((number) => results[number - 1] ?? []);
    const found = textOf(cited);
    const missing = claimsOf(text).filter((claim) => !found.includes(` ${claim} `));
    return [{ sentence, citations, missing }];
  });
  return { verdict: verdictOf(sentences), sentences };
}

function verdictOf(sentences: readonly SentenceCheck[]): VerifyVerdict {
  if (sentences.length === 0) return "not_checked";
  const good = sentences.filter(({ missing }) => missing.length === 0).length;
  if (good === sentences.length) return "supported";
  return good === 0 ? "unsupported" : "partial";
}

/** A marker that follows the full stop belongs to the sentence before it. */
export function sentencesOf(answer: string): string[] {
  const pieces = answer.match(
    /[^.!?\n]*(?:[.!?](?![\s[]|$)[^.!?\n]*)*(?:[.!?]+|\n|$)(?:\s*\[\d+\])*/g,
  );
  return (pieces ?? []).map((piece) => piece.trim()).filter((piece) => piece !== "");
}

/** The cited texts as folded words, with a space before and after each. */
function textOf(results: readonly SearchResult[]): string {
  const texts = results.map(({ title, snippet }) => normalised(`${title} ${snippet}`));
  return texts.map((text) => ` ${text} `).join("|");
}

/** Thousands separators are dropped, decimals are kept as a word of their own. */
function normalised(text: string): string {
  const numbers = text
    .replace(/(?<=\d)[,'\u2019\u00a0](?=\d{3}(?!\d))/g, "")
    .replace(/(?<=\d)\.(?=\d)/g, "point");
  return wordsOf(numbers, " ").join(" ");
}

/** Words that begin a sentence with a capital letter and name nobody. */
const NOT_NAMES: ReadonlySet<string> = new Set(
  (
    "a an the this that these those it its he she they we you i there here in on at of for from " +
    "to by with as and but or if when while where who what which how why is are was were has " +
    "have had do does did will would can could should may might must not no yes according both " +
    "all some many most each every after before since until during under over between however " +
    "also then thus so because although though instead still only"
  ).split(" "),
);

/** Numbers, capitalised names and quotes of a sentence, folded. */
function claimsOf(sentence: string): string[] {
  const text = sentence.replace(/\[\d+\]/g, " ");
  const claims = new Set<string>();
  const add = (claim: string): void => {
    const folded = normalised(claim);
    if (folded !== "") claims.add(folded);
  };
  for (const [, quote] of text.matchAll(/["“«]([^"”»]{3,300})["”»]/g)) add(quote ?? "");
  const unquoted = text.replace(/["“«][^"”»]{3,300}["”»]/g, " ");
  for (const [number] of unquoted.matchAll(/\d[\d,.'\u2019]*\d|\d/g)) add(number);
  for (const [name] of unquoted.matchAll(/\p{Lu}[\p{L}\p{M}'’-]+(?: \p{Lu}[\p{L}\p{M}'’-]+)*/gu)) {
    for (const word of name.split(" ")) if (!NOT_NAMES.has(word.toLowerCase())) add(word);
  }
  return [...claims];
}
