/** `POST /v1/search`: a request, a provider's results, and the hashes of its receipt. */
import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import { canonicalJson, type JsonValue } from "../bytes/canonical-json.ts";
import { sha256Hex } from "../crypto/hash.ts";
import { checkShape } from "../process/definition.ts";
import { ProcessInputError } from "../process/input-error.ts";
import { closed } from "../process/schema-parts.ts";
import type { SearchProvider } from "./provider.ts";
import type { SearchResult } from "./result.ts";

export const MAX_RESULTS = { default: 5, max: 10 } as const;

/** Longer questions are no search queries; every provider cuts them off earlier. */
const QUERY_LENGTH_MAX = 2000;

export const QUERY = Type.String({ minLength: 1, maxLength: QUERY_LENGTH_MAX });
export const MAX_RESULTS_FIELD = Type.Optional(
  Type.Integer({ minimum: 1, maximum: MAX_RESULTS.max }),
);

const REQUEST_SCHEMA = closed({ query: QUERY, max_results: MAX_RESULTS_FIELD });
const REQUEST = Compile(REQUEST_SCHEMA);

export type SearchRequest = Required<Static<typeof REQUEST_SCHEMA>>;

/** @throws ProcessInputError `invalid_input` with the pointer of what does not fit. */
export function parseSearchRequest(body: JsonValue): SearchRequest {
  const { query, max_results = MAX_RESULTS.default } = checkShape(REQUEST, body);
  return { query: checkedQuery(query), max_results };
}

/** @throws ProcessInputError for a query that no provider could answer. */
export function checkedQuery(query: string): string {
  if (query.trim() === "" || !query.isWellFormed())
    throw new ProcessInputError("invalid_input", "/query", "must hold text");
  return query;
}

export interface SearchRun {
  readonly output: {
    readonly query: string;
    readonly provider: string;
    readonly results: readonly SearchResult[];
  };
  readonly inputHash: string;
  /** Proves what was returned at that moment; the same query may give other results later. */
  readonly outputHash: string;
  readonly deterministicHash: string;
  readonly ms: number;
}

export interface SearchDeps {
  readonly provider: SearchProvider;
  /** Unix milliseconds, for the duration. */
  readonly nowMs: () => number;
}

/** @throws SearchError when the provider gives no usable answer. */
export async function runSearch(
  { provider, nowMs }: SearchDeps,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<SearchRun> {
  const startedMs = nowMs();
  const results = await provider.search(request.query, request.max_results, signal);
  const output = {
    query: request.query,
    provider: provider.name,
    results: results.slice(0, request.max_results),
  };
  const inputHash = sha256Hex(canonicalJson({ ...request }));
  const outputHash = sha256Hex(canonicalJson(output as unknown as JsonValue));
  return {
    output,
    inputHash,
    outputHash,
    deterministicHash: sha256Hex(["svc-search/1", inputHash, outputHash].join("\n")),
    ms: Math.max(0, nowMs() - startedMs),
  };
}
