/** One search result, and what of a provider's answer becomes one. Results are only data. */

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** More of a page than this is no snippet. */
const RESULT_LIMITS = { title: 300, url: 2000, snippet: 1200 } as const;

const ADDRESS = /^(?:https?|local):\/\/[^\s]+$/;

/** @returns null for what has no usable address. Markup and control characters are left out. */
export function searchResult(title: unknown, url: unknown, snippet: unknown): SearchResult | null {
  const address = typeof url === "string" ? url.trim() : "";
  if (address.length > RESULT_LIMITS.url || !ADDRESS.test(address)) return null;
  const name = plainText(title, RESULT_LIMITS.title);
  return {
    title: name === "" ? address.slice(0, RESULT_LIMITS.title) : name,
    url: address,
    snippet: plainText(snippet, RESULT_LIMITS.snippet),
  };
}

/** Without tags that providers put around matches, control characters and runs of space. */
function plainText(value: unknown, lengthMax: number): string {
  if (typeof value !== "string") return "";
  const text = value
    .toWellFormed()
    .replace(/<\/?(?:strong|b|em|i|mark|br|p|span)\b[^<>]{0,200}>/gi, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/ {2,}/g, " ")
    .trim();
  return text.length <= lengthMax ? text : text.slice(0, lengthMax).toWellFormed();
}
