/** SearXNG, Brave and Tavily: how each is asked, and which of its members are results. */
import type { JsonValue } from "../bytes/canonical-json.ts";
import type { SearchProvider } from "./provider.ts";
import { SearchError } from "./provider.ts";
import { type SearchResult, searchResult } from "./result.ts";
import { type FetchRules, fetchJson } from "./safe-fetch.ts";

export interface RemoteOptions {
  /** The service's own address; another only where a proxy stands in front of it. */
  readonly baseUrl: string;
  /** Not needed by SearXNG. */
  readonly apiKey: string;
  readonly rules: Omit<FetchRules, "hosts">;
}

export type RemoteKind = "searxng" | "brave" | "tavily";

export const REMOTE_ADDRESSES: Readonly<Record<Exclude<RemoteKind, "searxng">, string>> = {
  brave: "https://api.search.brave.com",
  tavily: "https://api.tavily.com",
};

interface Dialect {
  readonly name: string;
  request(
    base: URL,
    query: string,
    maxResults: number,
    apiKey: string,
  ): { readonly url: URL; readonly init: RequestInit };
  /** The list of results in the answer. */
  list(answer: JsonValue): JsonValue | undefined;
  /** Title, address and text of one of them. */
  read(item: JsonValue): readonly [title: unknown, url: unknown, snippet: unknown];
}

/** Versions are those of the services' interfaces as they are read here. */
const DIALECTS: Readonly<Record<RemoteKind, Dialect>> = {
  searxng: {
    name: "searxng@1",
    request: (base, query) => {
      const url = under(base, "search");
      url.searchParams.set("q", query);
      url.searchParams.set("format", "json");
      return { url, init: { headers: { accept: "application/json" } } };
    },
    list: (answer) => member(answer, "results"),
    read: (item) => [member(item, "title"), member(item, "url"), member(item, "content")],
  },
  brave: {
    name: "brave@v1",
    request: (base, query, maxResults, apiKey) => {
      const url = under(base, "res/v1/web/search");
      url.searchParams.set("q", query);
      url.searchParams.set("count", String(maxResults));
      const headers = { accept: "application/json", "x-subscription-token": apiKey };
      return { url, init: { headers } };
    },
    list: (answer) => member(member(answer, "web"), "results") ?? [],
    read: (item) => [member(item, "title"), member(item, "url"), member(item, "description")],
  },
  tavily: {
    name: "tavily@1",
    request: (base, query, maxResults, apiKey) => ({
      url: under(base, "search"),
      init: {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ query, max_results: maxResults }),
      },
    }),
    list: (answer) => member(answer, "results"),
    read: (item) => [member(item, "title"), member(item, "url"), member(item, "content")],
  },
};

export function remoteProvider(kind: RemoteKind, options: RemoteOptions): SearchProvider {
  const dialect = DIALECTS[kind];
  const base = new URL(options.baseUrl);
  const rules = { ...options.rules, hosts: [base.host] };
  return {
    name: dialect.name,
    search: async (query, maxResults, signal) => {
      const { url, init } = dialect.request(base, query, maxResults, options.apiKey);
      const list = dialect.list(await fetchJson(url, init, rules, signal));
      if (!Array.isArray(list))
        throw new SearchError("search_answer_invalid", `${base.host} sent no list of results`);
      return distinct(
        (list as readonly JsonValue[]).flatMap((item) => searchResult(...dialect.read(item)) ?? []),
      ).slice(0, maxResults);
    },
  };
}

function distinct(results: readonly SearchResult[]): SearchResult[] {
  return [
    ...new Map([...results].reverse().map((result) => [result.url, result])).values(),
  ].reverse();
}

/** A path below the configured address, which may have a path of its own. */
function under(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, "")}/${path}`;
  return url;
}

function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const record = value as { readonly [key: string]: JsonValue };
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
