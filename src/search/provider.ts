/** Where search results come from. */
import type { SearchResult } from "./result.ts";

export interface SearchProvider {
  /** Identifier and version, as the receipt names it: `local@1.0.0`. */
  readonly name: string;
  /** @throws SearchError when there is no usable answer. */
  search(query: string, maxResults: number, signal: AbortSignal): Promise<readonly SearchResult[]>;
}

export type SearchErrorCode =
  | "search_timeout"
  | "search_failed"
  /** An address outside of what is configured, or inside a private network. */
  | "search_address_refused"
  | "search_answer_too_large"
  | "search_answer_invalid";

export class SearchError extends Error {
  override readonly name = "SearchError";
  readonly code: SearchErrorCode;
  constructor(code: SearchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** @param cause what was caught. */
export function searchFailure(code: SearchErrorCode, message: string, cause: unknown): SearchError {
  return new SearchError(code, message, { cause });
}

/** Where no search is configured: every answer is empty, with its receipt. */
export const NO_PROVIDER: SearchProvider = {
  name: "none",
  search: () => Promise.resolve([]),
};
