/** Citation markers: the language in which only those of results that exist can be written. */
import type { JsonValue } from "../bytes/canonical-json.ts";

/**
 * A JSON Schema of a string in which "[" only opens the number of one of the results: what the
 * answer is decoded under, as a JSON string.
 * @param count results, 0 to 10.
 */
export function answerSchema(count: number): JsonValue {
  const markers = Array.from({ length: count }, (_, index) => String(index + 1));
  const marker = markers.length === 0 ? "" : `|\\[(?:${markers.join("|")})\\]`;
  return { type: "string", minLength: 1, pattern: `^(?:[^\\[\\]]${marker})+$` };
}

/** The same language as a GBNF grammar over the bare text. */
export function answerGrammar(count: number): string {
  const markers = Array.from({ length: count }, (_, index) => `"[${index + 1}]"`);
  const piece = ["[^\\[\\]]", ...markers].join(" | ");
  return `root ::= (${piece})+\n`;
}

/** Numbers of the results that a text cites, ascending. */
export function citedIn(text: string): number[] {
  const numbers = [...text.matchAll(/\[([1-9][0-9]?)\]/g)].map(([, number]) => Number(number));
  return [...new Set(numbers)].sort((a, b) => a - b);
}
