/** `POST /v1/chat-grounded`: its request, and whether a question is worth a search. */
import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import type { JsonValue } from "../bytes/canonical-json.ts";
import { checkShape } from "../process/definition.ts";
import { closed } from "../process/schema-parts.ts";
import { checkedQuery, MAX_RESULTS, MAX_RESULTS_FIELD, QUERY } from "./search.ts";

const REQUEST_SCHEMA = closed({
  query: QUERY,
  mode: Type.Optional(Type.Enum(["auto", "always-search", "never-search"])),
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  max_results: MAX_RESULTS_FIELD,
});

const REQUEST = Compile(REQUEST_SCHEMA);

export type GroundedRequest = Required<Static<typeof REQUEST_SCHEMA>>;

const GROUNDED_DEFAULTS = {
  mode: "auto",
  model: "svc-tier-b",
  temperature: 0,
  max_tokens: 500,
  max_results: MAX_RESULTS.default,
} as const;

/** @throws ProcessInputError `invalid_input` with the pointer of what does not fit. */
export function parseGroundedRequest(body: JsonValue): GroundedRequest {
  const request = { ...GROUNDED_DEFAULTS, ...checkShape(REQUEST, body) };
  return { ...request, query: checkedQuery(request.query) };
}

/** Why there was no search, or nothing came of it; "" when its results were used. */
export type SkipReason =
  | ""
  | "mode_never_search"
  | "no_keyword_matched"
  | "no_search_provider"
  | "no_results"
  | "search_failed";

/**
 * Words of questions whose answers change, or lie in documents. Whole words; any spelling of case.
 */
const KEYWORDS: readonly RegExp[] = [
  /\b(?:today|tonight|yesterday|tomorrow|current(?:ly)?|right now|as of|up[- ]to[- ]date)\b/i,
  /\b(?:this|last|next|past|recent) (?:day|week|weekend|month|quarter|year|season|night)\b/i,
  /\b(?:latest|newest|most recent|recently|breaking|upcoming)\b/i,
  /\b(?:news|headlines?|announce[ds]?|announcements?|released?|launch(?:ed|es)?)\b/i,
  /\b(?:price|cost|value|exchange rate|rate|market cap) of\b|\bhow much (?:is|are|does|do)\b/i,
  /\b(?:stock|share) price\b|\bprices?\b/i,
  /\b(?:who|which team) (?:won|is winning|leads|is leading)\b|\b(?:score|standings|results) of\b/i,
  /\bwho is the (?:current )?(?:president|prime minister|chancellor|ceo)\b/i,
  /\bwho is the (?:current )?(?:governor|mayor|king|queen|pope)\b/i,
  /\b(?:weather|forecast|temperature in|traffic)\b/i,
  /\b(?:search|look up|find|according to|source|sources|cite|citation)\b/i,
  /\b(?:version|release date|schedule|deadline) (?:of|for)\b/i,
  /\b20[2-9][0-9]\b/,
];

/** Deterministic; a decision of `auto` mode is the same for the same words. */
export function wantsSearch({ mode, query }: GroundedRequest): SkipReason | "search" {
  if (mode === "never-search") return "mode_never_search";
  if (mode === "always-search") return "search";
  return KEYWORDS.some((keyword) => keyword.test(query)) ? "search" : "no_keyword_matched";
}
